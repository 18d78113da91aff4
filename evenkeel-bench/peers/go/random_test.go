package main

import (
	"slices"
	"testing"
)

// The suite's own process draws the same numbers.
func TestEachTaskHasTheStreamOfTheSuite(t *testing.T) {
	for _, c := range []struct {
		seed  uint64
		task  int
		drawn []int
	}{
		{1, 0, []int{882, 401, 514, 306, 167}},
		{1, 1, []int{549, 942, 434, 702, 507}},
		{12345678901, 99, []int{498, 410, 580, 804, 360}},
	} {
		r := newRandom(c.seed, c.task)
		var drawn []int
		for range c.drawn {
			drawn = append(drawn, r.below(1000))
		}
		if !slices.Equal(drawn, c.drawn) {
			t.Errorf("seed %d, task %d: %v instead of %v", c.seed, c.task, drawn, c.drawn)
		}
	}
}
