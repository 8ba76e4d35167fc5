package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestCoprocess checks that a program that writes one line to --input - at a time gets each answer
// before it writes the next line, and that the answers equal those of all lines together.
func TestCoprocess(t *testing.T) {
	t.Parallel()
	world := worldFile(t, "xor3-mixed")
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf(`{"ids":[null,%d,null]}`, i%2), `{"length":3,"n":2,"sampler":"matu","steps":2}`, "")
	}
	for _, format := range []string{"ids", "jsonl"} {
		args := []string{"generate", "--model", world, "--seed", "3", "--input", "-", "--format", format}
		want := strings.SplitAfter(mustRun(t, strings.Join(lines, "\n"), args...), "\n")
		in, write := io.Pipe()
		read, out := io.Pipe()
		done := make(chan int)
		var errs strings.Builder
		go func() {
			defer out.Close()
			done <- Run(context.Background(), append([]string{"mdmgen"}, args...), in, out, &errs)
		}()
		// Waiting for more lines would block for ever.
		late := time.AfterFunc(time.Minute, func() { read.CloseWithError(io.ErrNoProgress) })
		answers, n := bufio.NewReader(read), 0
		for _, line := range lines {
			reftest.Must(io.WriteString(write, line+"\n"))(t)
			for range answersTo(line) {
				got, err := answers.ReadString('\n')
				if err != nil || got != want[n] {
					t.Fatalf("%s: answer %d: %q, want %q: %v", format, n, got, want[n], err)
				}
				n++
			}
		}
		write.Close()
		late.Stop()
		if code := <-done; code != exit.OK || n != 24 {
			t.Errorf("%s: exit status %d after %d answers: %s", format, code, n, errs.String())
		}
	}
	// A faulty line does not affect the answers before it.
	file := filepath.Join(t.TempDir(), "record.json")
	stdout, stderr, code := runCommand(t, `{"ids":[null,0,1]}`+"\n"+`{"idz":[null,0,1]}`+"\n", "generate", "--model", world, "--seed", "3", "--input", "-", "--format", "ids", "--record", file)
	if record := readAll(t, file); !strings.Contains(record, `"interrupted":true`) || !strings.Contains(record, `"totals":{"samples":1,`) {
		t.Error(record)
	}
	if code != exit.Failure || strings.Count(stdout, "\n") != 1 || !strings.HasPrefix(stderr, "mdmgen: standard input:2: unknown key") {
		t.Errorf("exit status %d: %s%s", code, stdout, stderr)
	}
}

// answersTo returns the number of samples that a line asks for.
func answersTo(line string) int {
	switch {
	case line == "":
		return 0
	case strings.Contains(line, `"n":2`):
		return 2
	}
	return 1
}
