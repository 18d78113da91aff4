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

// longestWarmUp is enough for a scheduler to settle, which takes some milliseconds.
const longestWarmUp = 30 * time.Millisecond

// warmUp is how long to warm up before a measured time.
func warmUp(duration time.Duration) time.Duration { return min(longestWarmUp, duration/10) }

// measurement is the result of an experiment's run.
type measurement struct {
	tasks   int
	ops     uint64
	elapsed time.Duration
	dnc     bool
}

// Phases of a run, in their order.
const (
	// warming: tasks work, and the scheduler settles.
	warming = iota
	// measuring: they work, and complete operations count.
	measuring
	// stopped: each task ends when it next reads the phase.
	stopped
)

// tally is the work of a task.
type tally struct {
	// total has the operations from the task's first to its last, which ends after the stop.
	total uint64
	// measured has the operations that were complete within the measured time.
	measured uint64
}

// meter is a task's part in the run. It counts the task's operations, and lives on its stack.
type meter struct {
	phase *atomic.Uint32
	seen  uint32
	tally
	// mark is the count when the measured time began.
	mark uint64
}

// count counts complete operations, and returns whether to go on. It is small enough to be inlined.
func (m *meter) count(ops uint64) bool {
	if m.phase.Load() != m.seen {
		m.turn()
	}
	m.total += ops
	return m.seen != stopped
}

// turn records what was complete when the task saw the new phase. The operation just completed is
// not yet in the count.
//
//go:noinline
func (m *meter) turn() {
	now := m.phase.Load()
	switch {
	case now == measuring:
		m.mark = m.total
	case m.seen == measuring:
		m.measured = m.total - m.mark
	}
	// A task that never saw the measured time spent all of it in one operation.
	m.seen = now
}

// fleet is a set of tasks that start together, count separately and end together.
//
// Roles: each task runs its body, which counts its operations in a meter of its own and reads the
// phase once per operation; the main goroutine opens the gate, sleeps through the phases and joins.
// A body finishes the operation it is in before it ends, so every task reports at least one
// operation.
//
// What counts, as in the suite's own process: an operation is measured if it was complete within
// the measured time, which is from setting `measuring` to setting `stopped`. So the operation under
// way at the beginning counts, and the one under way at the stop does not.
type fleet struct {
	_       [linePad]byte
	phase   atomic.Uint32
	_       [linePad]byte
	gate    chan struct{}
	early   sync.WaitGroup
	ended   sync.WaitGroup
	tallies []tally
}

func newFleet(tasks int) *fleet {
	return &fleet{gate: make(chan struct{}), tallies: make([]tally, 0, tasks)}
}

// settleTime is the time for early tasks to go from their first instruction to their first wait.
// They need a thousandth of it, and if it were too short, only the figure would suffer.
const settleTime = 2 * time.Millisecond

// add creates a task; its body begins when the gate opens and returns the operations it did.
func (f *fleet) add(body func(meter) tally) {
	f.spawn(func() { <-f.gate }, body)
}

// addEarly creates a task whose body begins at once, because its first step is a wait, which the
// tasks behind the gate must find. Otherwise the first of those could run alone, without ever
// blocking, for a whole time slice.
func (f *fleet) addEarly(body func(meter) tally) {
	f.early.Add(1)
	f.spawn(f.early.Done, body)
}

func (f *fleet) spawn(before func(), body func(meter) tally) {
	slot := len(f.tallies)
	f.tallies = append(f.tallies, tally{})
	f.ended.Add(1)
	go func() {
		before()
		// The slot is written once, after the loop, so sharing a line with others costs nothing.
		did := body(meter{phase: &f.phase})
		f.tallies[slot] = did
		f.ended.Done()
	}()
}

// open lets the early tasks reach their wait and the others begin.
func (f *fleet) open() {
	f.early.Wait()
	time.Sleep(settleTime)
	close(f.gate)
}

// stopped reports whether the run is over.
func (f *fleet) stopped() bool { return f.phase.Load() == stopped }

// stop tells every task to end.
func (f *fleet) stop() { f.phase.Store(stopped) }

// join waits for every task's end, after the stop and the release of blocked tasks.
func (f *fleet) join() error {
	all := make(chan struct{})
	go func() {
		f.ended.Wait()
		close(all)
	}()
	select {
	case <-all:
		return nil
	case <-time.After(joinLimit):
		return fmt.Errorf("some tasks did not end within %v of the stop: a wake-up was lost", joinLimit)
	}
}

// measure runs the fleet through its phases; the measured one lasts for `duration`. `begin` starts
// the event that the tasks wait for, and `release` ends waits that are left after the stop, if any.
func (f *fleet) measure(duration time.Duration, begin, release func()) (measurement, error) {
	f.open()
	begin()
	time.Sleep(warmUp(duration))
	started := time.Now()
	f.phase.Store(measuring)
	time.Sleep(duration)
	elapsed := time.Since(started)
	f.stop()
	release()
	if err := f.join(); err != nil {
		return measurement{}, err
	}
	m := measurement{tasks: len(f.tallies), elapsed: elapsed}
	for task, did := range f.tallies {
		if did.total == 0 {
			return measurement{}, fmt.Errorf("task %d of %d ended without an operation", task, len(f.tallies))
		}
		m.ops += did.measured
	}
	return m, nil
}

// total is the number of operations of all tasks, from their first to their last.
func (f *fleet) total() (ops uint64) {
	for _, did := range f.tallies {
		ops += did.total
	}
	return ops
}

// nothing is for experiments with tasks that need neither.
func nothing() {}
