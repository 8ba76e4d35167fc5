package setup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/profile"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/sysinfo"
	"mdmgen/model"
	"mdmgen/model/ort"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// Profile holds the file of --profile, which is read once.
type Profile struct {
	Path string
	read *readProfile
}

// Flag returns --profile, for commands that choose a sampler.
func (p *Profile) Flag() *flags.Flag {
	return flags.Name(&p.Path, "name a file", flags.Flag{Name: "profile", Category: flags.CatSample, Rare: true, Usage: "choose --grid profile, --sizes profile and the groups of spread by the loss and interactions in `FILE`, written by mdmgen score --write-profile; at other lengths the loss is taken by the visible fraction"})
}

// readProfile holds the contents of a profile's file.
type readProfile struct {
	profile.File
	// Digest is "sha256:…" of the file.
	Digest string
}

// openProfile reads the file of --profile.
func openProfile(ctx context.Context, path string) (*readProfile, error) {
	f, err := plainfile.OpenNamed(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", path, err)
	}
	defer f.Close()
	sum := sha256.New()
	file, err := profile.Read(io.TeeReader(f, sum))
	if err != nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("profile %s: %s; `mdmgen score TEXT --write-profile FILE` writes a profile", path, fault.Plain(plainfile.Cause(err))))
	}
	return &readProfile{file, fmt.Sprintf("sha256:%x", sum.Sum(nil))}, nil
}

// open reads the file if it has not been read.
func (p *Profile) open(ctx context.Context) (_ *readProfile, err error) {
	if p.read == nil {
		p.read, err = openProfile(ctx, p.Path)
	}
	return p.read, err
}

// Use puts the profile into a sampler's options: the loss, made non-increasing, if --grid or
// --sizes is profile, and the interactions if the sampler is spread. A profile that nothing uses,
// or one that is needed and missing, is a usage error; spread does without one.
func (p *Profile) Use(ctx context.Context, all flags.Set, o *catalog.Options) error {
	wants := func(flag string) bool { return all.Text(flag) == string(schedule.GridProfile) }
	asked := wants("grid") || wants("sizes")
	switch {
	case !asked && !o.Spreads():
		if p.Path == "" {
			return nil
		}
		return exit.Usagef("%s: only --grid profile, --sizes profile and --sampler spread read it; `mdmgen score --write-profile` writes one", all.Typed("profile"))
	case asked && p.Path == "":
		return exit.Usagef("--grid profile and --sizes profile need the network's loss profile: give it with --set profile=FILE, as `mdmgen score TEXT --write-profile FILE` writes it")
	}
	return p.Fill(ctx, o)
}

// Fill puts into the options the parts of the profile that they use.
func (p *Profile) Fill(ctx context.Context, o *catalog.Options) error {
	if p.Path == "" || !o.ByProfile() && !o.Spreads() {
		return nil
	}
	if o.Spreads() {
		in, err := p.interactions(ctx)
		if err == nil {
			o.Interactions = &in.Interactions
		}
		return err
	}
	read, err := p.open(ctx)
	switch {
	case err != nil:
		return err
	case read.Profile == nil:
		return exit.Usagef("profile %s: has interactions but no loss: `mdmgen score TEXT --write-profile FILE` measures both", p.Path)
	}
	o.Profile = read.NonIncreasing()
	return nil
}

// Digest returns the profile's digest for records, "" if no profile was used.
func (p *Profile) Digest() string {
	if p.read == nil {
		return ""
	}
	return p.read.Digest
}

// The sizes of the short measurement of interactions: the maximum number of positions, and the
// numbers of calls and of sequences.
const (
	shortPositions = 128
	shortCalls     = 64
	shortSequences = 8
	shortSeed      = 1 // makes it reproducible
)

// Interactions returns the interactions of --profile, else the cached ones of the network, else
// those of a short measurement on samples of its own, which is cached if the cache can be written.
// It also returns their file, "" if there is none.
func (p *Profile) Interactions(ctx context.Context, s kit.Streams, m model.Model) (*interaction.Profile, string, error) {
	if p.Path != "" {
		in, err := p.interactions(ctx)
		return in, p.Path, err
	}
	made := kit.NewProvenance(m, nil)
	in, path := KeptInteractions(ctx, made.Model.Digest, made.Model.FactsDigest)
	if in != nil {
		return in, path, nil
	}
	in, err := measureShort(ctx, s, m)
	if err != nil {
		return nil, "", err
	}
	what := fmt.Sprintf("measured interactions on %s", in)
	if err := keep(ctx, path, profile.File{Interactions: in, Provenance: made}.Write); err != nil {
		s.Notice(fmt.Sprintf("%s; not kept: %s", what, err))
		return in, "", nil
	}
	s.Notice(fmt.Sprintf("%s; kept as %s", what, path))
	return in, path, nil
}

func measureShort(ctx context.Context, s kit.Streams, m model.Model) (*interaction.Profile, error) {
	f := m.Facts()
	d := f.Length
	if !f.FixedLength {
		d = min(d, shortPositions)
	}
	bar := kit.NewBar(s, min(d, shortCalls), "measuring interactions", "calls")
	defer bar.Clear()
	in, err := interaction.Measure(ctx, m, slices.Repeat([]int{f.MaskID}, d), interaction.Config{Sequences: shortSequences, Calls: shortCalls, Seed: shortSeed, OnCall: func() { bar.Add(1) }})
	if err != nil {
		return nil, fmt.Errorf("interactions: %w", fault.WithoutName(err))
	}
	return in, nil
}

// KeptInteractions returns the cached interactions of a network, by the digests of its files and
// facts, nil if there are none that can be read. path is the file for them, "" if there can be
// none.
func KeptInteractions(ctx context.Context, digest, facts string) (in *interaction.Profile, path string) {
	root, err := ort.CacheDir()
	hex := func(digest string) string { return strings.TrimPrefix(digest, "sha256:") }
	if err != nil || len(hex(digest)) < 16 || len(hex(facts)) < 16 {
		return nil, ""
	}
	path = filepath.Join(root, "profiles", hex(digest)[:16]+"-"+hex(facts)[:16]+".json")
	read, err := openProfile(ctx, path)
	if err != nil {
		return nil, path
	}
	return read.Interactions, path
}

// keep writes a file in the cache. path is "" if there can be none.
func keep(ctx context.Context, path string, write func(io.Writer) error) error {
	if path == "" {
		return errors.New("there is no cache folder, or the model has no digest")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := kit.NewOutput(ctx, "profile", path, nil)
	if err != nil {
		return err
	}
	return out.Put(write)
}

// interactions returns the interactions of --profile.
func (p *Profile) interactions(ctx context.Context) (*interaction.Profile, error) {
	read, err := p.open(ctx)
	if err == nil && read.Interactions == nil {
		err = exit.Usagef("profile %s: has no interactions, which spread needs: `mdmgen score TEXT --write-profile FILE` measures them with the loss", p.Path)
	}
	if err != nil {
		return nil, err
	}
	return read.Interactions, nil
}

// KeepBytes returns the memory limit in bytes for cached keys and values: given, or half of the
// free memory if given is 0.
func KeepBytes(given uint64) int64 {
	free, _ := sysinfo.Free()
	return int64(min(cmp.Or(given, free/2), math.MaxInt64))
}

// Window is the cache that `mdmgen schedule --cache` found for a network. Its file lies next to
// that of the interactions.
type Window struct {
	Schema string `json:"schema"`
	Cache  string `json:"cache"`
	// KL is the loss of the cache on canvases of Positions positions, in nats per token.
	KL         estimate.Estimate `json:"kl_per_token"`
	Positions  int               `json:"positions"`
	Provenance kit.Provenance    `json:"provenance"`
}

// windowSchema names the layout of a Window's file.
const windowSchema = "mdmgen.window/1"

// windowFile returns the file of a network's Window, "" if there is no cache or the model has no
// digest.
func windowFile(ctx context.Context, made kit.Provenance) string {
	_, path := KeptInteractions(ctx, made.Model.Digest, made.Model.FactsDigest)
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(path, ".json") + ".window.json"
}

// KeepWindow writes a window to its file and returns the file's path.
func KeepWindow(ctx context.Context, w Window) (string, error) {
	path := windowFile(ctx, w.Provenance)
	w.Schema = windowSchema
	return path, keep(ctx, path, func(to io.Writer) error { return kit.JSON(to, w) })
}

// Auto returns the window found for a network, "auto" if there is none.
func Auto(ctx context.Context, m model.Model) string {
	data, err := os.ReadFile(windowFile(ctx, kit.NewProvenance(m, nil)))
	var w Window
	if err != nil || json.Unmarshal(data, &w) != nil || w.Schema != windowSchema {
		return "auto"
	}
	if how, err := cache.Parse(w.Cache); err != nil || how.Kind != cache.Window {
		return "auto"
	}
	return w.Cache
}
