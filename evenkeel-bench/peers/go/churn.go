package main

import (
	"fmt"
	"sync/atomic"
)

// runChurn measures Churn: tasks move between spots, which are FIFO counting semaphores. A task does
// V on its spot, draws another one and does P on it; an operation is one V and one P.
//
// There are half as many spots as tasks, and at least as many permits as processors, so that no
// processor need be idle. The first tasks, one per spot, skip their first V, as they hold no permit.
// A task that does V returns the permit it got from that very spot, so each spot keeps its number of
// permits, a blocked task holds none, and no order of events can block all of them.
//
// At the stop each task returns its permit before it ends, which releases the blocked ones in turn;
// each spot must then hold what it began with.
func runChurn(cfg config) (measurement, error) {
	tasks := cfg.tasks()
	spots := atLeastOne(min(tasks/2, tasks-cfg.procs))
	if cfg.hand() {
		seats := make([]*semaphore[struct{}], spots)
		for i := range seats {
			seats[i] = newSemaphore[struct{}](permitsOf(i, tasks, spots))
		}
		return measureChurn(cfg, seats, churnHand,
			func(s *semaphore[struct{}]) int { return len(s.permits) })
	}
	seats := make([]chan struct{}, spots)
	for i := range seats {
		seats[i] = newChannelSemaphore[struct{}](permitsOf(i, tasks, spots))
	}
	return measureChurn(cfg, seats, churnNative, func(seat chan struct{}) int { return len(seat) })
}

func measureChurn[S any](cfg config, seats []S,
	task func(id int, seats []S, stop *atomic.Bool) uint64, free func(S) int) (measurement, error) {
	f := newFleet(cfg.tasks())
	for i := 0; i < cfg.tasks(); i++ {
		i := i
		f.add(func() uint64 { return task(i, seats, &f.stop) })
	}
	m, err := f.measure(cfg.duration, nothing, nothing)
	if err != nil {
		return m, err
	}
	for spot, seat := range seats {
		if want, got := permitsOf(spot, cfg.tasks(), len(seats)), free(seat); got != want {
			return m, fmt.Errorf("spot %d of %d ended with %d permits instead of %d", spot, len(seats), got, want)
		}
	}
	return m, nil
}

func churnNative(id int, seats []chan struct{}, stop *atomic.Bool) uint64 {
	rng := newRandom(id)
	spot := id % len(seats)
	if id >= len(seats) {
		seats[spot] <- struct{}{}
	}
	for ops := uint64(1); ; ops++ {
		spot = rng.below(len(seats))
		<-seats[spot]
		stopped := stop.Load()
		seats[spot] <- struct{}{}
		if stopped {
			return ops
		}
	}
}

func churnHand(id int, seats []*semaphore[struct{}], stop *atomic.Bool) uint64 {
	rng := newRandom(id)
	me := new(waiter[struct{}])
	spot := id % len(seats)
	if id >= len(seats) {
		seats[spot].v(struct{}{})
	}
	for ops := uint64(1); ; ops++ {
		spot = rng.below(len(seats))
		seats[spot].p(me)
		stopped := stop.Load()
		seats[spot].v(struct{}{})
		if stopped {
			return ops
		}
	}
}

func atLeastOne(n int) int { return max(n, 1) }

// permitsOf is how many permits a spot has, held or free: one for each task that starts at it,
// except the first, which skips its V.
func permitsOf(spot, tasks, spots int) int {
	return (tasks - 1 - spot) / spots
}
