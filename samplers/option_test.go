package samplers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mdmgen/samplers"
)

// inForce has for every option a sampler that uses it, and a value.
var inForce = map[string]struct {
	with  samplers.Options
	value string
}{
	"grid":        {samplers.Options{Sampler: "euler"}, "lambda"},
	"sizes":       {samplers.Options{Sampler: "parallel-fhs"}, "cos2"},
	"noise":       {samplers.Options{Sampler: "euler"}, "loglinear"},
	"order":       {samplers.Options{Sampler: "ordered"}, "right-to-left"},
	"tau":         {samplers.Options{Sampler: "tau-leaping"}, "one"},
	"finish":      {samplers.Options{Sampler: "euler"}, "leave"},
	"scores":      {samplers.Options{Sampler: "euler"}, "raw"},
	"draw":        {samplers.Options{Sampler: "tweedie"}, "float32-gumbel"},
	"kappa":       {samplers.Options{Sampler: "euler", Grid: "paper"}, "0.5"},
	"T":           {samplers.Options{Sampler: "tweedie", Grid: "lambda"}, "inf"},
	"delta":       {samplers.Options{Sampler: "euler"}, "0.25"},
	"floor":       {samplers.Options{Sampler: "trapezoidal"}, "0"},
	"temperature": {samplers.Options{Sampler: "fhs"}, "0"},
	"top-k":       {samplers.Options{Sampler: "fhs"}, "2"},
	"top-p":       {samplers.Options{Sampler: "fhs"}, "0.75"},
	"lookahead":   {samplers.Options{Sampler: "fhs"}, "4"},
	"steps":       {samplers.Options{Sampler: "euler"}, "7"},

	"score":                 {samplers.Options{Sampler: "confidence"}, "margin"},
	"rule":                  {samplers.Options{Sampler: "confidence"}, "dream"},
	"schedule":              {samplers.Options{Sampler: "confidence", Deciding: samplers.Deciding{Rule: "dllm"}}, "cosine"},
	"transfer":              {samplers.Options{Sampler: "confidence", Deciding: samplers.Deciding{Rule: "dllm"}}, "binomial"},
	"eps":                   {samplers.Options{Sampler: "confidence", Deciding: samplers.Deciding{Rule: "dream"}}, "0.1"},
	"alg-temp":              {samplers.Options{Sampler: "confidence"}, "0.5"},
	"columns":               {samplers.Options{Sampler: "confidence"}, "raw"},
	"threshold":             {samplers.Options{Sampler: "threshold"}, "0.5"},
	"factor":                {samplers.Options{Sampler: "factor"}, "2"},
	"relaxed-threshold":     {samplers.Options{Sampler: "localleap"}, "0.5"},
	"radius":                {samplers.Options{Sampler: "localleap"}, "2"},
	"gamma":                 {samplers.Options{Sampler: "entropy-bounded"}, "0"},
	"editing-threshold":     {samplers.Options{Sampler: "llada2"}, "0.5"},
	"at-least":              {samplers.Options{Sampler: "llada2"}, "3"},
	"post-steps":            {samplers.Options{Sampler: "llada2", Deciding: samplers.Deciding{EditingThreshold: 0.9}}, "3"},
	"block-length":          {samplers.Options{Sampler: "threshold"}, "8"},
	"prompt-length":         {samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{BlockLength: 8}}, "0"},
	"reach":                 {samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{BlockLength: 8}}, "inside"},
	"stop":                  {samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{BlockLength: 8}}, "0"},
	"guidance":              {samplers.Options{Sampler: "threshold"}, "0.5"},
	"unconditional":         {samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{Guidance: 1}}, "prompt"},
	"keep-tokens":           {samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{Guidance: 1}}, "3,1"},
	"suppress-tokens":       {samplers.Options{Sampler: "fhs"}, "3,1"},
	"guidance-scale":        {samplers.Options{}, "1.5"},
	"negative-tokens":       {samplers.Options{Deciding: samplers.Deciding{Guidance: 1}}, "3,1"},
	"bad-words-ids":         {samplers.Options{}, "3 1,2"},
	"min-length":            {samplers.Options{}, "3"},
	"max-length":            {samplers.Options{Sampler: "threshold", Deciding: samplers.Deciding{BlockLength: 8}}, "30"},
	"remask":                {samplers.Options{Sampler: "remdm"}, "conf"},
	"eta":                   {samplers.Options{Sampler: "remdm"}, "0.5"},
	"t-on":                  {samplers.Options{Sampler: "remdm", Remasking: samplers.Remasking{Remask: "loop"}}, "0.7"},
	"t-off":                 {samplers.Options{Sampler: "remdm", Remasking: samplers.Remasking{Remask: "loop"}}, "0.1"},
	"alpha-on":              {samplers.Options{Sampler: "remdm", Remasking: samplers.Remasking{Remask: "loop"}}, "0.5"},
	"correct":               {samplers.Options{}, "gibbs:2x3"},
	"nucleus-p":             {samplers.Options{Sampler: "remdm"}, "0.9"},
	"begin-suppress-tokens": {samplers.Options{Sampler: "threshold"}, "3,1"},
}

// TestEveryOption goes through the table: what is set can be got, is in force and stands in
// the record under its name, which has no other names; and what is no value is refused.
func TestEveryOption(t *testing.T) {
	known := []string{"sampler", "changes_law"}
	for _, p := range samplers.AllOptions() {
		known = append(known, strings.ReplaceAll(p.Name, "-", "_"))
	}
	for i, p := range samplers.AllOptions() {
		example, ok := inForce[p.Name]
		for _, later := range samplers.AllOptions()[i:] {
			// A cross product takes options in their order: what decides comes first.
			if later.Get(example.with) != "" {
				t.Errorf("%s is used with %s, which comes later", p.Name, later.Name)
			}
		}
		if !ok {
			t.Errorf("%s: no example of it in force", p.Name)
			continue
		}
		o := example.with
		if got := p.Get(o); got != "" {
			t.Errorf("%s is %q before it is set", p.Name, got)
		}
		if unused, err := o.Unused(); err != nil || has(unused, p.Name) {
			t.Errorf("%s: %+v does not use %v, %v", p.Name, o, unused, err)
		}
		if err := p.Set(&o, example.value); err != nil || p.Get(o) != example.value {
			t.Errorf("%s set to %s is %q, %v", p.Name, example.value, p.Get(o), err)
		}
		ofAll := !slices.ContainsFunc(samplers.Descriptors(), func(d samplers.Descriptor) bool { return !slices.Contains(d.Flags, p.Name) })
		if unused, err := (samplers.Options{Sampler: "fhs", Deciding: samplers.Deciding{BlockLength: 9, Stop: new(int)}, Shaping: samplers.Shaping{GuidanceScale: 2}}).Unused(); err != nil || has(unused, p.Name) == (p.Token || p.Calls || ofAll) || unused[p.Name] != "" {
			t.Errorf("%s: fhs does not use %v, %v", p.Name, unused, err)
		}

		if p.Name == "min-length" {
			o.Stop = new(int) // which comes later
		}
		s, err := samplers.New(o, samplers.Spec{LogScores: true})
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		raw, err := json.Marshal(s.Settings())
		record := make(map[string]any)
		if err := errors.Join(err, json.Unmarshal(raw, &record)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(record[strings.ReplaceAll(p.Name, "-", "_")]); got != example.value {
			t.Errorf("%s=%s stands as %s in %s", p.Name, example.value, got, raw)
		}
		for name := range record {
			if !slices.Contains(known, name) {
				t.Errorf("%s in the record is no option", name)
			}
		}

		wrong := []string{""}
		if p.Most > 0 {
			wrong = []string{"", "x", "NaN", "-1", "1e999", "-inf", "0x1", " 1"}
			if p.Least > 0 {
				wrong = append(wrong, "0")
			}
			if p.Whole {
				wrong = append(wrong, "1.5", "1e1", fmt.Sprintf("%.0f", p.Most+1))
			}
		}
		for _, text := range wrong {
			was := p.Get(o)
			if err := p.Set(&o, text); err == nil || !strings.Contains(err.Error(), p.Name) || !strings.Contains(err.Error(), p.Form()) || p.Get(o) != was {
				t.Errorf("%s set to %q is %q: %v", p.Name, text, p.Get(o), err)
			}
		}
	}
}

func has(m map[string]string, name string) bool {
	_, ok := m[name]
	return ok
}

// TestForms: what must be said of values is said in words.
func TestForms(t *testing.T) {
	want := map[string]string{
		"grid": "a name or a list", "steps": "a whole number in 1..16777216", "T": "a number of at least 0, or inf",
		"kappa": "a finite number above 0", "temperature": "a finite number of at least 0", "top-p": "a number above 0 and at most 1",
		"floor": "a number of at least 0 and at most 1",
	}
	for _, p := range samplers.AllOptions() {
		if form, ok := want[p.Name]; ok && p.Form() != form {
			t.Errorf("%s: %s, want %s", p.Name, p.Form(), form)
		}
	}
}

// TestLooksBack: the samplers that have a floor are those whose laws look back.
func TestLooksBack(t *testing.T) {
	for _, d := range samplers.Descriptors() {
		if law, _ := mustNew(t, samplers.Options{Sampler: d.Name}).Law(); law.LookBack != slices.Contains(d.Flags, "floor") {
			t.Errorf("%s: the law looks back: %t", d.Name, law.LookBack)
		}
	}
}
