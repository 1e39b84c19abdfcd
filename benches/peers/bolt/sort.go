package main

import (
	"slices"
	"time"
)

// The time in microseconds that one in a hundred passes, where times were taken.
func p99(sampled []time.Duration) *float64 {
	if len(sampled) == 0 {
		return nil
	}
	slices.Sort(sampled)
	at := min(len(sampled)*99/100, len(sampled)-1)
	micros := float64(sampled[at].Nanoseconds()) / 1e3
	return &micros
}
