//go:build unix

package app

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestInterruptAtAPipe interrupts every command that reads a file of a flag or an argument while it
// waits for a named pipe: for its other end, and for its data.
func TestInterruptAtAPipe(t *testing.T) {
	t.Parallel()
	world, vocabulary := worldFile(t, "xor3-mixed"), filepath.Join(reftest.Builtin(t), "tokenizer.json")
	for _, line := range []string{
		"tokenize --tokenizer PIPE",
		"generate --tokenizer PIPE",
		"generate --model WORLD --format ids --prefix a --tokenizer PIPE",
		"generate --model WORLD --format ids --input PIPE",
		"generate --model WORLD --format ids --set sidecar=PIPE",
		"generate --model WORLD --format ids -o PIPE",
		"generate --model WORLD --format ids --sampler spread --steps 2 --set profile=PIPE",
		"score --model WORLD --as jsonl PIPE",
		"score --as lines -q PIPE",
		"score --as corpus -q PIPE",
		"score --model WORLD --set sidecar=PIPE -",
		"schedule --calls 2 --model WORLD --profile PIPE",
		"bench --model WORLD --case spread;steps=2 --set profile=PIPE",
		"bound --model WORLD --as jsonl PIPE",
		"bound PIPE.json",
	} {
		t.Run(line, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "pipe")
			args := strings.Fields(strings.NewReplacer("WORLD", world, "VOCABULARY", vocabulary, "PIPE", at).Replace("mdmgen " + line))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], ";", " ")
			}
			if strings.Contains(line, "PIPE.json") {
				at += ".json"
			}
			if err := syscall.Mkfifo(at, 0o600); err != nil {
				t.Skip(err)
			}
			interrupt(t, args, func() { time.Sleep(20 * time.Millisecond) })
			if strings.Contains(line, "-o ") {
				return // The other end is a reader, which writes nothing.
			}
			interrupt(t, args, func() {
				for begin := time.Now(); time.Since(begin) < 10*time.Second; time.Sleep(time.Millisecond) {
					if w, err := os.OpenFile(at, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // There is a reader.
						t.Cleanup(func() { w.Close() })
						return
					}
				}
				t.Error("nobody opens the pipe")
			})
		})
	}
}

// interrupt runs a command line that blocks, calls meanwhile and cancels the run.
func interrupt(t *testing.T, args []string, meanwhile func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	var errs strings.Builder
	go func() { done <- Run(ctx, args, strings.NewReader(""), io.Discard, &errs) }()
	meanwhile()
	select {
	case code := <-done:
		t.Errorf("it did not wait: exit status %d: %s", code, errs.String())
		return
	default:
		cancel()
	}
	select {
	case code := <-done:
		if code != exit.Interrupt || errs.String() != "mdmgen: interrupted\n" {
			t.Errorf("exit status %d: %s", code, errs.String())
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on waiting")
	}
}

// TestInterruptedTwice sends two interrupts, as programs that end others do, which count as one.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	for range 10 {
		cmd := exec.Command("mdmgen", "tokenize", "--tokenizer", reftest.Builtin(t))
		stdin := reftest.Must(cmd.StdinPipe())(t)
		stdout := reftest.Must(cmd.StdoutPipe())(t)
		reftest.OK(t, cmd.Start())
		// A line does not fit into the pipe together with the flushed output: the first is
		// answered.
		go io.Copy(stdin, strings.NewReader(strings.Repeat("a\n", 1<<20)))
		reftest.Must(stdout.Read(make([]byte, 1)))(t)
		for range 2 {
			cmd.Process.Signal(os.Interrupt)
			time.Sleep(200 * time.Microsecond)
		}
		io.Copy(io.Discard, stdout)
		if cmd.Wait(); cmd.ProcessState.ExitCode() != exit.Interrupt {
			t.Fatalf("it ended with %v, want exit status %d", cmd.ProcessState, exit.Interrupt)
		}
	}
}
