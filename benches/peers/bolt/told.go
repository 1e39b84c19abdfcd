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

// The bytes that this process has handed to the system so far, by calls that write.
func handedDown() uint64 {
	return field("/proc/self/io", "wchar:")
}

// The bytes that the disk of this account has written so far, whoever asked for it; none where there is no account.
func written(account string) uint64 {
	if account == "" {
		return 0
	}
	told, err := os.ReadFile(account)
	fail(err)
	sectors, err := strconv.ParseUint(strings.Fields(string(told))[6], 10, 64)
	fail(err)
	return sectors * 512
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
