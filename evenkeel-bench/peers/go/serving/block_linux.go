package main

import (
	"syscall"
	"time"
)

// blockThread blocks the thread: a system call, beside which the scheduler may give the processor
// to another thread. time.Sleep would block the goroutine alone.
func blockThread(duration time.Duration) {
	left := syscall.NsecToTimespec(duration.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}
