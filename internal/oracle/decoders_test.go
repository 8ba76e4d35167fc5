package oracle

import (
	"crypto/sha256"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/world"
	"mdmgen/samplers"
)

// decoders repeats a file of runs, laws or quotas of decoders.
func (r *references) decoders(t *testing.T, d *Folder, k Kind, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if before := r.before(sum, path); before != "" {
		t.Logf("is %s, which is repeated", before)
		return
	}
	switch k.Name {
	case decodersSchema:
		report, err := d.Decoders(t.Context(), path, func(ref string, length int) model.Model {
			if why := NotOpened(ref); why != "" && ref != builtins[0].Name {
				t.Logf("%s: its runs are not repeated: %s", ref, why)
				return nil
			}
			m := openModel(t, ref)
			if m.Facts().Length >= length {
				return m
			}
			return openModel(t, lengthened(t, ref, length))
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, difference := range report.Differences {
			t.Error(difference)
		}
		t.Logf("%d runs, %d of models that are not opened; %d calls made of %d", report.Runs, report.NotOpened, report.Calls, report.RuleCalls)
	case decoderLawsSchema:
		r.decoderLaws(t, d, path)
	case decoderQuotaSchema:
		n, err := Quotas(data)
		if err != nil {
			t.Error(err)
		}
		t.Logf("%d pairs of masks and steps", n)
	}
}

// lengthened is a folder of a model of LLaDA's family for longer canvases: upstream's loops
// run on any, and its rotations know no end.
func lengthened(t *testing.T, ref string, length int) string {
	t.Helper()
	config := make(map[string]any)
	read(t, filepath.Join(ref, "config.json"), &config)
	config["max_sequence_length"] = length
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, dir, "config.json", string(text))
	weights, err := os.ReadFile(filepath.Join(ref, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "model.safetensors", string(weights))
	return dir
}

// decoderLaws compares laws. All of them together are wrongly refused once in a thousand.
func (r *references) decoderLaws(t *testing.T, d *Folder, path string) {
	const draws, level = 10000, 1e-3
	laws, err := d.DecoderLaws(t.Context(), path, draws)
	if err != nil {
		t.Fatal(err)
	}
	least, most, exact := 1.0, 0.0, 0
	for _, law := range laws {
		if law.Difference >= 0 {
			exact++
			if most = max(most, law.Difference); law.Difference > 1e-6 { // logits are float32
				t.Errorf("%s: the outcomes are %.3g from the law", law.ID, law.Difference)
			}
		}
		least = min(least, law.P)
		if law.P < level/float64(len(laws)) {
			t.Errorf("%s: p = %.3g", law.ID, law.P)
		}
		if math.Abs(law.Calls-law.Want) > 4.5*law.SE+1e-12 {
			t.Errorf("%s: %v calls of the rule, want %v ± %v", law.ID, law.Calls, law.Want, law.SE)
		}
	}
	t.Logf("%d laws of %d draws each, least p %.3g; the outcomes of %d differ by at most %.3g", len(laws), draws, least, exact, most)
}

// TestEntropyBoundedSampler: the sampler has the law, and takes the calls, that are worked out
// by enumeration, on a network with time and on one without.
func TestEntropyBoundedSampler(t *testing.T) {
	const draws, level = 10000, 1e-3
	gammas := []float64{0, 0.6, 0.9, 1.2, 3}
	for _, name := range []string{"markov4-sharp", "timed3"} {
		open, err := world.Open(reftest.Law(t, name))
		if err != nil {
			t.Fatal(err)
		}
		w, err := laws.New(open)
		if err != nil {
			t.Fatal(err)
		}
		for i, gamma := range gammas {
			law, calls := entropyBounded(w, gamma)
			s, err := samplers.New(samplers.Options{Sampler: "entropy-bounded", Deciding: samplers.Deciding{Gamma: &gamma}}, open.Spec())
			if err != nil {
				t.Fatal(err)
			}
			one := decoderLaw{Canvas: slices.Repeat([]int{w.V}, w.D), Law: law, Calls: &calls}
			got, err := one.compare(t.Context(), open, s, draws, uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			if got.P < level/10 || math.Abs(got.Calls-calls) > 4.5*got.SE+1e-12 {
				t.Errorf("%s, gamma %v: p = %.3g, %v calls, want %v", name, gamma, got.P, got.Calls, calls)
			}
		}
	}
}
