// Package chunks lets a command do its work in chunks, each a pure function of the run and the
// number of the chunk. A process computes all of them, those missing from a file (--resume), or a
// range of them as one of many machines (--shard), whose files are then merged.
//
// A run is identified by its header, see [Header]: two processes with the same header compute the
// same chunks, bit for bit. Finished chunks are kept in a journal, a line each, which ends with a
// footer once its range is complete:
//
//	{"schema":"mdmgen.score-resume/4",…,"chunks":128,"part":{"shard":"2/4","from":32,"to":64,…},"sum":…}
//	{"chunk":32,"result":{…},"sum":…}
//	…
//	{"end":{"from":32,"to":64},"sum":…}
//
// A chunk may have pieces, lines {"chunk":33,"piece":…} before its result, which are kept as they
// finish.
//
// The file of --resume and a part of --shard are such journals.
package chunks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/cpu"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/journal"
)

// commandOf returns NAME of a journal's schema NAME-resume/VERSION; false for other schemas.
func commandOf(schema string) (string, bool) {
	name, _, ok := strings.Cut(schema, "-resume/")
	return name, ok
}

// Header identifies a run, and the part of it that a file holds.
type Header struct {
	kit.Identity
	// CPU is the architecture with the instruction set extensions by which a runtime chooses its
	// kernels.
	CPU string `json:"cpu"`
	// Chunks is the number of chunks of the run.
	Chunks int `json:"chunks"`
	// Size is the number of samples or windows of each chunk except the last; 0 for cells, one per
	// chunk.
	Size int  `json:"chunk_size,omitempty"`
	Part Part `json:"part"`
}

// Part is the part of a run that a file holds.
type Part struct {
	// Shard is I/N, "" for the whole run.
	Shard string `json:"shard,omitempty"`
	// From..To is the range of chunks, To excluded.
	From int `json:"from"`
	To   int `json:"to"`
	// Provenance is the provenance of the process that began the file.
	Provenance kit.Provenance `json:"provenance"`
	// Print holds what the command needs in addition to print the results.
	Print any `json:"print,omitempty"`
}

// String names the part in messages.
func (p *Part) String() string {
	if p.Shard == "" {
		return "the whole"
	}
	return "part " + p.Shard
}

// Shard is part I of N, counting from 1; the zero value is the whole run.
type Shard struct{ I, N int }

// String returns I/N, as --shard takes it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// Of returns the shard's range of n chunks, to excluded. The sizes of ranges differ by at most 1.
func (s Shard) Of(n int) (from, to int) {
	if s.N == 0 {
		return 0, n
	}
	return int(int64(s.I-1) * int64(n) / int64(s.N)), int(int64(s.I) * int64(n) / int64(s.N))
}

// line is a finished chunk, a piece of one, or the footer.
type line struct {
	Chunk  *int            `json:"chunk,omitempty"`
	Piece  json.RawMessage `json:"piece,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	End    *span           `json:"end,omitempty"`
}

// readLine parses a line. It does not decode the result or piece, which make up most of a file and
// are decoded once, when they are needed.
func readLine(record []byte) (l line, err error) {
	rest, _ := bytes.CutPrefix(record, []byte(`{"chunk":`))
	number, value, _ := bytes.Cut(rest, []byte(","))
	name, value, _ := bytes.Cut(bytes.TrimSuffix(value, []byte("}")), []byte(":"))
	chunk, failed := strconv.Atoi(string(number))
	switch {
	case failed != nil:
	case string(name) == `"result"`:
		return line{Chunk: &chunk, Result: value}, nil
	case string(name) == `"piece"`:
		return line{Chunk: &chunk, Piece: value}, nil
	}
	return l, json.Unmarshal(record, &l)
}

// Pieced is a result whose pieces are kept before it is complete.
type Pieced interface {
	// Restore adds the next piece.
	Restore(piece json.RawMessage) error
}

// span is the range of chunks from..to, to excluded.
type span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// reader finds the finished chunks of a run in one or several files. It remembers their places, 16
// bytes per chunk, and reads them again when they are needed.
type reader struct {
	schema string
	files  []string
	where  []place
	// begun holds the first pieces of unfinished chunks.
	begun map[int]place
	// pieces is the number of pieces of all chunks.
	pieces int
	// j is the open file, number open, counting from 1.
	j    *journal.Journal
	open int
}

func newReader(h Header) reader {
	return reader{schema: h.Schema, where: make([]place, h.Chunks), begun: make(map[int]place)}
}

// place is a line of a file. Files are numbered from 1; 0 means none.
type place struct {
	file int32
	at   int64
}

var errNoChunk = errors.New("is not a finished chunk of this run")

// add indexes the chunks of another file. It returns the chunks that an earlier file already has,
// and whether the file ends with its footer.
func (r *reader) add(j *journal.Journal, part *Part) (doubled []int, ended bool, err error) {
	r.files = append(r.files, j.Path())
	err = j.Records(func(record json.RawMessage) error {
		switch l, err := readLine(record); {
		case err != nil || ended:
			return errNoChunk
		case l.End != nil && l.Chunk == nil && *l.End == (span{part.From, part.To}):
			ended = true
		case l.End != nil || l.Chunk == nil || !json.Valid(l.Result) == !json.Valid(l.Piece) || *l.Chunk < 0 || *l.Chunk >= len(r.where),
			r.where[*l.Chunk].file == int32(len(r.files)):
			return errNoChunk
		case r.where[*l.Chunk].file > 0:
			doubled = append(doubled, *l.Chunk)
		default:
			if len(l.Piece) > 0 {
				r.pieces++
			}
			here := place{int32(len(r.files)), j.At()}
			if first, ok := r.begun[*l.Chunk]; ok && first.file == here.file {
				here = first
			}
			if r.begun[*l.Chunk] = here; len(l.Result) > 0 {
				r.where[*l.Chunk] = here
				delete(r.begun, *l.Chunk)
			}
		}
		return nil
	})
	return doubled, ended, err
}

// result reads a finished chunk, or the pieces of an unfinished one.
func (r *reader) result(chunk int, result any) error {
	w, finished := r.where[chunk], true
	if w.file == 0 {
		if w, finished = r.begun[chunk], false; w.file == 0 {
			return nil
		}
	}
	if r.j == nil || r.open != int(w.file) {
		r.Close()
		var err error
		if r.j, err = journal.OpenReader(r.files[w.file-1], r.schema); err != nil {
			return err
		}
		r.open = int(w.file)
	}
	pieced, _ := result.(Pieced)
	var failed error
	err := r.j.Reread(w.at, func(record json.RawMessage) bool {
		var l line
		switch l, failed = readLine(record); {
		case failed != nil || l.Chunk == nil || *l.Chunk != chunk:
		case l.Result != nil:
			failed, finished = json.Unmarshal(l.Result, result), false
			return false
		case pieced == nil:
			failed = errNoChunk
		default:
			failed = pieced.Restore(l.Piece)
		}
		return failed == nil
	})
	if err == nil && failed == nil && finished {
		failed = errNoChunk // It was there when the file was indexed.
	}
	return errors.Join(err, failed)
}

// Close closes the open file. It may be called repeatedly, and on nil.
func (r *reader) Close() error {
	if r == nil {
		return nil
	}
	return r.j.Close()
}

// cpuFeatures returns the architecture with the extensions by which libraries choose kernels. If
// they differ, sums may be rounded differently.
func cpuFeatures() string {
	out := []string{runtime.GOARCH}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.1", cpu.X86.HasSSE41}, {"avx", cpu.X86.HasAVX}, {"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA},
		{"avxvnni", cpu.X86.HasAVXVNNI}, {"avx512f", cpu.X86.HasAVX512F}, {"avx512bw", cpu.X86.HasAVX512BW}, {"avx512vnni", cpu.X86.HasAVX512VNNI},
		{"avx512bf16", cpu.X86.HasAVX512BF16}, {"amxint8", cpu.X86.HasAMXInt8}, {"amxbf16", cpu.X86.HasAMXBF16},
		{"asimddp", cpu.ARM64.HasASIMDDP}, {"sve", cpu.ARM64.HasSVE}, {"i8mm", cpu.ARM64.HasI8MM},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, " ")
}
