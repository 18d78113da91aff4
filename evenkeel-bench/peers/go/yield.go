package main

import "runtime"

// runYield measures Yield: every task only yields. Both modes call runtime.Gosched, because a
// hand-made yield would do the same: park the goroutine and queue it again.
func runYield(cfg config) (measurement, error) {
	f := newFleet(cfg.tasks())
	for i := 0; i < cfg.tasks(); i++ {
		f.add(func(m meter) tally {
			for {
				runtime.Gosched()
				if !m.count(1) {
					return m.tally
				}
			}
		})
	}
	return f.measure(cfg.duration, nothing, nothing)
}
