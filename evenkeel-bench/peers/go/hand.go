package main

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// The hand-made primitives use the scheduler's own park and ready, the least cost of a blocking
// primitive in Go. The runtime keeps both functions reachable by linkname for packages that need
// them; README.md has the build's needs.
//
// A goroutine is held as a number, not as a pointer: descriptors of goroutines are never freed or
// moved, and a number needs no write barrier. The commit functions below run on the scheduler's
// stack, and could not use a barrier safely.

// gopark parks the calling goroutine, then calls commit with it on the scheduler's stack. If commit
// returns false, the goroutine runs on at once.
//
//go:linkname gopark runtime.gopark
func gopark(commit func(g uintptr, arg unsafe.Pointer) bool, arg unsafe.Pointer, reason uint8, traceReason uint8, traceskip int)

// goready makes a parked goroutine runnable: this processor runs it next.
//
//go:linkname goready runtime.goready
func goready(g uintptr, traceskip int)

// States of a parker; any other value is the parked goroutine.
const (
	parkerEmpty = 0
	parkerToken = 1
)

// parker is one task's park and unpark with a token.
//
// Protocol. Only the owner leaves parkerToken. park: if the token is there, take it; else park and,
// once parked, exchange parkerEmpty for the goroutine; if that fails, the token arrived meanwhile
// and the owner runs on. unpark: swap in the token; the task that gets a goroutine out of the swap
// readies it, so it is readied exactly once. A second token before the owner has run merges with
// the first.
type parker struct {
	state atomic.Uintptr
	_     [linePad - 8]byte
}

func (p *parker) park() {
	if p.state.Load() != parkerToken {
		gopark(commitPark, unsafe.Pointer(p), 0, 0, 1)
	}
	p.state.Store(parkerEmpty)
}

func commitPark(g uintptr, arg unsafe.Pointer) bool {
	return (*parker)(arg).state.CompareAndSwap(parkerEmpty, g)
}

func (p *parker) unpark() {
	if g := p.state.Swap(parkerToken); g > parkerToken {
		goready(g, 1)
	}
}

// spinsBeforeYield bounds a spin for the lock below. Its sections are a few nanoseconds long, so a
// lock that stays taken for longer belongs to a goroutine preempted inside. On one processor that
// goroutine would never run again without the yield.
const spinsBeforeYield = 100

// spinLock guards a semaphore's few words.
type spinLock struct{ word atomic.Uint32 }

func (l *spinLock) lock() {
	if !l.word.CompareAndSwap(0, 1) {
		l.lockSlow()
	}
}

func (l *spinLock) lockSlow() {
	for {
		for i := 0; i < spinsBeforeYield; i++ {
			if l.word.Load() == 0 && l.word.CompareAndSwap(0, 1) {
				return
			}
		}
		runtime.Gosched()
	}
}

func (l *spinLock) unlock() { l.word.Store(0) }

// waiting is the part of a waiter that the commit function fills in.
type waiting struct {
	g    uintptr
	lock *spinLock
}

// waiter is a task's place in a semaphore's queue. A task waits at one semaphore at a time, so it
// has one waiter for all of them.
type waiter[D any] struct {
	waiting
	next  *waiter[D]
	datum D
	_     [linePad]byte
}

// semaphore is a counting semaphore with FIFO hand-over. Its permits carry a datum.
//
// Protocol. P takes the lock; if there is no permit it appends its waiter and parks with the lock
// held; the commit function notes the goroutine in the waiter and only then unlocks. So a V that
// finds a waiter in the queue finds a goroutine that is parked and safe to ready. V gives its
// permit to the first waiter, or keeps it when there is none; a newcomer never overtakes a waiter.
type semaphore[D any] struct {
	spinLock
	first, last *waiter[D]
	permits     []D
	_           [linePad]byte
}

// newSemaphore makes a semaphore without permits, with room for as many as there are likely to be.
func newSemaphore[D any](room int) *semaphore[D] {
	return &semaphore[D]{permits: make([]D, 0, room)}
}

func (s *semaphore[D]) p(w *waiter[D]) D {
	s.lock()
	if last := len(s.permits) - 1; last >= 0 {
		datum := s.permits[last]
		s.permits = s.permits[:last]
		s.unlock()
		return datum
	}
	w.next = nil
	if s.last == nil {
		s.first = w
	} else {
		s.last.next = w
	}
	s.last = w
	w.waiting.lock = &s.spinLock
	gopark(commitWait, unsafe.Pointer(&w.waiting), 0, 0, 1)
	return w.datum
}

func commitWait(g uintptr, arg unsafe.Pointer) bool {
	w := (*waiting)(arg)
	w.g = g
	w.lock.unlock()
	return true
}

func (s *semaphore[D]) v(datum D) {
	s.lock()
	w := s.first
	if w == nil {
		s.permits = append(s.permits, datum)
		s.unlock()
		return
	}
	s.first = w.next
	if s.first == nil {
		s.last = nil
	}
	s.unlock()
	w.datum = datum
	goready(w.g, 1)
}
