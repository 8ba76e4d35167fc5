package oracle

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort/orttest"
)

// TestReference recomputes every reference file: those in testdata/reference, then all below
// the folder that MDMGEN_REFERENCE names. A file that was recomputed in the first is not
// recomputed in the second.
func TestReference(t *testing.T) {
	run := references{done: make(map[[sha256.Size]byte]string)}
	run.items = wantItems
	t.Run("testdata", func(t *testing.T) { run.folder(t, reftest.Data(t, "reference"), true) })
	run.items = nil
	t.Run("reference", func(t *testing.T) {
		dir, named := reftest.Folder(t)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && !named {
			t.Skip("the large reference files are not here; set MDMGEN_REFERENCE to their folder")
		}
		run.folder(t, dir, named)
	})
}

// wantItems counts what is compared of a model's files in testdata/reference: losses, and
// outputs of five cases each.
var wantItems = map[string]int{
	"likelihood/mdlm.json": 9, "likelihood/mdlm-timecond.json": 9, "likelihood/radd.json": 20, "likelihood/sedd.json": 11, "likelihood/sedd-noscale.json": 11,
	"checkpoints/mdlm/golden.safetensors": 10, "checkpoints/mdlm-timecond/golden.safetensors": 10, "checkpoints/radd/golden.safetensors": 10,
	"checkpoints/sedd/golden.safetensors": 10, "checkpoints/sedd-noscale/golden.safetensors": 10,
	"checkpoints/llada-gqa-bf16/golden.safetensors": 5, "checkpoints/dream-tied-fp16/golden.safetensors": 5,
	"checkpoints/qwen2/golden.safetensors": 5, "checkpoints/qwen3/golden.safetensors": 5, "checkpoints/bert/golden.safetensors": 5,
}

// wantNotOffered counts the laws of testdata/reference that are of samplers that are not offered.
var wantNotOffered = map[string]int{"laws-more/markov4-sharp.json": 8, "laws-more/timed3.json": 2}

// references is one run over folders.
type references struct {
	// done tells of each file by its content, and that of its model, where it was recomputed;
	// see before.
	mu   sync.Mutex
	done map[[sha256.Size]byte]string
	// items are the numbers of items that files must have, by their path in the folder.
	items map[string]int
}

// before returns the file of the same digest that is recomputed already, and notes path where
// there is none.
func (r *references) before(sum [sha256.Size]byte, path string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.done[sum]
	if before == "" {
		r.done[sum] = path
	}
	return before
}

// folder recomputes all files of a folder, and logs how many there are of each kind. required
// says that there must be one.
func (r *references) folder(t *testing.T, root string, required bool) {
	d, err := Walk(root)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, path := range d.Files {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		k, ok := recognise(t, path, rel)
		if !ok {
			continue
		}
		if dir := filepath.Dir(path); isGolden(path) {
			if why := NotOpened(dir); why != "" {
				t.Logf("%s: not compared: %s", rel, why)
				continue
			}
		}
		count[k.Name]++
		t.Run(filepath.ToSlash(rel), func(t *testing.T) {
			t.Parallel()
			r.file(t, d, k, path, rel)
		})
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%d files of kind %s", count[kind], kind)
	}
	if required && len(count) == 0 {
		t.Errorf("%s holds no reference file that is known", root)
	}
}

// companions are files of models and tokenizers, which hold no values to compare.
var companions = []string{"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json", "model.safetensors.index.json"}

// recognise tells the kind of a file; what is unknown is logged, and what is no reference
// file is nothing.
func recognise(t *testing.T, path, rel string) (Kind, bool) {
	t.Helper()
	base := strings.TrimSuffix(filepath.Base(path), ".gz")
	switch ext := strings.ToLower(filepath.Ext(base)); {
	case isGolden(path):
		return goldenKind, true
	case slices.Contains(companions, base) || strings.HasSuffix(base, ".tokenizer.json"):
		return Kind{}, false
	case ext == ".jsonl" || ext == ".json" && base != filepath.Base(path):
		t.Logf("%s: file of an unknown schema", rel)
		return Kind{}, false
	case ext != ".json":
		return Kind{}, false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(data) {
		t.Errorf("%s: is not JSON", rel)
		return Kind{}, false
	}
	k, schema, known := kindOf(data)
	if !known {
		t.Logf("%s: file of an unknown schema %.60q", rel, schema)
	}
	return k, known
}

// file recomputes one file.
func (r *references) file(t *testing.T, d *Folder, k Kind, path, rel string) {
	if k.decoders() {
		r.decoders(t, d, k, path)
		return
	}
	var ref string
	var err error
	if k.Model() {
		if ref, err = d.Model(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if why := NotOpened(ref); why != "" && ref != builtins[0].Name {
			t.Skipf("its model %s is not opened yet: %s", ref, why)
		}
	}
	sum := r.sum(t, k, path, ref)
	if before := r.before(sum, path); before != "" && !k.Worlds {
		t.Logf("is %s, which is recomputed", before)
		return
	}
	var m model.Model
	if k.Model() {
		t.Logf("model %s", ref)
		m = openModel(t, ref)
	}
	start := time.Now()
	report, err := d.Report(context.Background(), m, path)
	if err != nil {
		t.Fatal(err)
	}
	worst, where, values := 0.0, "", 0
	for _, it := range report.Items {
		values += it.Count
		if float64(it.MaxDiff) > worst && it.Limit > 0 {
			worst, where = float64(it.MaxDiff), it.Worst.Path
		}
		if !it.OK {
			t.Errorf("%s: got %v, want %v, limit %v %s", it.Worst.Path, it.Worst.Got, it.Worst.Want, it.Limit, it.Measure)
		}
	}
	if !report.OK {
		t.Error("the report is not OK")
	}
	if want, ok := r.items[filepath.ToSlash(rel)]; ok && len(report.Items) != want {
		t.Errorf("%d items, want %d", len(report.Items), want)
	}
	// What testdata has of further samplers agrees far better than its limit.
	if r.items != nil && k.Name == moreSchema && worst > 1e-12 {
		t.Errorf("the largest difference is %v (%s)", worst, where)
	}
	// What testdata has of samplers that are not offered is known.
	if want := wantNotOffered[filepath.ToSlash(rel)]; r.items != nil && report.NotOffered != want {
		t.Errorf("%d laws are of samplers that are not offered, want %d", report.NotOffered, want)
	}
	if report.NotOffered > 0 {
		t.Logf("%d laws of samplers that are not offered were not compared", report.NotOffered)
	}
	t.Logf("%d items of %d values, largest difference %.2g (%s), %.1f s", len(report.Items), values, worst, where, time.Since(start).Seconds())
}

// sum is the digest of a file, with those of the model whose values it holds.
func (r *references) sum(t *testing.T, k Kind, path, ref string) (out [sha256.Size]byte) {
	t.Helper()
	files := []string{path}
	if k.Model() && ref != builtins[0].Name {
		weights, err := filepath.Glob(filepath.Join(ref, "*.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		files = slices.Concat(files, []string{filepath.Join(ref, "config.json")}, weights)
	}
	h := sha256.New()
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		one := sha256.Sum256(data)
		h.Write(one[:])
	}
	copy(out[:], h.Sum(nil))
	return out
}

// openModel opens a model, and skips where ONNX Runtime is neither found nor fetched.
func openModel(t *testing.T, ref string) model.Model {
	t.Helper()
	m, err := model.Open(context.Background(), ref, model.Options{Builtins: builtins, Runtime: orttest.OneThread})
	orttest.Opened(t, m, err)
	return m
}
