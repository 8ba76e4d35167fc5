package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
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
	on := func(name string, make func(realFolder, context.Context, realNetwork) ([]report.Plot, []report.Table)) func(context.Context, network) ([]report.Plot, []byte) {
		return func(ctx context.Context, _ network) ([]report.Plot, []byte) {
			net := openReal(ctx, filepath.Join(folder, "packages"), name)
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
		{"heavy", "real", on(antibodies, realFolder.heavy)}, {"steps", "real", on(antibodies, realFolder.steps)},
		{"kinds", "real", on(antibodies, realFolder.kinds)}, {"reactions", "real", on(chemistry, realFolder.reactions)},
	}
}

// Folders of the networks in their packages.
const antibodies, chemistry = "antiberty/trained_models/AntiBERTy_md_smooth", "rxnfp/models/transformers/bert_pretrained"

// realNetwork is a published network with its words. It has a frame of two tokens.
type realNetwork struct {
	network
	words *tokenize.Tokenizer
}

func openReal(ctx context.Context, packages, name string) realNetwork {
	path := filepath.Join(packages, filepath.FromSlash(name))
	return realNetwork{open(ctx, path), fatal.Must(tokenize.Open(ctx, path))}
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

const (
	// wholeLength is the number of positions of a chain, of which wholeChains are drawn.
	wholeLength, wholeChains = 120, 32
	// loops is the number of real chains whose CDR3 is filled; its letters are compared with those
	// of loopsKnown others.
	loops, loopsKnown = 100, 400
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
	t := report.Table{Title: "chains", Head: []string{"drawn", "sampler", "calls", "seconds a chain", "n", "C … WG.G", "TV of letters", "letters as in the chain"}}

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
		steps   []int
	}{{"whole chain", whole, []int{32, 8}}, {"third loop", gaps, []int{8, 4}}} {
		for _, s := range net.realSamplers(in, drawn.steps...) {
			start := time.Now()
			texts, calls := net.fill(ctx, s, drawn.targets)
			seconds := time.Since(start).Seconds() / float64(len(texts))
			frames, same, length := make([]float64, len(texts)), make([]float64, len(texts)), make([]float64, len(texts))
			var found []string
			for i, text := range texts {
				if m := cdr3.FindStringSubmatch(text); m != nil {
					frames[i] = 1
					found = append(found, m[1])
				}
				if len(texts) == loops {
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
			row := []string{drawn.name, name, number(calls.Mean), fmt.Sprintf("%.2g", seconds), fmt.Sprint(len(texts)), shareOf(share), measured(tv), "–"}
			if len(texts) == loops {
				row[7] = twoDigits(estimate.NormalRatio(same, length, nil, 0))
			}
			t.Rows = append(t.Rows, row)
			if len(texts) == wholeChains {
				valid.Add(name, "", report.At(calls.Mean, share.Within(0, 1)))
			}
			letters.Add(name+", "+drawn.name, "", report.At(calls.Mean, tv))
			fmt.Fprintln(os.Stderr, row, found[:min(3, len(found))])
		}
	}
	t.Rows = append(t.Rows, []string{"–", "the real loops", "–", "–", fmt.Sprint(loops), "1", measured(letterTV(real, known)), "1"})
	return []report.Plot{valid, letters}, []report.Table{t}
}

// shareOf formats a share with its standard error, which is unknown for all and for none.
func shareOf(e estimate.Estimate) string {
	if math.IsInf(e.SE, 0) {
		return number(e.Mean)
	}
	return twoDigits(e)
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
	return estimate.Bootstrap(len(texts), 1000, seed, 0, func(at []int) (tv float64) {
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
