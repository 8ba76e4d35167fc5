package chunks

import (
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/kit"
)

// Plan is what a run would take.
type Plan struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Chunks     int            `json:"chunks"`
	// Calls is the expectation of the calls of all sequences together, of a likelihood the
	// number of its network rows, and of bound that by its first chunk; null where it depends on what the network says, and
	// MostCalls, which no run exceeds, is all that is known.
	Calls     *float64 `json:"calls"`
	MostCalls float64  `json:"most_calls"`
	// Rows says that calls are network rows, for people.
	Rows bool `json:"-"`
	// Seconds is what the whole run takes on this device, by what was measured now.
	Seconds float64 `json:"seconds"`
	Parts   int     `json:"parts"`
	// SecondsPerPart is that of the part with the most chunks.
	SecondsPerPart float64 `json:"seconds_per_part"`
	// Commands make the parts, and Merge the results of them.
	Commands []string `json:"commands"`
	Merge    string   `json:"merge"`
}

// PlanSchema names the layout of a plan.
const PlanSchema = "mdmgen.plan/1"

// Planned says that --plan is given.
func (f *Flags) Planned() bool { return f.plan > 0 }

// Print writes a plan whose calls and seconds are known. more are flags, --NAME=VALUE, that every
// command must have besides those of the command line, or in their place, as that of a seed that
// was drawn.
func (p *Plan) Print(f *Flags, s kit.Streams, out *kit.Output, format string, more ...string) error {
	p.Schema, p.Parts = PlanSchema, f.plan
	most := (p.Chunks + p.Parts - 1) / p.Parts
	p.SecondsPerPart = p.Seconds * float64(most) / math.Max(1, float64(p.Chunks))
	part := Part{Args: without(*s.Args, more...)}
	part.Args = append(part.Args[:1:1], append(more, part.Args[1:]...)...)
	p.Merge = "mdmgen merge"
	for i := 1; i <= p.Parts; i++ {
		name := fmt.Sprintf("part-%d-of-%d.jsonl", i, p.Parts)
		p.Commands = append(p.Commands, part.Command(Shard{i, p.Parts}, name))
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
		line(map[bool]string{true: "rows", false: "calls"}[p.Rows], "%.6g in expectation", *p.Calls)
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

// hours is a time in a unit in which it is not small.
func hours(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.3g min", seconds/60)
	}
	return fmt.Sprintf("%.4g h", seconds/3600)
}

// Timed is how many seconds work takes, by its second run where that is short: the first
// pays for what is made once.
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
