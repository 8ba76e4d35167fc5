package ort

import (
	"slices"
	"strings"
	"testing"
)

// A list of devices is one of a kind, its GPUs named in full or by their number, and each device gets its part
// of the threads.
func TestEachDevice(t *testing.T) {
	for list, want := range map[string][]string{
		"": {""}, "cpu": {"cpu"}, "auto": {"auto"}, "cuda": {"cuda"}, "cuda:7": {"cuda:7"},
		"cpu,cpu,cpu": {"cpu", "cpu", "cpu"}, "cuda:0,1": {"cuda:0", "cuda:1"}, "cuda:2,cuda:0": {"cuda:2", "cuda:0"}, "cuda,3,3": {"cuda", "cuda:3", "cuda:3"},
		"cpu,": nil, ",cpu": nil, "cpu,1": nil, "0,1": nil, "cpu,cuda": nil, "cuda,cpu": nil, "auto,auto": nil, "cuda,auto": nil, "cuda:0,-1": nil, "cuda:0,256": nil, "cuda:0, 1": nil, "gpu": nil,
	} {
		each, err := Config{Device: list}.Each()
		var got []string
		for _, c := range each {
			got = append(got, c.Device)
		}
		if err != nil {
			got = nil
			if !strings.Contains(err.Error(), `device "`+list+`": must be `+DeviceForms) {
				t.Errorf("%q: %v", list, err)
			}
		}
		if !slices.Equal(got, want) || (CheckDevice(list) == nil) != (want != nil) {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
	for _, n := range []int{1, 2, 3} {
		c := Config{Device: "cpu" + strings.Repeat(",cpu", n-1)}
		each, err := c.Each()
		sum := 0
		for _, one := range each {
			if sum += one.threads(); one.threads() < 1 {
				t.Errorf("%d threads", one.threads())
			}
		}
		if err != nil || sum != max(n, c.threads()) {
			t.Errorf("%d devices on %d threads have %d: %v", n, c.threads(), sum, err)
		}
	}
}
