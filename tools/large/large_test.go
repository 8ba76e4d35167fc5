//go:build linux

package large

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"mdmgen/internal/reftest"
)

// configs are LLaDA-8B's, LLaDA2.0-mini's, LLaDA-MoE-7B-A1B's and Nemotron-Labs-Diffusion-3B's, and a small one of
// the last kind, with a variable number of layers.
var configs = map[string]string{"llada": `{"architectures":["LLaDAModelLM"],"model_type":"llada","d_model":4096,"n_layers":%d,"n_heads":32,"n_kv_heads":32,
"mlp_hidden_size":12288,"max_sequence_length":4096,"vocab_size":126464,"embedding_size":126464,"mask_token_id":126336,
"rope_theta":500000.0,"rms_norm_eps":1e-05,"weight_tying":false,"block_type":"llama","layer_norm_type":"rms",
"activation_type":"silu","rope":true,"torch_dtype":"bfloat16"}
`, "llada2": `{"architectures":["LLaDA2MoeModelLM"],"model_type":"llada2_moe","hidden_size":2048,"num_hidden_layers":%d,"num_attention_heads":16,
"num_key_value_heads":4,"head_dim":128,"intermediate_size":5120,"moe_intermediate_size":512,"num_experts":256,"num_experts_per_tok":8,
"num_shared_experts":1,"n_group":8,"topk_group":4,"first_k_dense_replace":1,"partial_rotary_factor":0.5,"routed_scaling_factor":2.5,
"max_position_embeddings":4096,"vocab_size":157184,"rope_theta":600000,"mask_token_id":156895,"torch_dtype":"bfloat16"}
`, "llada-moe": `{"architectures":["LLaDAMoEModelLM"],"model_type":"llada","hidden_size":2048,"num_hidden_layers":%d,"num_attention_heads":16,
"num_key_value_heads":16,"qk_layernorm":true,"dense_intermediate_size":8192,"expert_intermediate_size":1024,"num_experts":64,
"num_experts_per_tok":8,"max_position_embeddings":8192,"vocab_size":157184,"rope_theta":50000,"rms_norm_eps":1e-05,"mask_token_id":156895,
"torch_dtype":"bfloat16"}
`, "nemotron": `{"architectures":["NemotronLabsDiffusionModel"],"hidden_size":3072,"num_hidden_layers":%d,"num_attention_heads":32,
"num_key_value_heads":8,"head_dim":128,"intermediate_size":9216,"max_position_embeddings":262144,"vocab_size":131072,"mask_token_id":100,
"block_size":32,"rope_parameters":{"rope_type":"yarn","factor":16,"rope_theta":1000000,"original_max_position_embeddings":16384,
"mscale":1,"mscale_all_dim":1,"llama_4_scaling_beta":0.1},"torch_dtype":"bfloat16"}
`, "nemotron-169m": `{"architectures":["NemotronLabsDiffusionModel"],"hidden_size":768,"num_hidden_layers":%d,"num_attention_heads":12,
"num_key_value_heads":12,"head_dim":64,"intermediate_size":3072,"max_position_embeddings":1024,"vocab_size":50258,"mask_token_id":50257,
"block_size":32,"rope_parameters":{"rope_type":"default","rope_theta":10000},"torch_dtype":"bfloat16"}
`}

var (
	shape  = flag.String("shape", "llada", "shape of the network: llada (8B), llada2 (LLaDA2.0-mini), llada-moe (7B-A1B), nemotron (3B) or nemotron-169m")
	layers = flag.Int("layers", 0, "how many layers; LLaDA-8B has 32, LLaDA2.0-mini 20, LLaDA-MoE-7B-A1B 16, Nemotron-Labs-Diffusion-3B 26, nemotron-169m 12")
	dtype  = flag.String("dtype", "int8", "type of the converted weights")
)

// mostMemory is the memory limit of a conversion. docs/models.md has 161 MiB for int8 and 47 MiB
// for fp32.
const mostMemory = 256 << 20

// TestLarge checks that the memory of a conversion does not grow with the model, and that the
// result runs.
func TestLarge(t *testing.T) {
	if *layers == 0 {
		t.Skip("takes minutes and tens of GB: run with -layers 32")
	}
	work := t.TempDir()
	source, out, program := filepath.Join(work, "source"), filepath.Join(work, "out"), filepath.Join(work, "mdmgen")
	reftest.OK(t, os.Mkdir(source, 0o777))
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/mdmgen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, said)
	}
	begin := time.Now()
	size := reftest.Must(write(source, fmt.Sprintf(configs[*shape], *layers)))(t)
	t.Logf("checkpoint: %d layers, %s of bf16, written in %.0f s", *layers, humanize.Bytes(uint64(size)), time.Since(begin).Seconds())
	if peak, _ := measure(t, program, "convert", source, "-o", out, "--dtype", *dtype); peak > mostMemory {
		t.Errorf("convert took %s, more than %s", humanize.IBytes(peak), humanize.IBytes(mostMemory))
	}
	for range 2 { // the first opening reads the weights for their digest, the second does not
		measure(t, program, "generate", "--model", out, "--length", "64", "--steps", "1", "--sampler", "tweedie", "--seed", "1", "--format", "ids", "--verbose")
	}
	switch canvas := filepath.Join(work, "canvas"); *shape {
	case "llada2":
		calls(t, out)
		blocks(t, program, out, canvas)
	case "llada-moe":
		whole(t, program, out)
	case "nemotron":
		calls(t, out)
	case "nemotron-169m":
		calls(t, out)
		speculate(t, program, out, canvas)
	default:
		caches(t, program, out, canvas)
	}
}

// whole measures the cost of a call that computes 256 positions and draws all of them.
func whole(t *testing.T, program, model string) {
	for _, threads := range []string{"1", "2"} {
		took := func(n string) float64 {
			_, processor := measure(t, program, "generate", "--model", model, "--seed", "1", "--threads", threads, "--length", "256", "--sampler", "tweedie",
				"--steps", "1", "--n", n, "--batch", "1", "--format", "ids")
			return processor.Seconds()
		}
		t.Logf("%s threads: %.2f s of processors a call of 256 positions", threads, (took("5")-took("1"))/4)
	}
}

// speculate compares speculation, in windows of 8 and in those that it chooses, with the causal law's own calls, at a temperature at
// which the draws of random weights follow the noise so closely that some five tokens of a round are right.
func speculate(t *testing.T, program, model, canvas string) {
	const few, many = 32, 512
	for range 3 {
		for _, sampler := range [][]string{{"causal"}, {"speculate", "--window", "8"}, {"speculate"}} {
			took := func(masks int) (processor, calls float64) {
				ids := make([]any, 16+masks)
				for i := range 16 {
					ids[i] = 1000 + i
				}
				reftest.OK(t, os.WriteFile(canvas, reftest.Must(json.Marshal(map[string]any{"ids": ids}))(t), 0o666))
				cmd := exec.CommandContext(t.Context(), program, append([]string{"generate", "--model", model, "--seed", "1", "--threads", "2", "--input", canvas,
					"--temperature", "0.1", "--format", "json", "--quiet", "--sampler"}, sampler...)...)
				said := reftest.Must(cmd.Output())(t)
				var record struct {
					Samples []struct{ Calls float64 }
				}
				reftest.OK(t, json.Unmarshal(said, &record))
				return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), record.Samples[0].Calls
			}
			p0, c0 := took(few)
			p1, c1 := took(many)
			t.Logf("%s: %.4f s of processors and %.3f calls a token", strings.Join(sampler, " "), (p1-p0)/(many-few), (c1-c0)/(many-few))
		}
	}
}

// blocks measures the cost of a call that computes a block of 32 positions after 480 others, and of a
// token if a call reveals three, as the difference between several blocks and one.
func blocks(t *testing.T, program, model, canvas string) {
	const blocks = 6
	for _, threads := range []string{"1", "2"} {
		took := func(masks int) float64 {
			ids := make([]any, 480+masks)
			for i := range 480 {
				ids[i] = 1000 + i
			}
			reftest.OK(t, os.WriteFile(canvas, reftest.Must(json.Marshal(map[string]any{"ids": ids}))(t), 0o666))
			_, processor := measure(t, program, "generate", "--model", model, "--seed", "1", "--threads", threads, "--input", canvas, "--format", "ids",
				"--sampler", "llada2", "--threshold", "1", "--set", "at-least=3", "--verbose")
			return processor.Seconds()
		}
		block := (took(32+32*blocks) - took(32)) / blocks
		t.Logf("%s threads: %.2f s of processors a call, of 11 in a block, %.3f a token", threads, block/11, block/32)
	}
}

// caches measures the cost of a revealed token on a canvas of 512 positions, with and without
// cached keys and values. Differences between runs with few and with more tokens exclude the time
// of opening. There are too few tokens for a second full call, whose share is added.
func caches(t *testing.T, program, model, canvas string) {
	var full float64
	for _, c := range []struct {
		how   string
		more  int
		every float64 // tokens from one full call to the next
	}{{"none", 2, 0}, {"window:8/64", 17, 64}, {"dual", 17, 32}} {
		took := func(masks int) float64 {
			ids := make([]any, 512)
			for i := range ids {
				ids[i] = 1000 + i
			}
			clear(ids[448 : 448+masks]) // nil: null in JSON
			reftest.OK(t, os.WriteFile(canvas, reftest.Must(json.Marshal(map[string]any{"ids": ids}))(t), 0o666))
			args := []string{"generate", "--model", model, "--seed", "1", "--cache", c.how, "--input", canvas, "--format", "ids"}
			if c.how == "dual" {
				args = append(args, "--sampler", "confidence", "--block-length", "32")
			}
			_, processor := measure(t, program, args...)
			return processor.Seconds()
		}
		one := took(1)
		call := (took(c.more) - one) / float64(c.more-1)
		if c.every == 0 {
			full = call
			t.Logf("--cache none: %.2f s of processors a token", full)
			continue
		}
		t.Logf("--cache %s: %.2f s of processors a token, of which %.2f for a full call in %.0f", c.how, call+full/c.every, full/c.every, c.every)
	}
}

// measure runs a command and returns its peak memory and its CPU time.
func measure(t *testing.T, program string, args ...string) (peak uint64, processor time.Duration) {
	cmd := exec.CommandContext(t.Context(), program, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	begin := time.Now()
	said, err := cmd.Output()
	reftest.OK(t, err, args[0], errs.String())
	peak = uint64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
	processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%s: %.0f s, %.0f s of processors, peak %s: %.200s", args[0], time.Since(begin).Seconds(), processor.Seconds(), humanize.IBytes(peak), bytes.TrimSpace(said))
	return peak, processor
}
