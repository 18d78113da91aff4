package main

import (
	"math"
	"math/bits"
	"sort"
)

// enough99 and enough999 are the fewest delays of which 1 in 100, and 1 in 1,000, is a figure.
const (
	enough99  = 100
	enough999 = 1000
)

// columns is the number of parts of the run, and never the row of goroutines that never ran.
const (
	columns = 40
	never   = 63
)

// none is a time that has not been written.
const none = math.MaxInt64

// delays is the summary of one kind. A percentile that falls on a goroutine that never ran is nil.
type delays struct {
	Count int      `json:"count"`
	Never int      `json:"never"`
	P50   *float64 `json:"p50"`
	P99   *float64 `json:"p99"`
	P999  *float64 `json:"p999"`
	Max   *float64 `json:"max"`
	Heat  [][3]int `json:"heat"`
}

// light is one light goroutine: when it was woken or started, and its delay, in nanoseconds.
type light struct {
	sent  int64
	delay int64
}

// summarise summarises goroutines that were read at one moment; the run took from first to last.
func summarise(lights []light, first, last int64) delays {
	var ran []int64
	var cells [columns][never + 1]int
	for _, one := range lights {
		at, row := one.sent, never
		if at == none {
			at = last
		}
		if one.delay != none {
			ran = append(ran, one.delay)
			row = min(bits.Len64(uint64(max(one.delay, 1)))-1, never-1)
		}
		column := max(at-first, 0) * columns / max(last-first, 1)
		cells[min(column, columns-1)][row]++
	}
	sort.Slice(ran, func(i, j int) bool { return ran[i] < ran[j] })
	count := len(lights)
	d := delays{Count: count, Never: count - len(ran), Heat: [][3]int{}}
	d.P50, d.Max = micros(ran, count, 0.5), micros(ran, count, 1)
	if count >= enough99 {
		d.P99 = micros(ran, count, 0.99)
	}
	if count >= enough999 {
		d.P999 = micros(ran, count, 0.999)
	}
	for column := range cells {
		for row, number := range cells[column] {
			if number > 0 {
				d.Heat = append(d.Heat, [3]int{column, row, number})
			}
		}
	}
	return d
}

// micros is the value of sorted nanoseconds, in microseconds, that this share of count values does
// not exceed, where those that are missing are the largest.
func micros(sorted []int64, count int, share float64) *float64 {
	rank := max(int(math.Ceil(share*float64(count)-1e-9)), 1)
	if rank > len(sorted) {
		return nil
	}
	us := float64(sorted[rank-1]) / 1e3
	return &us
}
