package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// The memory of this process without the pages of files that it maps, once garbage is collected and given back.
func memory() uint64 {
	debug.FreeOSMemory()
	return field("/proc/self/smaps_rollup", "Anonymous:") << 10
}

func field(path, name string) uint64 {
	told, err := os.ReadFile(path)
	fail(err)
	for _, line := range strings.Split(string(told), "\n") {
		if rest, is := strings.CutPrefix(line, name); is {
			number, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			fail(err)
			return number
		}
	}
	fail(fmt.Errorf("%s has no %s", path, name))
	return 0
}
