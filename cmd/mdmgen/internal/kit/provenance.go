package kit

import (
	"fmt"
	"runtime"
	"time"

	"mdmgen/analysis/report"
	"mdmgen/model"
	"mdmgen/tokenize"
)

// Provenance identifies what made a record: program, model, runtime and tokenizer.
type Provenance struct {
	Program   string        `json:"program"`
	Version   string        `json:"version"`
	Go        string        `json:"go"`
	Platform  string        `json:"platform"`
	Model     *model.Origin `json:"model,omitempty"`
	Tokenizer string        `json:"tokenizer,omitempty"`
	Started   string        `json:"started,omitempty"`
	// Command is the command line, for pages.
	Command string `json:"-"`
}

// Card returns what a page shows of it: see [report.Carder].
func (p Provenance) Card() report.Card {
	var facts []report.Fact
	add := func(name, text string) {
		if text != "" {
			facts = append(facts, report.Fact{Name: name, Text: text})
		}
	}
	if o := p.Model; o != nil {
		add("model", fmt.Sprintf("%s, %.19s", o.Reference, o.Digest))
		add("it ran with", fmt.Sprintf("%s on %s", o.Runtime, o.Provider))
		for _, g := range o.GPUs {
			add(fmt.Sprintf("GPU %d", g.Index), g.String())
		}
	}
	if p.Tokenizer != "" {
		add("tokenizer", fmt.Sprintf("%.19s", p.Tokenizer))
	}
	add("date", p.Started)
	add("program", fmt.Sprintf("%s %s, %s", p.Program, p.Version, p.Platform))
	return report.Card{Facts: facts, Command: p.Command}
}

// NewProvenance describes a run with a model and, where one is used, a tokenizer.
func NewProvenance(m model.Model, t *tokenize.Tokenizer) Provenance {
	p := Provenance{
		Program: "mdmgen", Version: Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Started: time.Now().UTC().Format(time.RFC3339),
	}
	if d, ok := m.(model.Describer); ok {
		o := d.Origin()
		p.Model = &o
	}
	if t != nil {
		p.Tokenizer = t.Digest()
	}
	return p
}
