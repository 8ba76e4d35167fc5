package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Keys of a setting that are not options of samplers.
const (
	KeySampler = "sampler" // the name of the sampler
	KeyLength  = "length"  // the positions of a canvas
	KeyBatch   = "batch"   // the sequences of a call
	KeyThreads = "threads" // the threads of the runtime
)

// A key of a setting is a sampler's option or a number of the run.
type key struct {
	samplers.Option
	// run returns the field of a number of the run; it is nil for an option.
	run func(*Setting) *int
}

// keys is in the order of a cross product.
var keys = func() (out []key) {
	for _, o := range catalog.AllOptions() {
		out = append(out, key{Option: o})
	}
	run := func(name string, least, most float64, field func(*Setting) *int) {
		out = append(out, key{samplers.Option{Name: name, Least: least, Most: most, Whole: true}, field})
	}
	run(KeyLength, 1, 1<<20, func(s *Setting) *int { return &s.Length })
	run(KeyBatch, 1, 1<<20, func(s *Setting) *int { return &s.Batch })
	run(KeyThreads, 0, 4096, func(s *Setting) *int { return &s.Threads })
	return out
}()

func find(name string) (key, bool) {
	for _, k := range keys {
		if k.Name == name {
			return k, true
		}
	}
	return key{}, false
}

// values parses a list into one string per value, in the form that set reads.
func (k key) values(text string) (out []string, err error) {
	if k.Most == 0 {
		out, err = words(k.Name, text)
		for _, word := range out {
			if err := k.Check(word); err != nil {
				return nil, fault.Errorf("bench", "%s", fault.Plain(err))
			}
		}
		return out, err
	}
	list, err := numbers(text, k.Least, k.Most, k.Whole)
	if err != nil {
		return nil, fault.Errorf("bench", "%s: %s", k.Name, fault.Plain(err))
	}
	for _, v := range list {
		if k.Whole {
			out = append(out, strconv.Itoa(int(v)))
		} else {
			out = append(out, fmt.Sprint(v))
		}
	}
	return out, nil
}

// set sets a setting's value to one of values.
func (k key) set(s *Setting, value string) {
	var err error
	if k.run != nil {
		*k.run(s), err = strconv.Atoi(value)
	} else {
		err = s.Options.Set(k.Name, value)
	}
	if err != nil {
		panic(err) // values has parsed the value.
	}
}

// get returns a setting's value, "" if it is not given.
func (k key) get(s Setting) string {
	switch {
	case k.run == nil:
		return s.Options.Get(k.Name)
	case *k.run(&s) == 0:
		return ""
	}
	return strconv.Itoa(*k.run(&s))
}

// words parses names. A list of times, "theta:5,1,0", or of numbers, "4,2,1", is one value: a
// number after a number, or after a name with a colon, belongs to it.
func words(key, text string) ([]string, error) {
	var out []string
	list := false // the last value is a list of numbers
	for _, item := range strings.Split(strings.Join(strings.Fields(text), ""), ",") {
		if item == "" {
			return nil, fault.Errorf("bench", "%s %.40q: a value is empty", key, text)
		}
		_, err := strconv.ParseFloat(item, 64)
		if err == nil && list {
			out[len(out)-1] += "," + item
			continue
		}
		list = err == nil || strings.Contains(item, ":")
		if slices.Contains(out, item) {
			return nil, fault.Errorf("bench", "%s %.40q: %s appears twice", key, text, item)
		}
		out = append(out, item)
	}
	return out, nil
}
