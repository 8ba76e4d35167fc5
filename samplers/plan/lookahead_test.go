package plan_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// lookers are samplers with look-ahead, some of which leave positions to a last call or draw from
// truncated rows, with each exact draw.
var lookers = byBoth(
	catalog.Options{}, catalog.Options{Draw: draw.Settings{Temperature: new(0.7), TopK: 3, TopP: 0.9}}, catalog.Options{Draw: draw.Settings{Temperature: new(0.0)}},
	catalog.Options{Sampler: "ordered"}, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}},
	catalog.Options{Sampler: "uniformization", Steps: 4}, catalog.Options{Sampler: "matu", Steps: 4, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(3.0)), Delta: new(catalog.Theta(0.3)), Finish: "leave"}}, catalog.Options{Sampler: "dmpm", Steps: 4},
)

// byBoth returns each of some options with each exact draw.
func byBoth(options ...catalog.Options) (out []catalog.Options) {
	for _, o := range options {
		for _, o.By = range []draw.By{draw.ByInverse, draw.ByGumbel} {
			out = append(out, o)
		}
	}
	return out
}

// lookaheads are the greatest numbers of canvases in a call.
var lookaheads = []int{1, 2, 4, 8, 16}

// TestLookaheadOnNetworks checks that samples are the same if no draft is likely to be right and if
// most are, on canvases of several lengths, and if a call has fewer rows than a sequence asks for.
func TestLookaheadOnNetworks(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for _, timed := range []bool{false, true} {
		hash := lawstest.NewHashNet(timed)
		for far, net := range []samplers.Network{hash.Near(0), hash.Near(1), hash} {
			for _, o := range lookers {
				want, _ := lawstest.Collect(t, net, slices.Values(lawstest.Mixed()), samplers.Config{Method: lawstest.NewFor(t, o, net.Spec()), Seed: 9, Batch: 8})
				for _, o.Lookahead = range []int{2, 3, 16, 64} {
					s := lawstest.NewFor(t, o, net.Spec())
					label := fmt.Sprintf("%v, network %d, timed %v, look-ahead %d", s, far, timed, o.Lookahead)
					got, _ := lawstest.Collect(t, net, slices.Values(lawstest.Mixed()), samplers.Config{Method: s, Seed: 9, Batch: o.Lookahead})
					lawstest.SameSamples(t, label, got, want)
					e := lawstest.Engine(t, net, 5)
					for _, seq := range lawstest.Mixed()[:9] {
						r := reftest.Must(lawstest.Last(e, t.Context(), samplers.Job{Canvas: seq.Canvas, Method: s, Seed: 9, Index: seq.Index}))(t, label)
						lawstest.SameSamples(t, label+", 5 rows a call", map[uint64]samplers.Result{seq.Index: *r}, map[uint64]samplers.Result{seq.Index: want[seq.Index]})
					}
				}
			}
		}
		if hash.Bad != "" {
			t.Errorf("the network was handed %s", hash.Bad)
		}
	}
}

// TestLookaheadRounds counts calls and rows. If tokens are independent every draft is right: the
// first call reveals one token, since it has no drafts, and each other call K.
func TestLookaheadRounds(t *testing.T) {
	const d = 40
	for _, k := range lookaheads {
		s := lawstest.New(t, catalog.Options{Lookahead: k})
		for far, want := range []int{1 + (d-1+k-1)/k, d} {
			net := lawstest.NewHashNet(false).Near(far)
			steps, tokens := 0, 0
			cfg := samplers.Config{Method: s, Seed: 2, Batch: 1, OnStep: func(x samplers.Step) {
				steps++
				if tokens += len(x.Tokens); len(x.Tokens) < 1 || len(x.Tokens) > x.Rows || len(x.Hits) != len(x.Tokens) {
					t.Errorf("look-ahead %d: a call of %d rows reveals %d tokens, %d with times", k, x.Rows, len(x.Tokens), len(x.Hits))
				}
			}}
			got, totals := lawstest.Collect(t, net, samplers.Copies(slices.Repeat([]int{6}, d), 0, 1), cfg)
			r := got[0]
			if r.Calls != totals.NetworkCalls || r.Calls != steps || r.Rows != totals.Rows || tokens != d {
				t.Errorf("look-ahead %d: %d calls of %d rows, %d of the network of %d, %d steps of %d tokens", k, r.Calls, r.Rows, totals.NetworkCalls, totals.Rows, steps, tokens)
			}
			if far == 0 && (r.Calls != want || r.Rows != d) || r.Calls > want || k > 1 && r.Calls == d {
				t.Errorf("look-ahead %d, rows that see %d tokens: %d calls of %d rows, want %d", k, far, r.Calls, r.Rows, want)
			}
		}
	}
}

// TestLookaheadWrongCanvas checks that rows on a canvas that no sample visits do not matter, even
// if they are not valid.
func TestLookaheadWrongCanvas(t *testing.T) {
	canvas := slices.Repeat([]int{6}, 12)
	net := &recalling{HashNet: lawstest.NewHashNet(false), seen: make(map[string]bool)}
	want, _ := lawstest.Collect(t, net, samplers.Copies(canvas, 0, 20), samplers.Config{Method: lawstest.New(t, catalog.Options{By: draw.ByGumbel}), Batch: 4})
	net.recall = true
	got, _ := lawstest.Collect(t, net, samplers.Copies(canvas, 0, 20), samplers.Config{Method: lawstest.New(t, catalog.Options{Lookahead: 6}), Batch: 4})
	if lawstest.SameSamples(t, "look-ahead 6", got, want); net.strange == 0 {
		t.Error("no wrong canvas was asked about")
	}
}

// recalling remembers canvases, and later returns no valid rows for others.
type recalling struct {
	*lawstest.HashNet
	seen    map[string]bool
	recall  bool
	strange int
}

func (n *recalling) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	out, err := n.HashNet.Logits(ctx, c)
	rest, length := out, c.Length()
	for i, k := range c.Counts {
		canvas := fmt.Sprint(c.IDs[i*length : (i+1)*length])
		if !n.recall {
			n.seen[canvas] = true
		} else if !n.seen[canvas] {
			n.strange++
			for j := range k * n.Columns {
				rest[j] = float32(math.NaN())
			}
		}
		rest = rest[k*n.Columns:]
	}
	return out, err
}

// TestLookaheadOptions checks that only samplers whose law declares one position per call support look-ahead at any
// temperature, and that their number of calls is then unknown.
func TestLookaheadOptions(t *testing.T) {
	for _, d := range catalog.Descriptors() {
		plain := lawstest.New(t, catalog.Options{Sampler: d.Name})
		one := single(plain.Law())
		s, err := catalog.New(catalog.Options{Sampler: d.Name, Lookahead: 4}, samplers.Spec{})
		switch {
		case !one && slices.Contains(d.Flags, "lookahead"):
			reftest.Fails(t, err, "only at temperature 0", d.Name)
			continue
		case !one:
			reftest.Fails(t, err, "does not use lookahead", d.Name)
			continue
		case err != nil:
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		calls, finish, err := s.ExpectedCalls(9)
		_, left, _ := plain.ExpectedCalls(9)
		if err != nil || !math.IsNaN(calls) || finish != left || s.Settings().Lookahead != 4 || s.Canvases() != 4 || plain.Canvases() != 1 {
			t.Errorf("%s: %v calls, %v finishing, %v; %+v", d.Name, calls, finish, err, s.Settings())
		}
	}
	for _, k := range []int{-1, plan.MaxLookahead + 1} {
		reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{Lookahead: k}, samplers.Spec{})), "lookahead is", "look-ahead", k)
	}
}

// TestLookaheadDraw checks that look-ahead draws by gumbel by default, and that all help texts say
// so. With inverse it gives the samples of inverse without look-ahead.
func TestLookaheadDraw(t *testing.T) {
	net := lawstest.NewHashNet(false)
	ids := func(o catalog.Options) []int {
		got, _ := lawstest.Collect(t, net, samplers.Copies(slices.Repeat([]int{6}, 12), 0, 1), samplers.Config{Method: lawstest.NewFor(t, o, net.Spec()), Seed: 7})
		return got[0].IDs
	}
	inverse, gumbel := ids(catalog.Options{}), ids(catalog.Options{By: draw.ByGumbel})
	if slices.Equal(inverse, gumbel) {
		t.Fatal("both draws give the same ids")
	}
	if got := ids(catalog.Options{Lookahead: 4}); !slices.Equal(got, gumbel) {
		t.Errorf("look-ahead gives %v, --draw gumbel %v", got, gumbel)
	}
	if got := ids(catalog.Options{Lookahead: 4, By: draw.ByInverse}); !slices.Equal(got, inverse) {
		t.Errorf("look-ahead with inverse gives %v, without it %v", got, inverse)
	}
	for _, o := range catalog.AllOptions() {
		switch o.Name {
		case "lookahead":
			if !strings.Contains(o.Help, "the ids of draw=gumbel") {
				t.Errorf("lookahead: %s", o.Help)
			}
		case "draw":
			if !strings.Contains(o.Default, "gumbel with lookahead") {
				t.Errorf("draw: %s", o.Default)
			}
		}
	}
	for _, d := range catalog.Descriptors() {
		if slices.Contains(d.Flags, "lookahead") && !strings.Contains(d.Cost, " draw") {
			t.Errorf("%s: %s", d.Name, d.Cost)
		}
	}
}
