package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
	"mdmgen/tools/internal/fatal"
)

// realFolder is the folder of real.sh.
type realFolder string

// realParts lists the parts on published networks: AntiBERTy, trained on antibodies, and rxnfp's
// BERT of chemical reactions.
func realParts(folder string) []part {
	f := realFolder(folder)
	on := func(name string, dtype model.Dtype, make func(realFolder, context.Context, realNetwork) ([]report.Plot, []report.Table)) func(context.Context, network) ([]report.Plot, []byte) {
		return func(ctx context.Context, _ network) ([]report.Plot, []byte) {
			net := openReal(ctx, filepath.Join(folder, "packages"), name, dtype)
			defer net.Close()
			plots, tables := make(f, ctx, net)
			for _, t := range tables {
				var b bytes.Buffer
				w := csv.NewWriter(&b)
				fatal.Check(w.WriteAll(append([][]string{t.Head}, t.Rows...)))
				fatal.Check(os.WriteFile(filepath.Join("docs", "research", "real", t.Title+".csv"), b.Bytes(), 0o644))
			}
			return plots, nil
		}
	}
	return []part{
		{"heavy", "real", on(antibodies, "int8", realFolder.heavy)}, {"ranks", "real", on(antibodies, "fp32", realFolder.ranks)}, {"steps", "real", on(antibodies, "fp32", realFolder.steps)},
		{"kinds", "real", on(antibodies, "fp32", realFolder.kinds)}, {"reactions", "real", on(chemistry, "fp32", realFolder.reactions)},
	}
}

// Folders of the networks in their packages.
const antibodies, chemistry = "antiberty/trained_models/AntiBERTy_md_smooth", "rxnfp/models/transformers/bert_pretrained"

// realNetwork is a published network with its words. It has a frame of two tokens.
type realNetwork struct {
	network
	words *tokenize.Tokenizer
}

func openReal(ctx context.Context, packages, name string, dtype model.Dtype) realNetwork {
	path := filepath.Join(packages, filepath.FromSlash(name))
	return realNetwork{open(ctx, path, dtype), fatal.Must(tokenize.Open(ctx, path))}
}

// lines returns n lines of a file, behind the first ones.
func (f realFolder) lines(name string, skip, n int) []string {
	all := strings.Fields(string(fatal.Must(os.ReadFile(filepath.Join(string(f), name+".txt")))))
	return all[skip : skip+n]
}

// masks returns d free positions in the frame.
func (n realNetwork) masks(d int) likelihood.Target {
	return likelihood.Framed(n.Facts(), slices.Repeat([]int{n.Facts().MaskID}, d))
}

// gap returns a text with n tokens masked behind the first ones, in the frame.
func (n realNetwork) gap(text string, from, masks int) likelihood.Target {
	t := likelihood.Framed(n.Facts(), fatal.Must(n.words.EncodePlain(text)))
	t.Free = t.Free[from : from+masks]
	return t
}

// fill draws the free positions of each target once, and returns the texts without the frame and
// the mean number of calls.
func (n realNetwork) fill(ctx context.Context, s *catalog.Sampler, targets []likelihood.Target) (out []string, calls estimate.Estimate) {
	out = make([]string, len(targets))
	made := make([]float64, len(targets))
	seqs := func(yield func(samplers.Sequence) bool) {
		for i, t := range targets {
			if !yield(samplers.Sequence{Index: uint64(i), Canvas: t.Canvas(n.Facts().MaskID)}) {
				return
			}
		}
	}
	fatal.Must(samplers.Sample(ctx, n.Model, seqs, samplers.Config{Method: s, Seed: seed}, func(r samplers.Result) error {
		made[r.Index] = float64(r.Calls + r.FinishCalls)
		out[r.Index] = strings.ReplaceAll(fatal.Must(n.words.Decode(r.IDs[1:len(r.IDs)-1])), " ", "")
		return nil
	}))
	return out, estimate.Mean(made, 0)
}

// sampler returns a sampler; spread uses interactions.
func (n realNetwork) sampler(name string, steps int, in *interaction.Profile) *catalog.Sampler {
	o := catalog.Options{Sampler: name, Steps: steps}
	if name == "spread" {
		o.Interactions = &in.Interactions
	}
	return fatal.Must(catalog.New(o, n.Spec()))
}

// realSamplers returns First-Hitting, and others with each number of steps.
func (n realNetwork) realSamplers(in *interaction.Profile, steps ...int) []*catalog.Sampler {
	out := []*catalog.Sampler{n.sampler("fhs", 0, nil)}
	for _, name := range []string{"spread", "euler", "confidence"} {
		for _, k := range steps {
			out = append(out, n.sampler(name, k, in))
		}
	}
	return out
}

// shareOf formats a share with its standard error, which is unknown for all and for none.
func shareOf(e estimate.Estimate) string {
	if math.IsInf(e.SE, 0) {
		return number(e.Mean)
	}
	return twoDigits(e)
}
