package verify

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort"
)

// openModel opens a model, and skips where ONNX Runtime is neither found nor fetched.
func openModel(t *testing.T, ref string) model.Model {
	t.Helper()
	m, err := model.Open(context.Background(), ref, model.Options{Outlet: lossesKind.Outlet})
	var missing *ort.MissingError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// TestLosses compares every loss of the public implementations, on the checkpoints
// that are always here.
func TestLosses(t *testing.T) {
	for name, items := range map[string]int{"mdlm": 2, "mdlm-timecond": 2, "radd": 7, "sedd": 2, "sedd-noscale": 2} {
		t.Run(name, func(t *testing.T) {
			path := reftest.Data(t, "reference", "likelihood", name+".json")
			m := openModel(t, reftest.Data(t, "reference", "checkpoints", name))
			report, err := File(context.Background(), m, path, -1)
			if err != nil {
				t.Fatal(err)
			}
			got := report.Items
			if len(got) != items {
				t.Errorf("%d items, want %d", len(got), items)
			}
			for _, it := range got {
				t.Logf("%s: %d values, %.3g", it.Name, it.Count, float64(it.MaxDiff))
				if !it.OK {
					t.Errorf("%s: %+v", it.Name, it)
				}
			}
		})
	}
}

// TestLossesBreach checks that a wrong value is found and named.
func TestLossesBreach(t *testing.T) {
	data, err := os.ReadFile(reftest.Data(t, "reference", "likelihood", "radd.json"))
	if err != nil {
		t.Fatal(err)
	}
	m := openModel(t, reftest.Data(t, "reference", "checkpoints", "radd"))
	items, err := losses(context.Background(), m, "f", bytes.Replace(data, []byte("279.9458829507217"), []byte("280.1"), 1), 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if it.OK == (it.Name == "losses_float64.k_DCE") {
			t.Errorf("%s: ok %t", it.Name, it.OK)
		}
		if !it.OK && it.Worst.Path != "losses_float64.k_DCE[3]" {
			t.Errorf("the worst is at %s", it.Worst.Path)
		}
	}
}

// FuzzModelFiles gives hostile files to a world: errors are one line, and nothing
// panics.
func FuzzModelFiles(f *testing.F) {
	for _, seed := range []string{
		`{"schema":"mdm-windows/1","d":3,"T":6,"delta":0.01,"windows":[{"ids":[0,1,2],"nelbo":3,"fhs":null,"left_to_right":3,"grid":[{"sampler":"euler","N":2,"leave":1,"denoise":2}]}]}`,
		`{"mask_token_id":3,"x0":[[0,1,2]],"xt":[[0,3,2]],"mask":[[0,1,0]],"k_mask":[[0,1,1]],"sigma":[0.5],"dsigma":[1],"lambda":[0.1],"k":[2],"order":[2,0,1],"losses_float64":{"t_DSE":[1],"t_DCE":[2],"lambda_DCE":[1],"k_DCE":[2],"ar_random":[2],"ar_backward":[1]}}`,
		`{"mask_token_id":3,"x0":[[0,1,2]],"mask":[[0,1,0]],"sigma_float64":[0.5],"dsigma_float64":[1],"score_entropy_float64":[1],"loss_float64":[1]}`,
		`{"mask_token_id":3,"x0":[[0,1,2]],"mask":[[0,1,0]],"sigma":[0.5],"dsigma":[1],"loss_float64":[1],"loss_per_token":[[0,1,0]]}`,
	} {
		f.Add([]byte(seed))
	}
	m, err := model.Open(context.Background(), reftest.Data(f, "reference", "laws", "markov3-exact.json"), model.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func(context.Context, model.Model, string, []byte, float64) ([]Item, error){windows, losses} {
			if _, err := read(context.Background(), m, "f", data, 1e-4); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line", err)
			}
		}
	})
}
