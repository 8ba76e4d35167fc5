package canvas

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
	"mdmgen/samplers/catalog"
)

// MaxSamples bounds the samples of a canvas, so that indices of those of all lines stay whole
// numbers.
const MaxSamples = 1 << 40

// Own is what a line says of how it is sampled, in place of the flags.
type Own struct {
	// N is 0, Seed nil and Sampler "" where the line says nothing.
	N       int
	Seed    *uint64
	Sampler string
	// Options are those of the sampler, by their names, as [catalog.Option.Set] reads them.
	Options map[string]string
}

// lineKeys are those of a line besides the sampler's options.
var lineKeys = []string{"prefix", "suffix", "length", "infill", "ids", "messages", "n", "seed", "sampler"}

// takeOwn reads what a line says of how it is sampled, and returns the rest of the line. A key
// that no line has is refused; a line that is no object is for others to refuse.
func takeOwn(line []byte) (own Own, rest []byte, err error) {
	var all map[string]json.RawMessage
	if json.Unmarshal(line, &all) != nil || all == nil {
		return own, line, nil
	}
	if err := plainjson.StrictFields(line); err != nil {
		return own, nil, err
	}
	options := make(map[string]catalog.Option)
	for _, o := range catalog.AllOptions() {
		options[strings.ReplaceAll(o.Name, "-", "_")] = o
	}
	own.Options = make(map[string]string)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		text, o := plainText(all[key]), options[strings.ReplaceAll(key, "-", "_")]
		switch {
		case o.Name != "":
			if _, twice := own.Options[o.Name]; twice {
				return own, nil, fmt.Errorf("field %q appears twice, with - and with _", key)
			}
			if err := o.Set(new(catalog.Options), text); err != nil {
				return own, nil, errors.New(fault.Plain(err))
			}
			own.Options[o.Name] = text
		case key == "n":
			if own.N, err = strconv.Atoi(text); err != nil || own.N < 1 || own.N > MaxSamples {
				return own, nil, fmt.Errorf("n is %.40s: must be a whole number in 1..%d", all[key], MaxSamples)
			}
		case key == "seed":
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return own, nil, fmt.Errorf("seed is %.40s: must be a whole number in 0..2^64-1", all[key])
			}
			own.Seed = &n
		case key == "sampler":
			d, ok := catalog.Describe(text)
			if !ok {
				return own, nil, fmt.Errorf("sampler is %.40s: must be one of %s", all[key], strings.Join(catalog.Names(), ", "))
			}
			own.Sampler = d.Name
		case !slices.Contains(lineKeys, strings.ToLower(key)):
			known := append(slices.Sorted(maps.Keys(options)), lineKeys...)
			hint := "; keys are " + strings.Join(lineKeys, ", ") + " and the settings of samplers"
			if near := flags.Nearest(key, known); near != "" {
				hint = "; did you mean " + near + "?"
			}
			return own, nil, fmt.Errorf("no line has a key %.40q%s", key, hint)
		default:
			continue
		}
		delete(all, key)
	}
	rest, err = json.Marshal(all)
	return own, rest, err
}

// plainText is a JSON value as a flag would have it: a text without its quotes, a list with
// commas, anything else as it stands there.
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

// With is the options of the flags with the line's own in their place. What the flags say and the
// line's sampler has no use for is left out; what the line says is for [catalog.New] to refuse.
func (o Own) With(base catalog.Options) (catalog.Options, error) {
	out := base
	if o.Sampler != "" {
		out.Sampler = o.Sampler
	}
	for _, p := range catalog.AllOptions() {
		if text, ok := o.Options[p.Name]; ok {
			if err := p.Set(&out, text); err != nil {
				return out, err
			}
		}
	}
	unused, err := out.Unused()
	if err != nil {
		return out, err
	}
	kept := catalog.Options{Sampler: out.Sampler}
	for _, p := range catalog.AllOptions() {
		text, own := o.Options[p.Name]
		if _, idle := unused[p.Name]; !own && !idle {
			text = p.Get(out)
		}
		if text != "" {
			if err := p.Set(&kept, text); err != nil {
				return out, err
			}
		}
	}
	if kept.ByProfile() {
		if kept.Profile = base.Profile; kept.Profile == nil {
			return out, errors.New("a line has no loss profile of its own: give it with --profile, and --grid profile or --sizes profile")
		}
	}
	return kept, nil
}
