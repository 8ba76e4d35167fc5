package app

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/exit"
	"mdmgen/internal/hubtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// The limits for rejecting a hostile file: the memory of the process, including its code and
// libraries, and its CPU time.
const (
	hostileMemory = 200 << 20
	hostileTime   = 2 * time.Second
)

// peakFile is the variable with the name of the file to which a program run by a test writes its
// peak memory. That of wait4 would include the test process, from which the program is forked.
const peakFile = "PEAK_OF_TEST"

func tellPeak() {
	path := os.Getenv(peakFile)
	if path == "" {
		return
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return // Only Linux has it.
	}
	for line := range strings.Lines(string(status)) {
		if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_ = os.WriteFile(path, []byte(peak), 0o600)
		}
	}
}

// hostile is a command line on malicious files.
type hostile struct {
	name string
	// files are written to the folder in which the program runs; links maps names to targets.
	files, links map[string]string
	args         []string
	want         string
}

const (
	lladaConfig = `{"architectures":["LLaDAModelLM"],"d_model":8,"n_layers":1,"n_heads":2,"mlp_hidden_size":8,"max_sequence_length":8,"vocab_size":9,"mask_token_id":8,` +
		`"rope_theta":5e5,"weight_tying":false,"block_type":"llama","layer_norm_type":"rms","activation_type":"silu","rope":true}`
	dreamConfig = `{"architectures":["DreamModel"],"hidden_size":8,"intermediate_size":8,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,"vocab_size":9,` +
		`"max_position_embeddings":8,"rope_theta":1e6,"mask_token_id":8}`
	qwen3Config = `{"architectures":["A2DQwen3LMHeadModel"],"hidden_size":8,"intermediate_size":8,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,"head_dim":4,"vocab_size":9,` +
		`"max_position_embeddings":8,"rope_theta":1e6,"mask_token_id":8}`
	bertConfig = `{"architectures":["BertForMaskedLM"],"hidden_size":8,"intermediate_size":8,"num_hidden_layers":1,"num_attention_heads":2,"vocab_size":9,"max_position_embeddings":8,"mask_token_id":8}`
)

// TestHostileModels checks that the program rejects a malicious model, tokenizer, template or name
// in one line, quickly and with little memory. Packages checkpoint and chat have tests of files
// whose values alone are wrong.
func TestHostileModels(t *testing.T) {
	needRuntime(t) // templates are read once a model is open
	s := hubtest.New(t, map[string]*hubtest.Repo{
		"test/above":   {Files: map[string][]byte{"config.json": []byte(lladaConfig), "../../evil.safetensors": []byte("x"), "model.safetensors": []byte("x")}},
		"test/rooted":  {Files: map[string][]byte{"config.json": []byte(lladaConfig), "/tmp/model.safetensors": []byte("x")}},
		"test/windows": {Files: map[string][]byte{"config.json": []byte(lladaConfig), `..\..\model.safetensors`: []byte("x")}},
	})
	s.Use(t)
	list := append(append(hostileConfigs(), hostileWeights(t)...), hostileTexts(t)...)
	for name, want := range map[string]string{
		"test/above": "leads out", "test/rooted": "leads out", "test/windows": "leads out",
		"../../etc": "must be OWNER/NAME", "test/..": "must be OWNER/NAME", "test/x:../../../etc/passwd": "must be OWNER/NAME",
		"test/x@../../y": "must be OWNER/NAME", "test/x:/etc/passwd": "must be OWNER/NAME",
	} {
		list = append(list, hostile{name: "the hub's " + name, args: []string{"pull", name}, want: want})
	}
	var most struct {
		memory int64
		time   time.Duration
	}
	var one sync.Mutex
	t.Run("all", func(t *testing.T) {
		for _, h := range list {
			t.Run(h.name, func(t *testing.T) {
				t.Parallel() // each is a process, with its own time and memory
				memory, took := h.refused(t)
				if memory > hostileMemory || took > hostileTime {
					t.Errorf("took %v and %d MB", took, memory>>20)
				}
				one.Lock()
				defer one.Unlock()
				most.memory, most.time = max(most.memory, memory), max(most.time, took)
			})
		}
	})
	t.Logf("%d refused, in at most %d MB and %v", len(list), most.memory>>20, most.time)
}

// refused runs the program and returns its peak memory, 0 if unknown, and its time.
func (h hostile) refused(t *testing.T) (memory int64, took time.Duration) {
	t.Helper()
	dir, peak := t.TempDir(), filepath.Join(t.TempDir(), "peak")
	for name, content := range h.files {
		writeFile(t, filepath.Join(dir, name), content)
	}
	for name, to := range h.links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), "mdmgen", h.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), peakFile+"="+peak)
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	code, said := cmd.ProcessState.ExitCode(), stderr.String()
	if code != exit.Failure && code != exit.Usage && code != exit.Missing || stdout.Len() > 0 ||
		strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "mdmgen: ") || len(said) > 2000 || !strings.Contains(said, h.want) {
		t.Errorf("exit status %d, %.200q, %.2000q, want one line with %q", code, stdout.String(), said, h.want)
	}
	reftest.Fails(t, reftest.Err(os.Lstat(filepath.Join(dir, "out"))), "", "a folder was written")
	var kib int64
	if text, err := os.ReadFile(peak); err == nil {
		reftest.Must(fmt.Sscan(string(text), &kib))(t)
	}
	return kib << 10, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// convertHere converts the folder in which the program runs.
var convertHere = []string{"convert", ".", "-o", "out"}

// hostileConfigs returns configs that ask for too much or are invalid.
func hostileConfigs() (list []hostile) {
	empty := string(checkpointtest.Encode(nil))
	add := func(name, config, want string) {
		list = append(list, hostile{name, map[string]string{"config.json": config, "model.safetensors": empty}, nil, convertHere, want})
	}
	for _, c := range []struct{ config, old, new, want string }{
		{lladaConfig, `"d_model":8`, `"d_model":2147483648`, "hidden size is 2147483648"},
		{lladaConfig, `"d_model":8`, `"d_model":1e400`, "d_model"},
		{lladaConfig, `"d_model":8`, `"d_model":[[8]]`, "d_model"},
		{lladaConfig, `"n_layers":1`, `"n_layers":1000000000`, "number of blocks is 1000000000"},
		{lladaConfig, `"n_layers":1`, `"n_layers":1024`, "tensors do not fit the config"},
		{lladaConfig, `"vocab_size":9`, `"vocab_size":9,"embedding_size":-9`, "vocabulary size is -9"},
		{lladaConfig, `"vocab_size":9`, `"vocab_size":9,"vocab_size":10`, "appears twice"},
		{dreamConfig, `"rope_theta":1e6`, `"rope_theta":1e6,"rope_scaling":{"type":"` + strings.Repeat("x", 1<<19) + `"}`, "rotary positions of type"},
		{qwen3Config, `"head_dim":4`, `"head_dim":4,"layer_types":[` + strings.Repeat(`"full_attention",`, 50000) + `"x"]`, "layer_types"},
		{bertConfig, `"hidden_size":8`, `"hidden_size":8,"type_vocab_size":-1`, "type_vocab_size is -1"},
		{bertConfig, `"hidden_size":8`, `"hidden_size":8,"type_vocab_size":1000000000`, "type_vocab_size is 1000000000"},
		{bertConfig, `"vocab_size":9`, `"vocab_size":4194305`, "vocabulary size is 4194305"},
	} {
		add("a config with "+c.new[:min(len(c.new), 50)], strings.Replace(c.config, c.old, c.new, 1), c.want)
	}
	most := strings.NewReplacer(`"d_model":8`, `"d_model":65536`, `"n_layers":1`, `"n_layers":1024`, `"mlp_hidden_size":8`, `"mlp_hidden_size":65536`,
		`"max_sequence_length":8`, `"max_sequence_length":131072`, `"vocab_size":9`, `"vocab_size":9,"embedding_size":4194304`)
	add("the greatest config", most.Replace(lladaConfig), "tensors do not fit the config")
	add("a deep config", strings.Replace(lladaConfig, "{", `{"a":`+strings.Repeat(`{"a":`, 1<<17)+"1"+strings.Repeat("}", 1<<17)+",", 1), "")
	add("a deep list", strings.Repeat("[", 1<<19), "")
	add("many architectures", strings.Replace(lladaConfig, `["LLaDAModelLM"]`, `[`+strings.Repeat(`"x",`, 1<<17)+`"LLaDAModel"]`, 1), "")
	add("a long config", lladaConfig+strings.Repeat(" ", 17<<20), "more than")
	return list
}

// hostileWeights returns weights and shard indices.
func hostileWeights(t *testing.T) (list []hostile) {
	c := reftest.Must(checkpoint.ParseConfig([]byte(lladaConfig)))(t)
	var tensors, nan []checkpoint.Tensor
	for s := range c.Tensors() {
		n := 1
		for _, d := range s.Shape {
			n *= d
		}
		x := checkpointtest.Tensor("model."+s.Name, checkpoint.BF16, make([]float32, n), s.Shape...)
		tensors = append(tensors, x)
		x.Data = append([]byte(nil), x.Data...)
		binary.LittleEndian.PutUint16(x.Data[len(x.Data)-2:], 0xffc1)
		nan = append(nan, x)
	}
	add := func(name string, files, links map[string]string, want string) {
		all := map[string]string{"config.json": lladaConfig}
		maps.Copy(all, files)
		list = append(list, hostile{name, all, links, convertHere, want})
	}
	good := string(checkpointtest.Encode(nil, tensors...))
	framed := func(n uint64, text string) string {
		return string(binary.LittleEndian.AppendUint64(nil, n)) + text
	}
	headed := func(text string) string { return framed(uint64(len(text)), text) }
	for name, c := range map[string][2]string{
		"weights that are NaN":        {string(checkpointtest.Encode(nil, nan...)), "is NaN"},
		"a header of 2^64 - 1 bytes":  {framed(1<<64-1, good), "header of 18446744073709551615 bytes"},
		"a header of 2^63 bytes":      {framed(1<<63, good), "header of"},
		"a header longer than a file": {framed(1<<20, good), "truncated or not safetensors"},
		"a header of brackets":        {headed(`{"a":` + strings.Repeat("[", 8<<20)), ""},
		"a header of 200,000 tensors": {headed("{" + strings.TrimSuffix(manyTensors(200_000), ",") + "}"), "more than 131072 tensors"},
		"a shape beyond 64 bits":      {headed(`{"a":{"dtype":"BF16","shape":[99999999999999999999],"data_offsets":[0,0]}}`), ""},
		"offsets that overflow":       {headed(`{"a":{"dtype":"BF16","shape":[1],"data_offsets":[9223372036854775806,-9223372036854775808]}}`), "do not hold"},
		"offsets beyond the file":     {headed(`{"a":{"dtype":"BF16","shape":[1073741824],"data_offsets":[0,2147483648]}}`), "truncated or its header wrong"},
	} {
		add(name, map[string]string{"model.safetensors": c[0]}, nil, c[1])
	}
	// The pickle of an old torch file that calls os.system("touch out"), which the test would
	// detect.
	const call = "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.\x80\x02cos\nsystem\n(X\x09\x00\x00\x00touch outtR."
	add("os.system", map[string]string{"pytorch_model.bin": call}, nil, "names os.system")
	bomb := "PK\x03\x04\x14\x00\x00\x00\x08\x00" + strings.Repeat("\x00", 4096) + "PK\x05\x06" + strings.Repeat("\xff", 18)
	add("a zip that is damaged", map[string]string{"pytorch_model.bin": bomb}, nil, "")

	shards := func(name, weightMap, want string, files, links map[string]string) {
		all := map[string]string{"model.safetensors.index.json": `{"weight_map":` + weightMap + `}`}
		maps.Copy(all, files)
		add(name, all, links, want)
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `"%d":"model-%05d-of-05000.safetensors",`, i, i)
	}
	const one, two = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	both := `{"a":"` + one + `","b":"` + two + `"}`
	shards("5,000 shards", "{"+many.String()+`"x":"x.safetensors"}`, "at most 1024", nil, nil)
	shards("a shard that is missing", both, "no such file", map[string]string{one: good}, nil)
	shards("a tensor in two shards", both, "are one parameter", map[string]string{one: good, two: good}, nil)
	shards("a shard above a folder of Windows", `{"a":"..\\`+one+`"}`, "is not the name of a weights file", nil, nil)
	shards("a shard on a drive", `{"a":"c:`+one+`"}`, "is not the name of a weights file", nil, nil)
	shards("a shard that is the index", `{"a":"model.safetensors.index.json"}`, "is not the name of a weights file", nil, nil)
	shards("a shard that is a link out", `{"a":"`+one+`"}`, "leads out of the folder", nil, map[string]string{one: "/etc/passwd"})
	shards("shards that are links in a circle", both, "", nil, map[string]string{one: two, two: one})
	shards("a list of shards", `["`+one+`"]`, "weight_map", nil, nil)
	shards("a deep index", strings.Repeat(`{"a":`, 1<<20), "", nil, nil)
	return list
}

// manyTensors returns n entries of a header.
func manyTensors(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`, i)
	}
	return b.String()
}

// hostileTexts returns tokenizers and chat templates with a valid model.
func hostileTexts(t *testing.T) (list []hostile) {
	add := func(name, file, content, want string) {
		files := map[string]string{"tokenizer.json": readAll(t, lettersFile), file: content}
		for _, name := range []string{"config.json", "model.safetensors"} {
			files[name] = readAll(t, filepath.Join(tinyModel, name))
		}
		list = append(list, hostile{name, files, nil, []string{"generate", "--model", ".", "--chat", "hello", "--length", "16", "--seed", "1"}, want})
	}
	for name, c := range map[string][2]string{
		"loops of loops":          {strings.Repeat("{% for a in range(900) %}", 8) + strings.Repeat("{% endfor %}", 8), "longer than 1s"},
		"a text that doubles":     {"{% set x = 'aaaaaaaa' %}" + strings.Repeat("{% set x = x + x %}", 60), "more than 6"},
		"a long output":           {"{% for a in range(1000) %}{% for b in range(1000) %}aaaaaaaaaaaaaaaaaa{% endfor %}{% endfor %}", "more than 6"},
		"deep brackets":           {"{{ " + strings.Repeat("(", 30000), "fails"},
		"deep lists":              {"{{ " + strings.Repeat("[", 30000), "fails"},
		"deep brackets, closed":   {"{{ " + strings.Repeat("(", 15000) + "1" + strings.Repeat(")", 15000) + " }}", ""},
		"deep negations":          {"{{ " + strings.Repeat("not ", 7000) + "x }}", ""},
		"deep minuses":            {"{{ " + strings.Repeat("-", 30000) + "1 }}", ""},
		"deep members":            {"{{ messages" + strings.Repeat("[0]", 10000) + " }}", "more than 256 parts"},
		"many members":            {strings.Repeat("{{ messages"+strings.Repeat("[0:]", 50)+" }}", 100) + strings.Repeat("{{ messages"+strings.Repeat("[0:]", 60)+"[0][0][0][0] }}", 10), "fails"},
		"deep filters":            {"{{ 'x'" + strings.Repeat("|trim", 6000) + " }}", ""},
		"deep choices":            {"{{ " + strings.Repeat("1 if 1 else ", 2500) + "1 }}", ""},
		"deep conditions":         {strings.Repeat("{% if 1 %}", 1500) + strings.Repeat("{% endif %}", 1500), ""},
		"deep sums":               {"{{ 1" + strings.Repeat("+1", 15000) + " }}", ""},
		"a template of megabytes": {strings.Repeat("a", 8<<20), "chat_template.jinja"},
	} {
		add("a template with "+name, "chat_template.jinja", c[0], c[1])
	}
	deep := strings.Repeat(`{"a":`, 1<<20)
	add("deep settings", "tokenizer_config.json", deep, "tokenizer_config.json")
	add("settings that are a list", "tokenizer_config.json", `["chat_template"]`, "tokenizer_config.json")
	add("a template that is a number", "tokenizer_config.json", `{"chat_template":1e999}`, "tokenizer_config.json")
	add("long settings", "tokenizer_config.json", `{"chat_template":"`+strings.Repeat("a", 17<<20)+`"}`, "tokenizer_config.json")
	add("10,000 templates", "tokenizer_config.json", `{"chat_template":[`+strings.Repeat(`{"name":"x","template":"y"},`, 10000)+`{"name":"z","template":""}]}`, "tokenizer_config.json")
	add("a deep tokenizer", "tokenizer.json", deep, "tokenizer.json")
	add("a tokenizer of huge ids", "tokenizer.json", `{"model":{"type":"BPE","vocab":{"a":9223372036854775807},"merges":[]}}`, "tokenizer.json")
	add("a tokenizer of ids below zero", "tokenizer.json", `{"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}}`, "tokenizer.json")
	add("a tokenizer that merges nothing", "tokenizer.json", `{"model":{"type":"BPE","vocab":{"a":0},"merges":[["b","c"]]}}`, "tokenizer.json")
	return list
}
