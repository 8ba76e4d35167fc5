package setup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mdmgen/analysis/interaction"
	"mdmgen/builtin"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/cachedir"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/spread"
)

// Profile holds the interactions by which spread chooses its groups: of the file of --profile, or the
// network's.
type Profile struct {
	Path string
	// interactions are those of Path, or those measured.
	interactions *interaction.Profile
}

// Flag returns --profile, for commands that choose a sampler.
func (p *Profile) Flag() *kit.Flag {
	return kit.Name(&p.Path, "name a file", kit.Flag{Name: "profile", Category: kit.CatSample, Rare: true, Usage: "choose the groups of spread by the interactions in `FILE`, written by mdmgen schedule"})
}

// openProfile reads a file of interactions.
func openProfile(ctx context.Context, path string) (*interaction.Profile, error) {
	f, err := plainfile.OpenNamed(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", path, err)
	}
	defer f.Close()
	in, err := interaction.Read(f)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("profile %s: %s; `mdmgen schedule` writes a profile", path, fault.Plain(plainfile.Cause(err))))
	}
	return in, nil
}

// open reads the file if it has not been read.
func (p *Profile) open(ctx context.Context) (_ *interaction.Profile, err error) {
	if p.interactions == nil {
		p.interactions, err = openProfile(ctx, p.Path)
	}
	return p.interactions, err
}

// Use puts the interactions into a sampler's options if the sampler is spread, which does without
// them, too. A profile that it does not use is a usage error.
func (p *Profile) Use(ctx context.Context, all kit.Set, o *catalog.Options) error {
	if p.Path != "" && !o.Spreads() {
		return exit.Usagef("%s: only --sampler spread reads it", all.Typed("profile"))
	}
	return p.Fill(ctx, o)
}

// Fill puts the interactions into the options if the sampler is spread.
func (p *Profile) Fill(ctx context.Context, o *catalog.Options) error {
	if p.Path == "" || !o.Spreads() {
		return nil
	}
	in, err := p.open(ctx)
	if err == nil {
		o.Interactions = &in.Interactions
	}
	return err
}

// For puts the interactions of a network into a sampler's options, if it is spread and has no others:
// those of [Profile.Of].
func (p *Profile) For(ctx context.Context, s kit.Streams, m model.Model, o *catalog.Options) (err error) {
	if o.Spreads() && o.Interactions == nil {
		o.Interactions, err = p.Of(ctx, s, m)
	}
	return err
}

// cheap reports whether a network is measured unasked: its interactions take a minute of two cores at
// most, and a second of a GPU. It depends on nothing but the network.
func cheap(m model.Model) bool {
	const most = 200e6 // parameters
	n := m.Facts().Parameters
	return 0 < n && n <= most
}

// Of returns the interactions by which plans are chosen if no file is named, nil for assumed ones. A
// network is measured at first use if that is cheap, which depends on it alone; of others those that
// schedule kept are used.
func (p *Profile) Of(ctx context.Context, s kit.Streams, m model.Model) (*spread.Interactions, error) {
	f := m.Facts()
	assumed := f.Digest == builtin.Digest || f.Family == "world"
	switch {
	case p.interactions != nil:
	case f.Shift || m.Spec().BlockSize > 0 || shortLength(f) < 2:
		return nil, nil
	case cheap(m) && !assumed:
		var err error
		if p.interactions, _, err = p.Interactions(ctx, s, m); err != nil {
			return nil, err
		}
	default:
		made := kit.NewProvenance(m, nil)
		if p.interactions, _ = KeptInteractions(ctx, made.Model.Digest, made.Model.FactsDigest); p.interactions != nil {
			break
		}
		if !assumed {
			s.Notice("spread assumes how positions interact and predicts no loss, since the network is too large to measure unasked: `mdmgen schedule --model REF --calls N` measures it, and keeps that for spread")
		}
		return nil, nil
	}
	return &p.interactions.Interactions, nil
}

// Digest returns "sha256:…" of the interactions for records, "" if none were used.
func (p *Profile) Digest() string {
	if p.interactions == nil {
		return ""
	}
	return digest(&p.interactions.Interactions)
}

// digest returns "sha256:…" of what plans depend on: the interactions in JSON, without their errors.
func digest(in *spread.Interactions) string {
	data, _ := json.Marshal(spread.Interactions{Lambda: in.Lambda, Distance: in.Distance, Nats: in.Nats}) // of finite numbers, which cannot fail
	return fmt.Sprintf("sha256:%x", sha256.Sum256(data))
}

// The sizes of the short measurement of interactions: the maximum number of positions, and the
// numbers of calls and of sequences.
const (
	shortPositions = 128
	shortCalls     = 64
	shortSequences = 4
	shortSeed      = 1 // makes it reproducible
)

// Interactions returns the interactions of --profile, else the cached ones of the network, else
// those of a short measurement on samples of its own, which is cached if the cache can be written.
// It also returns their file, "" if there is none.
func (p *Profile) Interactions(ctx context.Context, s kit.Streams, m model.Model) (*interaction.Profile, string, error) {
	if p.Path != "" {
		in, err := p.open(ctx)
		return in, p.Path, err
	}
	made := kit.NewProvenance(m, nil)
	in, path := KeptInteractions(ctx, made.Model.Digest, made.Model.FactsDigest)
	if in != nil {
		return in, path, nil
	}
	begin, f := time.Now(), m.Facts()
	d := shortLength(f)
	bar := kit.NewBar(s, min(d, shortCalls), "measuring interactions", "calls")
	in, err := interaction.Measure(ctx, m, f.Framed(slices.Repeat([]int{f.MaskID}, d)), interaction.Config{Sequences: shortSequences, Calls: shortCalls, Seed: shortSeed, OnCall: func() { bar.Add(1) }})
	if bar.Clear(); err != nil {
		return nil, "", fmt.Errorf("interactions: %w", fault.WithoutName(err))
	}
	in = in.Smoothed()
	what := fmt.Sprintf("measured interactions on %s, in %.2g s, for the groups of spread", in, time.Since(begin).Seconds())
	if err := keep(ctx, path, func(w io.Writer) error { return in.Write(w, made) }); err != nil {
		s.Notice(fmt.Sprintf("%s; not kept: %s", what, err))
		return in, "", nil
	}
	s.Notice(fmt.Sprintf("%s; kept as %s", what, path))
	return in, path, nil
}

// shortLength returns the number of positions that the short measurement masks.
func shortLength(f facts.Facts) int {
	d := f.Length
	if !f.FixedLength {
		d = min(d, shortPositions)
	}
	return d - len(f.Frame)
}

// KeptInteractions returns the cached interactions of a network, by the digests of its files and
// facts, nil if there are none that can be read. path is the file for them, "" if there can be
// none.
func KeptInteractions(ctx context.Context, digest, facts string) (in *interaction.Profile, path string) {
	path = keptFile(digest, facts, ".interactions.json") // NAME.json is of another measurement
	in, _ = openProfile(ctx, path)                       // nil after an error
	return in, path
}

// keptFile returns the file of what was measured on a network, by the digests of its files and facts:
// "" if there is no cache or the model has no digest.
func keptFile(digest, facts, ending string) string {
	root, err := cachedir.Path()
	digest, facts = strings.TrimPrefix(digest, "sha256:"), strings.TrimPrefix(facts, "sha256:")
	if err != nil || len(digest) < 16 || len(facts) < 16 {
		return ""
	}
	return filepath.Join(root, "profiles", digest[:16]+"-"+facts[:16]+ending)
}

// keep writes a file in the cache. path is "" if there can be none.
func keep(ctx context.Context, path string, write func(io.Writer) error) error {
	if path == "" {
		return errors.New("there is no cache folder, or the model has no digest")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := kit.NewOutput(ctx, "profile", path, kit.Streams{})
	if err != nil {
		return err
	}
	return out.Put(false, write)
}
