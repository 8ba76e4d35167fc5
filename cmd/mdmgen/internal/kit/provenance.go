package kit

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
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

// Card returns the facts that a page shows: see [report.CardProvider].
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

// NewProvenance describes a run with a model and, if one is used, a tokenizer.
func NewProvenance(m model.Model, t *tokenize.Tokenizer) Provenance {
	p := Provenance{
		Program: "mdmgen", Version: Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Started: time.Now().UTC().Format(time.RFC3339),
	}
	if d, ok := m.(model.Describer); ok {
		p.Model = new(d.Origin())
	}
	if t != nil {
		p.Tokenizer = t.Digest()
	}
	return p
}

// Version returns the module's version as recorded by the build; it names the revision.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return cmp.Or(strings.Trim(info.Main.Version, "()"), "devel")
}

// Executable returns "sha256:…" of the running program, "" if it cannot be read. Unlike a version,
// it differs for different code.
var Executable = sync.OnceValue(func() string {
	f, err := os.Open("/proc/self/exe") // Works even if the file has been replaced since.
	if err != nil {
		path, _ := os.Executable()
		if f, err = os.Open(path); err != nil {
			return ""
		}
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
})

// Identity holds everything that determines the bits of a result. It is the header of a journal.
type Identity struct {
	Schema string `json:"schema"`
	// Provenance has neither the time of the run nor the user's name for the model.
	Provenance
	Seed uint64 `json:"seed"`
	// Executable is [Executable] if the run is kept: builds of different code may have the same
	// version.
	Executable string `json:"executable,omitempty"`
	// Settings are the settings of the command.
	Settings any `json:"settings"`
}

// NewIdentity returns the identity of a run. Two runs are identical by the contents of their
// records.
func NewIdentity(schema string, p Provenance, seed uint64, settings any) Identity {
	p.Started = ""
	if p.Model != nil {
		o := *p.Model
		o.Reference = ""
		p.Model = &o
	}
	return Identity{Schema: schema, Provenance: p, Seed: seed, Settings: settings}
}
