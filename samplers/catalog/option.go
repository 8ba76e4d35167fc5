package catalog

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/layer"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
)

// Option is an option of samplers, with its value in [Options]. The value is a string, whole number
// or float64, not given if zero, or a pointer to such a number, not given if nil.
type Option struct {
	samplers.Option
	index []int // of the field
}

// options are in the order of a cross product: options that decide which others are used come
// first, and those that vary fastest in a table come last.
var options = inOrder(`grid sizes correlation noise order distance tau finish draw kappa T delta
	score rule block-length guidance editing-threshold schedule transfer reach unconditional columns keep-tokens
	begin-suppress-tokens eps alg-temp threshold factor relaxed-threshold radius gamma kl-threshold history at-least post-steps
	prompt-length min-length stop negative-tokens bad-words-ids max-length
	remask eta t-on t-off alpha-on threshold-back nucleus-p correct cache temperature top-k top-p suppress-tokens lookahead steps`)

var drawOptions = []samplers.Option{
	{Name: "temperature", Default: "1", Help: "divide the logits by `X`; 0 takes the likeliest token", Flag: true, Most: math.MaxFloat64, Token: true},
	{Name: "top-k", Default: "all", Help: "draw from the `K` likeliest tokens", Flag: true, Least: 1, Most: math.MaxInt32, Whole: true, Token: true},
	{Name: "top-p", Default: "1", Help: "draw from the fewest tokens of total probability at least `P`", Flag: true, Least: samplers.AboveZero, Most: 1, Token: true},
	{Name: "suppress-tokens", Lists: true, Default: "none", Help: "never draw the ids of `LIST`; changes the distribution", Token: true},
}

func inOrder(names string) []Option {
	known := make(map[string]*Option)
	for _, o := range slices.Concat(plan.OptionList, unplanned(rank.OptionList, false), unplanned(layer.OptionList, false), unplanned(remask.OptionList, true), unplanned([]samplers.Option{cache.Option}, false), drawOptions) {
		known[o.Name] = &Option{Option: o}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Options]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if o := known[strings.ReplaceAll(key, "_", "-")]; o != nil {
			o.index = f.Index
		}
	}
	var out []Option
	for _, name := range strings.Fields(names) {
		out = append(out, *known[name])
	}
	return out
}

// unplanned marks options of samplers without a plan.
func unplanned(list []samplers.Option, unscored bool) []samplers.Option {
	for i := range list {
		list[i].Unplanned, list[i].Unscored = true, unscored || list[i].Unscored
	}
	return list
}

// AllOptions lists the options of all samplers, in the order of a cross product. A sampler's
// options are its [samplers.Descriptor.Flags].
func AllOptions() []Option { return slices.Clone(options) }

// Set parses text and sets the option in o. A list may be any text but ""; [New] checks it. If text
// is not valid, the error says what a value must be, and o does not change.
func (p Option) Set(o *Options, text string) error {
	at := reflect.ValueOf(o).Elem().FieldByIndex(p.index)
	if at.Kind() == reflect.String && (p.Lists && text != "" || slices.Contains(p.Words, text)) {
		at.SetString(text)
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if p.Whole {
		_, err = strconv.Atoi(text)
	}
	if p.Words != nil || err != nil || !(x >= p.Least && x <= p.Most) {
		shown := cmp.Or(text, "empty")
		if q := strconv.Quote(text); len(q) != len(text)+2 {
			shown = q // such as a line break: the message stays one line
		}
		return fault.Errorf("samplers", "%s is %.40s: must be %s", p.Name, shown, p.Form())
	}
	if at.Kind() == reflect.Pointer {
		at.Set(reflect.New(at.Type().Elem()))
		at = at.Elem()
	}
	if at.CanInt() {
		at.SetInt(int64(x))
	} else {
		at.SetFloat(x)
	}
	return nil
}

// Get returns the value in o, in the form that [Option.Set] reads; "" if it is not given.
func (p Option) Get(o Options) string {
	at := reflect.ValueOf(o).FieldByIndex(p.index)
	switch {
	case at.IsZero():
		return ""
	case at.Kind() == reflect.Pointer:
		at = at.Elem()
	case at.Kind() == reflect.String:
		return at.String()
	}
	if at.CanInt() {
		return strconv.FormatInt(at.Int(), 10)
	}
	return strings.Replace(strconv.FormatFloat(at.Float(), 'g', -1, 64), "+Inf", "inf", 1)
}
