package main

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestPatienceAndSeedAreRead(t *testing.T) {
	c, err := parse(strings.Fields("--bench transfer --variant park --patience 0.5 --seed 7"), io.Discard)
	if err != nil || c.patience != 500*time.Millisecond || c.seed != 7 {
		t.Errorf("%+v: %v", c, err)
	}
	for _, patience := range []string{"0", "-1", "NaN", "4000"} {
		_, err := parse([]string{"--bench", "yield", "--patience", patience}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "--patience") {
			t.Errorf("%s: %v", patience, err)
		}
	}
}
