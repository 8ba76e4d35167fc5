// Package chunks lets a command do its work in chunks, each of which is a pure function of the
// run and its number: all of them in one process, those that are missing from a file that was
// kept (--resume), or a range of them on one of many machines (--shard), whose files are merged.
//
// A run is what its header says, see [Header]: two processes with the same header make the same
// chunks, bit for bit. Finished chunks are kept in a journal, a line each, which ends with a
// footer once its range is complete:
//
//	{"schema":"mdmgen.score-resume/3",…,"chunks":128,"part":{"shard":"2/4","from":32,"to":64,…},"sum":…}
//	{"chunk":32,"result":{…},"sum":…}
//	…
//	{"end":{"from":32,"to":64},"sum":…}
//
// The file of --resume and a part of --shard are both such a journal.
package chunks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
)

// Header is a run: all that decides the results of its chunks, and beside that which of them a
// file is for.
type Header struct {
	kit.Identity
	// CPU is the instruction set with the extensions that decide which kernels a runtime takes.
	CPU string `json:"cpu"`
	// Chunks is how many there are in the run.
	Chunks int `json:"chunks"`
	// Size is how many samples or windows a chunk has, but the last; 0 for cells, of which it has one.
	Size int  `json:"chunk_size,omitempty"`
	Part Part `json:"part"`
}

// Part is what a file holds of a run, or shall hold.
type Part struct {
	// Shard is I/N, "" for a file that holds all of them.
	Shard string `json:"shard,omitempty"`
	// From..To are the chunks, To not being among them.
	From int `json:"from"`
	To   int `json:"to"`
	// Args is the command line without --shard and -o.
	Args []string `json:"args"`
	// Provenance is that of the process that began the file.
	Provenance kit.Provenance `json:"provenance"`
	// Print is what the command needs besides to print the results.
	Print any `json:"print,omitempty"`
}

// name is how messages call what a file holds.
func (p *Part) name() string {
	if p.Shard == "" {
		return "the whole"
	}
	return "part " + p.Shard
}

// line is a finished chunk, or the footer.
type line struct {
	Chunk  *int            `json:"chunk,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	End    *span           `json:"end,omitempty"`
}

// span are the chunks from..to, to not being among them.
type span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Shard is part I of N, I counting from 1; the zero value is the whole run.
type Shard struct{ I, N int }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// Of is the range of n chunks that is the shard's. Ranges are as equal as can be.
func (s Shard) Of(n int) (from, to int) {
	if s.N == 0 {
		return 0, n
	}
	return int(int64(s.I-1) * int64(n) / int64(s.N)), int(int64(s.I) * int64(n) / int64(s.N))
}

// number takes the number of a chunk out of a line, and says of a footer that it is one.
func (h *Header) number(l line) (chunk int, end bool, err error) {
	switch {
	case l.End != nil && l.Chunk == nil && l.End.From == h.Part.From && l.End.To == h.Part.To:
		return 0, true, nil
	case l.End == nil && l.Chunk != nil && len(l.Result) > 0 && *l.Chunk >= 0 && *l.Chunk < h.Chunks:
		return *l.Chunk, false, nil
	}
	return 0, false, exit.Usagef("is no finished chunk of this run")
}

// without are a command's arguments, as [kit.Streams] has them, without --shard, --plan, --resume, -o
// and the flags others, --NAME=VALUE each.
func without(args []string, others ...string) []string {
	end := max(slices.Index(args, "--"), 0)
	names := []string{"--shard", "--output", "--plan", "--resume"}
	for _, other := range others {
		name, _, _ := strings.Cut(other, "=")
		names = append(names, name)
	}
	flags := slices.DeleteFunc(slices.Clone(args[:end]), func(arg string) bool {
		name, _, ok := strings.Cut(arg, "=")
		return ok && slices.Contains(names, name)
	})
	return append(flags, args[end:]...)
}

// Command is the command line that makes a shard, as a shell reads it.
func (p *Part) Command(s Shard, output string) string {
	args := slices.Insert(slices.Clone(p.Args), 1, "--shard="+s.String(), "--output="+output)
	if args[len(args)-1] == "--" {
		args = args[:len(args)-1]
	}
	return kit.CommandLine(args)
}
