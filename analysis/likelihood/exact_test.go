package likelihood_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
	"mdmgen/samplers/subset"
)

// worlds returns the available worlds: those in testdata, and the others if the large reference
// files are present.
func worlds(t *testing.T) map[string]*world.World {
	t.Helper()
	return worldsOf(t, reftest.Data(t, "reference", "laws"))
}

func worldsOf(t *testing.T, dir string) map[string]*world.World {
	t.Helper()
	out := make(map[string]*world.World)
	paths := reftest.Must(filepath.Glob(filepath.Join(dir, "*.json")))(t)
	for _, p := range paths {
		data := reftest.Must(os.ReadFile(p))(t)
		if !bytes.Contains(data[:min(len(data), 200)], []byte(world.Schema)) {
			continue // another kind of reference file
		}
		w := reftest.Must(world.Parse(data))(t)
		out[filepath.Base(p)] = w
	}
	return out
}

// sequence returns the text of an index in base V, position 0 the most significant digit.
func sequence(index, d, v int) []int {
	ids := make([]int, d)
	for l := d - 1; l >= 0; l-- {
		ids[l] = index % v
		index /= v
	}
	return ids
}

func evaluator(t testing.TB, w *world.World) *likelihood.Evaluator {
	t.Helper()
	return reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
}

// near reports whether two values in nats agree to 1e-10, the accuracy of the reference laws;
// infinities must be equal.
func near(got, want float64) bool {
	return reftest.Near(got, want, 1e-10)
}

// gridLaw is a sampler's law in a reference file, and listed one of the file's grids.
type gridLaw struct {
	lawstest.Law
	Jump   []float64 `json:"jump_probabilities"`
	Reveal []float64 `json:"reveal_probabilities"`
}

type listed struct {
	ID              string
	ForwardTimes    []*float64 `json:"forward_times"`
	MaskedFractions []float64  `json:"masked_fractions"`
}

// value returns a number that a file may give as null, which means +Inf.
func value(x *float64) float64 {
	if x == nil {
		return math.Inf(1)
	}
	return *x
}

// stepsOf rebuilds a reference law's steps from its own numbers.
func stepsOf(l gridLaw, grids []listed) schedule.Steps {
	s := schedule.Steps{Jump: l.Jump, Reveal: l.Reveal}
	for _, g := range grids {
		if g.ID != l.Grid {
			continue
		}
		for k := range g.ForwardTimes {
			s.Grid.Theta = append(s.Grid.Theta, value(g.ForwardTimes[k]))
			s.Grid.Lambda = append(s.Grid.Lambda, g.MaskedFractions[k])
		}
	}
	return s
}

// costs returns −log P of a text with and without masks left.
func (l gridLaw) costs(w *world.World, text int) (leave, denoise float64) {
	f := w.Facts()
	return -math.Log(l.Law.Law[w.State(sequence(text, f.Length, f.Columns))]), -math.Log(l.Denoised[text])
}

// TestWorlds compares every exact value with the reference laws, for every text of every world.
func TestWorlds(t *testing.T) {
	reftest.Long(t)
	checkWorlds(t, worlds(t))
}

// TestAllWorlds does the same with the large reference files.
func TestAllWorlds(t *testing.T) {
	reftest.Long(t)
	checkWorlds(t, worldsOf(t, reftest.Shared(t, "reference", "laws")))
}

func checkWorlds(t *testing.T, worlds map[string]*world.World) {
	ctx := context.Background()
	if len(worlds) < 4 {
		t.Errorf("%d worlds", len(worlds))
	}
	for name, w := range worlds {
		grids, list := lawstest.Field[[]listed](t, w, "grids"), lawstest.Field[[]gridLaw](t, w, "laws")
		f := w.Facts()
		e := evaluator(t, w)
		if f.TimeConditioned {
			checkTimed(t, name, w, grids, list)
			continue
		}
		nelbo := lawstest.Field[struct {
			BySequence []*float64 `json:"by_sequence"`
		}](t, w, "nelbo")
		for i, p := range lawstest.FHS(t, w) {
			target := likelihood.Whole(sequence(i, f.Length, f.Columns))
			tab := reftest.Must(e.Table(ctx, target, true))(t)
			if got := tab.FHS(); !near(got, -math.Log(p)) {
				t.Errorf("%s: text %d: FHS %v, want %v", name, i, got, -math.Log(p))
			}
			for _, l := range list {
				got := reftest.Must(subset.Grid(f.Length, stepsOf(l, grids).Jump, false, func(int) (*subset.Table, error) { return &tab.Table, nil }))(t)
				if leave, denoise := l.costs(w, i); !near(got.Leave, leave) || !near(got.Denoise, denoise) {
					t.Errorf("%s: text %d: %s %s: %v, want %v, %v", name, i, l.Sampler, l.Grid, got, leave, denoise)
				}
			}
			bound, entropy, want := tab.NELBO(), tab.ScoreEntropy().Raw, value(nelbo.BySequence[i])
			if !near(bound, want) {
				t.Errorf("%s: text %d: NELBO %v, want %v", name, i, bound, want)
			}
			if !math.IsInf(want, 1) && math.Abs(entropy-want) > 1e-9*max(1, want) {
				t.Errorf("%s: text %d: score entropy %v, want the NELBO %v", name, i, entropy, want)
			}
		}
	}
}

// checkTimed compares the laws of grid samplers on a world with time with the reference laws, all
// samplers of a text together and one alone, and checks that samplers at random times are refused by
// name.
func checkTimed(t *testing.T, name string, w *world.World, grids []listed, list []gridLaw) {
	ctx, e, f := context.Background(), evaluator(t, w), w.Facts()
	spec := w.Spec()
	spec.Noise = "exp"
	var ss []*catalog.Sampler
	for _, l := range list {
		var times []string
		for _, theta := range stepsOf(l, grids).Grid.Theta {
			times = append(times, fmt.Sprint(theta))
		}
		sampler, tau, _ := strings.Cut(l.Sampler, "_leaping_")
		if tau != "" {
			sampler += "-leaping"
		}
		grid := strings.ReplaceAll("theta:"+strings.Join(times, ","), "+Inf", "inf")
		ss = append(ss, reftest.Must(catalog.New(catalog.Options{Sampler: sampler, PlanOptions: catalog.PlanOptions{Tau: tau, Grid: grid, Finish: []string{"leave", "denoise"}[len(ss)%2]}}, spec))(t))
	}
	if len(ss) < 3 {
		t.Errorf("%s: %d laws", name, len(ss))
	}
	for i := range lawstest.FHS(t, w) {
		target := likelihood.Whole(sequence(i, f.Length, f.Columns))
		got := reftest.Must(e.Laws(ctx, target, ss))(t)
		alone := reftest.Must(e.Values(ctx, []likelihood.Target{target}, ss[i%len(ss)]))(t)[0]
		if alone.Sampler.NegLog != got[i%len(ss)].NegLog || alone.NELBO != nil || alone.FHS != nil || alone.ScoreEntropy != nil {
			t.Errorf("%s: text %d: %v: %+v by itself, %v with others", name, i, ss[i%len(ss)], alone, got[i%len(ss)])
		}
		for k, l := range list {
			leave, denoise := l.costs(w, i)
			x := got[k]
			want := leave
			if ss[k].Settings().Finish == "denoise" {
				want = denoise
			}
			if !near(x.Endings.Leave, leave) || !near(x.Endings.Denoise, denoise) || !near(x.NegLog, want) {
				t.Errorf("%s: text %d: %v: %v, want %v, %v", name, i, ss[k], x, leave, denoise)
			}
		}
	}
	target := likelihood.Whole(sequence(0, f.Length, f.Columns))
	for _, o := range []catalog.Options{{}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "2,1"}}, {Sampler: "uniformization", Steps: 3}, {Sampler: "matu", Steps: 3}} {
		s := reftest.Must(catalog.New(o, spec))(t)
		before := e.Totals().Rows
		_, err := e.Laws(ctx, target, []*catalog.Sampler{ss[0], s})
		reftest.Fails(t, err, "cannot compute a likelihood of "+s.String()+": it queries this time-conditioned network at random times", name)
		if large := new(samplers.TooLargeError); errors.As(err, &large) || e.Totals().Rows != before {
			t.Errorf("%s: %v: %v after %d rows", name, s, err, e.Totals().Rows-before)
		}
		reftest.Fails(t, reftest.Err(e.Values(ctx, []likelihood.Target{target}, s)), s.String(), name)
	}
	reftest.Fails(t, reftest.Err(e.Table(ctx, target, false)), "time-conditioned", name)
}
