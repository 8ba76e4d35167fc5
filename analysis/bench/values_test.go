package bench_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
	"mdmgen/internal/reftest"
)

func TestInts(t *testing.T) {
	for in, want := range map[string][]int{
		"8":                   {8},
		"8,16, 32":            {8, 16, 32},
		"8-64*2":              {8, 16, 32, 64},
		"8-63*2":              {8, 16, 32},
		"4-16+4":              {4, 8, 12, 16},
		"4-6":                 {4, 5, 6},
		"7-7":                 {7},
		"1,8-16+8":            {1, 8, 16},
		"100000-100000000*10": {100000, 1000000, 10000000, 100000000},
	} {
		got, err := bench.Ints(in, 1, 1<<30)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "not a whole number", "x": "not a whole number", "1.5": "not a whole number", "-4": "not a whole number", "0": "1..1024",
		"1025": "1..1024", "8-4*2": "is empty", "8-4": "is empty", "8-16*1": "does not move", "8-16+0": "does not move", "8-16*0": "does not move",
		"8-16*": "not a whole", "8-": "not a whole", "8-16-32": "not a whole", "8,8": "twice", "8,4-8+4": "twice", "1e3": "not a whole", "NaN": "not a whole",
		"8-2000*2": "1..1024", "99999999999999999999": "not a whole", "8-16*1.5": "not a whole", "8,,16": "not a whole",
	} {
		reftest.FailsInLine(t, reftest.Err(bench.Ints(in, 1, 1024)), want, in)
	}
	reftest.Fails(t, reftest.Err(bench.Ints("1-100000", 1, 1<<30)), "more than 4096", "a range of 100000")
}

func TestFloats(t *testing.T) {
	for in, want := range map[string]string{
		"0.5-1+0.1": "0.5 0.6 0.7 0.8 0.9 1", "0.1-0.8*2": "0.1 0.2 0.4 0.8", "1e-3,1e-2": "0.001 0.01", "1e-3-1e-1*10": "0.001 0.01 0.1",
	} {
		settings, err := bench.ParseCase("fhs temperature=" + in)
		if got := strings.ReplaceAll(ids(settings), "; fhs temperature=", " "); err != nil || got != "fhs temperature="+want {
			t.Errorf("%q: %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"NaN", "-1", "0-1*2", "1-inf+1", "1-2+0", "2-1+1", "1-2*1.0000000000001", "", "0-1+1e-300", "1-1e308*1.01"} {
		reftest.Fails(t, reftest.Err(bench.ParseCase("fhs temperature="+in)), "", in)
	}
}

// FuzzInts checks that parsed values are within their bounds and distinct, and that their list
// parses to the same values.
func FuzzInts(f *testing.F) {
	for _, s := range []string{"8,16", "8-1024*2", "4-16+4", "1-9", "0-0+1", "1-9007199254740992*9007199254740991", "٣"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := bench.Ints(s, 1, 1<<20)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || got != nil {
				t.Errorf("%q: %v, %q", s, got, err)
			}
			return
		}
		seen := make(map[int]bool)
		for _, n := range got {
			if n < 1 || n > 1<<20 || seen[n] {
				t.Fatalf("%q: %v", s, got)
			}
			seen[n] = true
		}
		list := strings.ReplaceAll(strings.Trim(fmt.Sprint(got), "[]"), " ", ",")
		if again, err := bench.Ints(list, 1, 1<<20); err != nil || !slices.Equal(again, got) {
			t.Errorf("%q reads as %v, and %q as %v, %v", s, got, list, again, err)
		}
	})
}
