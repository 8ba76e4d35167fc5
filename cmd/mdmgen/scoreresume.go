package main

import (
	"bufio"
	"bytes"
	"encoding/json"

	"mdmgen/analysis/profile"
)

// resumeSchema names the layout of the file that score's --resume keeps: a header, then a
// finished window a line.
const resumeSchema = "mdmgen.score-resume/1"

// resumeLine is a finished window with its terms, which are not printed.
type resumeLine struct {
	scoredWindow
	Terms *profile.Terms `json:"terms,omitempty"`
}

// resume is the journal of score with what it held; without the flag it does nothing.
type resume struct {
	journal
	done map[int]scoredWindow
}

// openResume reads the file, if there is one, and makes it ready for more. A seed that
// was not given is the file's.
func openResume(r *scoring) (*resume, error) {
	out := &resume{done: make(map[int]scoredWindow)}
	path := r.c.String("resume")
	if path == "" {
		if r.c.IsSet("resume") {
			return nil, usagef("--resume: name a file")
		}
		return out, nil
	}
	j, was, rest, err := readJournal(path, resumeSchema)
	if err != nil {
		return nil, err
	}
	out.journal = *j
	if was != nil && !r.c.IsSet("seed") && !r.settings.Exact {
		r.settings.Seed = &was.Seed
	}
	header := newHeader(resumeSchema, r.model)
	header.Seed, header.Settings = r.settings.seed(), r.settings
	if err := out.agree(was, header); err != nil {
		return nil, err
	}
	if err := out.read(rest, len(r.windows)); err != nil {
		return nil, err
	}
	return out, out.begin(header)
}

// read takes the finished windows.
func (f *resume) read(data []byte, windows int) error {
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, maxLine)
	for n := 2; scan.Scan(); n++ {
		var line resumeLine
		err := json.Unmarshal(scan.Bytes(), &line)
		w := line.scoredWindow
		if err != nil || w.Window < 0 || w.Window >= windows {
			return usagef("--resume %s:%d: is not a finished window", f.path, n)
		}
		w.terms = line.Terms
		f.done[w.Window] = w
	}
	if err := scan.Err(); err != nil {
		return usagef("--resume %s: %v", f.path, err)
	}
	return nil
}

// finished returns the windows from..to where all of them are done. Windows that were
// worked out together are worked out together again where one is missing.
func (f *resume) finished(from, to int) ([]scoredWindow, error) {
	var out []scoredWindow
	for i := from; i < to; i++ {
		w, ok := f.done[i]
		if !ok {
			return nil, nil
		}
		out = append(out, w)
	}
	return out, nil
}

// add keeps windows that were just finished.
func (f *resume) add(windows []scoredWindow) error {
	if f.file == nil {
		return nil
	}
	var lines []byte
	for _, w := range windows {
		if _, ok := f.done[w.Window]; ok {
			continue
		}
		line, err := marshalText(resumeLine{w, w.terms})
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	return f.append(lines)
}
