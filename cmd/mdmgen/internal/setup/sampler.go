package setup

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
)

// Sampler is what the flags say of the sampler.
type Sampler struct {
	Name string
	// Seed is nil where none is given.
	Seed *uint64
	// Batch is 0 where none is given, and [AutoBatch] where the command is to find one, which
	// FindsBatch says that it can.
	Batch      int
	FindsBatch bool
	Profile    Profile
	options    map[string]*string
}

// AutoBatch is --batch auto.
const AutoBatch = -1

// Flags choose the sampler.
func (s *Sampler) Flags() flags.Set {
	s.Name = "fhs"
	batch := flags.Flag{Name: "batch", Category: flags.CatSample, Default: "up to 8", Usage: "`N` sequences per network call; samples do not depend on it"}
	number := flags.Int(&s.Batch, 1, 1<<20, batch)
	if s.FindsBatch {
		batch.Usage = "`N` sequences per network call, or auto for as many as memory has room for, found by doubling; samples do not depend on it"
		number = flags.IntOr(&s.Batch, 1, 1<<20, "auto", AutoBatch, batch)
	}
	return append(flags.Set{
		flags.Known(&s.Name, catalog.Names(), isSampler, flags.Flag{Name: "sampler", Category: flags.CatSample, Usage: "`NAME` of the sampler: " + strings.Join(catalog.Names(), ", ")}),
		seedFlag(&s.Seed),
		number,
	}, s.optionFlags(func(o catalog.Option) bool { return !o.Calls && !o.Unplanned })...)
}

// others tells the samplers that use a flag.
func others(flag string) string {
	var names []string
	for _, d := range catalog.Descriptors() {
		if slices.Contains(d.Flags, flag) {
			names = append(names, d.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; " + strings.Join(names, ", ") + map[bool]string{true: " does", false: " do"}[len(names) == 1]
}

// isSampler says that a sampler has the name, also one of those that it is published under.
func isSampler(name string) bool {
	_, ok := catalog.Describe(name)
	return ok
}

// seedFlag is --seed.
func seedFlag(p **uint64) *flags.Flag {
	return flags.Seed(p, flags.Flag{Name: "seed", Category: flags.CatSample, Default: "random, printed", Usage: "`SEED` of the random streams"})
}

// SeedOr is a seed that was given, else one of 53 bits, so that every reader of JSON reads the
// number that was used.
func SeedOr(given *uint64) uint64 {
	if given != nil {
		return *given
	}
	return rand.Uint64() >> 11
}

// CallFlags say how the network is called, and what samplers do that have no plan. They are of
// the commands that sample.
func (s *Sampler) CallFlags() flags.Set {
	return s.optionFlags(func(o catalog.Option) bool { return o.Calls || o.Unplanned })
}

// DecoderFlags are those of samplers that have no plan and whose laws are worked out.
func (s *Sampler) DecoderFlags() flags.Set {
	return s.optionFlags(func(o catalog.Option) bool { return o.Unplanned && !o.Unscored })
}

func (s *Sampler) optionFlags(of func(catalog.Option) bool) flags.Set {
	if s.options == nil {
		s.options = make(map[string]*string)
	}
	var out flags.Set
	for _, o := range catalog.AllOptions() {
		if of(o) {
			text := new(string)
			s.options[o.Name] = text
			out = append(out, flags.Option(text, o, flags.Flag{Category: flags.CatSample}))
		}
	}
	return out
}

// Options are the sampler's flags with the profile that they ask for.
func (s *Sampler) Options(ctx context.Context, all flags.Set) (catalog.Options, error) {
	o, err := s.Bare(all)
	if err != nil {
		return o, err
	}
	return o, s.Profile.Use(ctx, all, &o)
}

// Bare are the sampler's options without a profile.
func (s *Sampler) Bare(all flags.Set) (catalog.Options, error) {
	o := catalog.Options{Sampler: s.Name}
	for _, option := range catalog.AllOptions() {
		if all.IsSet(option.Name) {
			if err := option.Set(&o, *s.options[option.Name]); err != nil {
				return o, err // None: the flag has read it.
			}
		}
	}
	return o, nil
}

// Check refuses flags that the sampler does not use.
func (s *Sampler) Check(ctx context.Context, command string, all flags.Set) error {
	o, err := s.Bare(all)
	if err != nil {
		return err
	}
	unused, err := o.Unused()
	if err != nil {
		return exit.Usagef("%s: %s", command, fault.Plain(err))
	}
	for _, flag := range slices.Sorted(maps.Keys(unused)) {
		if !all.IsSet(flag) {
			continue
		}
		excluding := []string{flag}
		err := exit.Usagef("%s: the sampler %s does not use it%s", flags.Dashed(flag), s.Name, others(flag))
		if why := unused[flag]; why != "" {
			if missing, ok := strings.CutPrefix(why, "without "); ok {
				err = exit.Usagef("%s: the sampler %s does not use it without --%s", flags.Dashed(flag), s.Name, missing)
			} else {
				err = exit.Usagef("%s: the sampler %s does not use it with --%s", flags.Dashed(flag), s.Name, why)
				excluding = append(excluding, strings.Fields(why)[0])
			}
		}
		for _, flag := range excluding {
			if all.LeaveOut(err, flag) == nil {
				return s.Check(ctx, command, all) // without it
			}
		}
		return err
	}
	return s.Profile.Use(ctx, all, &o)
}
