package chunks

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/kit"
)

// Plan describes what a run would take.
type Plan struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Chunks     int            `json:"chunks"`
	// Calls is the expected number of calls of all sequences together, or, where Rows is set, of
	// network rows; null where it depends on the network's rows. No run exceeds MostCalls.
	Calls     *float64 `json:"calls"`
	MostCalls float64  `json:"most_calls"`
	// Rows is for the text alone.
	Rows bool `json:"-"`
	// Seconds is the time of the whole run on this device, as measured now.
	Seconds float64 `json:"seconds"`
	Parts   int     `json:"parts"`
	// SecondsPerPart is that of the part with the most chunks.
	SecondsPerPart float64 `json:"seconds_per_part"`
	// Commands compute the parts, and Merge puts them together.
	Commands []string `json:"commands"`
	Merge    string   `json:"merge"`
}

// PlanSchema names the layout of a plan.
const PlanSchema = "mdmgen.plan/1"

// Print writes a plan whose calls and seconds are known. more are flags, --NAME=VALUE, that all
// commands have in place of those of the command line, such as a seed that was drawn.
func (p *Plan) Print(f *Flags, s kit.Streams, out *kit.Output, format string, more ...string) error {
	p.Schema, p.Parts = PlanSchema, f.plan
	most := (p.Chunks + p.Parts - 1) / p.Parts
	p.SecondsPerPart = p.Seconds * float64(most) / math.Max(1, float64(p.Chunks))
	var part Part
	part.ask(f.all, *s.Args)
	for _, text := range more {
		name, value, _ := strings.Cut(strings.TrimLeft(text, "-"), "=")
		part.Flags[name] = []string{value}
	}
	p.Merge = "mdmgen merge"
	for i := 1; i <= p.Parts; i++ {
		name := fmt.Sprintf("part-%d-of-%d.jsonl", i, p.Parts)
		p.Commands = append(p.Commands, part.command((*s.Args)[0], Shard{i, p.Parts}, name))
		if p.Parts <= 8 {
			p.Merge += " " + name
		}
	}
	if p.Parts > 8 {
		p.Merge += fmt.Sprintf(" part-*-of-%d.jsonl", p.Parts)
	}
	if format == "json" || format == "jsonl" {
		if err := kit.WriteRecord(out, format, p); err != nil {
			return err
		}
		return out.Commit()
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-8s"+format+"\n", append([]any{name}, args...)...)
	}
	line("chunks", "%s, at most %s a part", humanize.Comma(int64(p.Chunks)), humanize.Comma(int64(most)))
	if p.Calls != nil {
		unit := "calls"
		if p.Rows {
			unit = "rows"
		}
		line(unit, "%.6g in expectation", *p.Calls)
	} else {
		line("calls", "%.6g at most: what the network says decides", p.MostCalls)
	}
	line("time", "%s in all on this device, %s for the longest of %s, as measured now", hours(p.Seconds), hours(p.SecondsPerPart), english.Plural(p.Parts, "part", ""))
	for _, c := range p.Commands {
		line("part", "%s", c)
	}
	line("merge", "%s", p.Merge)
	return out.Commit()
}

// hours writes a time in a unit in which it is not small.
func hours(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.3g min", seconds/60)
	}
	return fmt.Sprintf("%.4g h", seconds/3600)
}

// Timed returns how many seconds work takes, by its second run unless the first is long: the first
// pays for what is allocated once.
func Timed(work func() error) (float64, error) {
	var seconds float64
	for range 2 {
		begin := time.Now()
		if err := work(); err != nil {
			return 0, err
		}
		if seconds = time.Since(begin).Seconds(); seconds > 5 {
			break
		}
	}
	return seconds, nil
}
