package generate

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mdmgen/analysis/interaction"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/requests"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/spread"
)

// printer writes samples in one of the formats. They arrive as they finish, and are written in the order
// of their indices.
type printer struct {
	format string
	out    *kit.Output
	mask   int
	// waiting holds samples that finished before an earlier one, nil for failed ones; next is the index to
	// be written next.
	waiting map[int]*requests.Sample
	next    int
	// record is the file of the run's record, nil for none. If beside is set, it is written only
	// together with the file of results.
	record *kit.Output
	beside bool
	// all holds the samples that the json format prints at the end.
	all []requests.Sample
}

// formats are the values of --format.
var formats = []string{"text", "ids", "json", "jsonl"}

// Beside returns the name of the record that goes with a file of samples, "" if path is not a
// regular file.
func Beside(path string) string {
	if info, err := os.Stat(path); path == "" || path == "-" || err == nil && !info.Mode().IsRegular() {
		return ""
	}
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".record.json"
}

func (g *generation) printer() *printer {
	p := newPrinter(g.format, g.streams.Results, g.facts.MaskID)
	p.record, p.beside = g.recorded, g.beside
	return p
}

func newPrinter(format string, out *kit.Output, mask int) *printer {
	return &printer{format: format, out: out, mask: mask, waiting: make(map[int]*requests.Sample), all: []requests.Sample{}}
}

// separator is printed between texts, on a line of its own.
const separator = "================"

// add adds a finished sample. A nil printer prints nothing.
func (p *printer) add(s requests.Sample) error {
	return p.put(s.Index, &s)
}

// put adds the sample of an index, nil if it failed, unless it was added before.
func (p *printer) put(index int, s *requests.Sample) error {
	if p == nil {
		return nil
	}
	if _, waits := p.waiting[index]; waits || index < p.next {
		return nil
	}
	p.waiting[index] = s
	for {
		s, ok := p.waiting[p.next]
		if !ok {
			if p.out.Streaming() && p.format != "ids" { // A reader gets each sample as it finishes.
				return p.out.Flush()
			}
			return nil
		}
		delete(p.waiting, p.next)
		p.next++
		if err := p.write(s); err != nil {
			return err
		}
	}
}

// write prints a sample. A write error is kept until Flush.
func (p *printer) write(s *requests.Sample) error {
	switch {
	case s == nil:
		return nil
	case p.format == "json":
		p.all = append(p.all, *s)
	case p.format == "jsonl":
		return kit.WriteLine(p.out, s)
	case p.format == "ids":
		line := p.out.AvailableBuffer()
		for i, id := range s.IDs {
			if i > 0 {
				line = append(line, ' ')
			}
			if id == nil {
				id = &p.mask
			}
			line = strconv.AppendInt(line, int64(*id), 10)
		}
		p.out.Write(append(line, '\n'))
	case s.Index > 0:
		fmt.Fprintln(p.out, separator)
		fallthrough
	default:
		fmt.Fprintln(p.out, *s.Text)
	}
	return nil
}

// finish writes the samples still waiting, which after an interrupt have gaps
// before them, and the record.
func (p *printer) finish(r Record) error {
	for _, i := range slices.Sorted(maps.Keys(p.waiting)) {
		if err := p.write(p.waiting[i]); err != nil {
			return err
		}
	}
	whole := !r.Interrupted && len(r.Faults) == 0
	if p.format == "json" {
		full := r
		full.Samples = p.all
		if err := kit.WriteLine(p.out, full); err != nil {
			return err
		}
	}
	err := p.out.Finish(!whole)
	if p.record == nil || p.beside && (err != nil || !whole) {
		return err
	}
	return errors.Join(err, kit.WriteLine(p.record, r), p.record.Commit())
}

// Schema names the layout of the record of a run.
const Schema = "mdmgen.run/1"

// Record is what generate prints as json. For other formats it is written without samples.
type Record struct {
	Schema     string            `json:"schema"`
	Provenance kit.Provenance    `json:"provenance"`
	Settings   requests.Settings `json:"settings"`
	Samples    []requests.Sample `json:"samples,omitzero"`
	Totals     totals            `json:"totals"`
	// Faults are the samples that failed.
	Faults []failure `json:"faults,omitempty"`
	// Interrupted reports whether some samples were not made.
	Interrupted bool `json:"interrupted,omitempty"`
	// Mixture names what differs between the programs or machines of parts with merge --force.
	Mixture []string `json:"mixture,omitempty"`
}

// failure is a sample that failed, and why.
type failure struct {
	Index int `json:"index"`
	// Line is the line of --input that asked for it.
	Line  int    `json:"line,omitempty"`
	Error string `json:"error"`
}

// totals are sums over the chunks of a run.
type totals struct {
	counts
	// Cache holds the costs and effects of a cache.
	Cache           *cacheTotals    `json:"cache,omitempty"`
	Seconds         seconds         `json:"seconds"`
	TokensPerSecond tokensPerSecond `json:"tokens_per_second"`
	// Audit is the loss of groups relative to revealing one position at a time, if it was asked
	// for.
	Audit *interaction.Audited `json:"audit,omitempty"`
}

// seconds are wall-clock times: in the network, in plans and draws, and of all work on samples.
// They do not include opening the model.
type seconds struct {
	Network  float64 `json:"network"`
	Sampling float64 `json:"sampling"`
	Total    float64 `json:"total"`
}

// tokensPerSecond holds the two figures called tokens per second: tokens sampled
// per second, and canvas positions (canvas length times rows) computed per second.
type tokensPerSecond struct {
	Effective float64 `json:"effective"`
	InStep    float64 `json:"in_step"`
}

// grouping describes the groups for the options. It returns nil if the sampler is not spread.
func (g *generation) grouping(o catalog.Options) *requests.Groups {
	if !o.Spreads() {
		return nil
	}
	out := &requests.Groups{Interactions: "assumed"}
	if o.Interactions != nil {
		out.Interactions = "measured"
	}
	if len(g.jobs) == 1 && o.Interactions != nil {
		if free := g.free(g.jobs[0].Tokens); len(free) > 0 {
			best := spread.Choose(o.Interactions, free, g.builder.Sampler().Settings().Steps)
			out.Predicted = new(best.Nats / float64(len(free)))
		}
	}
	return out
}
