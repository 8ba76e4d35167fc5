package checkpoint_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
)

const tinyConfig = `{"model_type":"mdlm","hidden_dim":8,"cond_dim":4,"n_blocks":1,"n_heads":2,"model_length":6,"vocab_size":7}`

func TestPublishedFolders(t *testing.T) {
	for name, want := range map[string]facts.Facts{
		"mdlm":            {Family: "mdlm", Columns: 131, MaskID: 130, Length: 32, Output: facts.Logits, Dtype: "F32", Parameters: 155_011},
		"mdlm-timecond":   {Family: "mdlm", Columns: 113, MaskID: 112, Length: 24, TimeConditioned: true, Output: facts.Logits, Dtype: "F32", Parameters: 90_545},
		"radd":            {Family: "radd", Columns: 151, MaskID: 150, Length: 36, Output: facts.Logits, Dtype: "F32", Parameters: 119_063},
		"sedd":            {Family: "sedd", Columns: 121, MaskID: 120, Length: 28, TimeConditioned: true, Output: facts.LogScore, ScaleBySigma: true, Dtype: "F32", Parameters: 153_721},
		"sedd-noscale":    {Family: "sedd", Columns: 103, MaskID: 102, Length: 20, TimeConditioned: true, Output: facts.LogScore, Dtype: "F32", Parameters: 65_687},
		"llada-gqa-bf16":  {Family: "llada", Columns: 111, MaskID: 108, Length: 24, Output: facts.Logits, Decoder: "confidence steps=1024 block-length=32 temperature=0", Dtype: "BF16", Parameters: 144_672},
		"dream-tied-fp16": {Family: "dream", Columns: 118, MaskID: 117, Length: 24, Output: facts.Logits, Decoder: "confidence rule=dream score=entropy steps=512 temperature=0.2 top-p=0.95", Dtype: "F16", Shift: true, Parameters: 86_864},
		"qwen2":           {Family: "qwen2", Columns: 122, MaskID: 119, Length: 32, Output: facts.Logits, Dtype: "F32", Parameters: 69_824},
		"qwen3":           {Family: "qwen3", Columns: 122, MaskID: 117, Length: 32, Output: facts.Logits, Dtype: "F32", Parameters: 95_088},
		"bert":            {Family: "bert", Columns: 109, MaskID: 4, Length: 24, Output: facts.Logits, Dtype: "F32", Parameters: 71_853},
	} {
		ck, err := checkpoint.Open(reftest.Data(t, "reference", "checkpoints", name), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := reftest.Must(ck.Facts(context.Background()))(t, name)
		if !strings.HasPrefix(got.Digest, "sha256:") || len(got.Digest) != 7+64 {
			t.Errorf("%s: digest is %q", name, got.Digest)
		}
		want.Schema, want.Name, want.Noise, want.Digest = facts.Schema, name, "loglinear", got.Digest
		if got.Digest = want.Digest; !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
		reftest.OK(t, got.Validate(), name)
		reftest.OK(t, errors.Join(ck.Close(), ck.Close()), name)
	}
}

// A folder on disk and the same files in memory are the same checkpoint.
func TestFolderAndFileSystemAgree(t *testing.T) {
	dir := reftest.Builtin(t)
	a := opened(t, dir)
	b := reftest.Must(checkpoint.OpenFS(os.DirFS(dir), "fairytale"))(t)
	defer b.Close()
	fa := reftest.Must(a.Facts(context.Background()))(t)
	fb := reftest.Must(b.Facts(context.Background()))(t)
	if !reflect.DeepEqual(fa, fb) {
		t.Errorf("facts differ:\n%+v\n%+v", fa, fb)
	}
	if fa.Dtype != "F16" {
		t.Errorf("dtype is %s", fa.Dtype)
	}
	for s := range a.Config.Tensors() {
		x, y := a.Tensor(s.Name), b.Tensor(s.Name)
		if !bytes.Equal(x.Data, y.Data) {
			t.Errorf("%s differs", s.Name)
		}
		if y.Path != "" || !filepath.IsAbs(x.Path) {
			t.Errorf("%s: paths %q and %q", s.Name, x.Path, y.Path)
		}
		file := reftest.Must(os.Open(x.Path))(t)
		at := make([]byte, len(x.Data))
		if _, err := file.ReadAt(at, x.Offset); err != nil || !bytes.Equal(at, x.Data) {
			t.Errorf("%s is not at byte %d of its file (%v)", s.Name, x.Offset, err)
		}
		file.Close()
	}
}

func TestPrefixes(t *testing.T) {
	var want []byte
	for _, prefix := range []string{"", "backbone.", "_orig_mod.", "backbone._orig_mod.", "_orig_mod.backbone.", "module.", "model.", "module.model.backbone."} {
		c, err := checkpoint.OpenFS(checkpointtest.Folder(tinyConfig, prefix, checkpoint.F32, 1), "tiny")
		if err != nil {
			t.Errorf("prefix %q: %v", prefix, err)
			continue
		}
		got := c.Tensor("blocks.0.attn_qkv.weight").Data
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("prefix %q: other weights", prefix)
		}
	}
}

// split cuts a folder's weights into two shards with an index.
func split(t *testing.T, whole fstest.MapFS) fstest.MapFS {
	t.Helper()
	f := reftest.Must(checkpoint.FileOf(whole["model.safetensors"].Data))(t)
	var parts [2][]checkpoint.Tensor
	var weightMap []string
	for i, name := range f.Names() {
		x, _ := f.Tensor(name)
		parts[i%2] = append(parts[i%2], x)
		weightMap = append(weightMap, `"`+name+`":"part-`+string(rune('0'+i%2))+`.safetensors"`)
	}
	return fstest.MapFS{
		"config.json":                  whole["config.json"],
		"part-0.safetensors":           {Data: checkpointtest.Encode(nil, parts[0]...)},
		"part-1.safetensors":           {Data: checkpointtest.Encode(nil, parts[1]...)},
		"model.safetensors.index.json": {Data: []byte(`{"metadata":{},"weight_map":{` + strings.Join(weightMap, ",") + `}}`)},
	}
}

func TestShards(t *testing.T) {
	whole := checkpointtest.Folder(tinyConfig, "backbone.", checkpoint.BF16, 2)
	shards := split(t, whole)
	a := inMemory(t, whole)
	b := inMemory(t, shards)
	for s := range a.Config.Tensors() {
		if !bytes.Equal(a.Tensor(s.Name).Data, b.Tensor(s.Name).Data) {
			t.Errorf("%s differs", s.Name)
		}
	}
	for _, c := range []struct{ name, index, want string }{
		{"no map", `{}`, "weight_map is empty"},
		{"not JSON", `{`, "the JSON ends too early"},
		{"outside the folder", `{"weight_map":{"a":"../x.safetensors"}}`, "not the name of a weights file (.safetensors) in the folder"},
		{"absolute", `{"weight_map":{"a":"/x.safetensors"}}`, "not the name of"},
		{"another kind of file", `{"weight_map":{"a":"x.bin"}}`, "not the name of"},
		{"a shard missing", `{"weight_map":{"a":"part-0.safetensors","b":"part-2.safetensors"}}`, "part-2.safetensors: file does not exist"},
		{"half of the shards", `{"weight_map":{"a":"part-0.safetensors"}}`, "tensors do not fit the config: missing: "},
	} {
		shards["model.safetensors.index.json"] = &fstest.MapFile{Data: []byte(c.index)}
		_, err := checkpoint.OpenFS(shards, "tiny")
		refuses(t, c.name, err, c.want)
	}
}

// opened opens a folder or a weight file until the test ends; inMemory opens a folder made by
// checkpointtest.
func opened(t *testing.T, path string) *checkpoint.Checkpoint {
	t.Helper()
	c := reftest.Must(checkpoint.Open(path, ""))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

func inMemory(t *testing.T, f fstest.MapFS) *checkpoint.Checkpoint {
	t.Helper()
	return reftest.Must(checkpoint.OpenFS(f, "tiny"))(t)
}

func refuses(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "checkpoint: ") {
		t.Errorf("%s: error is %v, want one line from checkpoint with %q", name, err, want)
	}
}

func TestDigestIsOfTheContent(t *testing.T) {
	digest := func(f fstest.MapFS) string {
		t.Helper()
		c := inMemory(t, f)
		return reftest.Must(c.Digest(context.Background()))(t)
	}
	tiny := func(seed uint64) fstest.MapFS { return checkpointtest.Folder(tinyConfig, "", checkpoint.F32, seed) }
	want := digest(tiny(1))
	if digest(tiny(1)) != want {
		t.Error("the same files have another digest")
	}
	if digest(tiny(2)) == want {
		t.Error("other weights have the same digest")
	}
	other := tiny(1)
	other["config.json"].Data = append(other["config.json"].Data, '\n')
	if digest(other) == want {
		t.Error("another config.json has the same digest")
	}
	extra := tiny(1)
	extra["README.md"] = &fstest.MapFile{Data: []byte("x")}
	if digest(extra) != want {
		t.Error("a file that is not the network's changes the digest")
	}
}

func TestOpenRefusesPaths(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	reftest.OK(t, os.WriteFile(file, []byte("x"), 0o666))
	_, err := checkpoint.Open(filepath.Join(dir, "none"), "")
	refuses(t, "no folder", err, "no such file")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("no folder: not fs.ErrNotExist")
	}
	_, err = checkpoint.Open(file, "")
	refuses(t, "a file", err, "not a folder")
	_, err = checkpoint.Open(dir, "")
	refuses(t, "empty folder", err, "config.json: no such file")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("empty folder: not fs.ErrNotExist")
	}
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(tinyConfig), 0o666))
	_, err = checkpoint.Open(dir, "")
	refuses(t, "no weights", err, "no model.safetensors")
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "pytorch_model.bin"), nil, 0o666))
	_, err = checkpoint.Open(dir, "")
	refuses(t, "torch weights", err, "pytorch_model.bin")
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty weights", nil, "0 bytes: too short"},
		{"weights of zeros", make([]byte, 4096), "truncated or not safetensors"},
	} {
		reftest.OK(t, os.WriteFile(filepath.Join(dir, "model.safetensors"), c.data, 0o666))
		_, err = checkpoint.Open(dir, "")
		refuses(t, c.name, err, c.want)
	}
	reftest.OK(t, os.Remove(filepath.Join(dir, "model.safetensors")))
	reftest.OK(t, os.Mkdir(filepath.Join(dir, "model.safetensors"), 0o777))
	_, err = checkpoint.Open(dir, "")
	refuses(t, "weights are a folder", err, "not a regular file")
	// Without weights of the base model, and with them, even if these are named.
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "adapter_config.json"), []byte("{}"), 0o666))
	for _, path := range []string{dir, filepath.Join(dir, "pytorch_model.bin")} {
		_, err = checkpoint.Open(path, "")
		refuses(t, path, err, "has an adapter (adapter_config.json)")
	}
}

func TestOpenRefusesTensors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m map[string]checkpoint.Tensor, f fstest.MapFS)
		want   string
	}{
		{"missing", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) { delete(m, "blocks.0.norm2.weight") },
			"missing: blocks.0.norm2.weight"},
		{"several missing", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			delete(m, "blocks.0.norm1.weight")
			delete(m, "blocks.0.norm2.weight")
		}, "missing: blocks.0.norm1.weight, blocks.0.norm2.weight"},
		{"unexpected", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			for _, name := range []string{"blocks.0.norm1.bias", "blocks.0.norm2.bias", "blocks.1.norm1.weight", "sigma_map.x"} {
				m[name] = checkpointtest.Tensor(name, checkpoint.F32, make([]float32, 3), 3)
			}
		}, "unexpected for mdlm: blocks.0.norm1.bias, blocks.0.norm2.bias, blocks.1.norm1.weight (and 1 more)"},
		{"names of another network", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			for _, x := range maps.Clone(m) {
				delete(m, x.Name)
				x.Name = "transformer." + x.Name
				m[x.Name] = x
			}
		}, "missing: vocab_embed.embedding, sigma_map.mlp.0.weight, sigma_map.mlp.0.bias (and 17 more); unexpected for mdlm: transformer.blocks.0.adaLN_modulation.bias, transformer.blocks.0.adaLN_modulation.weight, transformer.blocks.0.attn_out.weight (and 17 more)"},
		{"transposed", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			x := m["blocks.0.mlp.0.weight"]
			x.Shape = []int{8, 32}
			m[x.Name] = x
		}, "blocks.0.mlp.0.weight has shape [8 32]: the config asks for [32 8]"},
		{"of integers", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			x := m["blocks.0.norm1.weight"]
			x.Dtype = checkpoint.I32
			m[x.Name] = x
		}, "blocks.0.norm1.weight is I32"},
		{"of eight bits", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			m["blocks.0.norm1.weight"] = checkpoint.Tensor{Name: "blocks.0.norm1.weight", Dtype: checkpoint.F8E4M3, Shape: []int{8}, Data: make([]byte, 8)}
		}, "blocks.0.norm1.weight is F8_E4M3: must be F32, F16, BF16 or F64"},
		{"a parameter twice", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			x := m["blocks.0.norm1.weight"]
			x.Name = "backbone.blocks.0.norm1.weight"
			m[x.Name] = x
		}, "are one parameter"},
		{"rotary table of another base", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			m["rotary_emb.inv_freq"] = checkpointtest.Tensor("rotary_emb.inv_freq", checkpoint.F32, []float32{1, 0.002}, 2)
		}, "rotary_emb.inv_freq[1] is 0.002: base 10000 gives 0.01"},
		{"rotary table of another head", func(m map[string]checkpoint.Tensor, _ fstest.MapFS) {
			m["rotary_emb.inv_freq"] = checkpointtest.Tensor("rotary_emb.inv_freq", checkpoint.F32, []float32{1, 0.1, 0.01, 0.001}, 4)
		}, "rotary_emb.inv_freq has shape [4]"},
		{"vocabulary of another size", func(_ map[string]checkpoint.Tensor, f fstest.MapFS) {
			f["config.json"].Data = bytes.Replace([]byte(tinyConfig), []byte(`"vocab_size":7`), []byte(`"vocab_size":8`), 1)
		}, "vocab_embed.embedding has shape [7 8]: the config asks for [8 8]"},
		{"config of RADD", func(_ map[string]checkpoint.Tensor, f fstest.MapFS) {
			f["config.json"].Data = []byte(`{"tokens":6,"model":{"type":"ddit_wot","hidden_size":8,"length":6,"n_blocks":1,"n_heads":2}}`)
		}, "unexpected for radd: blocks.0.adaLN_modulation.bias"},
		{"no config", func(_ map[string]checkpoint.Tensor, f fstest.MapFS) { delete(f, "config.json") }, "config.json: file does not exist"},
		{"config too long", func(_ map[string]checkpoint.Tensor, f fstest.MapFS) {
			f["config.json"].Data = bytes.Repeat([]byte(" "), 1<<20+1)
		}, "config.json: 1048577 bytes"},
	} {
		f := checkpointtest.Folder(tinyConfig, "", checkpoint.F32, 1)
		file, err := checkpoint.FileOf(f["model.safetensors"].Data)
		reftest.OK(t, err)
		m := map[string]checkpoint.Tensor{}
		for _, name := range file.Names() {
			m[name], _ = file.Tensor(name)
		}
		c.change(m, f)
		var list []checkpoint.Tensor
		for _, x := range m {
			list = append(list, x)
		}
		f["model.safetensors"].Data = checkpointtest.Encode(map[string]string{"format": "pt"}, list...)
		_, err = checkpoint.OpenFS(f, "tiny")
		refuses(t, c.name, err, c.want)
	}
	// A truncated file is rejected.
	f := checkpointtest.Folder(tinyConfig, "", checkpoint.F32, 1)
	whole := f["model.safetensors"].Data
	for n := 0; n < len(whole); n += 97 {
		f["model.safetensors"].Data = whole[:n]
		_, err := checkpoint.OpenFS(f, "tiny")
		refuses(t, "truncated", err, "tiny/model.safetensors: ")
	}
}
