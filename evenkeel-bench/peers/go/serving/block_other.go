//go:build !linux

package main

import "time"

// blockThread blocks the goroutine alone: the standard library has no call for all systems that
// blocks the thread for a time.
func blockThread(duration time.Duration) { time.Sleep(duration) }
