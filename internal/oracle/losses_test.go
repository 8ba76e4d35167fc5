package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"mdmgen/analysis/verify"
	"mdmgen/internal/reftest"
	"mdmgen/model"
)

// TestLossesBreach checks that a wrong value is found and named.
func TestLossesBreach(t *testing.T) {
	data, err := os.ReadFile(reftest.Data(t, "reference", "likelihood", "radd.json"))
	if err != nil {
		t.Fatal(err)
	}
	m := openModel(t, reftest.Data(t, "reference", "checkpoints", "radd"))
	items, err := losses(context.Background(), m, "f", bytes.Replace(data, []byte("279.9458829507217"), []byte("280.1"), 1), lossesLimit)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		// The float32 value beside is then too far from it, too.
		if it.OK == (it.Name == "losses_float64.k_DCE" || it.Name == "floor_relative") {
			t.Errorf("%s: ok %t", it.Name, it.OK)
		}
		if !it.OK && it.Name != "floor_relative" && it.Worst.Path != "losses_float64.k_DCE[3]" {
			t.Errorf("the worst is at %s", it.Worst.Path)
		}
	}
}

// TestLossesEveryField changes a value of every numeric field and requires a breach or an
// error that names it.
func TestLossesEveryField(t *testing.T) {
	for _, name := range []string{"mdlm", "radd", "sedd"} {
		data, err := os.ReadFile(reftest.Data(t, "reference", "likelihood", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		m := openModel(t, reftest.Data(t, "reference", "checkpoints", name))
		var file map[string]any
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		paths := make(map[string][]any) // a path to a value of each field
		var walk func(path []any, v any)
		walk = func(path []any, v any) {
			switch v := v.(type) {
			case map[string]any:
				for k, item := range v {
					walk(append(path[:len(path):len(path)], k), item)
				}
			case []any:
				at := min(1, len(v)-1)
				walk(append(path[:len(path):len(path)], at), v[at])
			case float64, bool:
				paths[fmt.Sprint(path...)] = path
			}
		}
		walk(nil, file)
		if len(paths) < 15 {
			t.Errorf("%s: %d fields", name, len(paths))
		}
		for at, path := range paths {
			var changed any
			if err := json.Unmarshal(data, &changed); err != nil {
				t.Fatal(err)
			}
			holder := changed
			for _, key := range path[:len(path)-1] {
				switch k := key.(type) {
				case string:
					holder = holder.(map[string]any)[k]
				case int:
					holder = holder.([]any)[k]
				}
			}
			change := func(v any) any {
				if b, ok := v.(bool); ok {
					return !b
				}
				x := v.(float64)
				if x == math.Trunc(x) && !strings.Contains(at, "loss") && !strings.Contains(at, "score") {
					return x + 1
				}
				return x + 1e-2*max(1, math.Abs(x))
			}
			switch k := path[len(path)-1].(type) {
			case string:
				h := holder.(map[string]any)
				h[k] = change(h[k])
			case int:
				h := holder.([]any)
				h[k] = change(h[k])
			}
			text, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			items, err := losses(context.Background(), m, "f", text, lossesLimit)
			ok := err == nil
			for _, it := range items {
				ok = ok && it.OK
			}
			if ok {
				t.Errorf("%s: %s was changed and nothing is wrong", name, at)
			}
		}
	}
}

// TestModelFileMistakes: a fault of a file's structure is a line that says what is wrong and
// where, in the words of the file.
func TestModelFileMistakes(t *testing.T) {
	m, err := model.Open(context.Background(), reftest.Data(t, "reference", "laws", "markov3-exact.json"), model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const (
		good  = `{"mask_token_id":3,"vocab_size":4,"x0":[[0,1,2]],"xt":[[0,3,2]],"mask":[[0,1,0]],"sigma":[0.5],"dsigma":[1],"loss_float64":[1]}`
		exact = `{"schema":"mdm-windows/1","d":3,"T":6,"delta":0.01,"windows":[{"start":4,"ids":[0,1,2],"nelbo":3,"fhs":null,"left_to_right":3,"grid":[{"sampler":"euler","N":20,"leave":1,"denoise":2}]}]}`
	)
	for _, c := range []struct {
		read     func(context.Context, model.Model, string, []byte, float64) ([]verify.Item, error)
		in       string
		old, new string
		want     string
	}{
		{losses, good, "", "", ""},
		{losses, good, `"vocab_size":4`, `"vocab_size":5`, "vocab_size is 5, the model's is 4"},
		{losses, good, `[[0,1,0]]`, `[[0,2,0]]`, `row 0: field "mask": entry 1 is 2: must be a number in 0..1`},
		{losses, good, `[[0,1,2]]`, `[[0,1,9]]`, `row 0: field "x0": entry 2 is 9`},
		{losses, good, `[[0,1,2]]`, `[[0,3,2]]`, "is MASK"},
		{losses, good, `[[0,1,2]]`, `[[0,1]]`, "must have the 1 × 2 of x0"},
		{losses, good, `[[0,1,2]]`, `[0,1,2]`, `row 0: field "x0" is 0: must be a list`},
		{losses, good, `[0.5]`, `[null]`, `field "sigma": entry 0 is null`},
		{losses, good, `[0.5]`, `[0.5,1]`, `field "sigma": 2 values`},
		{losses, good, `"loss_float64":[1]`, `"loss_float64":["a"]`, `field "loss_float64": entry 0 is "a"`},
		{losses, good, `"loss_float64":[1]`, `"loss_float64":[1],"surprise":[2]`, "field surprise is not known"},
		{losses, good, `"loss_float64"`, `"ar_random"`, "field ar_random is not known"},
		{losses, good, `,"loss_float64":[1]`, ``, "holds none of losses_float64"},
		{losses, good, `[1]}`, `[1e999]}`, "number 1e999"},
		{windows, exact, "", "", ""},
		{windows, exact, `"start":4`, `"start":-4`, `windows[0]: field "start" is -4`},
		{windows, exact, `"start":4`, `"start":"x"`, `field "start" is "x"`},
		{windows, exact, `"nelbo":3,`, ``, `windows[0]: field "nelbo" is missing`},
		{windows, exact, `"nelbo":3`, `"nelbo":"3"`, `field "nelbo" is "3": must be a number of at least 0, or null`},
		{windows, exact, `[0,1,2]`, `[0,1]`, "2 ids: must be d = 3"},
		{windows, exact, `[0,1,2]`, `[0,1,3]`, "windows[0]: position 2: id 3 is not a token"},
		{windows, exact, `"euler"`, `"magic"`, "grid[0]: sampler is"},
		{windows, exact, `"N":20`, `"N":1.5`, `grid[0]: field "N" is 1.5: must be a whole number`},
		{windows, exact, `"N":20`, `"N":20,"n":3`, "grid[0]: field n is not known"},
		{windows, exact, `"delta":0.01`, `"delta":9`, "must be T > delta"},
		{windows, exact, `"windows":[`, `"windows":[7,`, "windows[0]: is 7: must be an object"},
		{windows, exact, `"d":3`, `"d":"3"`, `field "d" is "3"`},
		{windows, exact, `]}]}`, `]}}`, "not JSON"},
	} {
		text := strings.Replace(c.in, c.old, c.new, 1)
		_, err := c.read(context.Background(), m, "f", []byte(text), lossesLimit)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "nil>") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\nerror %v, want %q", text, err, c.want)
		}
	}
}
