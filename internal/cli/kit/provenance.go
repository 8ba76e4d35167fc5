package kit

import (
	"runtime"
	"time"

	"mdmgen/model"
	"mdmgen/tokenize"
)

// Provenance says what made a record: which program, model, runtime and
// tokenizer.
type Provenance struct {
	Program   string        `json:"program"`
	Version   string        `json:"version"`
	Go        string        `json:"go"`
	Platform  string        `json:"platform"`
	Model     *model.Origin `json:"model,omitempty"`
	Tokenizer string        `json:"tokenizer,omitempty"`
	Started   string        `json:"started,omitempty"`
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
