package checkpoint_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// tensorsOf returns the tensors of a folder made by checkpointtest, in the order of its file.
func tensorsOf(t *testing.T, f fstest.MapFS) []checkpoint.Tensor {
	t.Helper()
	file := reftest.Must(checkpoint.FileOf(f["model.safetensors"].Data))(t)
	var all []checkpoint.Tensor
	for _, name := range file.Names() {
		x, _ := file.Tensor(name)
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b checkpoint.Tensor) int { return int(a.Offset - b.Offset) })
	return all
}

// sameTensors compares two checkpoints to the bit.
func sameTensors(t *testing.T, name string, got, want *checkpoint.Checkpoint) {
	t.Helper()
	for s := range want.Config.Tensors() {
		a, b := got.Tensor(s.Name), want.Tensor(s.Name)
		if !bytes.Equal(a.Data, b.Data) || a.Dtype != b.Dtype || !slices.Equal(a.Shape, b.Shape) {
			t.Errorf("%s: %s differs", name, s.Name)
		}
	}
}

// Files from torch.save, in either format, whole or in shards, hold the same as safetensors.
func TestTorch(t *testing.T) {
	for _, dtype := range []checkpoint.Dtype{checkpoint.F32, checkpoint.F16, checkpoint.BF16} {
		f := checkpointtest.Folder(tinyConfig, "backbone.", dtype, 1)
		want := inMemory(t, f)
		tensors := tensorsOf(t, f)
		var s pickleSaver
		state := s.StateDict(tensors...)
		var one, two pickleSaver
		a, b := one.StateDict(tensors[1:4]...), two.StateDict(append(tensors[4:], tensors[0])...)
		config := f["config.json"]
		for name, files := range map[string]fstest.MapFS{
			"zip":    {"pytorch_model.bin": {Data: s.Zip(state)}},
			"legacy": {"pytorch_model.bin": {Data: s.Legacy(state)}},
			"pth":    {"checkpoint.pth": {Data: s.Zip(pickleDict(pickleText("model"), state, pickleText("step"), "K\x07"))}},
			"shards": {
				"pytorch_model.bin.index.json": {Data: []byte(`{"weight_map":{"a":"pytorch_model-1.bin","b":"pytorch_model-2.bin"}}`)},
				"pytorch_model-1.bin":          {Data: one.Zip(a)}, "pytorch_model-2.bin": {Data: two.Zip(b)},
			},
		} {
			files["config.json"] = config
			got, err := checkpoint.OpenFS(files, "tiny")
			if err != nil {
				t.Errorf("%s, %s: %v", name, dtype, err)
				continue
			}
			sameTensors(t, name, got, want)
			if u := got.Unused(); len(u) > 0 || got.Dtype() != dtype {
				t.Errorf("%s, %s: is %s, unused %v", name, dtype, got.Dtype(), u)
			}
			reftest.Must(got.Facts(t.Context()))(t, name)
		}
	}
}

// The file that torch wrote in RADD's published layout holds the same as its safetensors.
func TestPublishedBin(t *testing.T) {
	want := opened(t, reftest.Shared(t, "reference", "checkpoints", "radd"))
	got := opened(t, reftest.Shared(t, "reference", "checkpoints", "radd-bin"))
	sameTensors(t, "radd-bin", got, want)
	named := opened(t, reftest.Shared(t, "reference", "checkpoints", "radd-bin", "pytorch_model.bin"))
	if named.Name() != got.Name() {
		t.Errorf("the file is called %s, the folder %s", named.Name(), got.Name())
	}
	x := got.Tensor("output_layer.linear.weight")
	file := reftest.Must(os.Open(x.Path))(t)
	defer file.Close()
	at := make([]byte, len(x.Data))
	// The alignment lets a runtime read float32 in place.
	if _, err := file.ReadAt(at, x.Offset); err != nil || !bytes.Equal(at, x.Data) || x.Offset%4 != 0 {
		t.Errorf("%s is not at byte %d of its file (%v)", x.Name, x.Offset, err)
	}
}

// wrapped returns a value of omegaconf.
func wrapped(value string) string {
	return pickleObject("omegaconf.nodes", "AnyNode", pickleDict(pickleText("_val"), value))
}

// trainerConfig returns hyper_parameters of MDLM's trainer for tinyConfig, as dicts or as
// omegaconf's containers, which refer to their parents in cycles.
func trainerConfig(omega bool, change map[string]string) string {
	text, num := pickleText, func(n int64) string { return pickleInt(n) }
	leaf := func(v string) string { return v }
	dict := pickleDict
	if omega {
		leaf = wrapped
		dict = func(pairs ...string) string {
			return pickleGlobal("omegaconf.dictconfig", "DictConfig") + ")\x81q\x05" +
				pickleDict(text("_parent"), "h\x05", text("_content"), pickleDict(pairs...)) + "b"
		}
	}
	get := func(key, or string) string {
		if v, ok := change[key]; ok {
			return leaf(v)
		}
		return leaf(or)
	}
	config := dict(
		text("backbone"), get("backbone", text("dit")), text("diffusion"), get("diffusion", text("absorbing_state")),
		text("parameterization"), get("parameterization", text("subs")), text("time_conditioning"), get("time_conditioning", "\x89"),
		text("data"), dict(text("tokenizer_name_or_path"), get("tokenizer", text("gpt2"))),
		text("noise"), dict(text("type"), get("noise", text("loglinear"))),
		text("model"), dict(text("hidden_size"), get("hidden_size", num(8)), text("cond_dim"), leaf(num(4)), text("n_blocks"), leaf(num(1)),
			text("n_heads"), leaf(num(2)), text("length"), get("length", num(6))))
	return pickleDict(text("config"), config)
}

// lightning returns a trainer's file: raw weights in the order of construction with a buffer among
// them, averages without names, and tensors of an optimizer, which are not listed.
func lightning(raw, ema []checkpoint.Tensor, hyper string) []byte {
	var s pickleSaver
	buffer := checkpointtest.Tensor("backbone.rotary_emb.inv_freq", checkpoint.F32, []float32{1, 0.01}, 2)
	state := s.StateDict(slices.Insert(slices.Clone(raw), 5, buffer)...)
	text := pickleText
	return s.Zip(pickleDict(
		text("epoch"), "K\x00", text("state_dict"), state,
		text("optimizer_states"), pickleList(pickleDict(text("exp_avg"), s.Tensor(ema[0]))),
		text("ema"), pickleDict(text("decay"), "G?\xef\xff,\xa1\x94\xcb\x14", text("shadow_params"), s.Tensors(ema...)),
		text("hyper_parameters"), hyper))
}

func TestTrainersFile(t *testing.T) {
	rawFolder, emaFolder := checkpointtest.Folder(tinyConfig, "backbone.", checkpoint.F32, 1), checkpointtest.Folder(tinyConfig, "backbone.", checkpoint.F32, 2)
	raw, ema := tensorsOf(t, rawFolder), tensorsOf(t, emaFolder)
	digests := map[string]bool{}
	for _, omega := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "last.ckpt")
		reftest.OK(t, os.WriteFile(path, lightning(raw, ema, trainerConfig(omega, nil)), 0o600))
		for w, want := range map[checkpoint.Weights]fstest.MapFS{"": emaFolder, checkpoint.EMA: emaFolder, checkpoint.Raw: rawFolder} {
			a := inMemory(t, want)
			b, err := checkpoint.Open(path, w)
			if err != nil {
				t.Errorf("%q: %v", w, err)
				continue
			}
			sameTensors(t, string(w), b, a)
			if a.Config != b.Config {
				t.Errorf("%q: config is %+v, want %+v", w, b.Config, a.Config)
			}
			f := reftest.Must(b.Facts(t.Context()))(t)
			digests[f.Digest] = true
			if want := string(w); w != "" && f.Weights != want || f.Name != "last.ckpt" {
				t.Errorf("weights of %s are %q, want %q", f.Name, f.Weights, want)
			}
			entriesOnce(t, b, 2*len(raw)+1)
			reftest.OK(t, b.Close())
		}
	}
	// Two files with two sets of weights each.
	if len(digests) != 4 {
		t.Errorf("%d digests, want 4", len(digests))
	}
}

// The trainers of RADD and SEDD store the parameters under model, with a wrapper's prefix.
func TestTrainersFileOfSEDD(t *testing.T) {
	const config = `{"tokens":6,"graph":{"type":"absorb"},"model":{"type":"ddit","hidden_size":8,"cond_dim":4,"length":6,"n_blocks":1,"n_heads":2,"scale_by_sigma":true}}`
	rawFolder, emaFolder := checkpointtest.Folder(config, "module.", checkpoint.F32, 1), checkpointtest.Folder(config, "", checkpoint.F32, 2)
	var s pickleSaver
	raw, ema, text := tensorsOf(t, rawFolder), tensorsOf(t, emaFolder), pickleText
	file := s.Zip(pickleDict(text("optimizer"), "}", text("model"), s.StateDict(raw...), text("step"), "K\x07",
		text("ema"), pickleDict(text("num_updates"), "K\x07", text("shadow_params"), s.Tensors(ema...))))
	dir := t.TempDir()
	reftest.OK(t, errors.Join(os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600), os.WriteFile(filepath.Join(dir, "checkpoint.pth"), file, 0o600)))
	for w, want := range map[checkpoint.Weights]fstest.MapFS{checkpoint.EMA: emaFolder, checkpoint.Raw: rawFolder} {
		a := inMemory(t, want)
		b := reftest.Must(checkpoint.Open(dir, w))(t)
		sameTensors(t, string(w), b, a)
		entriesOnce(t, b, 2*len(raw))
		if b.Weights() != w || b.Config.Family != checkpoint.SEDD {
			t.Errorf("%s: is %s of family %s", w, b.Weights(), b.Config.Family)
		}
		b.Close()
	}
}

// entriesOnce requires n tensors in the files, each once, and one for every parameter.
func entriesOnce(t *testing.T, c *checkpoint.Checkpoint, n int) {
	t.Helper()
	names, filled := map[string]bool{}, map[string]bool{}
	for _, e := range c.Entries() {
		if names[e.Name] || e.Parameter != "" && filled[e.Parameter] {
			t.Errorf("%s is listed twice, or %s filled twice", e.Name, e.Parameter)
		}
		names[e.Name], filled[e.Parameter] = true, true
	}
	for s := range c.Config.Tensors() {
		if !filled[s.Name] {
			t.Errorf("%s is not filled", s.Name)
		}
	}
	if len(names) != n {
		t.Errorf("%d tensors are listed, want %d: %v", len(names), n, names)
	}
}

// BD3-LM's trainer stores the method's settings separately, and may state the size of blocks as a
// reference to the length.
func TestBlockTrainersFile(t *testing.T) {
	text, path := pickleText, filepath.Join(t.TempDir(), "last.ckpt")
	open := func(timed, blocks string, size string) (*checkpoint.Checkpoint, fstest.MapFS, error) {
		config := strings.Replace(tinyConfig, `"model_type":"mdlm"`, `"architectures":["BD3LM"],"block_size":`+size, 1)
		raw, ema := checkpointtest.Folder(config, "backbone.", checkpoint.F32, 1), checkpointtest.Folder(config, "backbone.", checkpoint.F32, 2)
		hyper := pickleDict(text("config"), pickleDict(
			text("diffusion"), text("absorbing_state"), text("block_size"), blocks,
			text("algo"), pickleDict(text("name"), text("bd3lm"), text("backbone"), text("dit"), text("parameterization"), text("subs"),
				text("time_conditioning"), timed, text("cross_attn"), "\x88"),
			text("noise"), pickleDict(text("type"), text("loglinear")),
			text("model"), pickleDict(text("hidden_size"), pickleInt(8), text("cond_dim"), pickleInt(4), text("n_blocks"), pickleInt(1),
				text("n_heads"), pickleInt(2), text("length"), pickleInt(6))))
		reftest.OK(t, os.WriteFile(path, lightning(tensorsOf(t, raw), tensorsOf(t, ema), hyper), 0o600))
		c, err := checkpoint.Open(path, "")
		return c, ema, err
	}
	for size, blocks := range map[string]string{"3": pickleInt(3), "6": text("${model.length}")} {
		c, ema, err := open("\x89", blocks, size)
		reftest.OK(t, err, size)
		want := inMemory(t, ema)
		sameTensors(t, size, c, want)
		if c.Config != want.Config {
			t.Errorf("%s: config is %+v, want %+v", size, c.Config, want.Config)
		}
		reftest.OK(t, c.Close())
	}
	_, _, err := open("\x88", pickleInt(3), "3")
	refuses(t, "with a time", err, "algo.time_conditioning is true")
}

// The table of rotary frequencies is the file's, as upstream loads it, even in half precision.
func TestRotaryTable(t *testing.T) {
	for _, dtype := range []checkpoint.Dtype{checkpoint.F32, checkpoint.BF16, checkpoint.F16} {
		f := checkpointtest.Folder(tinyConfig, "backbone.", dtype, 1)
		saved := checkpointtest.Tensor("backbone.rotary_emb.inv_freq", dtype, []float32{1, 0.01}, 2)
		f["model.safetensors"].Data = checkpointtest.Encode(nil, append(tensorsOf(t, f), saved)...)
		want := make([]float32, 2)
		saved.Widen(want, 0)
		if got := inMemory(t, f).RotaryFrequencies(0); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", dtype, got, want)
		}
	}
}

func TestTrainersFileRefuses(t *testing.T) {
	raw, ema := tensorsOf(t, checkpointtest.Folder(tinyConfig, "", checkpoint.F32, 1)), tensorsOf(t, checkpointtest.Folder(tinyConfig, "", checkpoint.F32, 2))
	dir := t.TempDir()
	open := func(data []byte, w checkpoint.Weights) error {
		path := filepath.Join(dir, "x.ckpt")
		reftest.OK(t, os.WriteFile(path, data, 0o600))
		_, err := checkpoint.Open(path, w)
		return err
	}
	config := func(key, value string) []byte {
		return lightning(raw, ema, trainerConfig(true, map[string]string{key: value}))
	}
	swapped := slices.Clone(ema)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	var s pickleSaver
	single := s.Zip(pickleDict(pickleText("state_dict"), s.StateDict(raw...), pickleText("hyper_parameters"), trainerConfig(false, nil)))
	bare := s.Zip(s.StateDict(raw...))
	for _, c := range []struct {
		name string
		data []byte
		w    checkpoint.Weights
		want string
	}{
		{"an average less", lightning(raw, ema[1:], trainerConfig(false, nil)), "", "ema.shadow_params has 19 tensors: the network has 20 parameters"},
		{"averages in another order", lightning(raw, swapped, trainerConfig(false, nil)), "", "ema.shadow_params[0] has shape [4 256]: vocab_embed.embedding has [7 8]"},
		{"one set, averages", single, checkpoint.EMA, "has one set of weights: leave out weights=ema"},
		{"one set, raw", single, checkpoint.Raw, "leave out weights=raw"},
		{"no config at all", bare, "", "config.json: no such file"},
		{"another backbone", config("backbone", pickleText("dimamba")), "", `backbone is "dimamba": only networks with dit are supported`},
		{"another diffusion", config("diffusion", pickleText("uniform")), "", `diffusion is "uniform"`},
		{"another parameterization", config("parameterization", pickleText("d3pm")), "", `parameterization is "d3pm"`},
		{"another noise", config("noise", pickleText("x")), "", "noise.type is x"},
		{"a tokenizer with a mask", config("tokenizer", pickleText("bert-base-uncased")), "", "mask id is 103"},
		{"a width that is no number", config("hidden_size", pickleText("${x}")), "", "missing: model.hidden_size"},
		{"an absurd length", config("length", pickleInt(-1<<63)), "", "length is -1"},
		{"another width", config("hidden_size", pickleInt(16)), "", "the config asks for [7 16]"},
	} {
		refuses(t, c.name, open(c.data, c.w), c.want)
	}
	reftest.OK(t, open(single, ""))
	reftest.OK(t, errors.Join(os.Rename(filepath.Join(dir, "x.ckpt"), filepath.Join(dir, "a.ckpt")), os.WriteFile(filepath.Join(dir, "b.ckpt"), single, 0o600)))
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(tinyConfig), 0o600))
	_, err := checkpoint.Open(dir, "")
	refuses(t, "two trainers' files", err, "holds a.ckpt, b.ckpt: name one of them")
}

// Trainers' files from Lightning open with either set of weights.
func TestPublishedTrainersFiles(t *testing.T) {
	for _, folder := range []string{"mdlm-lightning", "mdlm-lightning-timecond"} {
		for _, file := range []string{"plain.ckpt", "omegaconf.ckpt"} {
			for _, w := range []checkpoint.Weights{checkpoint.EMA, checkpoint.Raw} {
				c, err := checkpoint.Open(reftest.Shared(t, "reference", "checkpoints", folder, file), w)
				if err != nil {
					t.Errorf("%s/%s: %v", folder, file, err)
					continue
				}
				n := len(c.Entries())
				entriesOnce(t, c, n)
				if timed := folder != "mdlm-lightning"; c.Config.TimeConditioned != timed || n < 40 {
					t.Errorf("%s/%s: time-conditioned is %v, %d tensors", folder, file, c.Config.TimeConditioned, n)
				}
				c.Close()
			}
		}
	}
}

// A tensor outside the network is listed and does no harm.
func TestUnused(t *testing.T) {
	f := checkpointtest.Folder(tinyConfig, "model.", checkpoint.F32, 1)
	f["model.safetensors"].Data = checkpointtest.Encode(nil, append(tensorsOf(t, f), checkpoint.Tensor{Name: "noise.count", Dtype: checkpoint.U8, Shape: []int{3}, Data: make([]byte, 3)})...)
	c := inMemory(t, f)
	entriesOnce(t, c, 21)
	if got := c.Unused(); !slices.Equal(got, []string{"noise.count"}) {
		t.Errorf("unused: %v", got)
	}
}

// F64 is narrowed once; NaN in any type is rejected by name and index.
func TestElementTypes(t *testing.T) {
	for _, c := range []struct {
		dtype checkpoint.Dtype
		nan   []byte
	}{
		{checkpoint.F32, []byte{1, 0, 0x80, 0x7f}}, {checkpoint.F32, []byte{0, 0, 0xc0, 0xff}}, {checkpoint.BF16, []byte{0xc0, 0xff}},
		{checkpoint.F16, []byte{1, 0xfc}}, {checkpoint.F64, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}},
	} {
		for _, bad := range []bool{false, true} {
			f := checkpointtest.Folder(tinyConfig, "", checkpoint.F32, 1)
			tensors := tensorsOf(t, f)
			i := slices.IndexFunc(tensors, func(x checkpoint.Tensor) bool { return x.Name == "blocks.0.norm2.weight" })
			tensors[i].Dtype, tensors[i].Data = c.dtype, make([]byte, 8*c.dtype.Size())
			if bad {
				copy(tensors[i].Data[3*c.dtype.Size():], c.nan)
			}
			dir := t.TempDir()
			reftest.OK(t, errors.Join(os.WriteFile(filepath.Join(dir, "config.json"), []byte(tinyConfig), 0o600),
				os.WriteFile(filepath.Join(dir, "model.safetensors"), checkpointtest.Encode(nil, tensors...), 0o600)))
			onDisk := opened(t, dir)
			f["model.safetensors"].Data = checkpointtest.Encode(nil, tensors...)
			memory := inMemory(t, f)
			for _, ck := range []*checkpoint.Checkpoint{onDisk, memory} {
				_, err := ck.Facts(t.Context())
				want := "tensor blocks.0.norm2.weight: element 3 is NaN"
				if bad && (err == nil || !strings.Contains(err.Error(), want)) || !bad && err != nil {
					t.Errorf("%s: error is %v, want %q: %v", c.dtype, err, want, bad)
				}
			}
			if v, err := memory.Tensor("blocks.0.norm2.weight").Float32s(); err != nil || len(v) != 8 || v[0] != 0 {
				t.Errorf("%s: %v, %v", c.dtype, v, err)
			}
			onDisk.Close()
		}
	}
	if v, err := (checkpoint.Tensor{Dtype: checkpoint.F64, Shape: []int{1}, Data: []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}}).Float32s(); err != nil || fmt.Sprint(v) != "[1]" {
		t.Errorf("F64 1 is read as %v, %v", v, err)
	}
}
