package main

import "fmt"

// ringSize is the number of tasks per ring: the thesis's number, so that a task's successor is
// never the task that has just blocked.
const ringSize = 5

// runCycle measures Cycle: rings of tasks, around each of which one token travels. A task waits for
// its token, then posts to the next one; an operation is one wait and one post.
//
// A task reads the stop while it holds the token, and posts before it ends. So the next task to
// receive the token sees the stop too. The token reaches every task of the ring once more, and
// comes to rest where the last lap began. If a task read the stop after the post, it could end
// after the token had come back to it, and the others would wait for ever.
func runCycle(cfg config) (measurement, error) {
	if cfg.hand() {
		return measureCycle(cfg, func() *parker { return new(parker) }, cycleHand,
			(*parker).unpark, func(p *parker) bool { return p.state.Load() == parkerToken })
	}
	return measureCycle(cfg, newToken, cycleNative,
		token.unpark, func(t token) bool { return len(t) == 1 })
}

// measureCycle builds the rings from either kind of cell. Only the task's own loop is written once
// per kind, so that no indirect call is measured.
func measureCycle[C any](cfg config, newCell func() C, task func(own, next C, m meter) tally,
	post func(C), holdsToken func(C) bool) (measurement, error) {
	cells := make([]C, cfg.tasks()*ringSize)
	for i := range cells {
		cells[i] = newCell()
	}
	f := newFleet(len(cells))
	for i := range cells {
		ring := i - i%ringSize
		own, next := cells[i], cells[ring+(i+1-ring)%ringSize]
		f.add(func(m meter) tally { return task(own, next, m) })
	}
	m, err := f.measure(cfg.duration, func() {
		for ring := 0; ring < len(cells); ring += ringSize {
			post(cells[ring])
		}
	}, nothing)
	if err != nil {
		return m, err
	}
	for ring := 0; ring < len(cells); ring += ringSize {
		tokens := 0
		for _, c := range cells[ring : ring+ringSize] {
			if holdsToken(c) {
				tokens++
			}
		}
		if tokens != 1 {
			return m, fmt.Errorf("ring %d ended with %d tokens instead of 1", ring/ringSize, tokens)
		}
		low, high := f.tallies[ring].total, f.tallies[ring].total
		for _, did := range f.tallies[ring : ring+ringSize] {
			low, high = min(low, did.total), max(high, did.total)
		}
		if high-low > 1 {
			return m, fmt.Errorf("tasks of ring %d did from %d to %d operations: the token left its order", ring/ringSize, low, high)
		}
	}
	return m, nil
}

func cycleNative(own, next token, m meter) tally {
	for {
		<-own
		more := m.count(1)
		next <- struct{}{}
		if !more {
			return m.tally
		}
	}
}

func cycleHand(own, next *parker, m meter) tally {
	for {
		own.park()
		more := m.count(1)
		next.unpark()
		if !more {
			return m.tally
		}
	}
}
