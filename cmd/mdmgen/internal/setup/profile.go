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
	"strconv"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/cachedir"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/sysinfo"
	"mdmgen/model"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"

	"github.com/dustin/go-humanize"
)

// Profile holds the file of --profile, which is read once.
type Profile struct {
	Path         string
	interactions *interaction.Profile
	digest       string
}

// Flag returns --profile, for commands that choose a sampler.
func (p *Profile) Flag() *kit.Flag {
	return kit.Name(&p.Path, "name a file", kit.Flag{Name: "profile", Category: kit.CatSample, Rare: true, Usage: "choose the groups of spread by the interactions in `FILE`, written by mdmgen schedule"})
}

// openProfile reads a file of interactions, and returns "sha256:…" of it.
func openProfile(ctx context.Context, path string) (*interaction.Profile, string, error) {
	f, err := plainfile.OpenNamed(ctx, path)
	if err != nil {
		return nil, "", fmt.Errorf("profile %s: %w", path, err)
	}
	defer f.Close()
	sum := sha256.New()
	in, err := interaction.Read(io.TeeReader(f, sum))
	if err != nil {
		return nil, "", cmp.Or(ctx.Err(), fmt.Errorf("profile %s: %s; `mdmgen schedule` writes a profile", path, fault.Plain(plainfile.Cause(err))))
	}
	return in, fmt.Sprintf("sha256:%x", sum.Sum(nil)), nil
}

// open reads the file if it has not been read.
func (p *Profile) open(ctx context.Context) (_ *interaction.Profile, err error) {
	if p.interactions == nil {
		p.interactions, p.digest, err = openProfile(ctx, p.Path)
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

// Kept puts the interactions that were measured for a model and cached into the options, if the sampler
// is spread and has no others.
func (p *Profile) Kept(ctx context.Context, s kit.Streams, m model.Model, o *catalog.Options) {
	if !o.Spreads() || o.Interactions != nil {
		return
	}
	made := kit.NewProvenance(m, nil).Model
	path := keptFile(made.Digest, made.FactsDigest, ".json")
	if in, digest, err := openProfile(ctx, path); err == nil {
		o.Interactions, p.digest = &in.Interactions, digest
		s.Notice("spread uses the interactions measured for this model: " + path)
	}
}

// Digest returns the profile's digest for records, "" if no profile was used.
func (p *Profile) Digest() string { return p.digest }

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
		in, err := p.open(ctx)
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
	if err := keep(ctx, path, func(w io.Writer) error { return in.Write(w, made) }); err != nil {
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
	d -= len(f.Frame)
	bar := kit.NewBar(s, min(d, shortCalls), "measuring interactions", "calls")
	defer bar.Clear()
	in, err := interaction.Measure(ctx, m, f.Framed(slices.Repeat([]int{f.MaskID}, d)), interaction.Config{Sequences: shortSequences, Calls: shortCalls, Seed: shortSeed, OnCall: func() { bar.Add(1) }})
	if err != nil {
		return nil, fmt.Errorf("interactions: %w", fault.WithoutName(err))
	}
	return in, nil
}

// KeptInteractions returns the cached interactions of a network, by the digests of its files and
// facts, nil if there are none that can be read. path is the file for them, "" if there can be
// none.
func KeptInteractions(ctx context.Context, digest, facts string) (in *interaction.Profile, path string) {
	path = keptFile(digest, facts, ".json")
	in, _, _ = openProfile(ctx, path) // nil after an error
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

// CacheMemoryFlag returns --cache-memory, in bytes; 0 means half of the free memory.
func CacheMemoryFlag(p *uint64) *kit.Flag {
	parse := func(text string) (uint64, error) {
		n, err := humanize.ParseBytes(text)
		if err != nil {
			err = errors.New("must be a number of bytes, such as 2GiB")
		}
		return n, err
	}
	return kit.Parsed(p, parse, func(n uint64) string { return strconv.FormatUint(n, 10) }, kit.Flag{Name: "cache-memory", Category: kit.CatSample, Rare: true, Default: "half of the free memory",
		Usage: "limit what --cache keeps to `BYTES`, such as 2GiB; other sequences wait"})
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

// windowFile returns the file of a network's Window, "" if there can be none.
func windowFile(made kit.Provenance) string {
	return keptFile(made.Model.Digest, made.Model.FactsDigest, ".window.json")
}

// KeepWindow writes a window to its file and returns the file's path.
func KeepWindow(ctx context.Context, w Window) (string, error) {
	path := windowFile(w.Provenance)
	w.Schema = windowSchema
	return path, keep(ctx, path, func(to io.Writer) error { return kit.JSON(to, w) })
}

// Auto replaces the cache auto of a sampler's options by the window that was found for the network, if
// any, and prints which it is.
func Auto(s kit.Streams, m model.Model, o *catalog.Options) {
	if o.Cache != "auto" {
		return
	}
	if o.Cache = FoundWindow(m); m.Spec().BlockSize > 0 {
		return // A block-causal network's cache is exact.
	}
	how := fmt.Sprintf("%s, found for this model by `mdmgen schedule --cache`", o.Cache)
	if o.Cache == "auto" {
		how = fmt.Sprintf("%s, whatever the model: `mdmgen schedule --cache --target-kl-per-token X` finds one for it", cache.Auto)
	}
	s.Notice("--cache auto is " + how)
}

// FoundWindow returns the window found for a network, "auto" if there is none.
func FoundWindow(m model.Model) string {
	data, err := os.ReadFile(windowFile(kit.NewProvenance(m, nil)))
	var w Window
	if err != nil || json.Unmarshal(data, &w) != nil || w.Schema != windowSchema {
		return "auto"
	}
	if how, err := cache.Parse(w.Cache); err != nil || how.Kind != cache.Window {
		return "auto"
	}
	return w.Cache
}
