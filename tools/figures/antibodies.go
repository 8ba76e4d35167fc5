package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
	"mdmgen/tools/internal/fatal"
)

const (
	// wholeLength is the number of positions of a chain, of which wholeChains are drawn.
	wholeLength, wholeChains = 120, 200
	// loops is the number of real chains whose CDR3 is filled; its letters are compared with those
	// of loopsKnown others.
	loops, loopsKnown = 200, 384
)

// cdr3 finds the third loop of a heavy chain, between the conserved Cys and Trp-Gly-X-Gly.
var cdr3 = regexp.MustCompile(`C([A-Z]{5,30}?)WG[A-Z]G[A-Z]{3,10}$`)

// measureChain measures interactions on blank chains.
func (n realNetwork) measureChain(ctx context.Context) *interaction.Profile {
	return fatal.Must(interaction.Measure(ctx, n.Model, n.blank(wholeLength), interaction.Config{Sequences: 4, Calls: 64, Seed: seed}))
}

// heavy draws antibody chains, and the third loops of real heavy chains.
func (f realFolder) heavy(ctx context.Context, net realNetwork) ([]report.Plot, []report.Table) {
	in := net.measureChain(ctx)
	var known []string
	for _, chain := range f.lines("heavy", loops, loopsKnown) {
		known = append(known, cdr3.FindStringSubmatch(chain)[1])
	}
	valid := report.Plot{Name: "frames", Title: "AntiBERTy: whole chains with C … WG.G, the frame of a heavy chain's third loop", X: "network calls", Y: "share of chains", LogX: true, Bars: report.Intervals(0, "chains")}
	letters := valid
	letters.Name, letters.Title, letters.Y = "letters", "AntiBERTy: letters of the third loop, distance from other real ones", "TV"
	t := report.Table{Title: "chains", Head: []string{"drawn", "sampler", "calls", "n", "C … WG.G", "TV of letters", "letters as in the chain"}}

	whole := slices.Repeat([]likelihood.Target{net.masks(wholeLength)}, wholeChains)
	var gaps []likelihood.Target
	var real []string
	for _, chain := range f.lines("heavy", 0, loops) {
		at := cdr3.FindStringSubmatchIndex(chain)
		real = append(real, chain[at[2]:at[3]])
		gaps = append(gaps, net.gap(chain, at[2], at[3]-at[2]+len("WG.G")))
	}
	for _, drawn := range []struct {
		name    string
		targets []likelihood.Target
		real    []string
		steps   []int
	}{{"whole chain", whole, nil, []int{32, 16, 8}}, {"third loop", gaps, real, []int{8, 4}}} {
		for _, s := range net.realSamplers(in, drawn.steps...) {
			texts, calls := net.fill(ctx, s, drawn.targets)
			frames, same, length := make([]float64, len(texts)), make([]float64, len(texts)), make([]float64, len(texts))
			var found []string
			for i, text := range texts {
				if m := cdr3.FindStringSubmatch(text); m != nil {
					frames[i] = 1
					found = append(found, m[1])
				}
				if drawn.real != nil {
					at := gaps[i].Free[0] - 1
					length[i] = float64(len(real[i]))
					for j := range real[i] {
						if text[at+j] == real[i][j] {
							same[i]++
						}
					}
				}
			}
			name, share, tv := s.Settings().Sampler, estimate.Mean(frames, 0), letterTV(found, known)
			row := []string{drawn.name, name, number(calls.Mean), fmt.Sprint(len(texts)), shareOf(share), measured(tv), "–"}
			if drawn.real != nil {
				row[6] = twoDigits(estimate.NormalRatio(same, length, nil, 0))
			} else {
				valid.Add(name, "", report.At(calls.Mean, share.Within(0, 1)))
			}
			t.Rows = append(t.Rows, row)
			letters.Add(name+", "+drawn.name, "", report.At(calls.Mean, tv))
			fmt.Fprintln(os.Stderr, row, found[:min(3, len(found))])
		}
	}
	t.Rows = append(t.Rows, []string{"–", "the real loops", "–", fmt.Sprint(loops), "1", measured(letterTV(real, known)), "1"})
	return []report.Plot{valid, letters}, []report.Table{t}
}

// ranks draws whole chains in an order that follows from the network's rows, which depends on their rounding.
func (f realFolder) ranks(ctx context.Context, net realNetwork) ([]report.Plot, []report.Table) {
	t := report.Table{Title: "confidence", Head: []string{"calls", "n", "C … WG.G"}}
	whole := slices.Repeat([]likelihood.Target{net.masks(wholeLength)}, wholeChains)
	for _, steps := range []int{32, 16, 8} {
		texts, calls := net.fill(ctx, net.sampler("confidence", steps, nil), whole)
		frames := make([]float64, len(texts))
		for i, text := range texts {
			if cdr3.MatchString(text) {
				frames[i] = 1
			}
		}
		t.Rows = append(t.Rows, []string{number(calls.Mean), fmt.Sprint(len(texts)), shareOf(estimate.Mean(frames, 0))})
	}
	return nil, []report.Table{t}
}

// letterTV returns the distance of the letters of texts from those of others.
func letterTV(texts, others []string) estimate.Estimate {
	count := func(texts []string, at []int) (p [256]float64) {
		sum := 0.
		for _, i := range at {
			for _, letter := range []byte(texts[i]) {
				p[letter]++
				sum++
			}
		}
		for a := range p {
			p[a] /= sum
		}
		return p
	}
	if len(texts) < 2 {
		return estimate.Estimate{Mean: math.NaN(), SE: math.NaN()}
	}
	q := count(others, likelihood.InOrder(len(others)))
	return bootstrap(len(texts), 1000, seed, func(at []int) (tv float64) {
		p := count(texts, at)
		for a := range p {
			tv += math.Abs(p[a]-q[a]) / 2
		}
		return tv
	})
}

// steps compares numbers of calls: exactly on short chains, by audits on whole ones.
func (f realFolder) steps(ctx context.Context, net realNetwork) ([]report.Plot, []report.Table) {
	const positions, texts, chains = 8, 32, 4
	exact := report.Table{Title: "exact", Head: []string{"sampler", "calls", "TV(P_FHS, P)", "KL(P_FHS‖P), nats"}}
	var ss []*catalog.Sampler
	for _, setting := range []string{"parallel-fhs steps=2", "parallel-fhs steps=4", "spread steps=2", "spread steps=4", "euler steps=4", "euler steps=16", "euler steps=64"} {
		ss = append(ss, fatal.Must(samplerOf(net, setting, 1)))
	}
	st := fatal.Must(quality.Measure(ctx, net.e, net.masks(positions), ss, quality.Config{Samples: texts, Seed: seed}))
	for i, s := range ss {
		calls, finish, err := s.ExpectedCalls(positions)
		fatal.Check(err)
		exact.Rows = append(exact.Rows, []string{name(s.Settings()), number(calls + finish), measured(st.Distance(quality.TV, i)), measured(st.Distance(quality.KL, i))})
	}

	in := net.measureChain(ctx)
	free := likelihood.InOrder(wholeLength + 1)[1:]
	lost := report.Plot{Name: "groups", Title: "AntiBERTy, 120 positions: what groups lose against one position a call", X: "network calls", Y: "KL, nats a token", LogX: true, LogY: true, Bars: report.Intervals(0, "chains")}
	audit := report.Table{Title: "audit", Head: []string{"sampler", "calls", "predicted", "measured KL", "TV"}}
	for _, sampler := range []string{"parallel-fhs", "spread"} {
		for _, steps := range []int{32, 16, 8} {
			s := net.sampler(sampler, steps, in)
			got := fatal.Must(interaction.Audit(ctx, net.Model, net.blank(wholeLength), s, interaction.Config{Sequences: chains, Seed: seed + 1}))
			predicted := fatal.Must(interaction.Predict(&in.Interactions, s, free))
			lost.Add(sampler, "", report.At(got.Calls, got.KL))
			lost.Add(sampler+", predicted", "", report.Point{X: got.Calls, Y: predicted})
			audit.Rows = append(audit.Rows, []string{sampler, number(got.Calls), fmt.Sprintf("%.2g", predicted), short(got.KL), short(got.TV)})
		}
	}
	return []report.Plot{lost}, []report.Table{exact, audit}
}

// kinds compares both sides of the bound on KL(q0‖P_FHS) on sequences of several kinds.
func (f realFolder) kinds(ctx context.Context, net realNetwork) ([]report.Plot, []report.Table) {
	const n, window, draws = 16, 6, 8
	euler := fatal.Must(samplerOf(net, "euler steps=8", 1))
	p := report.Plot{Name: "kinds", Title: "AntiBERTy: NELBO of whole sequences", X: "sequence", Y: "nats a letter"}
	t := report.Table{Title: "kinds", Head: []string{"sequences", "−log P_FHS", "Euler, 8 steps", "score entropy", "NELBO", "gap", "whole: NELBO", "whole: score entropy"}}
	for _, kind := range []struct{ name, file string }{{"heavy chains", "heavy"}, {"the same, letters shuffled", "heavy"}, {"T-cell receptors", "receptors"}, {"human proteins", "proteins"}} {
		var gaps, whole []likelihood.Target
		for i, text := range f.lines(kind.file, 0, n) {
			if kind.name != "heavy chains" && kind.file == "heavy" {
				letters := []byte(text)
				rand.New(rand.NewPCG(seed, uint64(i))).Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
				text = string(letters)
			}
			gaps = append(gaps, net.gap(text, (len(text)-window)/2, window))
			whole = append(whole, net.gap(text, 0, len(text)))
		}
		var columns [5][]float64
		for _, v := range fatal.Must(net.e.Values(ctx, gaps, euler)) {
			for i, x := range []float64{float64(*v.FHS), v.Sampler.NegLog, float64(*v.ScoreEntropy), float64(*v.NELBO), float64(*v.NELBO) - float64(*v.FHS)} {
				columns[i] = append(columns[i], x)
			}
		}
		row := []string{kind.name}
		for i, c := range columns {
			if e := estimate.Mean(c, 0); i == 4 {
				row = append(row, measured(e))
			} else {
				row = append(row, twoDigits(e))
			}
		}
		for _, form := range []likelihood.Form{likelihood.Subsets, likelihood.ScoreEntropyForm} {
			var nats, length []float64
			for i, r := range fatal.Must(net.e.Estimate(ctx, whole, 0, likelihood.Config{Form: form, Draws: draws, Seed: seed})) {
				nats, length = append(nats, r.Nats.Mean), append(length, float64(len(whole[i].Free)))
				if form == likelihood.Subsets {
					p.Add(kind.name, "", report.At(float64(i+1), r.Nats.Scale(1/length[i])))
				}
			}
			row = append(row, twoDigits(estimate.NormalRatio(nats, length, nil, 0)))
		}
		fmt.Fprintln(os.Stderr, row)
		t.Rows = append(t.Rows, row)
	}
	return []report.Plot{p}, []report.Table{t}
}
