package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// typed lists command lines up to the cursor with the completions of the last word. The folder has
// files story.txt and model.onnx and a folder named shelf.
var typed = []struct {
	line string
	want []string
}{
	{"mdmgen gen", []string{"generate"}},
	{"mdmgen he", []string{"help"}},
	{"mdmgen help doc", []string{"doctor"}},
	{"mdmgen generate --sam", []string{"--sampler"}},
	{"mdmgen generate --sampler tw", []string{"tweedie"}},
	{"mdmgen generate --sampler=tw", []string{"--sampler=tweedie"}},
	{"mdmgen generate --format=js", []string{"--format=json", "--format=jsonl"}},
	{"mdmgen score --format ", []string{"text", "json", "jsonl"}},
	{"mdmgen score story.txt --estimator pl", []string{"plans"}},
	{"mdmgen score st", []string{"story.txt"}},
	{"mdmgen score story.txt --exact --samp", []string{"--sampler"}},
	{"mdmgen generate --input st", []string{"story.txt"}},
	{"mdmgen generate --input=st", []string{"--input=story.txt"}},
	{"mdmgen generate --model mod", []string{"model.onnx"}},
	{"mdmgen generate --model fai", []string{"fairytale"}},
	{"mdmgen generate --set noi", []string{"noise="}},
	{"mdmgen generate --set noise=cos", []string{"noise=cosine"}},
	{"mdmgen generate --set=noise=cos", []string{"--set=noise=cosine"}},
	{"mdmgen generate --grid cosi", []string{"cosine"}},
	{"mdmgen generate -v --sampler ordered --order ri", []string{"right-to-left"}},
	{"mdmgen bench --sampler fhs,eu", []string{"fhs,euler"}},
	{"mdmgen convert sh", []string{"shelf/"}},
	{"mdmgen samplers mat", []string{"matu"}},
	{"mdmgen completion z", []string{"zsh"}},
	{"mdmgen generate -- --sam", nil},
	{"mdmgen generate --steps ", nil},
}

// TestCompletionInShells completes command lines in real shells. bash is required everywhere except
// on Windows.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	for shell, ask := range map[string]func(t *testing.T, dir string, lines []string) [][]string{"bash": eachLine(inBash), "zsh": inZsh, "fish": eachLine(inFish)} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil && (shell != "bash" || runtime.GOOS == "windows") {
				t.Skipf("%s is not installed", shell)
			}
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "story.txt"), "")
			writeFile(t, filepath.Join(dir, "model.onnx"), "")
			reftest.OK(t, os.Mkdir(filepath.Join(dir, "shelf"), 0o755))
			var lines []string
			for _, c := range typed {
				lines = append(lines, c.line)
			}
			for i, got := range ask(t, dir, lines) {
				c := typed[i]
				want := slices.Sorted(slices.Values(c.want))
				if shell == "zsh" && len(want) != 1 {
					continue // It shows a list that cannot be parsed.
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%q: %q, want %q", c.line, got, want)
				}
			}
		})
	}
}

func eachLine(ask func(t *testing.T, dir, line string) []string) func(t *testing.T, dir string, lines []string) [][]string {
	return func(t *testing.T, dir string, lines []string) (out [][]string) {
		for _, line := range lines {
			out = append(out, ask(t, dir, line))
		}
		return out
	}
}

// shellOutput returns the lines printed by a shell's script.
func shellOutput(t *testing.T, dir, shell string, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shell, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "TERM=dumb")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%s: %v: %s", shell, err, errs.String())
	}
	return slices.DeleteFunc(strings.Split(string(out), "\n"), func(l string) bool { return l == "" })
}

// inBash calls the function as readline does, which splits words at "=".
func inBash(t *testing.T, dir, line string) []string {
	words := strings.Fields(strings.ReplaceAll(line, "=", " = "))
	prefix, _, inline := strings.Cut(words[len(words)-1], "=")
	if i := strings.LastIndex(line, "="); i >= 0 {
		prefix, inline = line[strings.LastIndex(line, " ")+1:i+1], true
	}
	if strings.HasSuffix(line, " ") {
		words = append(words, "")
	}
	script := `source <(mdmgen completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _mdmgen 2>/dev/null
complete -p mdmgen >/dev/null || exit 1
for w in "${COMPREPLY[@]}"; do [[ -d $w ]] && w+=/; printf '%s\n' "$w"; done`
	got := shellOutput(t, dir, "bash", append([]string{"--norc", "--noprofile", "-c", script, "bash"}, words...)...)
	if inline {
		for i := range got {
			got[i] = prefix + got[i]
		}
	}
	return got
}

func inFish(t *testing.T, dir, line string) []string {
	got := shellOutput(t, dir, "fish", "--no-config", "-c", "mdmgen completion fish | source; complete -C "+"'"+line+"'")
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], "\t")
	}
	return got
}

// inZsh types each line and a tab into a shell on a terminal of its own, and makes the shell print
// the resulting line.
func inZsh(t *testing.T, dir string, lines []string) (out [][]string) {
	script := `zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
zpty -w shell 'PS1=; autoload -U compinit; compinit -D -u; zstyle ":completion:*" list-prompt ""; LISTMAX=1000; source <(mdmgen completion zsh); print > ended'
for line in "" "$@"; do
	until [[ -s ended ]]; do sleep 0.01; done
	rm ended
	[[ -n $line ]] && zpty -w -n shell $'\x15'"$line"$'\t\x01print -r -- \x05 >> done; print > ended\n' || print > ended
done
until [[ -s ended ]]; do sleep 0.01; done
cat done; rm -f done ended; zpty -d shell`
	for _, line := range shellOutput(t, dir, "zsh", append([]string{"-f", "-c", script, "zsh"}, lines...)...) {
		words := strings.Fields(line)
		last := words[len(words)-1]
		if info, err := os.Stat(filepath.Join(dir, last)); err == nil && info.IsDir() {
			last += "/" // zsh removes it at the end of a word
		}
		out = append(out, []string{last})
	}
	if len(out) != len(lines) {
		t.Fatalf("zsh: %d answers to %d lines", len(out), len(lines))
	}
	return out
}
