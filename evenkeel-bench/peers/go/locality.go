package main

import "fmt"

// cells is one array of counters.
type cells []uint64

// newCells gives each array lines of its own, so that only deliberate sharing is measured.
func newCells(words int) cells {
	return make(cells, words, max(words, linePad/8))
}

// touch increments `times` random cells.
func (c cells) touch(times int, rng *random) {
	for i := 0; i < times; i++ {
		c[rng.below(len(c))]++
	}
}

// runLocality measures Locality. There are as many spots, which are semaphores, as tasks less
// processors, and the first tasks, one per spot, begin by waiting there. Each other task draws a
// spot, does V on it, which wakes the task that waits there, and takes its place by P; then it
// makes `touch` random increments in its array. That is one operation.
//
// In `share` the array travels with the permit, from the task that does V to the one it wakes: the
// data stays on the waker's processor. In `noshare` each task keeps its own array, and a permit
// carries nothing. Either way one task at a time has an array, so plain increments must add up.
//
// At the stop one V per spot releases the last waiters. It carries the array of the task that began
// there, which is still unused in `share`, so that a task woken this way is like any other. Then
// each V has met its P, and no permit may be left.
func runLocality(cfg config) (measurement, error) {
	arrays := make([]cells, cfg.tasks())
	for i := range arrays {
		arrays[i] = newCells(cfg.words)
	}
	share := cfg.variant == "share"
	switch {
	case cfg.hand() && share:
		return byHand(cfg, arrays, shareHand, (*semaphore[cells]).v)
	case cfg.hand():
		return byHand(cfg, arrays, keepHand, func(s *semaphore[struct{}], _ cells) { s.v(struct{}{}) })
	case share:
		return byChannels(cfg, arrays, shareNative, func(seat chan cells, c cells) { seat <- c })
	default:
		return byChannels(cfg, arrays, keepNative, func(seat chan struct{}, _ cells) { seat <- struct{}{} })
	}
}

// byHand runs a task on spots made by hand, whose permits carry D.
func byHand[D any](cfg config, arrays []cells,
	task func(t localityTask, id int, seats []*semaphore[D], own cells, m meter) tally,
	post func(*semaphore[D], cells)) (measurement, error) {
	seats := make([]*semaphore[D], localitySpots(cfg))
	for i := range seats {
		seats[i] = newSemaphore[D](spareRoom * cfg.procs)
	}
	return measureLocality(cfg, arrays, seats, task, post, func(s *semaphore[D]) int { return len(s.permits) })
}

// byChannels is the same with channels.
func byChannels[D any](cfg config, arrays []cells,
	task func(t localityTask, id int, seats []chan D, own cells, m meter) tally,
	post func(chan D, cells)) (measurement, error) {
	seats := make([]chan D, localitySpots(cfg))
	for i := range seats {
		seats[i] = newChannelSemaphore[D](spareRoom * cfg.procs)
	}
	return measureLocality(cfg, arrays, seats, task, post, func(seat chan D) int { return len(seat) })
}

func localitySpots(cfg config) int { return atLeastOne(cfg.tasks() - cfg.procs) }

// spareRoom is the number of permits per processor for which a spot has room. A permit is free only
// while a task is between its V and its P on the same spot, so two per processor are rarely used
// up; when they are, a channel delays the next V until one of those tasks has gone on.
const spareRoom = 2

// localityTask is the state that all tasks share.
type localityTask struct {
	touch int
	seed  uint64
}

func measureLocality[S any](cfg config, arrays []cells, seats []S,
	task func(t localityTask, id int, seats []S, own cells, m meter) tally,
	post func(S, cells), free func(S) int) (measurement, error) {
	f := newFleet(len(arrays))
	t := localityTask{touch: cfg.touch, seed: cfg.seed}
	for i := range arrays {
		i := i
		body := func(m meter) tally { return task(t, i, seats, arrays[i], m) }
		if i < len(seats) {
			f.addEarly(body)
		} else {
			f.add(body)
		}
	}
	m, err := f.measure(cfg.duration, nothing, func() {
		for i, seat := range seats {
			post(seat, arrays[i])
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
	var sum uint64
	for _, array := range arrays {
		for _, cell := range array {
			sum += cell
		}
	}
	if want := f.total() * uint64(cfg.touch); sum != want {
		return m, fmt.Errorf("the cells add up to %d, but %d increments were done", sum, want)
	}
	return m, nil
}

func shareNative(t localityTask, id int, seats []chan cells, own cells, m meter) tally {
	rng := newRandom(t.seed, id)
	waits := id < len(seats)
	spot := id
	for {
		if !waits {
			spot = rng.below(len(seats))
			seats[spot] <- own
		}
		waits = false
		own = <-seats[spot]
		own.touch(t.touch, &rng)
		if !m.count(1) {
			return m.tally
		}
	}
}

func keepNative(t localityTask, id int, seats []chan struct{}, own cells, m meter) tally {
	rng := newRandom(t.seed, id)
	waits := id < len(seats)
	spot := id
	for {
		if !waits {
			spot = rng.below(len(seats))
			seats[spot] <- struct{}{}
		}
		waits = false
		<-seats[spot]
		own.touch(t.touch, &rng)
		if !m.count(1) {
			return m.tally
		}
	}
}

func shareHand(t localityTask, id int, seats []*semaphore[cells], own cells, m meter) tally {
	rng := newRandom(t.seed, id)
	me := new(waiter[cells])
	waits := id < len(seats)
	spot := id
	for {
		if !waits {
			spot = rng.below(len(seats))
			seats[spot].v(own)
		}
		waits = false
		own = seats[spot].p(me)
		own.touch(t.touch, &rng)
		if !m.count(1) {
			return m.tally
		}
	}
}

func keepHand(t localityTask, id int, seats []*semaphore[struct{}], own cells, m meter) tally {
	rng := newRandom(t.seed, id)
	me := new(waiter[struct{}])
	waits := id < len(seats)
	spot := id
	for {
		if !waits {
			spot = rng.below(len(seats))
			seats[spot].v(struct{}{})
		}
		waits = false
		seats[spot].p(me)
		own.touch(t.touch, &rng)
		if !m.count(1) {
			return m.tally
		}
	}
}
