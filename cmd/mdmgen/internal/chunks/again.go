package chunks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/journal"
)

// joinLines is how many chunks Join writes at a time.
const joinLines = 256

// Join writes the parts as the file that --resume of the whole run would have kept.
func (p *Parts) Join(path string) error {
	// Settings stay as they stand there: their numbers may be too great for a float64.
	h := Header{Identity: kit.Identity{Settings: new(json.RawMessage)}}
	if err := p.Header(&h); err != nil {
		return err
	}
	h.Part = Part{To: h.Chunks, Args: h.Part.Args}
	j, err := journal.Open(path, p.Schema)
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.Begin(h); err != nil {
		return err
	}
	var lines []any
	flush := func() error {
		defer func() { lines = lines[:0] }()
		return j.Append(lines...)
	}
	if err := EachOf(p, func(i int, result json.RawMessage) error {
		if lines = append(lines, line{Chunk: &i, Result: result}); len(lines) < joinLines {
			return nil
		}
		return flush()
	}); err != nil {
		return err
	}
	lines = append(lines, line{End: &span{0, h.Chunks}})
	return flush()
}

// Again prints the results of parts by a run of their command, of which known are the flags, that
// takes all of its work from the file kept. files says how many arguments the command reads. format
// is "" for that of the parts.
func (p *Parts) Again(ctx context.Context, s kit.Streams, known flags.Set, files int, kept, format string, out *kit.Output) error {
	var h struct {
		Part Part `json:"part"`
	}
	if err := p.Header(&h); err != nil {
		return err
	}
	command, _, _ := strings.Cut(strings.TrimPrefix(p.Schema, "mdmgen."), "-")
	args := h.Part.Args
	if err := checkArgs(command, args, known, files); err != nil {
		return err
	}
	args = slices.Insert(args, 1, "--resume="+kept)
	if format != "" {
		end := slices.Index(args, "--")
		flags := slices.DeleteFunc(slices.Clone(args[:end]), func(a string) bool { return strings.HasPrefix(a, "--format=") || strings.HasPrefix(a, "--json=") })
		args = slices.Concat(flags[:1:1], []string{"--format=" + format}, flags[1:], args[end:])
	}
	err := s.Run(ctx, args, out)
	var refused *journal.RefusedError
	if errors.As(err, &refused) && refused.Path == kept {
		unlike, _, _ := strings.Cut(strings.TrimPrefix(refused.Reason, "was made with other values of "), ":")
		return exit.Usagef("merge: %s is done again to print its results, and what it finds here is unlike the parts in %s: merge where they were made", command, unlike)
	}
	if err != nil && exit.Code(err) != exit.Invalid { // A report that says "violated" is one.
		return err
	}
	cerr := out.Commit()
	return cmp.Or(err, cerr)
}

// checkArgs refuses a command line that no part has, as one that a stranger wrote: it is run,
// and must write nothing.
func checkArgs(command string, args []string, known flags.Set, files int) error {
	end := slices.Index(args, "--")
	bad := end < 1 || args[0] != command || len(args)-end-1 > files
	for i := 1; i < end; i++ {
		name, _, ok := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		f := known.Named(name)
		voice := name == "verbosity"
		bad = bad || !ok || !strings.HasPrefix(args[i], "-") || !voice && (f == nil || f.Writes || slices.Contains([]string{"shard", "plan", "compare"}, name))
	}
	if bad {
		return exit.Usagef("merge: the parts' header has a command line that makes no parts: %.200s", kit.CommandLine(args))
	}
	return nil
}
