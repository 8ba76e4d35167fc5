package oracle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/builtin"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/world"
)

// goldenName is the name of the tensor file in a checkpoint's folder.
const goldenName = "golden.safetensors"

func isGolden(path string) bool { return filepath.Base(path) == goldenName }

// Folder is a tree of reference files, and of the worlds and models that they name.
type Folder struct {
	root string
	// Files lists the paths of all regular files, in order.
	Files []string
}

// Walk finds the files below a folder, which may be a link.
func Walk(root string) (*Folder, error) {
	d := &Folder{root: root}
	target, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	return d, filepath.WalkDir(target, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			d.Files = append(d.Files, filepath.Join(root, strings.TrimPrefix(path, target)))
		}
		return err
	})
}

// world opens the world that another file names: the first world's file whose name is the last part
// of the given name, with .json.
func (d *Folder) world(t testing.TB, name string) (*file, *world.World, *laws.World) {
	t.Helper()
	base := path.Base(filepath.ToSlash(name)) + ".json"
	for _, at := range d.Files {
		if filepath.Base(at) != base {
			continue
		}
		f := d.open(t, at)
		if f.doc["schema"] == worldSchema {
			open, w := openWorld(t, f)
			return f, open, w
		}
	}
	t.Fatalf("world %q: there is no file %s of a world in %s", name, base, d.root)
	return nil, nil, nil
}

// openWorld opens a world's file as a model and for enumeration.
func openWorld(t testing.TB, f *file) (*world.World, *laws.World) {
	t.Helper()
	open, err := world.Parse(f.data(t))
	reftest.OK(t, err, f.path)
	w, err := laws.New(open)
	reftest.OK(t, err, f.path)
	return open, w
}

// model finds the model whose values a file holds: the folder of weights named by the last part of
// the file's field checkpoint or model; otherwise the folder or built-in model whose weights have
// the digest in the file. Of several folders it selects those whose mask is the file's, and of
// these the one nearest to the file. For the built-in model it returns the name.
func (d *Folder) model(ctx context.Context, f *file) (ref string, err error) {
	if isGolden(f.path) {
		return filepath.Dir(f.path), nil
	}
	text := func(field string) string {
		s, _ := f.doc[field].(string)
		return s
	}
	mask := -1
	if x, ok := f.doc["mask_token_id"].(float64); ok {
		mask = int(x)
	}
	return d.find(ctx, f.path, cmp.Or(text("checkpoint"), text("model")), text("model_safetensors_sha256"), mask)
}

// find finds a model by the name, the digest of the weights and the mask in a file. mask is −1 if
// the file has none.
func (d *Folder) find(ctx context.Context, file, name, sum string, mask int) (ref string, err error) {
	var found []string
	for _, dir := range d.models() {
		if name != "" && filepath.Base(dir) == path.Base(filepath.ToSlash(name)) {
			found = append(found, dir)
		}
	}
	if found == nil && sum != "" {
		for _, dir := range d.models() {
			if own, err := digest(os.DirFS(dir)); err == nil && own == sum {
				found = append(found, dir)
			}
		}
		if own, err := digest(builtin.Fairytale()); found == nil && err == nil && own == sum {
			return builtins[0].Name, nil
		}
	}
	if found == nil {
		return "", fmt.Errorf("%s: model %.60q: there is no folder of that name with weights in %s, nor one with the digest %.60q", file, name, d.root, sum)
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(common(b, file), common(a, file)) })
	if mask >= 0 {
		if i := slices.IndexFunc(found, func(dir string) bool { return mask == maskOf(ctx, dir) }); i >= 0 {
			return found[i], nil
		}
	}
	return found[0], nil
}

var builtins = []model.Builtin{{Name: "fairytale", FS: builtin.Fairytale()}}

// models returns the folders with weights, in any format.
func (d *Folder) models() []string {
	var out []string
	for _, at := range d.Files {
		dir := filepath.Dir(at)
		weights := slices.Contains([]string{".safetensors", ".bin", ".ckpt", ".onnx"}, filepath.Ext(at)) && !isGolden(at)
		if weights && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// digest returns the SHA-256 of a folder's weights in a single file.
func digest(dir fs.FS) (string, error) {
	in, err := dir.Open("model.safetensors")
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// common returns the number of leading folders that two paths share.
func common(a, b string) int {
	x, y := strings.Split(filepath.ToSlash(a), "/"), strings.Split(filepath.ToSlash(b), "/")
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// maskOf returns the id of MASK of a checkpoint's folder, −1 if it is unknown.
func maskOf(ctx context.Context, dir string) int {
	c, err := checkpoint.Open(dir, "")
	if err != nil {
		return -1
	}
	facts, err := c.Facts(ctx)
	if err := errors.Join(err, c.Close()); err != nil {
		return -1
	}
	return facts.MaskID
}

// notOpened returns why the program does not open the model in a folder; "" if it must.
func notOpened(dir string) string {
	if found, _ := filepath.Glob(filepath.Join(dir, "*.ckpt")); len(found) > 1 {
		return "it has several trainers' files, which analysis/verify: TestTrainersFiles compares"
	}
	return ""
}
