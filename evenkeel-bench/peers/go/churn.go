package main

import "fmt"

// runChurn measures Churn: tasks push each other out of spots, which are FIFO counting semaphores. A
// task draws a spot, does V on it, which pushes out the task that has waited there longest, and then
// does P on it; an operation is one V and one P.
//
// There are half as many spots as tasks, and never more than tasks less processors, so that no
// processor need be idle. The first tasks, as many as there are spots, skip their first V and wait
// before the others begin.
//
// At the stop each task ends after its P. One more V for each task that skipped its first then
// releases the tasks that still wait; each V has met its P, and no permit may be left.
func runChurn(cfg config) (measurement, error) {
	tasks := cfg.tasks()
	spots := atLeastOne(min(tasks/2, tasks-cfg.procs))
	if cfg.hand() {
		seats := make([]*semaphore[struct{}], spots)
		for i := range seats {
			seats[i] = newSemaphore[struct{}](spareRoom * cfg.procs)
		}
		return measureChurn(cfg, seats, churnHand, func(s *semaphore[struct{}]) { s.v(struct{}{}) },
			func(s *semaphore[struct{}]) int { return len(s.permits) })
	}
	seats := make([]chan struct{}, spots)
	for i := range seats {
		seats[i] = newChannelSemaphore[struct{}](spareRoom * cfg.procs)
	}
	return measureChurn(cfg, seats, churnNative, func(seat chan struct{}) { seat <- struct{}{} },
		func(seat chan struct{}) int { return len(seat) })
}

func measureChurn[S any](cfg config, seats []S,
	task func(skips bool, rng random, seats []S, m meter) tally,
	post func(S), free func(S) int) (measurement, error) {
	f := newFleet(cfg.tasks())
	// A single task has no other to push it out.
	skips := min(len(seats), cfg.tasks()-1)
	for i := 0; i < cfg.tasks(); i++ {
		rng, first := newRandom(cfg.seed, i), i < skips
		body := func(m meter) tally { return task(first, rng, seats, m) }
		if first {
			f.addEarly(body)
		} else {
			f.add(body)
		}
	}
	m, err := f.measure(cfg.duration, nothing, func() {
		for i := 0; i < skips; i++ {
			rng := newRandom(cfg.seed, i)
			post(seats[rng.below(len(seats))])
		}
	})
	if err != nil {
		return m, err
	}
	for spot, seat := range seats {
		if left := free(seat); left != 0 {
			return m, fmt.Errorf("spot %d of %d ended with %d permits instead of none", spot, len(seats), left)
		}
	}
	return m, nil
}

func churnNative(skips bool, rng random, seats []chan struct{}, m meter) tally {
	for {
		spot := rng.below(len(seats))
		if !skips {
			seats[spot] <- struct{}{}
		}
		skips = false
		<-seats[spot]
		if !m.count(1) {
			return m.tally
		}
	}
}

func churnHand(skips bool, rng random, seats []*semaphore[struct{}], m meter) tally {
	me := new(waiter[struct{}])
	for {
		spot := rng.below(len(seats))
		if !skips {
			seats[spot].v(struct{}{})
		}
		skips = false
		seats[spot].p(me)
		if !m.count(1) {
			return m.tally
		}
	}
}

func atLeastOne(n int) int { return max(n, 1) }
