package bench

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"

	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
)

// MaxCells bounds a grid of settings.
const MaxCells = 4096

// Setting is one point of a grid: a sampler's options, and how it is run. What is
// 0 or nil was not given.
type Setting struct {
	Options                catalog.Options
	Length, Batch, Threads int
}

// ID is the setting in words: the sampler, then what was given, as KEY=VALUE in a fixed
// order. [ParseCase] reads it back. It is stable from one version to the next.
func (s Setting) ID() string {
	out := []string{s.Options.Sampler}
	for _, k := range keys {
		if v := k.get(s); v != "" {
			out = append(out, k.Name+"="+v)
		}
	}
	return strings.Join(out, " ")
}

// Axis is a key with a list of values, as a command line gives it.
type Axis struct {
	Key, Values string
	// Optional says that it is a default, which may go to no sampler.
	Optional bool
}

// Cross is the cross product of samplers, given by names or aliases, with axes. A name may be
// followed by KEY=VALUE, which the sampler has in place of the axis of that key. An
// axis goes to those samplers that use it together with their other values, and must go
// to one. Settings come sampler by sampler, and the numbers of steps vary fastest among a
// sampler's own options. The error names the axis that is wrong, a setting that comes
// twice, or a grid of more than [MaxCells].
func Cross(names []string, axes []Axis) ([]Setting, error) {
	values, used := make(map[string][]string), make(map[string]bool)
	for _, a := range axes {
		k, ok := find(a.Key)
		if !ok {
			near, likeness := "", 0.84
			for _, k := range Keys() {
				if x := smetrics.JaroWinkler(a.Key, k, 0.7, 4); x > likeness {
					near, likeness = "; did you mean "+k+"?", x
				}
			}
			return nil, fault.Errorf("bench", "%.40q is not a key: must be one of %s%s", a.Key, strings.Join(Keys(), ", "), near)
		}
		if values[a.Key] != nil {
			return nil, fault.Errorf("bench", "%s is given twice", a.Key)
		}
		list, err := k.values(a.Values)
		if err != nil {
			return nil, err
		}
		values[a.Key], used[a.Key] = list, a.Optional
	}
	var out []Setting
	for _, name := range names {
		own, err := named(name)
		if err != nil {
			return nil, err
		}
		made, err := cross(own, values, used)
		if err != nil {
			return nil, err
		}
		if out = append(out, made...); len(out) > MaxCells {
			return nil, tooMany(len(out))
		}
	}
	for _, k := range keys {
		if values[k.Name] != nil && !used[k.Name] {
			return nil, fault.Errorf("bench", "%s: no sampler of %s uses it here: leave it out, or compare one of %s", k.Name, strings.Join(names, ","), strings.Join(users(k.Name), ", "))
		}
	}
	return out, Distinct(out)
}

// users are the samplers that have an option.
func users(option string) (out []string) {
	for _, d := range catalog.Descriptors() {
		if slices.Contains(d.Flags, option) {
			out = append(out, d.Name)
		}
	}
	return out
}

// named is the setting of a name, with what follows it.
func named(text string) (out Setting, err error) {
	words := append(strings.Fields(text), "")
	d, ok := catalog.Describe(words[0])
	if !ok {
		if name, settings, ok := strings.Cut(words[0], ","); ok && strings.Contains(settings, "=") {
			return out, fault.Errorf("bench", "sampler %.40q: put blanks between settings, as in '%s %s'", words[0], name, settings)
		}
		return out, fault.Errorf("bench", "sampler %.40q: must be one of %s", words[0], strings.Join(catalog.Names(), ", "))
	}
	out.Options.Sampler = d.Name
	for _, word := range words[1 : len(words)-1] {
		name, value, pair := strings.Cut(word, "=")
		k, ok := find(name)
		if !ok || !pair {
			return out, fault.Errorf("bench", "%.60q: %.40q is not KEY=VALUE with a KEY of %s", text, word, strings.Join(Keys(), ", "))
		}
		list, err := k.values(value)
		if err != nil {
			return out, err
		}
		if len(list) > 1 {
			return out, fault.Errorf("bench", "%.60q: %s has several values here: use --case, or one", text, name)
		}
		k.set(&out, list[0])
	}
	return out, nil
}

// Compared are the samplers that are compared where none are named, as [Cross] takes them.
// Under log-linear noise a step of Euler's is one of Tweedie's, and so Euler stands here as in
// the paper: on its grid in the time of the exp noise, where given says that neither is given.
func Compared(given func(key string) bool) []string {
	euler := "euler"
	for _, own := range [][2]string{{"grid", "paper"}, {"noise", "exp"}} {
		if !given(own[0]) {
			euler += " " + own[0] + "=" + own[1]
		}
	}
	return []string{"parallel-fhs", "tweedie", "trapezoidal", euler}
}

func tooMany(n int) error {
	return fault.Errorf("bench", "%d settings or more: at most %d are run at once: give fewer values", n, MaxCells)
}

// cross multiplies one sampler with the values that it uses.
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
					return nil, tooMany(len(next))
				}
			}
		}
		out = next
	}
	return out, nil
}

// ParseCase reads what a cross product over all samplers cannot say, "tweedie steps=8
// grid=paper noise=exp": a sampler, then KEY=VALUES, which may be lists. What the
// sampler does not use is an error.
func ParseCase(text string) ([]Setting, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil, fault.Errorf("bench", "case %.40q: begin with the name of a sampler, as in \"tweedie steps=8\"", text)
	}
	var axes []Axis
	for _, f := range fields[1:] {
		key, list, ok := strings.Cut(f, "=")
		if !ok || key == "" {
			return nil, fault.Errorf("bench", "case %.60q: %.40q is not KEY=VALUE", text, f)
		}
		axes = append(axes, Axis{Key: key, Values: list})
	}
	out, err := Cross(fields[:1], axes)
	if err != nil {
		return nil, fault.Errorf("bench", "case %.60q: %s", text, fault.Plain(err))
	}
	return out, nil
}

// Fill gives settings the axes of a run (length, batch, threads) that they do not have
// yet.
func Fill(settings []Setting, axes []Axis) ([]Setting, error) {
	var out []Setting
	for _, s := range settings {
		values := make(map[string][]string)
		for _, a := range axes {
			k, ok := find(a.Key)
			if !ok || k.run == nil {
				panic("bench: " + a.Key + " is not of a run")
			}
			if k.get(s) != "" {
				continue
			}
			list, err := k.values(a.Values)
			if err != nil {
				return nil, err
			}
			values[a.Key] = list
		}
		made, err := cross(s, values, make(map[string]bool))
		if err != nil {
			return nil, err
		}
		if out = append(out, made...); len(out) > MaxCells {
			return nil, tooMany(len(out))
		}
	}
	return out, nil
}

// Distinct refuses a setting that comes twice.
func Distinct(settings []Setting) error {
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

// Match finds the one cell that text names: its sampler, and keys of which it must have
// all; of several that do, the one that has no other keys but length, batch and threads.
// ids are settings' IDs.
func Match(text string, ids []string) (string, error) {
	want := strings.Fields(text)
	var found []string
	for _, id := range ids {
		have := strings.Fields(id)
		if id == strings.Join(want, " ") {
			return id, nil
		}
		if len(want) > 0 && have[0] == canonical(want[0]) && !slices.ContainsFunc(want[1:], func(f string) bool { return !slices.Contains(have[1:], f) }) {
			found = append(found, id)
		}
	}
	if len(found) > 1 {
		others := func(id string) bool {
			return slices.ContainsFunc(strings.Fields(id)[1:], func(f string) bool {
				key, _, _ := strings.Cut(f, "=")
				return !ofRun(key) && !slices.Contains(want, f)
			})
		}
		if plain := slices.DeleteFunc(slices.Clone(found), others); len(plain) == 1 {
			found = plain
		}
	}
	switch len(found) {
	case 0:
		return "", fault.Errorf("bench", "%.60q: is not one of the settings, such as %q", text, ids[0])
	case 1:
		return found[0], nil
	}
	return "", fault.Errorf("bench", "%.60q: may be %q or %q: say more", text, found[0], found[1])
}

// canonical is a sampler's own name.
func canonical(name string) string {
	if d, ok := catalog.Describe(name); ok {
		return d.Name
	}
	return name
}
