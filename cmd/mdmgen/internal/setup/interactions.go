package setup

import (
	"cmp"
	"context"
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
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/sysinfo"
	"mdmgen/model"
	"mdmgen/model/ort"
	"mdmgen/samplers/cache"
)

// The short measurement of interactions: so many positions at most, calls, and sequences.
const (
	shortPositions = 128
	shortCalls     = 64
	shortSequences = 8
	shortSeed      = 1 // so that it is the same again
)

// Interactions are those of --profile, else those that the cache keeps of the network, else those of a
// short measurement on samples of its own, which is kept where the cache can be written. The
// file's path is "" where there is none.
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

// KeptInteractions are those that the cache keeps of a network, by the digests of its files and facts,
// nil where it keeps none that can be read. path is the file for them, "" where none can be.
func KeptInteractions(ctx context.Context, digest, facts string) (in *interaction.Profile, path string) {
	root, err := ort.CacheDir()
	hex := func(digest string) string { return strings.TrimPrefix(digest, "sha256:") }
	if err != nil || len(hex(digest)) < 16 || len(hex(facts)) < 16 {
		return nil, ""
	}
	path = filepath.Join(root, "profiles", hex(digest)[:16]+"-"+hex(facts)[:16]+".json")
	read, err := OpenProfile(ctx, path)
	if err != nil {
		return nil, path
	}
	return read.Interactions, path
}

// keep writes a file of the cache; path is "" where there can be none.
func keep(ctx context.Context, path string, write func(io.Writer) error) error {
	if path == "" {
		return errors.New("there is no cache, or the model has no digest")
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

// interactions are those of --profile.
func (p *Profile) interactions(ctx context.Context) (*interaction.Profile, error) {
	read, err := p.Open(ctx)
	if err == nil && read.Interactions == nil {
		err = exit.Usagef("--profile %s: has no interactions, which spread chooses by: `mdmgen score TEXT --write-profile FILE` measures them beside the loss", p.Path)
	}
	if err != nil {
		return nil, err
	}
	return read.Interactions, nil
}

// KeepBytes bounds the memory of the keys and values that are kept: half of what is free where 0 is
// given.
func KeepBytes(given uint64) int64 {
	free, _ := sysinfo.Free()
	return int64(min(cmp.Or(given, free/2), math.MaxInt64))
}

// Window is the cache that `mdmgen schedule --cache` found for a network, kept beside its interactions.
type Window struct {
	Schema string `json:"schema"`
	Cache  string `json:"cache"`
	// KL is what it loses on canvases of so many Positions, in nats a token.
	KL         estimate.Estimate `json:"kl_per_token"`
	Positions  int               `json:"positions"`
	Provenance kit.Provenance    `json:"provenance"`
}

// windowSchema names the layout of a Window's file.
const windowSchema = "mdmgen.window/1"

// windowFile is "" where there is no cache, or the model has no digest.
func windowFile(ctx context.Context, made kit.Provenance) string {
	_, path := KeptInteractions(ctx, made.Model.Digest, made.Model.FactsDigest)
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(path, ".json") + ".window.json"
}

// KeepWindow keeps a window, and returns its file.
func KeepWindow(ctx context.Context, w Window) (string, error) {
	path := windowFile(ctx, w.Provenance)
	w.Schema = windowSchema
	return path, keep(ctx, path, func(to io.Writer) error { return kit.JSON(to, w) })
}

// Auto is the window that was found for a network, "auto" where none was.
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
