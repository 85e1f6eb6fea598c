// SPDX-License-Identifier: Apache-2.0

// peers.go - Go's crypto/rand, as a row of the benchmark: adds its repetitions to the JSON that scripts/bench.sh has left.
//
//	peers NAME REPETITIONS FILE    with GODEBUG=fips140=on Go uses the generator of its FIPS module
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

var sizes = []int{16, 32, 64, 256, 1 << 10, 1 << 14, 1 << 16, 1 << 20}

// Long enough that the clock's grain does not show.
const nanoseconds = 20_000_000

func cpuTime() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

func fill(out []byte) {
	if _, err := rand.Read(out); err != nil {
		panic(err)
	}
}

// In nanoseconds of CPU time for a request.
func timed(size int) float64 {
	out := make([]byte, size)
	fill(out) // its self-tests and its generator are there before the clock starts
	for count := 1; ; count *= 2 {
		begun := cpuTime()
		for range count {
			fill(out)
		}
		if took := cpuTime() - begun; took >= nanoseconds {
			return float64(took) / float64(count)
		}
	}
}

func main() {
	name, file := os.Args[1], os.Args[3]
	repetitions, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	known := map[string]any{}
	if err := json.Unmarshal(text, &known); err != nil {
		panic(err)
	}
	rows := known["benchmarks"].([]any)
	for range repetitions {
		for _, size := range sizes {
			rows = append(rows, map[string]any{"run_name": fmt.Sprintf("bytes/%s/%d", name, size),
				"cpu_time": timed(size), "time_unit": "ns"})
		}
	}
	known["benchmarks"] = rows
	if text, err = json.Marshal(known); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		panic(err)
	}
}
