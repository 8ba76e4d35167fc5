package catalog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// inForce has, for every option, a sampler that uses it and a value.
var inForce = map[string]struct {
	with  catalog.Options
	value string
}{
	"grid":        {catalog.Options{Sampler: "euler"}, "lambda"},
	"sizes":       {catalog.Options{Sampler: "parallel-fhs"}, "cos2"},
	"noise":       {catalog.Options{Sampler: "euler"}, "loglinear"},
	"order":       {catalog.Options{Sampler: "ordered"}, "right-to-left"},
	"tau":         {catalog.Options{Sampler: "tau-leaping"}, "one"},
	"finish":      {catalog.Options{Sampler: "euler"}, "leave"},
	"draw":        {catalog.Options{Sampler: "tweedie"}, "gumbel"},
	"kappa":       {catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "paper"}}, "0.5"},
	"T":           {catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, "inf"},
	"delta":       {catalog.Options{Sampler: "euler"}, "0.25"},
	"temperature": {catalog.Options{Sampler: "fhs"}, "0"},
	"top-k":       {catalog.Options{Sampler: "fhs"}, "2"},
	"top-p":       {catalog.Options{Sampler: "fhs"}, "0.75"},
	"lookahead":   {catalog.Options{Sampler: "fhs"}, "4"},
	"steps":       {catalog.Options{Sampler: "euler"}, "7"},

	"score":                 {catalog.Options{Sampler: "confidence"}, "margin"},
	"rule":                  {catalog.Options{Sampler: "confidence"}, "dream"},
	"schedule":              {catalog.Options{Sampler: "confidence", RankOptions: catalog.RankOptions{Rule: "dllm"}}, "cosine"},
	"transfer":              {catalog.Options{Sampler: "confidence", RankOptions: catalog.RankOptions{Rule: "dllm"}}, "binomial"},
	"eps":                   {catalog.Options{Sampler: "confidence", RankOptions: catalog.RankOptions{Rule: "dream"}}, "0.1"},
	"alg-temp":              {catalog.Options{Sampler: "confidence"}, "0.5"},
	"columns":               {catalog.Options{Sampler: "confidence"}, "raw"},
	"threshold":             {catalog.Options{Sampler: "threshold"}, "0.5"},
	"factor":                {catalog.Options{Sampler: "factor"}, "2"},
	"relaxed-threshold":     {catalog.Options{Sampler: "localleap"}, "0.5"},
	"radius":                {catalog.Options{Sampler: "localleap"}, "2"},
	"gamma":                 {catalog.Options{Sampler: "entropy-bounded"}, "0"},
	"editing-threshold":     {catalog.Options{Sampler: "llada2"}, "0.5"},
	"kl-threshold":          {catalog.Options{Sampler: "klass"}, "0.02"},
	"history":               {catalog.Options{Sampler: "klass"}, "3"},
	"at-least":              {catalog.Options{Sampler: "llada2"}, "3"},
	"post-steps":            {catalog.Options{Sampler: "llada2", RankOptions: catalog.RankOptions{EditingThreshold: 0.9}}, "3"},
	"block-length":          {catalog.Options{Sampler: "threshold"}, "8"},
	"prompt-length":         {catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{BlockLength: 8}}, "0"},
	"reach":                 {catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{BlockLength: 8}}, "inside"},
	"stop":                  {catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{BlockLength: 8}}, "0"},
	"guidance":              {catalog.Options{Sampler: "threshold"}, "0.5"},
	"unconditional":         {catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{Guidance: 1}}, "prompt"},
	"keep-tokens":           {catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{Guidance: 1}}, "3,1"},
	"suppress-tokens":       {catalog.Options{Sampler: "fhs"}, "3,1"},
	"negative-tokens":       {catalog.Options{LayerOptions: catalog.LayerOptions{Guidance: 1}}, "3,1"},
	"bad-words-ids":         {catalog.Options{}, "3 1,2"},
	"min-length":            {catalog.Options{}, "3"},
	"max-length":            {catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{BlockLength: 8}}, "30"},
	"correlation":           {catalog.Options{Sampler: "random-sizes"}, "dual"},
	"remask":                {catalog.Options{Sampler: "remdm"}, "conf"},
	"eta":                   {catalog.Options{Sampler: "remdm"}, "0.5"},
	"t-on":                  {catalog.Options{Sampler: "remdm", RemaskOptions: catalog.RemaskOptions{Remask: "loop"}}, "0.7"},
	"t-off":                 {catalog.Options{Sampler: "remdm", RemaskOptions: catalog.RemaskOptions{Remask: "loop"}}, "0.1"},
	"alpha-on":              {catalog.Options{Sampler: "remdm", RemaskOptions: catalog.RemaskOptions{Remask: "loop"}}, "0.5"},
	"threshold-back":        {catalog.Options{Sampler: "wino"}, "0.8"},
	"correct":               {catalog.Options{}, "gibbs:2x3"},
	"cache":                 {catalog.Options{}, "window:4/32"},
	"cache-cost":            {catalog.Options{Cache: "auto"}, "0.01"},
	"nucleus-p":             {catalog.Options{Sampler: "remdm"}, "0.9"},
	"window":                {catalog.Options{Sampler: "speculate"}, "8"},
	"begin-suppress-tokens": {catalog.Options{Sampler: "threshold"}, "3,1"},
}

// TestEveryOption checks for each option in the table that a value that is set can be read back, is
// in effect and is in the record under its name, and that invalid values are rejected. The record
// has no other names.
func TestEveryOption(t *testing.T) {
	known := []string{"sampler", "changes_law"}
	for _, p := range catalog.AllOptions() {
		known = append(known, strings.ReplaceAll(p.Name, "-", "_"))
	}
	for i, p := range catalog.AllOptions() {
		example, ok := inForce[p.Name]
		for _, later := range catalog.AllOptions()[i:] {
			// A cross product takes options in their order: those that decide come first.
			if example.with.Get(later.Name) != "" {
				t.Errorf("%s is used with %s, which comes later", p.Name, later.Name)
			}
		}
		if !ok {
			t.Errorf("%s: no example of it in force", p.Name)
			continue
		}
		o := example.with
		if got := o.Get(p.Name); got != "" {
			t.Errorf("%s is %q before it is set", p.Name, got)
		}
		if unused, err := o.Unused(); err != nil || has(unused, p.Name) {
			t.Errorf("%s: %+v does not use %v, %v", p.Name, o, unused, err)
		}
		if err := o.Set(p.Name, example.value); err != nil || o.Get(p.Name) != example.value {
			t.Errorf("%s set to %s is %q, %v", p.Name, example.value, o.Get(p.Name), err)
		}
		ofAll := !slices.ContainsFunc(catalog.Descriptors(), func(d catalog.Descriptor) bool { return !slices.Contains(d.Flags, p.Name) })
		if unused, err := (catalog.Options{Sampler: "fhs", Cache: "auto", LayerOptions: catalog.LayerOptions{BlockLength: 9, Stop: new(int), Guidance: 1}}).Unused(); err != nil || has(unused, p.Name) == (p.Token || p.Calls && p.Name != "window" || ofAll) || unused[p.Name] != "" {
			t.Errorf("%s: fhs does not use %v, %v", p.Name, unused, err)
		}

		if p.Name == "min-length" {
			o.Stop = new(int) // later in the order
		}
		s, err := catalog.New(o, samplers.Spec{})
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		raw, err := json.Marshal(s.Settings())
		record := make(map[string]any)
		reftest.OK(t, errors.Join(err, json.Unmarshal(raw, &record)))
		if got := fmt.Sprint(record[strings.ReplaceAll(p.Name, "-", "_")]); got != example.value {
			t.Errorf("%s=%s stands as %s in %s", p.Name, example.value, got, raw)
		}
		for name := range record {
			if !slices.Contains(known, name) {
				t.Errorf("%s in the record is no option", name)
			}
		}

		wrong := []string{""}
		if p.Words != nil && !p.Lists {
			wrong = []string{"", "x", strings.ToUpper(p.Words[0])}
		}
		if p.Most > 0 {
			wrong = []string{"", "x", "NaN", "-2", "1e999", "-inf", "0x1", " 1"}
			if p.Least > 0 {
				wrong = append(wrong, "0")
			}
			if p.Whole {
				wrong = append(wrong, "1.5", "1e1", fmt.Sprintf("%.0f", p.Most+1))
			}
		}
		for _, text := range wrong {
			was := o.Get(p.Name)
			if err := o.Set(p.Name, text); err == nil || !strings.Contains(err.Error(), p.Name) || !strings.Contains(err.Error(), p.Form()) || o.Get(p.Name) != was {
				t.Errorf("%s set to %q is %q: %v", p.Name, text, o.Get(p.Name), err)
			}
		}
	}
}

func has(m map[string]string, name string) bool {
	_, ok := m[name]
	return ok
}

// TestForms checks the descriptions of values.
func TestForms(t *testing.T) {
	reftest.Long(t)
	want := map[string]string{
		"grid": "a name or a list", "steps": "a whole number in 1..16777216", "T": "a number of at least 0, or inf",
		"kappa": "a finite number above 0", "temperature": "a finite number of at least 0", "top-p": "a number above 0 and at most 1",
	}
	for _, p := range catalog.AllOptions() {
		if form, ok := want[p.Name]; ok && p.Form() != form {
			t.Errorf("%s: %s, want %s", p.Name, p.Form(), form)
		}
	}
}
