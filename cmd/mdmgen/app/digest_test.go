package app

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/builtin"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/stamp/stamptest"
	"mdmgen/model/ort"
)

// forged is a digest that no file has.
const forged = "00000000000000000000000000000000000000000000000000000000deadbeef"

// TestVerifyDigest checks that records have a remembered digest, and that --verify-digest reads the
// files regardless of remembered digests.
func TestVerifyDigest(t *testing.T) {
	needRuntime(t)
	t.Setenv("MDMGEN_MODEL", "")
	cache := t.TempDir()
	t.Setenv("MDMGEN_RUNTIME", ort.Diagnose(ort.Config{}).Library)
	t.Setenv("MDMGEN_CACHE", cache)
	dir := t.TempDir()
	ids := filepath.Join(dir, "ids.jsonl")
	writeFile(t, ids, `{"ids":[1,0,1,5,6]}`)
	for _, args := range [][]string{
		{"generate", "--model", tinyModel, "--format", "json", "--length", "3"},
		{"score", ids, "--model", tinyModel, "--format", "json", "--draws", "2"},
		{"bound", ids, "--model", tinyModel, "--json", "--steps", "2", "--limit", "1", "--length", "4"},
		{"bench", "--model", tinyModel, "--format", "json", "-r", "1", "-n", "1", "--length", "3"},
		{"verify", tinyModel, "--golden", filepath.Join(tinyModel, "golden.safetensors"), "--json"},
	} {
		mustRun(t, "", args...)
		if stamptest.Forge(t, filepath.Join(cache, "stamps"), forged) == 0 {
			t.Skip("nothing is remembered: the files are too new")
		}
		if out := mustRun(t, "", args...); !strings.Contains(out, forged) {
			t.Errorf("%v: does not use what is remembered", args)
		}
		if out := mustRun(t, "", append(args, "--set", "verify-digest")...); strings.Contains(out, forged) {
			t.Errorf("%v --verify-digest: uses what is remembered", args)
		}
	}
}

// TestDoctorModel checks that doctor reads a model's files and names the one that was changed.
func TestDoctorModel(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	dir := filepath.Join(t.TempDir(), "onnx")
	mustRun(t, "", "convert", tinyModel, "-o", dir)
	digest := regexp.MustCompile(`"model_digest": "(sha256:[0-9a-f]{64})"`)
	of := func(ref string) string {
		m := digest.FindStringSubmatch(mustRun(t, "", "doctor", "--json", "--model", ref))
		if m == nil {
			t.Fatalf("%s: no digest", ref)
		}
		return m[1]
	}
	if a, b := of(tinyModel), of(dir); a != b {
		t.Errorf("the checkpoint is %s, converted it is %s", a, b)
	}
	if read := of(setup.BuiltinName); read != builtin.Digest {
		t.Errorf("the built-in model is %s, and builtin.Digest says %s", read, builtin.Digest)
	}
	of(worldFile(t, "xor3-mixed"))
	// No command reads this file, which was written with the others.
	config := filepath.Join(dir, "config.json")
	was := readAll(t, config)
	writeFile(t, config, strings.Replace(was, "32", "33", 1))
	if _, stderr, code := runCommand(t, "", "doctor", "--model", dir); code != exit.Failure || !strings.Contains(stderr, "config.json: it was changed") {
		t.Errorf("a changed configuration: exit status %d, %q", code, stderr)
	}
	writeFile(t, config, was)
	data := filepath.Join(dir, "model.onnx_data")
	b := []byte(readAll(t, data))
	b[5000] ^= 1
	writeFile(t, data, string(b))
	stdout, stderr, code := runCommand(t, "", "doctor", "--model", dir)
	if code != exit.Failure || !strings.Contains(stderr, "model.onnx_data: it was changed") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stdout, "has problems") {
		t.Errorf("a changed model: exit status %d, %q\n%s", code, stderr, stdout)
	}
	if _, stderr, code := runCommand(t, "", "doctor", "--model", filepath.Join(dir, "none")); code != exit.Missing || !strings.Contains(stderr, "no such folder") {
		t.Errorf("no model: exit status %d, %q", code, stderr)
	}
	refused(t, exit.Failure, "convert the checkpoint again", "generate", "--model", dir, "--length", "3", "--format", "ids")
}
