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
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/fault"
	"mdmgen/internal/sysinfo"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/causal"

	"github.com/dustin/go-humanize"
)

// CacheMemoryFlag returns --cache-memory, in bytes; 0 means half of the free memory.
func CacheMemoryFlag(p *uint64) *kit.Flag {
	return bytesFlag(p, kit.Flag{Name: "cache-memory", Category: kit.CatSample, Rare: true, Default: "half of the free memory",
		Usage: "limit what --cache keeps to `BYTES`, such as 2GiB; other samples wait"})
}

// KeepFlag returns --keep, in bytes.
func KeepFlag(p *uint64, standard uint64) *kit.Flag {
	*p = standard
	return bytesFlag(p, kit.Flag{Name: "keep", Category: kit.CatSample, Default: strings.ReplaceAll(humanize.IBytes(standard), " ", ""),
		Usage: "share what block-causal networks computed for texts that begin alike, up to `BYTES`; 0 shares nothing"})
}

// Store returns a store of that many bytes.
func Store(bytes uint64) *samplers.Store { return samplers.NewStore(int64(min(bytes, math.MaxInt64))) }

func bytesFlag(p *uint64, f kit.Flag) *kit.Flag {
	parse := func(text string) (uint64, error) {
		n, err := humanize.ParseBytes(text)
		if err != nil {
			err = errors.New("must be a number of bytes, such as 2GiB")
		}
		return n, err
	}
	return kit.Parsed(p, parse, func(n uint64) string { return strconv.FormatUint(n, 10) }, f)
}

// KeepBytes returns the memory limit in bytes for cached keys and values: given, or half of the
// free memory if given is 0.
func KeepBytes(given uint64) int64 {
	free, _ := sysinfo.Free()
	return int64(min(cmp.Or(given, free/2), math.MaxInt64))
}

// FoundCache is the cache that was found for a network, a sampler and a length, as it is kept.
type FoundCache struct {
	Schema string `json:"schema"`
	// Options are those of the sampler that the cost depends on, Profile the digest of its
	// interactions. Positions is the length of the canvas.
	Options   catalog.Options `json:"options"`
	Profile   string          `json:"profile,omitempty"`
	Positions int             `json:"positions"`
	Cost      float64         `json:"cost"`
	Seed      uint64          `json:"seed"`
	// Found is the last of Tried that is within Cost. Its Cache is "" if none is.
	Found      bench.Tried     `json:"found"`
	Tried      []bench.Tried   `json:"tried"`
	Provenance *kit.Provenance `json:"provenance,omitempty"`
}

// foundSchema names the layout of a FoundCache's file.
const foundSchema = "mdmgen.cache/1"

// CacheSeed is the seed of the texts on which caches are measured.
const CacheSeed = 1

// bucket returns the length of the canvas on which a cache for canvases of n positions is measured: the
// next power of two, within the model's length.
func bucket(m model.Model, n int) int {
	if f := m.Facts(); f.FixedLength || n > f.Length {
		return f.Length
	}
	return min(max(16, 1<<bits.Len(uint(n-1))), m.Facts().Length)
}

// FindCache returns the cheapest cache for a sampler on canvases of about n positions: a kept one, else,
// if measures is set, one that is measured now and kept. The file is "" if there is none. A nil result
// means that nothing is kept.
func FindCache(ctx context.Context, s kit.Streams, m model.Model, o catalog.Options, n int, seed uint64, measures bool) (*FoundCache, string, error) {
	made := kit.NewProvenance(m, nil)
	f := FoundCache{Schema: foundSchema, Options: bench.AuditedFor(o), Positions: bucket(m, n), Cost: cmp.Or(o.CacheCost, cache.Cost), Seed: seed}
	if o.Interactions != nil {
		f.Profile = digest(o.Interactions)
	}
	key, err := json.Marshal(f) // without what was found
	if err != nil {
		return nil, "", err
	}
	path := keptFile(made.Model.Digest, made.Model.FactsDigest, fmt.Sprintf(".%.6x.cache.json", sha256.Sum256(key)))
	var kept FoundCache
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &kept) == nil && kept.Schema == foundSchema {
		return &kept, path, nil
	}
	if !measures {
		return nil, "", nil
	}
	facts := m.Facts()
	blank := facts.Framed(slices.Repeat([]int{facts.MaskID}, f.Positions-len(facts.Frame)))
	bar := kit.NewBar(s, 0, "measuring caches", "texts")
	defer bar.Clear()
	f.Found, f.Tried, err = bench.CheapestCache(ctx, m, blank, f.Options, f.Cost, bench.CacheConfig{Seed: seed, Confidence: estimate.DefaultConfidence, KeepBytes: KeepBytes(0), Batch: BatchOf(facts), OnTexts: bar.Add})
	if err != nil {
		return nil, "", err
	}
	f.Provenance = &made
	if keep(ctx, path, func(w io.Writer) error { return kit.JSON(w, f) }) != nil {
		path = ""
	}
	return &f, path, nil
}

// Fit completes a sampler's options by what is measured on the network: the interactions of spread, what
// rows cost speculate, and the cache auto on a canvas, unless that is nil.
func (s *Sampler) Fit(ctx context.Context, to kit.Streams, m model.Model, o *catalog.Options, canvas []int) error {
	if o.Sampler == causal.Speculate.Name && o.Window == 0 && !m.Facts().FixedLength && s.rowCost == 0 {
		var err error
		if s.rowCost, err = causal.RowCost(ctx, m, m.Facts().Length); err != nil {
			return err
		}
	}
	o.RowCost = s.rowCost
	if err := s.Profile.For(ctx, to, m, o); err != nil || canvas == nil || o.Cache != "auto" || m.Spec().BlockSize > 0 {
		return err // A block-causal network's cache is exact.
	}
	said, err := auto(ctx, to, m, o, len(canvas))
	if err == nil && said != s.said { // Many lines of an input may have the same.
		s.said = said
		to.Notice(said)
	}
	return err
}

// auto replaces the cache auto of a sampler's options, on a canvas of n positions, by the cheapest whose
// cost is within CacheCost, or by none, and says which it is. A network too large to be measured
// unasked has what `mdmgen schedule --cache` has kept.
func auto(ctx context.Context, s kit.Streams, m model.Model, o *catalog.Options, n int) (string, error) {
	var found *FoundCache
	var path string
	err := cache.Check(m)
	if err == nil {
		found, path, err = FindCache(ctx, s, m, *o, n, CacheSeed, cheap(m))
	}
	cost := cmp.Or(o.CacheCost, cache.Cost)
	o.Cache, o.CacheCost = "none", 0
	const all = "--cache auto computes all positions: "
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return all + fault.Plain(err), nil
	case found == nil:
		return fmt.Sprintf(all+"the network is too large to measure caches unasked: `mdmgen schedule --cache --target-kl-per-token %v --length %d` does", cost, n), nil
	case found.Found.Cache == "":
		return fmt.Sprintf(all+"of %d tried, no cache costs at most %v nats per token: %s", len(found.Tried), cost, path), nil
	}
	t := found.Found
	o.Cache = t.Cache
	return fmt.Sprintf("--cache auto is %s: it costs %s nats per token, at most %.2g, and computes %.0f %% of the positions, measured on %d: %s", t.Cache, t.KL, t.KL.Hi, 100*t.Share, found.Positions, path), nil
}
