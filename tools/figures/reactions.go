package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
	"mdmgen/tools/internal/fatal"
)

// reactions draws products of reactants; rdkit judges them.
func (f realFolder) reactions(ctx context.Context, net realNetwork) ([]report.Plot, []report.Table) {
	const reactions, fills = 50, 2
	var whole, part []likelihood.Target
	var products []string
	for _, line := range f.lines("reactions", 0, 400) {
		product := line[strings.Index(line, ">>")+2:]
		all, own := fatal.Must(net.words.EncodePlain(line)), fatal.Must(net.words.EncodePlain(product))
		if len(all) > 120 || len(own) > 40 || len(products) == reactions*fills {
			continue
		}
		masked := net.gap(line, len(all)-len(own), len(own))
		for range fills {
			random := rand.New(rand.NewPCG(seed, uint64(len(products))))
			few := likelihood.Target{IDs: masked.IDs}
			for _, at := range random.Perm(len(own))[:(len(own)+3)/4] {
				few.Free = append(few.Free, masked.Free[at])
			}
			slices.Sort(few.Free)
			whole, part, products = append(whole, masked), append(part, few), append(products, product)
		}
	}
	in := fatal.Must(interaction.Measure(ctx, net.Model, net.blank(40), interaction.Config{Sequences: 8, Seed: seed}))
	p := report.Plot{Name: "products", Title: "rxnfp's BERT: products drawn for real reactants", X: "network calls", Y: "share that rdkit parses", LogX: true, Bars: report.Intervals(0, "reactions")}
	t := report.Table{Title: "reactions", Head: []string{"masked", "sampler", "calls", "n", "parse", "the patent's product"}}
	draw := func(masked string, targets []likelihood.Target, s *catalog.Sampler) {
		texts, calls := net.fill(ctx, s, targets)
		var asked strings.Builder
		for i, text := range texts {
			fmt.Fprintf(&asked, "%s\t%s\n", products[i], text[strings.Index(text, ">>")+2:])
		}
		judge := exec.CommandContext(ctx, filepath.Join(string(f), "bin", "python"), "tools/figures/real.py", "molecules")
		judge.Stdin, judge.Stderr = strings.NewReader(asked.String()), os.Stderr
		parse, same := make([]float64, len(texts)), make([]float64, len(texts))
		for i, line := range strings.Split(strings.TrimSpace(string(fatal.Must(judge.Output()))), "\n") {
			fatal.Must(fmt.Sscan(line, &parse[i], &same[i]))
		}
		name, share := s.Settings().Sampler, estimate.Groups(parse, fills, 0)
		t.Rows = append(t.Rows, []string{masked, name, number(calls.Mean), fmt.Sprint(len(texts)), shareOf(share), fmt.Sprintf("%d of %d", count(same), len(same))})
		p.Add(name+", "+masked, "", report.At(calls.Mean, share.Within(0, 1)))
		fmt.Fprintln(os.Stderr, t.Rows[len(t.Rows)-1], texts[:3])
	}
	draw("a quarter", part, net.sampler("fhs", 0, nil))
	for _, s := range net.realSamplers(in, 16, 8) {
		draw("the product", whole, s)
	}
	return []report.Plot{p}, []report.Table{t}
}

// count returns the number of ones.
func count(x []float64) (n int) {
	for _, v := range x {
		n += int(v)
	}
	return n
}
