package bench

import (
	"maps"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/suggest"
	"mdmgen/samplers/catalog"
)

// MaxCells bounds a grid of settings.
const MaxCells = 4096

// Setting is one point of a grid: a sampler's options and how it is run. Fields that are 0 or nil
// were not given.
type Setting struct {
	Options                catalog.Options
	Length, Batch, Threads int
}

// ID returns the setting as text: the sampler, then the given values as KEY=VALUE in a fixed order.
// [ParseCase] reads it. It is stable between versions.
func (s Setting) ID() string {
	out := []string{s.Options.Sampler}
	add := func(name, value string) {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	options := s.Options.List()
	for _, o := range options {
		add(o.Name, o.Get())
	}
	for _, k := range keys[len(options):] {
		add(k.Name, k.get(s))
	}
	return strings.Join(out, " ")
}

// Axis is a key with a list of values as on a command line.
type Axis struct {
	Key, Values string
	// Optional marks a default, which no sampler needs to use.
	Optional bool
}

// Cross returns the cross product of samplers, given as names, aliases or cases ([ParseCase]), with
// axes. A key set by a case replaces the axis of that key. An axis applies to the samplers that use
// it together with their other values, and must apply to at least one. Settings are ordered by
// sampler, and the number of steps varies fastest among a sampler's own options. The error names
// the wrong axis, a setting that appears twice, or a grid of more than [MaxCells].
func Cross(names []string, axes []Axis) ([]Setting, error) {
	values, err := lists(axes)
	if err != nil {
		return nil, err
	}
	used := make(map[string]bool)
	for _, a := range axes {
		used[a.Key] = a.Optional
	}
	var out []Setting
	for _, name := range names {
		made, err := ofCase(name, values, used)
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	for _, k := range keys {
		if values[k.Name] != nil && !used[k.Name] {
			return nil, unused(k.Name, strings.Join(names, ","))
		}
	}
	return out, Distinct(out)
}

// lists parses the values of axes, by key.
func lists(axes []Axis) (map[string][]string, error) {
	out := make(map[string][]string)
	for _, a := range axes {
		k, ok := find(a.Key)
		if !ok {
			return nil, fault.Errorf("bench", "%.40q is not a key: must be one of %s", a.Key, strings.Join(Keys(), ", "))
		}
		if out[a.Key] != nil {
			return nil, fault.Errorf("bench", "%s is given twice", a.Key)
		}
		list, err := k.values(a.Values)
		if err != nil {
			return nil, err
		}
		out[a.Key] = list
	}
	return out, nil
}

// ofCase multiplies the sampler of a case with its own values and with those of values that it
// uses, and marks the keys of the latter as used.
func ofCase(text string, values map[string][]string, used map[string]bool) ([]Setting, error) {
	fields := append(strings.Fields(text), "")
	d, ok := catalog.Describe(fields[0])
	if !ok {
		return nil, fault.Errorf("bench", "sampler %.40q: must be one of %s, optionally with settings, as in 'tweedie steps=8'%s", fields[0], strings.Join(catalog.Names(), ", "), suggest.Ending(fields[0], catalog.Names()))
	}
	var axes []Axis
	for _, f := range fields[1 : len(fields)-1] {
		key, list, ok := strings.Cut(f, "=")
		if !ok {
			return nil, fault.Errorf("bench", "%.60q: %.40q is not KEY=VALUE", text, f)
		}
		axes = append(axes, Axis{Key: key, Values: list})
	}
	own, err := lists(axes)
	if err != nil {
		return nil, fault.Errorf("bench", "%.60q: %s", text, fault.Plain(err))
	}
	all, here := maps.Clone(values), make(map[string]bool)
	maps.Copy(all, own)
	out, err := cross(Setting{Options: catalog.Options{Sampler: d.Name}}, all, here)
	if err != nil {
		return nil, err
	}
	for _, a := range axes {
		if !here[a.Key] {
			return nil, unused(a.Key, text)
		}
		delete(here, a.Key)
	}
	maps.Copy(used, here)
	return out, nil
}

// unused returns the error for a key that no sampler uses.
func unused(key, names string) error {
	return fault.Errorf("bench", "%s: no sampler of %.60s uses it here: leave it out, or compare one of %s", key, names, strings.Join(catalog.Users(key), ", "))
}

// Compared returns the samplers to compare if none are named, in the form that [Cross] takes. Under
// log-linear noise Euler's steps equal Tweedie's, so Euler is compared as in the paper: on its
// grid, in the time of the exp noise, except for keys that are given.
func Compared(given func(key string) bool) []string {
	euler := "euler"
	for _, own := range [][2]string{{"grid", "paper"}, {"noise", "exp"}} {
		if !given(own[0]) {
			euler += " " + own[0] + "=" + own[1]
		}
	}
	return []string{"parallel-fhs", "tweedie", "spread", euler}
}

// cross multiplies a setting with the values that its sampler uses and that it does not set.
func cross(from Setting, values map[string][]string, used map[string]bool) ([]Setting, error) {
	out := []Setting{from}
	for _, k := range keys {
		list := values[k.Name]
		if list == nil || k.get(from) != "" {
			continue
		}
		var next []Setting
		for _, s := range out {
			unused, err := s.Options.Unused()
			if err != nil {
				return nil, fault.Errorf("bench", "%s", fault.Plain(err))
			}
			if _, ok := unused[k.Name]; ok {
				next = append(next, s)
				continue
			}
			used[k.Name] = true
			for _, v := range list {
				k.set(&s, v)
				if next = append(next, s); len(next) > MaxCells {
					return nil, fault.Errorf("bench", "%d settings or more: at most %d are allowed: give fewer values", len(next), MaxCells)
				}
			}
		}
		out = next
	}
	return out, nil
}

// ParseCase parses a case, which a cross product over all samplers cannot express, such as "tweedie
// steps=8,16 grid=paper": a sampler, then KEY=VALUES. A key that the sampler does not use is an
// error.
func ParseCase(text string) ([]Setting, error) {
	out, err := ofCase(text, make(map[string][]string), make(map[string]bool))
	if err == nil {
		err = Distinct(out)
	}
	return out, err
}

// Fill adds the axes of a run (length, batch, threads) to settings without them.
func Fill(settings []Setting, axes []Axis) ([]Setting, error) {
	values, err := lists(axes)
	if err != nil {
		return nil, err
	}
	var out []Setting
	for _, s := range settings {
		made, err := cross(s, values, make(map[string]bool))
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	return out, nil
}

// Distinct returns an error if a setting appears twice or there are more than [MaxCells].
func Distinct(settings []Setting) error {
	if len(settings) > MaxCells {
		return fault.Errorf("bench", "%d settings: at most %d are allowed: give fewer values", len(settings), MaxCells)
	}
	seen := make(map[string]bool)
	for _, s := range settings {
		id := s.ID()
		if seen[id] {
			return fault.Errorf("bench", "%s appears twice", id)
		}
		seen[id] = true
	}
	return nil
}

// Keys lists the keys of a case.
func Keys() []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Name)
	}
	return out
}
