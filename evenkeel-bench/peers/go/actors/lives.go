package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// wave is the number of actors that are alive at once in waves.
const wave = 1_000

// actorSpawn: actors are spawned, receive one message each, and stop: all alive at once, or in
// waves.
func actorSpawn(s settings) (outcome, error) {
	size := s.actors
	if s.mode == "waves" {
		size = min(wave, s.actors)
	}
	var handled atomic.Int64
	started := time.Now()
	table := make([]chan struct{}, size)
	for left := s.actors; left > 0; left -= size {
		size = min(size, left)
		var alive sync.WaitGroup
		alive.Add(size)
		for i := range table[:size] {
			mailbox := make(chan struct{}, 1)
			table[i] = mailbox
			go func() {
				<-mailbox
				handled.Add(1)
				alive.Done()
			}()
		}
		for _, mailbox := range table[:size] {
			mailbox <- struct{}{}
		}
		alive.Wait()
	}
	took := time.Since(started)
	if handled.Load() != int64(s.actors) {
		return outcome{}, fmt.Errorf("%d actors of %d had their message", handled.Load(), s.actors)
	}
	return outcome{actors: s.actors, messages: s.actors, took: took}, nil
}

// actorMemory measures the memory of an idle actor, resident and in use by Go's own count, each
// after a collection.
func actorMemory(s settings) (outcome, error) {
	used := s.mode == "used"
	started := time.Now()
	heapBefore, residentBefore := memory()
	table := make([]chan struct{}, s.actors)
	var begun, handled, ended sync.WaitGroup
	begun.Add(s.actors)
	ended.Add(s.actors)
	if used {
		handled.Add(s.actors)
	}
	for i := range table {
		mailbox := make(chan struct{}, 1)
		table[i] = mailbox
		go func() {
			begun.Done()
			for range mailbox {
				handled.Done()
			}
			ended.Done()
		}()
	}
	begun.Wait()
	messages := 0
	if used {
		messages = s.actors
		for _, mailbox := range table {
			mailbox <- struct{}{}
		}
		handled.Wait()
	}
	heap, resident := memory()
	took := time.Since(started)
	for _, mailbox := range table {
		close(mailbox)
	}
	ended.Wait()
	o := outcome{actors: s.actors, messages: messages, took: took}
	perActor := func(before, after float64) *float64 {
		bytes := (after - before) / float64(s.actors)
		return &bytes
	}
	o.heapBytesPerActor = perActor(heapBefore, heap)
	if residentBefore > 0 {
		o.bytesPerActor = perActor(residentBefore, resident)
	}
	return o, nil
}

// memory returns the bytes in use of heap and stacks, and the resident bytes of this program: 0
// where there is no Linux-style /proc.
func memory() (inUse, resident float64) {
	// Returns free memory to the system.
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	text, err := os.ReadFile("/proc/self/status")
	if err == nil {
		if _, rest, found := bytes.Cut(text, []byte("VmRSS:")); found {
			kib, _ := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
			resident = 1024 * kib
		}
	}
	return float64(stats.HeapInuse + stats.StackInuse), resident
}
