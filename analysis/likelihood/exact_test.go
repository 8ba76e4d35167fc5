package likelihood_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mdmgen/analysis/laws/lawstest"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/schedule"
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
	return got == want || math.Abs(got-want) <= 1e-10*max(1, math.Abs(want))
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

// TestWorlds compares every exact value with the reference laws, for every text of every world.
func TestWorlds(t *testing.T) { checkWorlds(t, worlds(t)) }

// TestAllWorlds does the same with the large reference files.
func TestAllWorlds(t *testing.T) {
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
		nelbo := lawstest.Field[struct {
			BySequence []*float64 `json:"by_sequence"`
		}](t, w, "nelbo")
		for i, p := range lawstest.FHS(t, w) {
			target := likelihood.Whole(sequence(i, f.Length, f.Columns))
			var bound, entropy float64
			if f.TimeConditioned {
				tab := reftest.Must(e.TimedTableWithin(ctx, target, 0, true))(t)
				got := tab.FHS()
				if !near(got.Value, -math.Log(p)) || got.Error > 1e-10 {
					t.Errorf("%s: text %d: FHS %v, want %v", name, i, got, -math.Log(p))
				}
				bound, entropy = tab.NELBO().Value, tab.ScoreEntropy().Raw
			} else {
				tab := reftest.Must(e.Table(ctx, target, true))(t)
				if got := tab.FHS(); !near(got, -math.Log(p)) {
					t.Errorf("%s: text %d: FHS %v, want %v", name, i, got, -math.Log(p))
				}
				for _, l := range list {
					got := tab.Grid(stepsOf(l, grids))
					leave, denoise := -math.Log(l.Law.Law[w.State(target.IDs)]), -math.Log(l.Denoised[i])
					if !near(got.Leave, leave) || !near(got.Denoise, denoise) {
						t.Errorf("%s: text %d: %s %s: %v, want %v, %v", name, i, l.Sampler, l.Grid, got, leave, denoise)
					}
				}
				bound, entropy = tab.NELBO(), tab.ScoreEntropy().Raw
			}
			want := value(nelbo.BySequence[i])
			if !near(bound, want) {
				t.Errorf("%s: text %d: NELBO %v, want %v", name, i, bound, want)
			}
			if !math.IsInf(want, 1) && math.Abs(entropy-want) > 1e-9*max(1, want) {
				t.Errorf("%s: text %d: score entropy %v, want the NELBO %v", name, i, entropy, want)
			}
		}
	}
}
