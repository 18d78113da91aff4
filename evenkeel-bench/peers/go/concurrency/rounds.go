package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// ctxswitch measures yields: each of several goroutines makes its share of n.
func ctxswitch(parties, n uint64) (time.Duration, error) {
	made := make([]uint64, parties)
	var begun, ended sync.WaitGroup
	begun.Add(int(parties))
	ended.Add(int(parties))
	var once sync.Once
	var started time.Time
	for i := uint64(0); i < parties; i++ {
		share := n / parties
		if i < n%parties {
			share++
		}
		go func(made *uint64) {
			begun.Done()
			begun.Wait()
			once.Do(func() { started = time.Now() })
			count := uint64(0)
			for ; count < share; count++ {
				runtime.Gosched()
			}
			*made = count
			ended.Done()
		}(&made[i])
	}
	ended.Wait()
	took := time.Since(started)
	sum := uint64(0)
	for _, some := range made {
		sum += some
	}
	if sum != n {
		return 0, fmt.Errorf("%d yields of %d were made", sum, n)
	}
	return took, nil
}

// monitor is a lock, and the data that it guards.
type monitor struct {
	mutex   sync.Mutex
	entries uint64
	waiting bool
	_       [64]byte
}

func enter(monitors []monitor) {
	for i := range monitors {
		monitors[i].mutex.Lock()
	}
}

func leave(monitors []monitor) {
	for i := range monitors {
		monitors[len(monitors)-1-i].mutex.Unlock()
	}
}

//go:noinline
func routine(monitors []monitor) {
	enter(monitors)
	for i := range monitors {
		monitors[i].entries++
	}
	leave(monitors)
}

// mutex measures entry and exit.
func mutex(count int, n uint64) (time.Duration, error) {
	monitors := make([]monitor, count)
	started := time.Now()
	for i := uint64(0); i < n; i++ {
		routine(monitors)
	}
	took := time.Since(started)
	for i := range monitors {
		if monitors[i].entries != n {
			return 0, fmt.Errorf("%d entries of %d are counted", monitors[i].entries, n)
		}
	}
	return took, nil
}

// schedint measures wait and signal as the suite's Rust code does: a signaller that finds no waiter
// lets the other run.
func schedint(count int, n uint64, signaller bool) (time.Duration, error) {
	monitors := make([]monitor, count)
	first, others := &monitors[0], monitors[1:]
	condition := sync.NewCond(&first.mutex)
	begun := make(chan struct{})
	waited := make(chan time.Duration)
	go func() {
		enter(monitors)
		close(begun)
		started := time.Now()
		for i := uint64(0); i < n; i++ {
			first.waiting = true
			for first.waiting {
				leave(others)
				condition.Wait()
				enter(others)
			}
			first.entries++
		}
		took := time.Since(started)
		leave(monitors)
		waited <- took
	}()
	<-begun
	started := time.Now()
	for rounds := uint64(0); rounds < n; {
		enter(monitors)
		found := first.waiting
		if found {
			first.waiting = false
			condition.Signal()
			rounds++
		}
		leave(monitors)
		if !found {
			runtime.Gosched()
		}
	}
	signalled := time.Since(started)
	took := <-waited
	if first.entries != n {
		return 0, fmt.Errorf("%d rounds of %d are counted", first.entries, n)
	}
	if signaller {
		return signalled, nil
	}
	return took, nil
}

// schedext measures accept and call: an unbuffered channel, received from in a select of one case.
func schedext(n uint64, caller bool) (time.Duration, error) {
	calls := make(chan uint64)
	type accepted struct {
		took time.Duration
		sum  uint64
	}
	ended := make(chan accepted)
	go func() {
		sum := uint64(0)
		started := time.Now()
		for i := uint64(0); i < n; i++ {
			select {
			case number := <-calls:
				sum += number
			}
		}
		ended <- accepted{time.Since(started), sum}
	}()
	started := time.Now()
	right := uint64(0)
	for i := uint64(0); i < n; i++ {
		calls <- i
		right += i
	}
	called := time.Since(started)
	all := <-ended
	if all.sum != right {
		return 0, fmt.Errorf("the numbers of %d calls come to %d instead of %d", n, all.sum, right)
	}
	if caller {
		return called, nil
	}
	return all.took, nil
}

// creation measures start and join of goroutines.
func creation(n uint64) (time.Duration, error) {
	ended := make(chan uint64)
	sum := uint64(0)
	started := time.Now()
	for i := uint64(0); i < n; i++ {
		go func() { ended <- 1 }()
		sum += <-ended
	}
	took := time.Since(started)
	if sum != n {
		return 0, fmt.Errorf("%d goroutines of %d have ended", sum, n)
	}
	return took, nil
}
