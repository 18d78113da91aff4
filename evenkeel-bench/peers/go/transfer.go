package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// lookInterval is how often the main goroutine looks for progress: rarely enough to cost the
// measured tasks nothing, often enough that a run is not much longer than requested.
const lookInterval = 10 * time.Millisecond

// transfer is the state of the Transfer experiment. `acks[i]` is the round that task i has seen.
type transfer struct {
	fleet  *fleet
	seed   uint64
	leader atomic.Int64
	round  atomic.Uint64
	_      [linePad]byte
	acks   []ack
	// completed is written by the leader alone.
	completed atomic.Uint64
}

type ack struct {
	round atomic.Uint64
	_     [linePad - 8]byte
}

// runTransfer measures Transfer: how fast a runtime lets every task run once while one task keeps a
// processor. A leader opens a round and spins, without ever yielding, until all others have
// acknowledged the round; then it draws the next leader. The others acknowledge and yield
// (`yield`), or acknowledge and park (`park`): then the retiring leader unparks all others, and a
// task that runs before the next leader has opened its round yields until then. An operation is one
// transfer.
//
// At the end each task must have led or acknowledged each completed round, exactly once.
func runTransfer(cfg config) (measurement, error) {
	t := &transfer{fleet: newFleet(cfg.tasks()), seed: cfg.seed, acks: make([]ack, cfg.tasks())}
	switch {
	case cfg.variant == "yield":
		return t.measure(cfg, func(int) { runtime.Gosched() }, func(int) {})
	case cfg.hand():
		cells := make([]parker, cfg.tasks())
		return t.measure(cfg, func(i int) { cells[i].park() }, func(i int) { cells[i].unpark() })
	default:
		cells := make([]token, cfg.tasks())
		for i := range cells {
			cells[i] = newToken()
		}
		return t.measure(cfg, func(i int) { <-cells[i] }, func(i int) { cells[i].unpark() })
	}
}

// measure runs tasks that wait by `pause` and are woken by `unpark`. The calls may be indirect,
// because a transfer takes many microseconds.
func (t *transfer) measure(cfg config, pause, unpark func(task int)) (measurement, error) {
	for i := range t.acks {
		i := i
		t.fleet.add(func(meter) tally { return tally{total: t.task(i, pause, unpark)} })
	}
	t.fleet.open()
	m := t.watch(cfg)
	t.fleet.stop()
	for i := range t.acks {
		unpark(i)
	}
	if err := t.fleet.join(); err != nil {
		return measurement{}, err
	}
	completed := t.completed.Load()
	for i, did := range t.fleet.tallies {
		// The round that the stop interrupts counts for the tasks that have seen it.
		if rounds := did.total; rounds != completed && rounds != completed+1 {
			return m, fmt.Errorf("task %d took part in %d rounds, but %d were completed", i, rounds, completed)
		}
	}
	return m, nil
}

// watch sleeps through the run, which ends at the first transfer after the requested time, or, not
// completed, when the user's patience has passed without a transfer.
func (t *transfer) watch(cfg config) measurement {
	first, started := t.completed.Load(), time.Now()
	seen, progress := first, started
	for {
		time.Sleep(lookInterval)
		completed, now := t.completed.Load(), time.Now()
		m := measurement{tasks: len(t.acks), ops: completed - first, elapsed: now.Sub(started)}
		switch {
		case completed == seen:
			if now.Sub(progress) > cfg.patience {
				m.dnc = true
				return m
			}
		case m.elapsed >= cfg.duration:
			return m
		default:
			seen, progress = completed, now
		}
	}
}

// task leads or acknowledges until the stop, and returns the rounds in which it took part.
func (t *transfer) task(id int, pause, unpark func(task int)) uint64 {
	rng := newRandom(t.seed, id)
	var seen uint64
	for rounds := uint64(0); ; {
		if t.fleet.stopped() {
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
// and unparks all others, the next leader among them. It returns the round's number.
func (t *transfer) lead(id int, rng *random, unpark func(task int)) uint64 {
	round := t.round.Add(1)
	for i := range t.acks {
		for i != id && t.acks[i].round.Load() != round {
			if t.fleet.stopped() {
				return round
			}
		}
	}
	t.completed.Store(round)
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
