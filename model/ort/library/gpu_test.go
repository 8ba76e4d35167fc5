package library

import "testing"

// A device is described in one line, without unknown values.
func TestGPUString(t *testing.T) {
	for want, g := range map[string]GPU{
		"A GPU, compute capability 9.0, 80 GiB, driver 580.65, clocks to 1980 MHz, of memory 2619 MHz, 700 W": {Name: "A GPU", Capability: "9.0", MemoryMiB: 81559, Driver: "580.65", ClockMHz: 1980, MemoryMHz: 2619, PowerW: 700},
		"A GPU, compute capability 7.5, 15 GiB, driver 580.65":                                                {Name: "A GPU", Capability: "7.5", MemoryMiB: 15360, Driver: "580.65"},
	} {
		if got := g.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
