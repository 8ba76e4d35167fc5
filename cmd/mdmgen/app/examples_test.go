//go:build unix

package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// example is a folder in which an example runs as a scheduler would run it, with a text, a tiny
// model, and stand-ins for other programs first on the path.
type example struct {
	dir, of string
	env     []string
}

func newExample(t *testing.T, of string, stand map[string]string) example {
	t.Helper()
	needRuntime(t)
	e := example{dir: t.TempDir(), of: filepath.Join("..", "..", "..", "examples", of)}
	bin := t.TempDir()
	for name, script := range stand {
		reftest.OK(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	writeFile(t, filepath.Join(e.dir, "text.txt"), readAll(t, filepath.Join(e.of, "..", "tale.txt"))[:4000])
	e.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "MDMGEN_MODEL="+reftest.Must(filepath.Abs(tinyModel))(t), "MDMGEN_TOKENIZER="+reftest.Must(filepath.Abs(lettersFile))(t))
	return e
}

// run runs a command with further variables, and returns its exit status and what it said.
func (e example) run(t *testing.T, env []string, command ...string) (int, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = e.dir, append(e.env[:len(e.env):len(e.env)], env...)
	said, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(said)
}

// merged checks that the merged parts are the result of one process.
func (e example) merged(t *testing.T, name string, command ...string) {
	t.Helper()
	if code, said := e.run(t, nil, append(command, "-o", "whole.json")...); code != exit.OK {
		t.Fatalf("%v: status %d: %s", command, code, said)
	}
	got, want := timeless(readAll(t, filepath.Join(e.dir, name))), timeless(readAll(t, filepath.Join(e.dir, "whole.json")))
	if got != want {
		t.Errorf("merged:\n%.2000s\nwant\n%.2000s", got, want)
	}
}

// TestSlurmExample runs the tasks of an array job by its script, one of which is killed and queued
// again, and the job that merges them.
func TestSlurmExample(t *testing.T) {
	t.Parallel()
	real := reftest.Must(exec.LookPath("mdmgen"))(t)
	e := newExample(t, "slurm", map[string]string{
		"mdmgen":   `if [ -e kill ]; then rm kill; kill -9 $$; fi; exec "` + real + `" "$@"`,
		"scontrol": `echo "$@" >>requeued`, "sleep": "",
	})
	script := func(name string) string { return reftest.Must(filepath.Abs(filepath.Join(e.of, name)))(t) }
	command := strings.Fields("score text.txt --length 16 --draws 2 --batch 2 --seed 1 --json")
	part := func(i int) (int, string) {
		return e.run(t, []string{fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i), "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_JOB_ID=7", "SLURM_CPUS_PER_TASK=1"},
			append([]string{"bash", script("parts.sbatch")}, command...)...)
	}
	writeFile(t, filepath.Join(e.dir, "kill"), "")
	if code, said := part(2); code != 128+9 || readAll(t, filepath.Join(e.dir, "requeued")) != "requeue 7_2\n" {
		t.Fatalf("a killed task: status %d: %s", code, said)
	}
	for i := 1; i <= 3; i++ {
		if code, said := part(i); code != exit.OK || !strings.Contains(said, fmt.Sprintf("--shard auto is %d/3, from Slurm", i)) {
			t.Fatalf("task %d: status %d: %s", i, code, said)
		}
	}
	if code, said := e.run(t, nil, "bash", script("merge.sbatch"), "merged.json"); code != exit.OK {
		t.Fatalf("merge: status %d: %s", code, said)
	}
	e.merged(t, "merged.json", append([]string{real}, append(command, "--threads", "1")...)...)
}

// TestKubernetesExample runs the commands of the Indexed Job, once for each index, and of the job
// that merges them, and checks that the exit statuses that end the job are those that would recur.
func TestKubernetesExample(t *testing.T) {
	t.Parallel()
	e := newExample(t, "kubernetes", nil)
	parts, merge := readAll(t, filepath.Join(e.of, "parts.yaml")), readAll(t, filepath.Join(e.of, "merge.yaml"))
	find := func(text, pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s is not in:\n%s", pattern, text)
		}
		return m[1]
	}
	const args = `(?m)^ +- (exec mdmgen .*)$`
	command, n := find(parts, args), find(parts, `completions: (\d+)`)
	if shards := find(parts, `name: MDMGEN_SHARDS.*\n +value: "(\d+)"`); shards != n {
		t.Errorf("%s parts in %s completions", shards, n)
	}
	if recur := fmt.Sprintf("[%d, %d]", exit.Usage, exit.Missing); find(parts, `values: (\[.*\])`) != recur {
		t.Errorf("exit statuses are not %s", recur)
	}
	for i := 0; fmt.Sprint(i) != n; i++ {
		if code, said := e.run(t, []string{fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i), "MDMGEN_SHARDS=" + n}, "sh", "-c", command); code != exit.OK {
			t.Fatalf("index %d: status %d: %s", i, code, said)
		}
	}
	if code, said := e.run(t, nil, "sh", "-c", find(merge, args)); code != exit.OK {
		t.Fatalf("merge: status %d: %s", code, said)
	}
	whole, _, _ := strings.Cut(strings.TrimPrefix(command, "exec "), " --shard")
	e.merged(t, "result.json", strings.Fields(whole)...)
}
