package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// sharded is a command line that can run in parts.
type sharded struct {
	args []string
	// network reports whether it needs the runtime; large whether its network is large.
	network, large bool
}

func shardedCommands(t *testing.T) map[string]sharded {
	t.Helper()
	dir := t.TempDir()
	text, lines := filepath.Join(dir, "text.txt"), filepath.Join(dir, "lines.jsonl")
	writeFile(t, text, readAll(t, filepath.Join("..", "..", "..", "examples", "tale.txt")))
	r := rand.New(rand.NewPCG(3, 3))
	var all strings.Builder
	for range 2000 {
		fmt.Fprintf(&all, `{"ids":[%d,%d,%d]}`+"\n", r.IntN(2), r.IntN(2), r.IntN(2))
	}
	writeFile(t, lines, all.String())
	world := worldFile(t, "xor3-mixed")
	canvases := filepath.Join(dir, "canvases.jsonl")
	writeFile(t, canvases, strings.Repeat(`{"length":6,"n":5}`+"\n"+`{"length":9,"seed":4}`+"\n"+`{"length":6,"sampler":"tweedie","steps":2,"n":9}`+"\n", 6))
	windows := filepath.Join(dir, "windows.jsonl")
	writeFile(t, windows, idWindows(30, 40))
	return map[string]sharded{
		"score text":     {[]string{"score", text, "--length", "16", "--draws", "2", "--threads", "1", "--seed", "3", "--json"}, true, true},
		"score overlap":  {[]string{"score", windows, "--model", tinyModel, "--length", "16", "--stride", "8", "--draws", "2", "--batch", "2", "--threads", "1", "--seed", "3", "--format", "jsonl"}, true, false},
		"score exact":    {[]string{"score", lines, "--model", world, "--exact", "--sampler", "tweedie", "--steps", "2", "--json"}, false, false},
		"score plans":    {[]string{"score", lines, "--model", world, "--estimator", "plans", "--plans", "2", "--limit", "300", "--seed", "4"}, false, false},
		"bound exact":    {[]string{"bound", lines, "--model", world, "--limit", "70", "--sampler", "euler,confidence", "--steps", "2", "--reference", "masked:" + world, "--seed", "3", "--json"}, false, false},
		"bound plans":    {[]string{"bound", windows, "--model", tinyModel, "--length", "12", "--context", "3", "--plans", "16", "--steps", "2", "--limit", "33", "--threads", "1", "--seed", "3"}, true, true},
		"generate text":  {[]string{"generate", "-n", "70", "--length", "3", "--batch", "2", "--threads", "1", "--seed", "5"}, true, true},
		"generate lines": {[]string{"generate", "--model", tinyModel, "--input", canvases, "--batch", "2", "--threads", "1", "--seed", "5", "--format", "jsonl"}, true, false},
		"generate ids":   {[]string{"generate", "-n", "2000", "--model", world, "--batch", "3", "--seed", "5", "--format", "ids"}, false, false},
		"generate matu":  {[]string{"generate", "-n", "200", "--model", world, "--batch", "3", "--seed", "5", "--json", "--sampler", "matu", "--steps", "2"}, false, false},
	}
}

func partPath(dir string, i, n int) string {
	return filepath.Join(dir, fmt.Sprintf("part-%d-of-%d.jsonl", i, n))
}

// shard runs part i of n and returns its file.
func shard(t testing.TB, args []string, dir string, i, n int) string {
	t.Helper()
	path := partPath(dir, i, n)
	mustRun(t, "", append(slices.Clone(args), "--shard", fmt.Sprintf("%d/%d", i, n), "-o", path)...)
	return path
}

// TestShards checks that one process, two with a part each, seven made in any
// order, and parts that were killed and run again produce the same bytes, except times.
func TestShards(t *testing.T) {
	for name, c := range shardedCommands(t) {
		t.Run(name, func(t *testing.T) {
			if c.network {
				needRuntime(t)
			}
			t.Parallel()
			whole := filepath.Join(t.TempDir(), "whole")
			mustRun(t, "", append(slices.Clone(c.args), "-o", whole)...)
			want := timeless(readAll(t, whole))
			r := rand.New(rand.NewPCG(1, 1))
			numbers := []int{2, 5}
			if c.large {
				numbers = []int{3}
			}
			for _, n := range numbers {
				dir := t.TempDir()
				parts := make([]string, n)
				for i := range parts {
					parts[i] = partPath(dir, i+1, n)
				}
				if n == 2 {
					shard(t, c.args, dir, 2, n)
					shard(t, c.args, dir, 1, n)
				} else {
					for _, i := range append(r.Perm(n), 0) { // The last exists already.
						shard(t, c.args, dir, i+1, n)
					}
				}
				merged := filepath.Join(dir, "merged")
				mustRun(t, "", append([]string{"merge", "-o", merged}, parts...)...)
				if got := timeless(readAll(t, merged)); got != want {
					t.Fatalf("%d parts:\n%.2000s\nwant\n%.2000s", n, got, want)
				}
				r.Shuffle(n, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				// A third of the parts are left as by kills, and run again.
				for _, path := range parts[:(n+2)/3] {
					data := []byte(readAll(t, path))
					reftest.OK(t, os.Remove(path))
					writeFile(t, path+".partial", string(data[:r.IntN(len(data))]))
					_, stderr, code := runCommand(t, "", append([]string{"merge"}, parts...)...)
					if code == exit.OK {
						t.Errorf("parts without %s are merged: %s", path, stderr)
					}
					var i, of int
					fmt.Sscanf(filepath.Base(path), "part-%d-of-%d.jsonl", &i, &of)
					shard(t, c.args, dir, i, of)
				}
				mustRun(t, "", append([]string{"merge", "-o", merged}, parts...)...)
				if got, want := calls.ReplaceAllString(timeless(readAll(t, merged)), ""), calls.ReplaceAllString(want, ""); got != want {
					t.Errorf("%d parts, some run again:\n%.2000s\nwant\n%.2000s", n, got, want)
				}
				left, err := filepath.Glob(filepath.Join(dir, "*.partial"))
				if err != nil || len(left) > 0 {
					t.Errorf("left over: %v, %v", left, err)
				}
			}
		})
	}
}

// TestMergeRefuses checks that missing, duplicate, torn and foreign parts are named, with the
// remedy.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	c := shardedCommands(t)["score exact"]
	dir := t.TempDir()
	var parts []string
	for i := range 3 {
		parts = append(parts, shard(t, c.args, dir, i+1, 3))
	}
	second := []byte(readAll(t, parts[1]))
	footer := bytes.LastIndexByte(second[:len(second)-1], '\n') + 1
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, string(data))
		return path
	}
	torn, changed := write("torn.jsonl", second[:footer]), bytes.Clone(second)
	changed[len(changed)/2] ^= 1
	other := append(slices.Clone(c.args), "--limit", "150")
	for name, x := range map[string]struct {
		parts []string
		code  int
		want  []string
	}{
		"missing":     {[]string{parts[0], parts[2]}, exit.Failure, []string{"part 2/3 is missing or ", "with --shard 2/3"}},
		"doubled":     {append(slices.Clone(parts), write("copy.jsonl", second)), exit.Failure, []string{"duplicate", parts[1], "copy.jsonl"}},
		"named twice": {append(slices.Clone(parts), parts[1]), exit.Usage, []string{parts[1] + " is named twice"}},
		"torn":        {[]string{parts[0], torn, parts[2]}, exit.Failure, []string{torn + " is truncated", "make part 2/3 again"}},
		"unfinished":  {[]string{parts[0], write("x.jsonl.partial", second[:footer]), parts[2]}, exit.Failure, []string{"x.jsonl.partial is not finished"}},
		"changed":     {[]string{parts[0], write("changed.jsonl", changed), parts[2]}, exit.Failure, []string{"checksum", "make part 2/3 again"}},
		"other run":   {[]string{parts[0], shard(t, other, t.TempDir(), 2, 3), parts[2]}, exit.Usage, []string{"two different runs, which differ in ", "limit"}},
		"old":         {[]string{parts[0], write("old.jsonl", bytes.Replace(second, []byte("-resume/4"), []byte("-resume/3"), 1))}, exit.Failure, []string{"another version"}},
		"other thing": {[]string{parts[0], write("text", []byte("Once upon a time\n"))}, exit.Failure, []string{"is not a part"}},
		"no file":     {[]string{parts[0], filepath.Join(dir, "nobody")}, exit.Failure, []string{"nobody"}},
		"none":        {nil, exit.Usage, []string{"name the parts, as in"}},
	} {
		stdout, stderr, code := runCommand(t, "", append([]string{"merge"}, x.parts...)...)
		if code != x.code || stdout != "" {
			t.Errorf("%s: exit status %d: %s%s", name, code, stdout, stderr)
		}
		for _, want := range x.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, stderr)
			}
		}
	}
}

// TestShardInterrupt checks that an interrupted part continues, with a notice, and that one that
// was killed before it was renamed gets its name.
func TestShardInterrupt(t *testing.T) {
	c := shardedCommands(t)["score exact"]
	part := filepath.Join(t.TempDir(), "part.jsonl")
	args := append(slices.Clone(c.args), "--shard", "1/1", "-o", part)
	interrupted(t, 0, args...)
	mustRun(t, "", args...)
	reftest.OK(t, os.Rename(part, part+".partial"))
	mustRun(t, "", args...)
	if whole, merged := mustRun(t, "", c.args...), mustRun(t, "", "merge", part); timeless(whole) != timeless(merged) {
		t.Errorf("%.1000s\nwant\n%.1000s", merged, whole)
	}
}

// idWindows returns n lines of ids of the checkpoint's tokens.
func idWindows(n, length int) string {
	var b strings.Builder
	for i := range n {
		ids := make([]int, length)
		for l := range ids {
			ids[l] = (i*31 + l*l*7 + l) % 130
		}
		line, _ := json.Marshal(map[string]any{"ids": ids})
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}
