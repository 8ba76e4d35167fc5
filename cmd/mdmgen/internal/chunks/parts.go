package chunks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/journal"
)

// maxChunks bounds the number of chunks that a part may speak of: their places take 1 GiB.
const maxChunks = 1 << 26

// Parts are the files of one run, which have each of its chunks once. Of a chunk only where it
// is is in memory, 16 bytes.
type Parts struct {
	// Schema is that of the files, Mixture what they have unlike all the same.
	Schema  string
	Mixture []string

	header json.RawMessage
	first  Header
	paths  []string
	where  []place
	// open is the file that was read last.
	open int
	j    *journal.Journal
}

// place is a line of a file; path counts from 1, and 0 is none.
type place struct {
	path int32
	at   int64
}

// forced are what parts of one run may have unlike where the user says so: the machines and
// programs that made them, and not what they made.
var forced = []string{"program", "version", "go", "platform", "cpu", "device", "threads", "batch", "head", "model.runtime", "model.provider", "model.threads", "model.dtype", "model.facts.dtype", "model.facts_digest"}

// flaw is what is wrong with parts.
type flaw struct {
	what string
	// shard must be done again, into the file output; none where N is 0.
	shard  Shard
	output string
}

// Read reads parts, and checks that they are of one run and that it has all of its chunks. What
// is wrong is told line by line, with the commands that make what is missing.
func Read(s kit.Streams, paths []string, force bool) (_ *Parts, err error) {
	p := &Parts{}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	var faults []flaw
	unfinished := make(map[string]string) // the shards with a file, by their names
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, exit.Usagef("merge: %s is named twice", path)
		}
		f, err := p.add(path, force)
		if err != nil {
			return nil, err
		}
		for _, x := range f {
			unfinished[cmp.Or(x.shard, Shard{1, 1}).String()] = x.output // 1/1 is all that --resume keeps.
		}
		faults = append(faults, f...)
	}
	missing := p.missing(unfinished)
	faults = append(faults, missing...)
	if len(faults) == 0 {
		return p, nil
	}
	told := make(map[Shard]bool)
	for _, f := range faults {
		if len(faults) > 1 { // One is the error.
			s.Notice(f.what)
		}
	}
	for _, f := range faults {
		if f.shard.N > 0 && !told[f.shard] {
			told[f.shard] = true
			s.Notice("run: " + p.first.Part.Command(f.shard, f.output))
		}
	}
	return nil, fmt.Errorf("merge: the run is not whole: %s", summary(faults))
}

// summary is the first of some faults, with the number of the others.
func summary(faults []flaw) string {
	if n := len(faults) - 1; n > 0 {
		return fmt.Sprintf("%s (and %d more)", faults[0].what, n)
	}
	return faults[0].what
}

// add reads a file. An error is that it is none of the run's.
func (p *Parts) add(path string, force bool) (faults []flaw, err error) {
	schema, err := journal.SchemaOf(path)
	if err != nil {
		return nil, err
	}
	if p.Schema == "" {
		p.Schema = schema
	}
	name, version, ok := strings.Cut(schema, "-resume/")
	if !ok || version != "3" || schema != p.Schema {
		switch {
		case ok && version != "3":
			return nil, exit.Usagef("merge: %s: another version of mdmgen made this file: make the part again", path)
		case ok:
			return nil, exit.Usagef("merge: %s is a part of another command's run (%s) than %s", path, strings.TrimPrefix(name, "mdmgen."), p.paths[0])
		}
		return nil, exit.Usagef("merge: %s is not a part of a run: --shard and --resume write these", path)
	}
	j, err := journal.OpenReader(path, schema)
	if err != nil {
		return nil, p.refused(err)
	}
	defer j.Close()
	if j.Header() == nil {
		return []flaw{{what: path + " is torn: it has no header: remove it"}}, nil
	}
	var h Header
	if err := json.Unmarshal(j.Header(), &h); err != nil || h.Chunks < 0 || h.Chunks > maxChunks || len(h.Part.Args) == 0 {
		return nil, exit.Usagef("merge: %s:1: is not the header of a part", path)
	}
	if p.header == nil {
		p.header, p.first = j.Header(), h
		p.where = make([]place, h.Chunks)
	}
	if unlike := journal.Differ(p.header, j.Header()); len(unlike) > 0 {
		if err := p.mix(path, unlike, force); err != nil {
			return nil, err
		}
	}
	p.paths = append(p.paths, path)
	return p.index(j, &h), nil
}

// mix takes a part that has something unlike.
func (p *Parts) mix(path string, unlike []string, force bool) error {
	grave := slices.DeleteFunc(slices.Clone(unlike), func(name string) bool { return slices.Contains(forced, name) })
	switch {
	case len(grave) > 0:
		return exit.Usagef("merge: %s and %s are parts of two different runs, which differ in %s", p.paths[0], path, strings.Join(grave, ", "))
	case !force:
		return exit.Usagef("merge: %s and %s were made with different values of %s, so that their last bits may differ too: make one of them again, or give --force", p.paths[0], path, strings.Join(unlike, ", "))
	}
	p.Mixture = append(p.Mixture, unlike...)
	slices.Sort(p.Mixture)
	p.Mixture = slices.Compact(p.Mixture)
	return nil
}

// index notes where the chunks of a file are, which is the last of paths.
func (p *Parts) index(j *journal.Journal, h *Header) (faults []flaw) {
	path, ended := p.paths[len(p.paths)-1], false
	var twice []int
	other := 0
	err := j.Records(func(record json.RawMessage) error {
		var l line
		if err := json.Unmarshal(record, &l); err != nil || ended {
			return errors.New("is no finished chunk")
		}
		i, end, err := h.number(l)
		switch {
		case err != nil:
			return err
		case end:
			ended = true
		case p.where[i].path > 0:
			other = int(p.where[i].path)
			twice = append(twice, i)
		default:
			p.where[i] = place{int32(len(p.paths)), j.At()}
		}
		return nil
	})
	if n := len(twice); n > 0 {
		which := fmt.Sprintf("chunk %d", twice[0])
		if n > 1 {
			which += fmt.Sprintf(" and %s", english.Plural(n-1, "other", ""))
		}
		faults = append(faults, flaw{what: fmt.Sprintf("doubled: %s and %s both have %s: leave one of the files out", p.paths[other-1], path, which)})
	}
	shard, _ := parse(h.Part.Shard) // None for the file of --resume.
	torn := flaw{shard: shard, output: strings.TrimSuffix(path, partial)}
	switch {
	case err != nil:
		torn.what = fmt.Sprintf("%v: remove it, and make the part again", err)
	case !ended && shard.N == 0:
		torn.what = path + " is not finished: the same command with --resume continues it"
	case !ended && torn.output != path:
		torn.what = path + " is not finished"
	case !ended:
		torn.what = path + " is torn: it has no footer: remove it, and make the part again"
	default:
		return faults
	}
	return append(faults, torn)
}

// missing are the shards of which chunks are missing. have are the files of those of which
// there is one that is not whole.
func (p *Parts) missing(have map[string]string) (out []flaw) {
	shards := Shard{N: 1}
	if s, err := parse(p.first.Part.Shard); err == nil {
		shards = s
	}
	for shards.I = 1; shards.I <= shards.N; shards.I++ {
		from, to := shards.Of(len(p.where))
		lacking := 0
		for _, w := range p.where[from:to] {
			if w.path == 0 {
				lacking++
			}
		}
		if lacking == 0 || have[shards.String()] != "" {
			continue
		}
		output := filepath.Join(filepath.Dir(p.paths[0]), fmt.Sprintf("part-%d-of-%d.jsonl", shards.I, shards.N))
		out = append(out, flaw{fmt.Sprintf("part %s is missing, %d of %s", shards, lacking, english.Plural(to-from, "chunk", "")), shards, output})
	}
	return out
}

// Header decodes what the parts say of the run.
func (p *Parts) Header(v any) error {
	if err := json.Unmarshal(p.header, v); err != nil {
		return exit.Usagef("merge: the parts' header: %w", err)
	}
	return nil
}

// EachOf calls take with all chunks of a run, in their order.
func EachOf[T any](p *Parts, take func(chunk int, result T) error) error {
	for i, w := range p.where {
		if p.j == nil || p.open != int(w.path) {
			p.Close()
			j, err := journal.OpenReader(p.paths[w.path-1], p.Schema)
			if err != nil {
				return p.refused(err)
			}
			p.j, p.open = j, int(w.path)
		}
		var result T
		if err := again(p.j, w.at, &result); err != nil {
			return p.refused(err)
		}
		if err := take(i, result); err != nil {
			return err
		}
	}
	return nil
}

// Close closes what is open. It may be called again.
func (p *Parts) Close() { p.j.Close() }

// refused names the command before an error of a file.
func (p *Parts) refused(err error) error {
	var refused *journal.RefusedError
	if errors.As(err, &refused) {
		return exit.Usagef("merge: %w", err)
	}
	return fmt.Errorf("merge: %w", err)
}
