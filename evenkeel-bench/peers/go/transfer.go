package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// patience is how long one transfer may take before the run counts as not completed: the
	// thesis's bound, a hundred times the slowest runtime that completes.
	patience = 5 * time.Second
	// lookInterval is how often the main goroutine looks whether there is progress. It is a twentieth
	// of a second so that looking costs the measured tasks nothing.
	lookInterval = 50 * time.Millisecond
)

// transfer is the state of the Transfer experiment. `acks[i]` is the round that task i has seen.
type transfer struct {
	fleet  *fleet
	leader atomic.Int64
	round  atomic.Uint64
	_      [linePad]byte
	acks   []ack
	// The rest is written by the leader alone.
	completed atomic.Uint64
	last      atomic.Int64
}

type ack struct {
	round atomic.Uint64
	_     [linePad - 8]byte
}

// runTransfer measures Transfer: how fast a runtime lets every task run once while one task keeps a
// processor. A leader that begins opens a round and spins, without ever yielding, until all others have
// acknowledged the round; then it draws the next leader. The others acknowledge and yield (`yield`), or
// acknowledge and park (`park`): then the leader that steps down unparks all others, and whoever runs
// before the next leader has opened its round yields until then. An operation is one transfer.
//
// At the end each task must have led or acknowledged each completed round, exactly once.
func runTransfer(cfg config) (measurement, error) {
	t := &transfer{fleet: newFleet(cfg.tasks()), acks: make([]ack, cfg.tasks())}
	switch {
	case cfg.variant == "yield":
		return t.measure(cfg.duration, func(int) { runtime.Gosched() }, func(int) {})
	case cfg.hand():
		cells := make([]parker, cfg.tasks())
		return t.measure(cfg.duration, func(i int) { cells[i].park() }, func(i int) { cells[i].unpark() })
	default:
		cells := make([]token, cfg.tasks())
		for i := range cells {
			cells[i] = newToken()
		}
		return t.measure(cfg.duration, func(i int) { <-cells[i] }, func(i int) { cells[i].unpark() })
	}
}

// measure runs tasks that wait by `pause` and are woken by `unpark`. The calls are indirect, since
// a transfer takes many microseconds.
func (t *transfer) measure(duration time.Duration, pause, unpark func(task int)) (measurement, error) {
	for i := range t.acks {
		i := i
		t.fleet.add(func() uint64 { return t.task(i, pause, unpark) })
	}
	t.fleet.open()
	dnc := t.watch(duration)
	t.fleet.stop.Store(true)
	for i := range t.acks {
		unpark(i)
	}
	elapsed, err := t.fleet.join()
	if err != nil {
		return measurement{}, err
	}
	m := measurement{tasks: len(t.acks), ops: t.completed.Load(), elapsed: time.Duration(t.last.Load()), dnc: dnc}
	if dnc {
		m.elapsed = elapsed
	}
	for i, rounds := range t.fleet.counts {
		// The round that the stop interrupts counts for those who have seen it.
		if rounds != m.ops && rounds != m.ops+1 {
			return m, fmt.Errorf("task %d took part in %d rounds, but %d were completed", i, rounds, m.ops)
		}
	}
	return m, nil
}

// watch lets the tasks run for the duration, and on until the first transfer is complete. It says
// whether the run stopped making progress.
func (t *transfer) watch(duration time.Duration) (dnc bool) {
	var seen uint64
	progress := t.fleet.started
	for {
		left := duration - time.Since(t.fleet.started)
		if left <= 0 && seen > 0 {
			return false
		}
		if left <= 0 || left > lookInterval {
			left = lookInterval
		}
		time.Sleep(left)
		if completed := t.completed.Load(); completed != seen {
			seen, progress = completed, time.Now()
		} else if time.Since(progress) > patience {
			return true
		}
	}
}

// task leads or acknowledges until the stop, and returns the rounds in which it took part.
func (t *transfer) task(id int, pause, unpark func(task int)) uint64 {
	rng := newRandom(id)
	var seen uint64
	for rounds := uint64(0); ; {
		if t.fleet.stop.Load() {
			return rounds
		}
		if t.leader.Load() == int64(id) {
			rounds++
			seen = t.lead(id, &rng, unpark)
			continue
		}
		round := t.round.Load()
		if round == seen {
			// The next leader has not begun: this task has nothing to acknowledge yet.
			runtime.Gosched()
			continue
		}
		seen = round
		rounds++
		t.acks[id].round.Store(round)
		pause(id)
	}
}

// lead opens a round, spins until each of the others has acknowledged it, appoints the next leader
// and unparks all others, that one among them. It returns the round's number.
func (t *transfer) lead(id int, rng *random, unpark func(task int)) uint64 {
	round := t.round.Add(1)
	for i := range t.acks {
		for i != id && t.acks[i].round.Load() != round {
			if t.fleet.stop.Load() {
				return round
			}
		}
	}
	t.completed.Store(round)
	t.last.Store(int64(time.Since(t.fleet.started)))
	// Draws among the others, so that leadership changes hands every time.
	next := rng.below(len(t.acks) - 1)
	if next >= id {
		next++
	}
	t.leader.Store(int64(next))
	for i := range t.acks {
		if i != id {
			unpark(i)
		}
	}
	return round
}
