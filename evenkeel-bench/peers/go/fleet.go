package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// joinLimit bounds the wait for the tasks' end once they were told to stop. The longest legitimate
// wait is a few preemptions of 10 ms each, so a task that is still there after this was never woken.
const joinLimit = 20 * time.Second

// linePad keeps neighbours off each other's cache lines. Two lines, because the adjacent-line
// prefetcher of x86 fetches them in pairs.
const linePad = 128

// measurement is what an experiment found out in one run.
type measurement struct {
	tasks   int
	ops     uint64
	elapsed time.Duration
	dnc     bool
}

// fleet is a set of tasks that start together, count for themselves and end together.
//
// Roles: each task runs its body, which counts its operations in a local variable and reads `stop`
// once per operation; the main goroutine opens the gate, sleeps, sets `stop` and joins. A body
// finishes the operation it is in before it ends, so every task reports at least one operation.
// The time measured ends with the last task, since operations done after `stop` are counted too.
type fleet struct {
	_       [linePad]byte
	stop    atomic.Bool
	_       [linePad]byte
	gate    chan struct{}
	early   sync.WaitGroup
	ended   sync.WaitGroup
	started time.Time
	counts  []uint64
}

func newFleet(tasks int) *fleet {
	return &fleet{gate: make(chan struct{}), counts: make([]uint64, 0, tasks)}
}

// settleTime is what early tasks get to go from their first instruction to their first wait. It is
// a thousand times what that takes, and if it were too short, only the figure would suffer.
const settleTime = 2 * time.Millisecond

// add creates a task; its body begins when the gate opens and returns the operations it did.
func (f *fleet) add(body func() uint64) {
	f.spawn(func() { <-f.gate }, body)
}

// addEarly creates a task whose body begins at once, because it begins with a wait that the tasks
// behind the gate shall find. Otherwise the first of those could run alone, without ever blocking,
// for a whole time slice.
func (f *fleet) addEarly(body func() uint64) {
	f.early.Add(1)
	f.spawn(f.early.Done, body)
}

func (f *fleet) spawn(before func(), body func() uint64) {
	slot := len(f.counts)
	f.counts = append(f.counts, 0)
	f.ended.Add(1)
	go func() {
		before()
		// The slot is written once, after the loop, so sharing a line with others costs nothing.
		ops := body()
		f.counts[slot] = ops
		f.ended.Done()
	}()
}

// open lets the early tasks come to their wait, starts the clock and lets the others begin.
func (f *fleet) open() {
	f.early.Wait()
	time.Sleep(settleTime)
	f.started = time.Now()
	close(f.gate)
}

// join waits for every task's end, after `stop` was set and blocked tasks were released.
func (f *fleet) join() (time.Duration, error) {
	all := make(chan time.Duration, 1)
	go func() {
		f.ended.Wait()
		all <- time.Since(f.started)
	}()
	select {
	case elapsed := <-all:
		return elapsed, nil
	case <-time.After(joinLimit):
		return 0, fmt.Errorf("some tasks did not end within %v of the stop: a wake-up was lost", joinLimit)
	}
}

// measure runs the fleet for a time. `begin` sets off what the tasks wait for, and `release` what
// they still wait for after the stop, if anything.
func (f *fleet) measure(duration time.Duration, begin, release func()) (measurement, error) {
	f.open()
	begin()
	time.Sleep(duration)
	f.stop.Store(true)
	release()
	elapsed, err := f.join()
	if err != nil {
		return measurement{}, err
	}
	m := measurement{tasks: len(f.counts), elapsed: elapsed}
	for task, ops := range f.counts {
		if ops == 0 {
			return measurement{}, fmt.Errorf("task %d of %d ended without an operation", task, len(f.counts))
		}
		m.ops += ops
	}
	return m, nil
}

// nothing is for experiments whose tasks need neither.
func nothing() {}
