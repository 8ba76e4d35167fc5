package chunks

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
)

// Flags are --resume, --shard and --plan.
type Flags struct {
	// Resume is the file, "" for none.
	Resume string
	// Shard is which part is asked for, once Check was called.
	Shard Shard
	shard string
	// plan is the number of parts to plan for, 0 for none.
	plan int
	// asked says that parts are asked for one after another, see [kit.Streams].
	asked bool
}

// Flags are the command's; what says what is kept.
func (f *Flags) Flags(what string) flags.Set {
	return flags.Set{
		kit.ResumeFlag(&f.Resume, "`FILE` that keeps finished "+what+"; if it exists, continue where it ends"),
		flags.Int(&f.plan, 1, maxShards, flags.Flag{Name: "plan", Category: flags.CatOutput, Default: "none", Usage: "print what the run takes in `N` parts, and their commands"}),
		flags.Name(&f.shard, "write I/N, or auto", flags.Flag{Name: "shard", Category: flags.CatOutput,
			Usage: "do part `I/N` into the file of -o, for mdmgen merge; auto: of an array job"}),
	}
}

// maxShards bounds the number of parts.
const maxShards = 1 << 20

// Check reads --shard. output is what -o names, seeded says that the run has its seed from the
// command line or draws nothing.
func (f *Flags) Check(s kit.Streams, all flags.Set, output string, seeded bool) error {
	if f.asked = s.Parts != nil; f.asked {
		f.Shard = Shard{1, 1}
		if err := f.Whole(all, "shard", "plan", "resume", "output"); err != nil || seeded {
			return err
		}
		return exit.Usagef("all parts must have one seed: give it with --seed")
	}
	if f.plan > 0 {
		if err := all.Exclude([2]string{"plan", "shard"}, [2]string{"plan", "resume"}); err != nil {
			return err
		}
	}
	if f.shard == "" {
		return nil
	}
	text := f.shard
	if text == "auto" {
		var from string
		var err error
		if text, from, err = automatic(os.Getenv); err != nil {
			return err
		}
		s.Notice(fmt.Sprintf("--shard auto is %s, from %s", text, from))
	}
	shard, err := parse(text)
	switch {
	case err != nil:
		return err
	case output == "" || output == "-":
		return exit.Usagef("--shard: name the part's file with -o")
	case !seeded:
		return exit.Usagef("--shard: all parts must have one seed: give it with --seed")
	}
	f.Shard = shard
	return all.Exclude([2]string{"shard", "resume"})
}

// Whole refuses flags that are of a whole run where parts are asked for, or planned.
func (f *Flags) Whole(all flags.Set, names ...string) error {
	for _, name := range names {
		if f.asked && all.IsSet(name) {
			return exit.Usagef("--%s: does not go with parts that are asked for one after another: leave it out", name)
		}
		if err := all.Exclude([2]string{"shard", name}, [2]string{"plan", name}); err != nil {
			return err
		}
	}
	return nil
}

// Reads refuses standard input, which input "" and - are, where it is read more than once: by the
// commands of a plan, by parts that one process does one after another and, where merge does
// read it again, by merge. A part alone may have the same bytes piped in as the others.
func (f *Flags) Reads(input string, again bool) error {
	if (input == "" || input == "-") && (f.Planned() || f.asked || again && f.Given()) {
		return exit.Usagef("%s: the input is read more than once: name a file in place of standard input", map[bool]string{true: "--plan", false: "--shard"}[f.Planned()])
	}
	return nil
}

// Given says that a part of the run is asked for.
func (f *Flags) Given() bool { return f.Shard.N > 0 }

// parse reads I/N.
func parse(text string) (Shard, error) {
	i, n, ok := strings.Cut(text, "/")
	var s Shard
	var ierr, nerr error
	s.I, ierr = strconv.Atoi(i)
	s.N, nerr = strconv.Atoi(n)
	if !ok || ierr != nil || nerr != nil || s.N < 1 || s.N > maxShards || s.I < 1 || s.I > s.N {
		return Shard{}, exit.Usagef("--shard %.40s: must be I/N with I in 1..N and N at most %d, or auto", text, maxShards)
	}
	return s, nil
}

// array is how a scheduler tells a process which of many it is.
type array struct {
	name, index string
	// count and first are variables, "" where the scheduler has none; N is read from MDMGEN_SHARDS
	// where there is no count, and first is 0.
	count, first string
}

var arrays = []array{
	{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
	{"Kubernetes", "JOB_COMPLETION_INDEX", "", ""},
	{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", ""},
	{"Nomad", "NOMAD_ALLOC_INDEX", "NOMAD_GROUP_COUNT", ""},
}

// automatic is the shard that a scheduler says this process is, and how it says so.
func automatic(env func(string) string) (text, from string, err error) {
	var found []array
	for _, a := range arrays {
		if env(a.index) != "" {
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 0:
		var names []string
		for _, a := range arrays {
			names = append(names, a.index)
		}
		return "", "", exit.Usagef("--shard auto: this is no array job: none of %s is set", strings.Join(names, ", "))
	case len(found) > 1:
		return "", "", exit.Usagef("--shard auto: %s and %s are both set: write I/N", found[0].index, found[1].index)
	}
	a := found[0]
	count, used := a.count, a.index
	if count == "" || env(flags.EnvShards) != "" {
		count = flags.EnvShards
	}
	number := func(name string) int {
		n, nerr := strconv.Atoi(env(name))
		if err == nil && env(name) == "" {
			err = exit.Usagef("--shard auto: %s says the index, and %s is not set: set it to the number of parts", a.name, name)
		} else if err == nil && nerr != nil {
			err = exit.Usagef("--shard auto: %s (%s) is %.40q: must be a whole number", name, a.name, env(name))
		}
		return n
	}
	index, first := number(a.index), 0
	n := number(count)
	used += ", " + count
	if a.first != "" && env(a.first) != "" {
		first = number(a.first)
		used += ", " + a.first
	}
	return fmt.Sprintf("%d/%d", index-first+1, n), fmt.Sprintf("%s (%s)", a.name, used), err
}

// Begun reads the header of the run that the file of --resume is of into v, and says whether there
// is one yet.
func (f *Flags) Begun(schema string, v any) (bool, error) {
	if f.Resume == "" {
		return false, nil
	}
	j, err := kit.OpenJournal(f.Resume, schema)
	if err != nil {
		return false, err
	}
	defer j.Close()
	return j.Header() != nil && json.Unmarshal(j.Header(), v) == nil, nil
}

// SeedOf is the seed of that run, false where there is none yet.
func (f *Flags) SeedOf(schema string) (uint64, bool, error) {
	var h struct{ Seed *uint64 }
	if ok, err := f.Begun(schema, &h); !ok || h.Seed == nil {
		return 0, false, err
	}
	return *h.Seed, true, nil
}
