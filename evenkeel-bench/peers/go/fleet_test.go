package main

import (
	"sync/atomic"
	"testing"
)

// counted returns the tally of a task that counts one operation in each of these phases, and
// whether it should go on.
func counted(phases ...uint32) (did tally, more bool) {
	var phase atomic.Uint32
	m := meter{phase: &phase}
	for _, now := range phases {
		phase.Store(now)
		more = m.count(1)
	}
	return m.tally, more
}

func TestOperationsThatWereCompleteWithinTheMeasuredTimeAreMeasured(t *testing.T) {
	did, more := counted(warming, warming, measuring, measuring, measuring, stopped)
	if did != (tally{total: 6, measured: 3}) || more {
		t.Errorf("%+v, more: %v", did, more)
	}
}

func TestAnOperationThatLastsBeyondTheMeasuredTimeIsNotMeasured(t *testing.T) {
	for _, phases := range [][]uint32{{stopped}, {warming, stopped}, {warming, warming, stopped}} {
		did, more := counted(phases...)
		if did != (tally{total: uint64(len(phases))}) || more {
			t.Errorf("%v: %+v, more: %v", phases, did, more)
		}
	}
	if did, _ := counted(measuring, stopped); did != (tally{total: 2, measured: 1}) {
		t.Errorf("%+v", did)
	}
}
