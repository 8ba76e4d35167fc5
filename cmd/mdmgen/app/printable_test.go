package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStrangersNames puts terminal control characters into names of files, keys, texts and flags.
// None must be printed unescaped, on either stream or in a report.
func TestStrangersNames(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]0;owned\x07\u202eevil\u2066\u009b|x\x7f"
	dir := t.TempDir()
	data := readAll(t, worldFile(t, "xor3-mixed"))
	world := filepath.Join(dir, evil+".json")
	writeFile(t, world, data)
	broken := filepath.Join(dir, evil+"\r\nmdmgen: all is well.jsonl")
	writeFile(t, broken, "{\""+evil+"\":1}\n")
	laws := filepath.Join(dir, "laws.json")
	writeFile(t, laws, strings.Replace(data, `"name":`, `"name":"`+strings.Trim(strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`).Replace(evil), "")+`", "old":`, 1))
	vocabulary := filepath.Join(dir, "tokenizer.json")
	writeFile(t, vocabulary, `{"model":{"type":"`+strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`).Replace(evil)+`"}}`)
	page := filepath.Join(dir, "page.html")
	table := filepath.Join(dir, "table.md")
	for _, args := range [][]string{
		{"generate", "--model", filepath.Join(dir, evil)},
		{"generate", "--model", world, "--input", broken},
		{"generate", "--model", world, "--set", "fact=" + evil + "=1"},
		{"generate", "--model", world, "--sampler", evil},
		{"score", "--model", world, broken},
		{"score", "--model", world, "--as", "lines", broken},
		{"tokenize", "--tokenizer", vocabulary},
		{"bench", "--model", world, "-n", "1", "--repetitions", "1", "--warmup", "0", "--sampler", "fhs", "-o", table, "--html", page},
		{"bound", world, "--sampler", "euler", "--steps", "2"},
		{"bound", laws, "--html", page},
		{"verify", world},
		{"verify", world, "--golden", broken},
		{"schedule", "--profile", broken, "--model", world, "--calls", "3"},
		{"convert", "--model", filepath.Join(dir, evil)},
		{evil},
		{"score", "--" + evil},
		{"score", "a", evil},
	} {
		stdout, stderr, _ := runCommand(t, "", args...)
		out := map[string]string{"standard output": stdout, "standard error": stderr}
		for _, file := range []string{page, table} {
			if data, err := os.ReadFile(file); err == nil {
				out[filepath.Base(file)] = string(data)
				os.Remove(file)
			}
		}
		for where, text := range out {
			if i := strings.IndexAny(text, "\x1b\x07\u202e\u2066\u009b\x7f\r"); i >= 0 {
				t.Errorf("%.60q: %s has %q", args, where, text[max(0, i-60):min(len(text), i+60)])
			}
		}
		for line := range strings.Lines(stderr) {
			if strings.HasPrefix(line, "mdmgen: all is well") {
				t.Errorf("%.60q: a file's name makes a line of its own: %q", args, line)
			}
		}
	}
}
