package setup

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
	"mdmgen/samplers/spread"
)

// Sampler holds the flags of a sampler.
type Sampler struct {
	Name string
	// Seed is nil if none is given.
	Seed *uint64
	// Batch is 0 if none is given.
	Batch   int
	Profile Profile
	// Set holds the options whose flags are given.
	Set catalog.Options
	// Calls is --calls, 0 if it is not given. Solved is the same for a sampler without groups, whose
	// steps follow from the canvas, and 0 for others.
	Calls, Solved int
	// Answers reports whether all sequences are answers to messages.
	Answers bool
	// said is the last notice of Fit about a cache.
	said string
	// rowCost is what a further row costs speculate on the network.
	rowCost float64
}

// Flags returns the flags that choose the sampler.
func (s *Sampler) Flags() kit.Set {
	s.Name = "fhs"
	known := func(name string) bool { _, ok := catalog.Describe(name); return ok } // published names too
	return append(kit.Set{
		kit.Known(&s.Name, catalog.Names(), known, kit.Flag{Name: "sampler", Category: kit.CatSample, Usage: "sample by `NAME`; mdmgen samplers --all lists them"}),
		kit.Seed(&s.Seed, kit.Flag{Name: "seed", Category: kit.CatSample, Default: "random, printed", Usage: "seed the random streams with `SEED`"}),
		kit.Int(&s.Batch, 1, 1<<20, kit.Flag{Name: "batch", Category: kit.CatSample, Default: "up to 8", Usage: "pass `N` canvases to each network call"}),
	}, s.optionFlags(func(o samplers.Option) bool { return !o.Calls && !o.Unplanned })...)
}

// CallsFlag returns --calls, the number of network calls: of spread unless a sampler is named.
func (s *Sampler) CallsFlag() *kit.Flag {
	return kit.Int(&s.Calls, 1, schedule.MaxSteps, kit.Flag{Name: "calls", Category: kit.CatSample, Default: "none", Usage: "make `N` network calls, by spread or another sampler with steps"})
}

// useCalls sets the sampler and its steps by --calls.
func (s *Sampler) useCalls(all kit.Set, o *catalog.Options) error {
	if !all.Given("sampler") {
		s.Name = spread.Spread.Name
	}
	if err := all.Exclude([2]string{"calls", "steps"}, [2]string{"calls", "block-length"}); err != nil {
		return err
	}
	o.Sampler = s.Name
	d, _ := catalog.Describe(s.Name)
	switch {
	case d.InGroups():
		o.Steps = s.Calls
	case d.TakesCalls():
		s.Solved = s.Calls
	default:
		return exit.Usagef("--calls: %s has no number of network calls to choose (%s): leave --calls out, or use --sampler %s", s.Name, d.Calls, spread.Spread.Name)
	}
	return nil
}

// BatchOf returns the default number of sequences per call: few, so that the first samples come
// soon. Tables answer immediately and take more.
func BatchOf(f model.Facts) int {
	if f.Family == "world" {
		return 256
	}
	return 8
}

// SeedOr returns the given seed, else a random one of 53 bits, which every JSON reader reads
// exactly.
func SeedOr(given *uint64) uint64 {
	if given != nil {
		return *given
	}
	return rand.Uint64() >> 11
}

// ShowSeed prints the seed if it was not given.
func (s *Sampler) ShowSeed(to kit.Streams, seed uint64) {
	if s.Seed == nil {
		to.Notice(fmt.Sprintf("seed %d", seed))
	}
}

// CallFlags returns the flags for network calls and for samplers without a plan, for the commands
// that sample.
func (s *Sampler) CallFlags() kit.Set {
	return s.optionFlags(func(o samplers.Option) bool { return o.Calls || o.Unplanned })
}

// DecoderFlags returns the flags of samplers that have no plan and whose laws are computed, for commands
// that choose no cache.
func (s *Sampler) DecoderFlags() kit.Set {
	out := s.optionFlags(func(o samplers.Option) bool { return o.Unplanned && !o.Unscored && !o.Calls })
	for i := range out {
		out[i].Rare = out[i].Rare || out[i].Name == "cache"
	}
	return out
}

func (s *Sampler) optionFlags(of func(samplers.Option) bool) kit.Set {
	var out kit.Set
	for _, o := range s.Set.List() {
		if of(o) {
			out = append(out, kit.Option(o, kit.Flag{Category: kit.CatSample, Usage: o.Help, Default: o.Default, Rare: !o.Flag}))
		}
	}
	return out
}

// Options returns the sampler's options, with the profile that they need.
func (s *Sampler) Options(ctx context.Context, all kit.Set) (catalog.Options, error) {
	o, err := s.bare(all)
	if err != nil {
		return o, err
	}
	return o, s.Profile.Use(ctx, all, &o)
}

// bare returns the sampler's options without a profile.
func (s *Sampler) bare(all kit.Set) (catalog.Options, error) {
	o := s.Set
	if all.Given("sampler") {
		o.Sampler = s.Name
	}
	if s.Calls > 0 {
		if err := s.useCalls(all, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// Check returns an error for flags that the sampler does not use. The sampler of an answer to messages
// may be known only when the model is open.
func (s *Sampler) Check(ctx context.Context, command string, all kit.Set) error {
	o, err := s.bare(all)
	if err != nil {
		return err
	}
	if s.Answers && o.Sampler == "" {
		return nil
	}
	unused, err := o.Unused()
	if err != nil {
		return all.Refuse(command, err)
	}
	for _, flag := range slices.Sorted(maps.Keys(unused)) {
		if !all.Given(flag) {
			continue
		}
		instead, users := "", catalog.Users(flag)
		missing, without := strings.CutPrefix(unused[flag], "without ")
		switch {
		case without:
			instead = " without " + all.Typed(missing)
		case unused[flag] != "":
			instead = " with " + all.Typed(unused[flag])
		default:
			if flag == "steps" && !all.Given("sampler") && all.Find("calls") != nil {
				instead = fmt.Sprintf(": write --calls %d, or name another sampler", o.Steps)
			}
			if len(users) > 0 {
				instead += "; " + strings.Join(users, ", ") + english.PluralWord(len(users), " does", " do")
			}
		}
		return exit.Usagef("%s: the sampler %s does not use it%s", all.Typed(flag), s.Name, instead)
	}
	return s.Profile.Use(ctx, all, &o)
}
