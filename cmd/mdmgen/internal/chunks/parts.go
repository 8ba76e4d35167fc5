package chunks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/journal"
)

// maxChunks is the maximum number of chunks that a part may claim: their places take 1 GiB.
const maxChunks = 1 << 26

// Parts are the files of one run, which together hold each of its chunks once.
type Parts struct {
	reader
	// Schema is the schema of the files.
	Schema string
	// Mixture names the fields in which the files differ and which the user accepts.
	Mixture []string

	header json.RawMessage
	first  Header
}

// forced are the fields in which parts of one run may differ if the user insists: they describe the
// machines and programs, not what was computed.
var forced = []string{"executable", "program", "version", "go", "platform", "cpu", "device", "threads", "batch", "head", "model.runtime", "model.provider", "model.threads", "model.dtype", "model.facts.dtype", "model.facts_digest"}

// Read reads parts. It checks that they are of one run and hold all of its chunks.
func Read(s kit.Streams, paths []string, force bool) (*Parts, error) {
	p := &Parts{}
	var flaws []string
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, exit.Usagef("merge: %s is named twice", path)
		}
		f, err := p.read(path, force)
		if err != nil {
			return nil, err
		}
		flaws = append(flaws, f...)
	}
	if len(flaws) == 0 {
		flaws = p.missing()
	}
	if len(flaws) == 0 {
		return p, nil
	}
	for _, f := range flaws[1:] {
		s.Notice(f)
	}
	return nil, fmt.Errorf("merge: the run is incomplete: %s", flaws[0])
}

// read reads a file and returns its flaws. It returns an error if the file is not part of the run.
func (p *Parts) read(path string, force bool) (flaws []string, err error) {
	schema, err := journal.SchemaOf(path)
	if err != nil {
		return nil, err
	}
	name, ok := commandOf(schema)
	first, _ := commandOf(p.Schema)
	switch {
	case !ok:
		return nil, fmt.Errorf("merge: %s is not a part of a run: --shard and --resume write these", path)
	case p.Schema != "" && p.Schema != schema && first == name:
		return nil, OtherVersion(path)
	case p.Schema != "" && p.Schema != schema:
		return nil, exit.Usagef("merge: %s is a part of a run of %s, unlike the others", path, strings.TrimPrefix(name, "mdmgen."))
	}
	p.Schema, p.schema = schema, schema
	j, err := journal.OpenReader(path, schema)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	defer j.Close()
	if j.Header() == nil {
		return []string{path + " is truncated: it has no header: remove it"}, nil
	}
	var h Header
	if err := json.Unmarshal(j.Header(), &h); err != nil || h.Chunks < 0 || h.Chunks > maxChunks {
		return nil, fmt.Errorf("merge: %s:1: is not the header of a part", path)
	}
	if p.header == nil {
		p.header, p.first, p.reader = j.Header(), h, newReader(h)
	} else if err := p.accept(path, journal.Differ(p.header, j.Header()), force); err != nil {
		return nil, err
	}
	doubled, ended, err := p.add(j, &h.Part)
	if len(doubled) > 0 {
		other := p.files[p.where[doubled[0]].file-1]
		flaws = append(flaws, fmt.Sprintf("duplicate: %s and %s have results in common: leave one of them out", other, path))
	}
	switch {
	case err != nil:
		flaws = append(flaws, fmt.Sprintf("%v, and make %v again", err, &h.Part))
	case !ended && (h.Part.Shard == "" || strings.HasSuffix(path, partial)):
		flaws = append(flaws, path+" is not finished: the same command with --resume or --shard continues it")
	case !ended:
		flaws = append(flaws, fmt.Sprintf("%s is truncated: it has no footer: remove it, and make %v again", path, &h.Part))
	}
	return flaws, nil
}

// accept returns an error if a part differs from the first in fields that must be equal, or in
// others without force.
func (p *Parts) accept(path string, unlike []string, force bool) error {
	fatal := slices.DeleteFunc(slices.Clone(unlike), func(name string) bool { return slices.Contains(forced, name) })
	switch {
	case len(fatal) > 0:
		return exit.Usagef("merge: %s and %s are parts of two different runs, which differ in %s", p.files[0], path, strings.Join(fatal, ", "))
	case len(unlike) > 0 && !force:
		return exit.Usagef("merge: %s and %s were made with different values of %s, so their last bits may differ too: make one of them again, or give --force", p.files[0], path, strings.Join(unlike, ", "))
	}
	p.Mixture = append(p.Mixture, unlike...)
	slices.Sort(p.Mixture)
	p.Mixture = slices.Compact(p.Mixture)
	return nil
}

// OtherVersion returns the error of a part with the layout of another version.
func OtherVersion(path string) error {
	return fmt.Errorf("merge: %s: another version of mdmgen made this file: make the part again", path)
}

// missing returns the shards that lack chunks.
func (p *Parts) missing() (flaws []string) {
	shard, err := parse(p.first.Part.Shard)
	if err != nil {
		shard.N = 1
	}
	for shard.I = 1; shard.I <= shard.N; shard.I++ {
		from, to := shard.Of(len(p.where))
		if slices.ContainsFunc(p.where[from:to], func(w place) bool { return w.file == 0 }) {
			flaws = append(flaws, fmt.Sprintf("part %s is missing or lacks results: run the command with --shard %[1]s", shard))
		}
	}
	return flaws
}

// Run holds what printing the results needs of a run's header: the settings S, and the P that the
// command kept for that.
type Run[S, P any] struct {
	Settings S `json:"settings"`
	Part     struct {
		Provenance kit.Provenance `json:"provenance"`
		Print      P              `json:"print"`
	} `json:"part"`
}

// Header decodes the header of the run into v, such as a [Run].
func (p *Parts) Header(v any) error {
	if err := json.Unmarshal(p.header, v); err != nil {
		return fmt.Errorf("merge: the parts' header: %w", err)
	}
	return nil
}

// OneMachine returns an error for parts from several kinds of machine, which the user accepts but
// the command does not.
func (p *Parts) OneMachine() error {
	if len(p.Mixture) == 0 {
		return nil
	}
	return exit.Usagef("merge: the parts were made with different values of %s, but these results must come from one kind of machine: make them again with one", strings.Join(p.Mixture, ", "))
}

// EachOf calls take with each chunk of a run, in order.
func EachOf[T any](p *Parts, take func(chunk int, result T) error) error {
	for i := range p.where {
		var result T
		if err := p.result(i, &result); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		if err := take(i, result); err != nil {
			return err
		}
	}
	return nil
}
