package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// batchSize is the number of tasks spawned before any is joined: enough that the join's own cost
// vanishes, few enough that all their descriptors stay in the cache.
const batchSize = 1000

// runSpawn measures creation: tasks spawn empty tasks and join them, 1,000 at a time (`batch`) or
// one by one (`serial`). An operation is one spawn with its join. Every spawned task takes one from
// a count that the joiner set; the count must come back to zero, and no goroutine may be left.
func runSpawn(cfg config) (measurement, error) {
	size := 1
	if cfg.variant == "batch" {
		size = batchSize
	}
	before := runtime.NumGoroutine()
	f := newFleet(cfg.tasks())
	lost := make([]int64, cfg.tasks())
	for i := 0; i < cfg.tasks(); i++ {
		i := i
		f.add(func(m meter) (did tally) {
			if cfg.hand() {
				did, lost[i] = spawnHand(size, m)
				return did
			}
			return spawnNative(size, m)
		})
	}
	m, err := f.measure(cfg.duration, nothing, nothing)
	if err != nil {
		return m, err
	}
	for i, left := range lost {
		if left != 0 {
			return m, fmt.Errorf("task %d joined with %d of its tasks unaccounted for", i, left)
		}
	}
	return m, settle(before)
}

// spawnNative joins through a WaitGroup, which itself fails the run on a wrong count.
func spawnNative(size int, m meter) tally {
	var group sync.WaitGroup
	empty := func() { group.Done() }
	for {
		group.Add(size)
		for i := 0; i < size; i++ {
			go empty()
		}
		group.Wait()
		if !m.count(uint64(size)) {
			return m.tally
		}
	}
}

// spawnHand joins through a count: its last decrement unparks the spawner.
func spawnHand(size int, m meter) (did tally, left int64) {
	var running atomic.Int64
	joiner := new(parker)
	empty := func() {
		if running.Add(-1) == 0 {
			joiner.unpark()
		}
	}
	for {
		running.Store(int64(size))
		for i := 0; i < size; i++ {
			go empty()
		}
		joiner.park()
		if left = running.Load(); left != 0 {
			return m.tally, left
		}
		if !m.count(uint64(size)) {
			return m.tally, 0
		}
	}
}

// settle waits until no goroutines are left beyond the earlier ones: a joined goroutine may still
// be about to exit, or its thread preempted.
func settle(before int) error {
	for deadline := time.Now().Add(joinLimit); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d goroutines are left, there were %d before", runtime.NumGoroutine(), before)
		}
	}
	return nil
}
