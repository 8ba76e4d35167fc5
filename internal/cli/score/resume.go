package score

import (
	"encoding/json"
	"errors"

	"mdmgen/analysis/profile"
	"mdmgen/internal/cli/kit"
	"mdmgen/internal/journal"
)

// resumeSchema names the layout of the file that score's --resume keeps: a header, then a
// finished window a line.
const resumeSchema = "mdmgen.score-resume/2"

// resumeLine is a finished window with its terms, which are not printed.
type resumeLine struct {
	scoredWindow
	Terms *profile.Terms `json:"terms,omitempty"`
}

// resume is the journal of score with what it held; without the flag it does nothing.
type resume struct {
	*journal.Journal
	done map[int]scoredWindow
}

// openResume reads the file, if there is one, and makes it ready for more. A seed that
// was not given is the file's.
func openResume(r *scoring) (_ *resume, err error) {
	out := &resume{done: make(map[int]scoredWindow)}
	if r.resume == "" {
		return out, nil
	}
	if out.Journal, err = kit.OpenJournal(r.resume, resumeSchema); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			out.Close()
			err = kit.ResumeError(err)
		}
	}()
	if seed, ok := kit.SeedOf(out.Journal); ok && r.sampler.Seed == nil && !r.settings.Exact {
		r.settings.Seed = &seed
	}
	header := kit.NewIdentity(resumeSchema, kit.NewProvenance(r.network, r.words), r.settings.seed(), r.settings)
	if err := out.Agree(header); err != nil {
		return nil, err
	}
	if err := out.Records(func(record json.RawMessage) error { return out.read(record, len(r.windows)) }); err != nil {
		return nil, err
	}
	return out, out.Begin(header)
}

// read takes a finished window.
func (f *resume) read(record json.RawMessage, windows int) error {
	var line resumeLine
	err := json.Unmarshal(record, &line)
	w := line.scoredWindow
	if err != nil || w.Window < 0 || w.Window >= windows {
		return errors.New("is not a finished window")
	}
	w.terms = line.Terms
	f.done[w.Window] = w
	return nil
}

// finished returns the windows from..to where all of them are done. Windows that were
// worked out together are worked out together again where one is missing.
func (f *resume) finished(from, to int) []scoredWindow {
	var out []scoredWindow
	for i := from; i < to; i++ {
		w, ok := f.done[i]
		if !ok {
			return nil
		}
		out = append(out, w)
	}
	return out
}

// add keeps windows that were just finished.
func (f *resume) add(windows []scoredWindow) error {
	if f.Journal == nil {
		return nil
	}
	var lines []any
	for _, w := range windows {
		if _, ok := f.done[w.Window]; !ok {
			lines = append(lines, resumeLine{w, w.terms})
		}
	}
	return kit.ResumeError(f.Append(lines...))
}
