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
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
)

// TestReference recomputes every reference file: those in testdata/reference, then all below the
// folder that MDMGEN_REFERENCE names. It skips files in the second that were recomputed in the
// first.
func TestReference(t *testing.T) {
	run := references{done: make(map[[sha256.Size]byte]string)}
	run.items = wantItems
	t.Run("testdata", func(t *testing.T) { run.folder(t, reftest.Data(t, "reference")) })
	run.items = nil
	t.Run("reference", func(t *testing.T) {
		// All of them take longer than every other package's tests.
		dir, named := reftest.Folder(t)
		if !named {
			t.Skip("all large reference files are recomputed only if MDMGEN_REFERENCE names their folder")
		}
		run.folder(t, dir)
	})
}

// wantItems is the number of compared items of files in testdata/reference: losses with the facts about
// the model, outputs of five cases each, and laws of further samplers with their expected calls.
var wantItems = map[string]int{
	"laws-more/markov4-sharp.json": 82, "laws-more/timed3.json": 54,
	"likelihood/mdlm.json": 12, "likelihood/mdlm-timecond.json": 12, "likelihood/radd.json": 22, "likelihood/sedd.json": 14, "likelihood/sedd-noscale.json": 14,
	"checkpoints/mdlm/golden.safetensors": 10, "checkpoints/mdlm-timecond/golden.safetensors": 10, "checkpoints/radd/golden.safetensors": 10,
	"checkpoints/sedd/golden.safetensors": 10, "checkpoints/sedd-noscale/golden.safetensors": 10,
	"checkpoints/llada-gqa-bf16/golden.safetensors": 5, "checkpoints/dream-tied-fp16/golden.safetensors": 5,
	"checkpoints/qwen2/golden.safetensors": 5, "checkpoints/qwen3/golden.safetensors": 5, "checkpoints/bert/golden.safetensors": 5,
}

// slow are the files in testdata/reference that take most of the time.
var slow = []string{"laws/markov4-sharp.json", "laws/theorem3.json"}

// references is a run over folders.
type references struct {
	// done maps the digests of recomputed files, with those of their models, to their paths; see
	// before.
	mu   sync.Mutex
	done map[[sha256.Size]byte]string
	// items are the required numbers of items by path in the folder.
	items map[string]int
}

// before returns the file with the same digest that was recomputed before. If there is none, it
// records path.
func (r *references) before(sum [sha256.Size]byte, path string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.done[sum]
	if before == "" {
		r.done[sum] = path
	}
	return before
}

// folder recomputes all files of a folder, and logs the number of each kind.
func (r *references) folder(t *testing.T, root string) {
	d := reftest.Must(Walk(root))(t)
	count := make(map[string]int)
	for _, path := range d.Files {
		rel := reftest.Must(filepath.Rel(root, path))(t)
		k, ok := recognise(t, path, rel)
		if !ok {
			continue
		}
		if why := notOpened(filepath.Dir(path)); isGolden(path) && why != "" {
			t.Logf("%s: not compared: %s", rel, why)
			continue
		}
		count[k.name]++
		t.Run(filepath.ToSlash(rel), func(t *testing.T) {
			t.Parallel()
			if _, named := reftest.Folder(t); !named && slices.Contains(slow, filepath.ToSlash(rel)) {
				t.Skip("recomputed with all large reference files: it takes seconds, and other files are of its kind")
			}
			r.file(t, d, k, path, rel)
		})
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%d files of kind %s", count[kind], kind)
	}
	if len(count) == 0 {
		t.Errorf("%s holds no reference file that is known", root)
	}
}

// companions lists files of models and tokenizers, without values to compare.
var companions = []string{"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json", "model.safetensors.index.json"}

// recognise returns the kind of a file. It logs a file of an unknown kind, and returns false for
// that and for other files.
func recognise(t *testing.T, path, rel string) (kind, bool) {
	t.Helper()
	base := strings.TrimSuffix(filepath.Base(path), ".gz")
	switch ext := strings.ToLower(filepath.Ext(base)); {
	case isGolden(path):
		return goldenKind, true
	case slices.Contains(companions, base) || strings.HasSuffix(base, ".tokenizer.json"):
		return kind{}, false
	case ext == ".jsonl" || ext == ".json" && base != filepath.Base(path):
		t.Logf("%s: file of an unknown schema", rel)
		return kind{}, false
	case ext != ".json":
		return kind{}, false
	}
	data := reftest.Must(os.ReadFile(path))(t)
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil && !json.Valid(data) {
		t.Errorf("%s: %v", rel, err)
		return kind{}, false
	}
	k, schema, known := kindOf(doc)
	if !known {
		t.Logf("%s: file of an unknown schema %.60q", rel, schema)
	}
	return k, known
}

// file recomputes a single file.
func (r *references) file(t *testing.T, d *Folder, k kind, path, rel string) {
	f := d.open(t, path)
	var ref string
	if k.model {
		var err error
		if ref, err = d.model(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if before := r.before(r.sum(t, path, ref), path); before != "" && !k.worlds {
		t.Logf("is %s, which is recomputed", before)
		return
	}
	if k.model {
		t.Logf("model %s", ref)
		f.net = openModel(t, ref)
	}
	// With a missing input, packages may be called with what they panic on: a fault of this file
	// alone.
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("the file cannot be recomputed: %v\n%s", p, debug.Stack())
		}
	}()
	start := time.Now()
	m := &matcher{t: t, limit: k.limit}
	k.check(m, f)
	worst, where, values := 0.0, "", 0
	for _, it := range m.items {
		values += it.Count
		if float64(it.MaxDiff) > worst && it.Limit > 0 {
			worst, where = float64(it.MaxDiff), it.Worst.Path
		}
		if !it.OK {
			t.Errorf("%s: got %v, want %v, limit %v %s", it.Worst.Path, it.Worst.Got, it.Worst.Want, it.Limit, it.Measure)
		}
	}
	for _, fault := range m.faults {
		t.Error(fault)
	}
	if values == 0 && k.limit > 0 {
		t.Error("holds no values to compare")
	}
	if want, ok := r.items[filepath.ToSlash(rel)]; ok && len(m.items) != want {
		t.Errorf("%d items, want %d", len(m.items), want)
	}
	// The agreement of testdata's further samplers is far better than the limit.
	if r.items != nil && k.name == moreSchema && worst > 1e-12 {
		t.Errorf("the largest difference is %v (%s)", worst, where)
	}
	if values > 0 {
		t.Logf("%d items of %d values, largest difference %.2g (%s), %.1f s", len(m.items), values, worst, where, time.Since(start).Seconds())
	}
}

// sum returns the digest of a file, with the files in the folder of its model.
func (r *references) sum(t *testing.T, path, ref string) (out [sha256.Size]byte) {
	t.Helper()
	files := []string{path}
	if ref != "" && ref != builtins[0].Name {
		weights := reftest.Must(filepath.Glob(filepath.Join(ref, "*.safetensors")))(t)
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

// openModel opens a model. It skips the test if ONNX Runtime is neither found nor fetched.
func openModel(t testing.TB, ref string) model.Model {
	t.Helper()
	m, err := model.Open(context.Background(), ref, model.Options{Builtins: builtins, Runtime: orttest.OneThread})
	orttest.Opened(t, m, err)
	return m
}
