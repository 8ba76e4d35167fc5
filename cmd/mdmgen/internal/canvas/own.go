package canvas

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/plainjson"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/match"
	"mdmgen/samplers/spread"
)

// MaxSamples is the maximum number of samples of a canvas. It keeps the indices of the samples of
// all lines from overflowing.
const MaxSamples = 1 << 40

// Own holds a line's settings, which override the flags.
type Own struct {
	// N is 0 and Seed nil if the line does not set them.
	N    int
	Seed *uint64
	// Options are the sampler and its options, of which Given lists those that the line sets.
	Options catalog.Options
	Given   []string
	// Patterns are the patterns that its texts must match.
	Patterns []Pattern
	// Calls reports whether steps was given as calls. It selects spread if the sampler has no
	// groups.
	Calls bool
}

// lineKeys are the keys of a line other than settings.
var lineKeys = append([]string{"prefix", "suffix", "length", "infill", "ids", "messages"}, patternKinds...)

// takeOwn reads a line's settings, with the checks of the flags of the same name, and returns the
// rest of the line. It returns an error for an unknown key. It returns a line that is not an object
// unchanged, for the caller to reject. The maximum of n is most.
func takeOwn(line []byte, most int) (own Own, rest []byte, err error) {
	var all map[string]json.RawMessage
	if json.Unmarshal(line, &all) != nil || all == nil {
		return own, line, nil
	}
	if err := plainjson.StrictFields(line); err != nil {
		return own, nil, err
	}
	var s setup.Sampler
	set := append(slices.Concat(s.Flags(), s.CallFlags(), flags.Set{s.CallsFlag()}).Without("batch"), flags.Int(&own.N, 1, most, flags.Flag{Name: "n"}))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		f, text := set.Find(strings.ReplaceAll(key, "_", "-")), plainText(all[key])
		known := f != nil || slices.Contains(lineKeys, strings.ToLower(key))
		if known && string(all[key]) == "null" { // It is as good as left out.
			delete(all, key)
			continue
		}
		if slices.Contains(patternKinds, key) {
			patterns, err := readPatterns(key, all[key])
			if err != nil {
				return own, nil, err
			}
			own.Patterns = append(own.Patterns, patterns...)
			delete(all, key)
			continue
		}
		switch {
		case !known:
			hint := "; keys are " + strings.Join(lineKeys, ", ") + " and the settings of samplers"
			if near := flags.Nearest(key, append(set.Names(), lineKeys...)); near != "" {
				hint = "; did you mean " + strings.ReplaceAll(near, "-", "_") + "?"
			}
			return own, nil, fmt.Errorf("unknown key %.40q%s", key, hint)
		case f == nil:
			continue
		case set.Given(f.Name):
			return own, nil, fmt.Errorf("field %q appears twice, with - and with _", key)
		}
		if err := f.Set(text); err != nil {
			return own, nil, fmt.Errorf("%s is %.40s: %w", key, all[key], err)
		}
		if f.Name != "n" && f.Name != "seed" && f.Name != "sampler" && f.Name != "calls" {
			own.Given = append(own.Given, f.Name)
		}
		delete(all, key)
	}
	own.Options = s.Set
	if own.Seed = s.Seed; set.Given("sampler") {
		d, _ := catalog.Describe(s.Name)
		own.Options.Sampler = d.Name
	}
	if own.Calls = set.Given("calls"); own.Calls {
		if set.Given("steps") || set.Given("block-length") {
			return own, nil, errors.New("calls excludes steps and block_length: give one of them")
		}
		own.Options.Steps, own.Given = s.Calls, append(own.Given, "steps")
	}
	rest, err = json.Marshal(all)
	return own, rest, err
}

// plainText returns a JSON value in the form of a flag: a string without its quotes, a list with
// commas, anything else unchanged.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		return text
	}
	var list []json.Number
	if json.Unmarshal(raw, &list) == nil && list != nil {
		items := make([]string, len(list))
		for i, n := range list {
			items[i] = n.String()
		}
		return strings.Join(items, ",")
	}
	return string(raw)
}

// With returns the options of the flags, overridden by the line's own. It drops flags that the
// line's sampler does not use; [catalog.New] rejects a line's own unused options.
func (o Own) With(base catalog.Options) (catalog.Options, error) {
	out := base
	out.Sampler = cmp.Or(o.Options.Sampler, out.Sampler)
	if d, _ := catalog.Describe(out.Sampler); o.Calls && !d.InGroups() {
		if o.Options.Sampler != "" {
			return out, fmt.Errorf("calls: %s has no number of network calls to choose (%s): leave calls out, or use the sampler %s", o.Options.Sampler, d.Calls, spread.Spread.Name)
		}
		out.Sampler = spread.Spread.Name
	}
	for _, p := range out.List() {
		if !slices.Contains(o.Given, p.Name) {
			continue
		}
		p.Clear() // as a guidance of 0 is
		if text := o.Options.Get(p.Name); text != "" {
			if err := p.Set(text); err != nil {
				return out, err
			}
		}
	}
	unused, err := out.Unused()
	if err != nil {
		return out, err
	}
	for _, p := range out.List() {
		if _, idle := unused[p.Name]; idle && !slices.Contains(o.Given, p.Name) {
			p.Clear()
		}
	}
	if !out.Spreads() {
		out.Interactions = nil
	}
	return out, nil
}

// Pattern is what the text of a gap must match. If Gap is "", it applies from the first mask to the
// last.
type Pattern struct {
	Gap string `json:"gap,omitempty"`
	// Kind is regex, json_schema or choices; for choices, Text is a JSON list.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// patternKinds are the keys of a line for patterns.
var patternKinds = []string{"regex", "json_schema", "choices"}

// readPatterns reads the value of such a key: a pattern or, except for schemas, an object of
// patterns by the name of the gap.
func readPatterns(kind string, raw json.RawMessage) ([]Pattern, error) {
	gaps := make(map[string]json.RawMessage)
	if kind == "json_schema" || json.Unmarshal(raw, &gaps) != nil {
		gaps = map[string]json.RawMessage{"": raw}
	}
	var out []Pattern
	for _, gap := range slices.Sorted(maps.Keys(gaps)) {
		p := Pattern{gap, kind, string(gaps[gap])}
		var text *string
		switch {
		case kind == "json_schema":
		case kind == "choices":
			if _, err := texts(p.Text); err != nil {
				return nil, err
			}
		case json.Unmarshal(gaps[gap], &text) != nil || text == nil:
			return nil, fmt.Errorf("%s must be a text, or an object with a text of each gap", kind)
		default:
			p.Text = *text
		}
		out = append(out, p)
	}
	return out, nil
}

// texts parses a list of texts.
func texts(list string) (out []string, err error) {
	var all []*string
	if json.Unmarshal([]byte(list), &all) != nil || len(all) == 0 || slices.Contains(all, nil) {
		return nil, errors.New("choices must be a list of texts, or an object with such a list of each gap")
	}
	for _, text := range all {
		out = append(out, *text)
	}
	return out, nil
}

// Regexp returns the pattern as a regular expression.
func (p Pattern) Regexp() (string, error) {
	switch p.Kind {
	case "json_schema":
		return match.Schema([]byte(p.Text))
	case "choices":
		list, err := texts(p.Text)
		return match.Choices(list), err
	}
	return p.Text, nil
}
