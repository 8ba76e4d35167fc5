package chunks

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/journal"
)

// Flags holds --resume and --shard.
type Flags struct {
	// Resume is the file, "" for none.
	Resume string
	// Shard is the requested part, valid after Check.
	Shard Shard
	shard string
}

// Flags returns the flags; what names the things that are kept.
func (f *Flags) Flags(what string) kit.Set {
	return kit.Set{
		kit.Name(&f.Resume, "name a file", kit.Flag{Name: "resume", Category: kit.CatOutput, Writes: true, Usage: "keep finished " + what + " in `FILE`; if it exists, continue where it ends"}),
		kit.Name(&f.shard, "write I/N, or auto", kit.Flag{Name: "shard", Category: kit.CatOutput,
			Usage: "write part `I/N` to the file of -o, for mdmgen merge; auto: by array job"}),
	}
}

// maxShards is the maximum number of parts.
const maxShards = 1 << 20

// Use describes a command, for checking which parts it can compute.
type Use struct {
	// Output is the file of -o. Seeded reports whether the seed is given or nothing is drawn.
	Output string
	Seeded bool
	// Whole lists the flags that only a whole run may have.
	Whole []string
}

// Check parses --shard, and returns an error for flags that do not go with it.
func (f *Flags) Check(s kit.Streams, all kit.Set, use Use) (err error) {
	for _, name := range append(use.Whole, "resume") {
		if err := all.Exclude([2]string{"shard", name}); err != nil {
			return err
		}
	}
	if f.shard == "" {
		return nil
	}
	text, from := f.shard, ""
	if text == "auto" {
		if text, from, err = automatic(os.Getenv); err != nil {
			return err
		}
		s.Notice(fmt.Sprintf("--shard auto is %s, from %s", text, from))
	}
	f.Shard, err = parse(text)
	switch {
	case err != nil:
		return err
	case use.Output == "" || use.Output == "-":
		return exit.Usagef("--shard: name the part's file, as in -o part-%d.jsonl", f.Shard.I)
	case !use.Seeded:
		return exit.Usagef("--shard: all parts must have the same seed: give one, as in --seed 1")
	}
	return nil
}

// Given reports whether a part of the run is asked for.
func (f *Flags) Given() bool { return f.Shard.N > 0 }

// Kept reports whether finished chunks are kept in a file.
func (f *Flags) Kept() bool { return f.Given() || f.Resume != "" }

// parse parses I/N.
func parse(text string) (s Shard, err error) {
	i, n, _ := strings.Cut(text, "/")
	s.I, _ = strconv.Atoi(i)
	if s.N, err = strconv.Atoi(n); err != nil || s.N < 1 || s.N > maxShards || s.I < 1 || s.I > s.N {
		return Shard{}, exit.Usagef("--shard %.40s: must be I/N with I in 1..N and N at most %d, or auto", text, maxShards)
	}
	return s, nil
}

// envShards is the variable with the number of parts for --shard auto, if the scheduler does not
// set one.
const envShards = "MDMGEN_SHARDS"

// array describes how a scheduler numbers the processes of a job: index is the variable of the
// index, count that of the number of processes (MDMGEN_SHARDS if it is ""), and first, if not "",
// that of the least index, which is otherwise 0.
type array struct{ name, index, count, first string }

var arrays = []array{
	{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
	{"Kubernetes", "JOB_COMPLETION_INDEX", "", ""},
}

// automatic returns the shard that a scheduler assigns to this process, and the variables that it
// read.
func automatic(env func(string) string) (text, from string, err error) {
	var found []array
	var names []string
	for _, a := range arrays {
		if names = append(names, a.index); env(a.index) != "" {
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 0:
		return "", "", exit.Usagef("--shard auto: this is not an array job: none of %s is set", strings.Join(names, ", "))
	case len(found) > 1:
		return "", "", exit.Usagef("--shard auto: %s and %s are both set: write I/N", found[0].index, found[1].index)
	}
	a := found[0]
	if a.count == "" || env(envShards) != "" {
		a.count = envShards
	}
	used, numbers := []string{a.index, a.count}, [3]int{}
	if env(a.first) != "" {
		used = append(used, a.first)
	}
	for i, name := range used {
		if numbers[i], err = strconv.Atoi(env(name)); err != nil {
			return "", "", exit.Usagef("--shard auto: %s is %.40q: set it to a whole number, as %s (%s) is", name, env(name), a.index, a.name)
		}
	}
	return fmt.Sprintf("%d/%d", numbers[0]-numbers[2]+1, numbers[1]), fmt.Sprintf("%s (%s)", a.name, strings.Join(used, ", ")), nil
}

// SeedOf returns the seed of the run that is resumed, if there is one and no seed is given, else seed.
func (f *Flags) SeedOf(schema string, given *uint64, seed uint64) uint64 {
	h := struct{ Seed uint64 }{seed}
	if given == nil && f.Resume != "" {
		if j, err := journal.Open(f.Resume, schema); err == nil {
			defer j.Close()
			_ = json.Unmarshal(j.Header(), &h) // [Flags.Open] reports the faults of the file.
		}
	}
	return h.Seed
}
