package bench

import (
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// vary returns the keys that vary among the cells that use them, and the others as constants: those
// that all cells use, and separately those of some samplers, with their names. A key also varies if
// some cell could have it but does not.
func vary(r *Report) (varying, constants []string) {
	var users []string
	of := make(map[string][]string)
	for _, key := range settingKeys(r) {
		var values, use []string
		without, all := false, true
		for i := range r.Cells {
			v, sampler := r.Cells[i].Settings.Get(key), r.Cells[i].Settings.Get(KeySampler)
			if v == "" {
				without, all = without || optional(sampler, key), false
				continue
			}
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
			if !slices.Contains(use, sampler) {
				use = append(use, sampler)
			}
		}
		if len(values) > 1 || without || key == KeySampler {
			varying = append(varying, key)
		} else if values[0] != "false" {
			who := "of " + english.OxfordWordSeries(use, "and") + ": "
			if all {
				who = ""
			}
			if of[who] == nil {
				users = append(users, who)
			}
			of[who] = append(of[who], key+"="+short(values[0]))
		}
	}
	slices.SortStableFunc(users, func(a, b string) int { return min(len(a), 1) - min(len(b), 1) })
	for _, who := range users {
		constants = append(constants, who+strings.Join(of[who], ", "))
	}
	return varying, constants
}

// optional reports whether a sampler has an option that has no effect if it is not given.
func optional(sampler, key string) bool {
	d, _ := catalog.Describe(sampler)
	return slices.ContainsFunc(catalog.AllOptions(), func(o samplers.Option) bool {
		return strings.ReplaceAll(o.Name, "-", "_") == key && (o.Unplanned || o.Token || o.Calls) && slices.Contains(d.Flags, o.Name)
	})
}

// settingKeys lists the settings of all cells in their order.
func settingKeys(r *Report) []string {
	var keys []string
	for i := range r.Cells {
		at := 0
		for _, key := range r.Cells[i].Settings.keys {
			if j := slices.Index(keys, key); j >= 0 {
				at = j + 1
				continue
			}
			keys = slices.Insert(keys, at, key)
			at++
		}
	}
	return keys
}
