package bench

import (
	"slices"
	"strings"

	"mdmgen/samplers/catalog"
)

// vary returns the keys that vary among the cells that use them, and the others as
// constants. One that a cell could have and does without varies, too.
func vary(r *Report) (varying, constants []string) {
	for _, key := range settingKeys(r) {
		var values []string
		without := false
		for i := range r.Cells {
			switch v := r.Cells[i].Settings.Get(key); {
			case v == "":
				without = without || optional(r.Cells[i].Settings.Get(KeySampler), key)
			case !slices.Contains(values, v):
				values = append(values, v)
			}
		}
		if len(values) > 1 || without || key == KeySampler {
			varying = append(varying, key)
		} else if values[0] != "false" {
			constants = append(constants, key+"="+short(values[0]))
		}
	}
	return varying, constants
}

// optional reports whether a sampler has an option that changes nothing where it is not given.
func optional(sampler, key string) bool {
	d, _ := catalog.Describe(sampler)
	return slices.ContainsFunc(catalog.AllOptions(), func(o catalog.Option) bool {
		return strings.ReplaceAll(o.Name, "-", "_") == key && (o.Unplanned || o.Token || o.Calls) && slices.Contains(d.Flags, o.Name)
	})
}

// settingKeys lists the settings of all cells, in the order that they have there.
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
