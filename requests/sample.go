package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
)

// Sample is a finished sequence as it is printed.
type Sample struct {
	Index int `json:"index"`
	// Line is the line of input that asked for it, 0 for none.
	Line int `json:"line,omitempty"`
	// Seed and Settings are the line's own, omitted if those of the run apply.
	Seed     *uint64           `json:"seed,omitempty"`
	Settings *catalog.Settings `json:"settings,omitempty"`
	// Match are the line's own patterns.
	Match []Pattern `json:"match,omitempty"`
	// IDs holds null for each remaining mask.
	IDs []*int `json:"ids"`
	// Text is null if there is no tokenizer. For a chat it is the answer alone.
	Text *string `json:"text"`
	// Filled holds the text of each gap of the canvas, in order. Continuation is the text of the
	// only gap, if that reaches to the end, as after a prefix.
	Filled       []string `json:"filled,omitempty"`
	Continuation *string  `json:"continuation,omitempty"`
	// Blanks is the number of gaps that took the blank before them. Filled does not repeat it.
	Blanks int `json:"blanks,omitempty"`
	// Calls is the number of network calls that this sequence took part in: its non-empty blocks.
	// FinishCalls, 0 or 1, counts the call that filled what no step revealed.
	Calls       int `json:"calls"`
	FinishCalls int `json:"finish_calls"`
	// RuleCalls is the number of calls by the rule of a decoder that looks at rows: Calls plus the
	// calls that can reveal nothing and are not made.
	RuleCalls int `json:"rule_calls,omitempty"`
	// Rounds and Rows are set if the sampler looks ahead or is guided. Rounds is the number of
	// network calls that the sequence took part in, FinishCalls included; Rows is the number of its
	// canvases in them.
	Rounds int `json:"rounds,omitempty"`
	Rows   int `json:"rows,omitempty"`
	// Left is the number of remaining masks.
	Left int `json:"left"`
	// Audit compares its rows with cached keys and values to full rows.
	Audit *samplers.Audit `json:"audit,omitempty"`
}

// Printer prints the samples of jobs. Words is nil if there is no tokenizer; Mask is the id of the
// mask.
type Printer struct {
	Words *tokenize.Tokenizer
	Mask  int
}

// Sample returns the printed form of the result of a job.
func (p Printer) Sample(j *Job, r samplers.Result) (Sample, error) {
	s := Sample{Index: int(r.Index), Seed: j.Seed, Match: j.Patterns, IDs: make([]*int, len(r.IDs)), Blanks: len(j.Blanks), Calls: r.Calls, FinishCalls: r.FinishCalls, Left: r.Left, Audit: r.Audit}
	set := j.Sampler.Settings()
	if j.Own {
		s.Settings = &set
	}
	s.RuleCalls = r.RuleCalls
	if set.Lookahead > 0 || j.Sampler.Canvases() > 1 {
		s.Rounds, s.Rows = r.Calls+r.FinishCalls, r.Rows
	}
	for i, id := range r.IDs {
		if id != p.Mask {
			s.IDs[i] = &r.IDs[i]
		}
	}
	if p.Words != nil {
		given, ids, t := j.Inside(j.Tokens), j.Inside(r.IDs), p.reader(j)
		told := p.told(j, given, ids)
		ended := told < len(ids)
		given, ids = given[j.Prompt:], ids[j.Prompt:told]
		s.Text = new(t.text(ids))
		s.Filled = t.filled(given, ids, func(l int) bool { return slices.Contains(j.Blanks, l+j.Before+j.Prompt) })
		if t.err != nil {
			return s, fmt.Errorf("sample %d: %w", r.Index, t.err)
		}
		if s.Filled == nil && ended { // The continuation is empty.
			s.Filled = []string{""}
		}
		if len(s.Filled) == 1 && given[len(given)-1] == p.Mask {
			s.Continuation = &s.Filled[0]
		}
	}
	return s, nil
}

// told returns how many positions of a canvas hold its text. The continuation of a text ends before
// the first special token, as an answer does; any other canvas is text as a whole.
func (p Printer) told(j *Job, given, ids []int) int {
	from := slices.Index(given, p.Mask)
	if from < 0 || slices.ContainsFunc(given[from:], func(id int) bool { return id != p.Mask }) {
		return len(ids)
	}
	if text, err := p.Words.DecodeText(given[:from]); j.Prompt == 0 && (text == "" || err != nil) {
		return len(ids)
	}
	return from + p.Words.End(ids[from:])
}

// reader turns ids into text, without the tokens end. It keeps its first error.
type reader struct {
	Printer
	end int
	err error
}

// reader returns the reader of the samples of a job. It drops the end tokens that pad a text that must
// match, or an answer.
func (p Printer) reader(j *Job) *reader {
	t, set := &reader{Printer: p, end: tokenize.None}, j.Sampler.Settings()
	if j.Prompt > 0 && set.Stop != nil {
		t.end = *set.Stop
	} else if set.Match != nil {
		t.end = set.Match[0].Language.End()
	}
	return t
}

// text decodes a canvas. It writes runs of masks as {{N}}, as a template has them.
func (t *reader) text(ids []int) string {
	var b strings.Builder
	for i := 0; i < len(ids); {
		j := i
		for j < len(ids) && (ids[j] == t.Mask) == (ids[i] == t.Mask) {
			j++
		}
		if ids[i] == t.Mask {
			fmt.Fprintf(&b, "{{%d}}", j-i)
		} else {
			s, err := t.Words.Decode(slices.DeleteFunc(slices.Clone(ids[i:j]), func(id int) bool { return id == t.end }))
			t.err = cmp.Or(t.err, err)
			b.WriteString(s)
		}
		i = j
	}
	return b.String()
}

// filled returns the texts of ids in the gaps of a canvas (its runs of masks), in order: what they
// add to the preceding text, without a blank that blank reports to be moved into the gap at a position.
// Positions after the end of the canvas belong to the last gap.
func (t *reader) filled(canvas, ids []int, blank func(int) bool) (texts []string) {
	gap := func(l int) bool { return l >= len(canvas) || canvas[l] == t.Mask }
	for before, i := 0, 0; i < len(ids); {
		j := i
		for j < len(ids) && gap(j) == gap(i) {
			j++
		}
		if gap(i) {
			more := t.between(ids[before:j], i-before)
			if blank(i) {
				more = strings.TrimPrefix(more, " ")
			}
			texts = append(texts, more)
		}
		before, i = i, j
	}
	return texts
}

// between returns the text that ids[from:] add to that of ids[:from].
func (t *reader) between(ids []int, from int) string {
	if rest, ok := strings.CutPrefix(t.text(ids), t.text(ids[:from])); ok {
		return rest
	}
	return t.text(ids[from:]) // A character begins before from.
}

// Settings holds all that the samples depend on, as resolved: defaults are
// filled in, and what the sampler does not use is omitted.
type Settings struct {
	catalog.Settings
	// Renormalised reports whether the network's rows are scores, whose mass is not 1, and tokens
	// are drawn from the normalised scores.
	Renormalised bool `json:"renormalised,omitempty"`
	N            int  `json:"n"`
	Batch        int  `json:"batch"`
	// Length is the length of the canvas, omitted if lines of the input have their own.
	Length  int    `json:"length,omitempty"`
	Seed    uint64 `json:"seed"`
	Threads int    `json:"threads"`
	// Head is what the network returned for a position: rows to draw from, or best if it drew the
	// token itself. Ids are the same either way, except for uniforms within rounding of a boundary
	// between two tokens.
	Head   samplers.Head `json:"head"`
	Device string        `json:"device"`
	Prefix string        `json:"prefix,omitempty"`
	Suffix string        `json:"suffix,omitempty"`
	Infill string        `json:"infill,omitempty"`
	// Negative and BadWords are the texts of NegativeTokens and BadWordsIDs.
	Negative string   `json:"negative,omitempty"`
	BadWords []string `json:"bad_words,omitempty"`
	Input    string   `json:"input,omitempty"`
	// Match are the patterns that texts must match, without those of lines of the input; MatchLaw
	// describes the resulting distribution.
	Match    []Pattern `json:"match,omitempty"`
	MatchLaw string    `json:"match_law,omitempty"`
	// Chat is the user's message; ChatTemplate is "sha256:…" of the template that turned messages
	// into prompts.
	Chat         string `json:"chat,omitempty"`
	ChatTemplate string `json:"chat_template,omitempty"`
	// ChatTemplateKwargs are the values of variables of the template.
	ChatTemplateKwargs map[string]any `json:"chat_template_kwargs,omitempty"`
	// Profile is "sha256:…" of the interactions by which spread chose, "" for assumed ones.
	Profile string `json:"profile,omitempty"`
	// Groups describes the groups of spread.
	Groups *Groups `json:"groups,omitempty"`
	// Audit is the fraction of groups, or of calls of a cache, that was audited.
	Audit float64 `json:"audit,omitempty"`
	// Facts and Sidecar override the model's facts.
	Facts   []string `json:"facts,omitempty"`
	Sidecar string   `json:"sidecar,omitempty"`
}

// Groups describes how spread chose its groups.
type Groups struct {
	// Interactions is "measured" for those of the profile, or "assumed" without one.
	Interactions string `json:"interactions"`
	// Predicted is the predicted KL relative to the same order one position at a time, in nats per
	// token, for a single canvas and measured interactions; else it is omitted.
	Predicted *float64 `json:"predicted_kl_per_token,omitempty"`
}

// Settings returns the settings of a job's record.
func (b *Builder) Settings(j *Job) Settings {
	s := b.Record
	s.Settings, s.N, s.Length, s.ChatTemplate = j.Sampler.Settings(), j.N, len(j.Tokens), b.Words.Template()
	if j.Seed != nil {
		s.Seed = *j.Seed
	}
	return s
}
