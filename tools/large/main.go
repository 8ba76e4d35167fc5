// Command large converts a checkpoint of the shape and size of LLaDA-8B, in bf16 and in six
// shards, and has the result take one step on a canvas of 64 positions. It prints what each took:
// seconds, and the peak of the process's memory, all of it and without the pages of files, which
// a system drops where it wants memory. From the repository's root:
//
//	go run ./tools/large -dtype int8
//	go run ./tools/large -dtype fp32 -sparse -step=false
//
// It works in a temporary folder, which must hold the checkpoint, 16 GB or next to nothing with
// -sparse, and the converted model: 32 GB in fp32, 16 in fp16, 11 in int8. Linux only: it reads
// /proc.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dtype := flag.String("dtype", "int8", "type of the converted weights")
	layers := flag.Int("layers", 32, "how many layers")
	sparse := flag.Bool("sparse", false, "matrices of zeros, which take no disk")
	step := flag.Bool("step", true, "take a step with the converted model")
	dir := flag.String("dir", "", "folder to work in (default: the system's for temporary files)")
	flag.Parse()
	if err := large(ctx, *dir, *dtype, *layers, *sparse, *step); err != nil {
		fmt.Fprintln(os.Stderr, "large:", err)
		os.Exit(1)
	}
}

func large(ctx context.Context, dir, dtype string, layers int, sparse, step bool) (err error) {
	work, err := os.MkdirTemp(dir, "mdmgen-large-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	source, out, program := filepath.Join(work, "source"), filepath.Join(work, "out"), filepath.Join(work, "mdmgen")
	if err := os.Mkdir(source, 0o777); err != nil {
		return err
	}
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/mdmgen").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, said)
	}
	begin := time.Now()
	size, err := writeCheckpoint(source, layers, sparse)
	if err != nil {
		return err
	}
	fmt.Printf("checkpoint: %d layers, %s of bf16 in %d shards, sparse %t, written in %.0f s\n",
		layers, humanize.Bytes(uint64(size)), len(kinds), sparse, time.Since(begin).Seconds())
	steps := [][]string{{"convert", source, "-o", out, "--dtype", dtype}}
	if step {
		// The first opening reads the weights for their digest, the second does not.
		generate := []string{"generate", "--model", out, "--length", "64", "--steps", "1", "--sampler", "tweedie", "--seed", "1", "--format", "ids", "--verbose"}
		steps = append(steps, generate, generate)
	}
	for _, args := range steps {
		p, err := measure(ctx, program, args...)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		fmt.Printf("%s: %.0f s, peak %s: %.200s\n", args[0], p.wall.Seconds(), p.memory, p.said)
		if p.opened != (memory{}) {
			fmt.Printf("  once the model was open: %s\n", p.opened)
		}
	}
	return nil
}

// peaks are what a process took.
type peaks struct {
	wall time.Duration
	memory
	// opened is the peak when it said that the model was open.
	opened memory
	said   string // its output
}

// memory is the peak of all of a process's, and that of what is not of files; bytes.
type memory struct{ all, anonymous uint64 }

func (m memory) String() string {
	return fmt.Sprintf("%s, %s of it not of files", humanize.IBytes(m.all), humanize.IBytes(m.anonymous))
}

// measure runs a command, looking at its memory a hundred times a second. Where the machine runs
// out of memory it is the first to be killed.
func measure(ctx context.Context, program string, args ...string) (p peaks, err error) {
	var said strings.Builder
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout = &said
	notices, err := cmd.StderrPipe()
	if err != nil {
		return p, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return p, err
	}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", cmd.Process.Pid), []byte("1000"), 0)
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(notices); s.Scan(); {
			lines <- s.Text()
		}
	}()
	for {
		select {
		case line, more := <-lines:
			if !more {
				p.wall, p.said = time.Since(begin), strings.TrimSpace(said.String())
				return p, cmd.Wait()
			}
			fmt.Fprintln(os.Stderr, line)
			if p.look(cmd.Process.Pid); strings.Contains(line, ", opened in ") {
				p.opened = p.memory
			}
		case <-time.After(10 * time.Millisecond):
			p.look(cmd.Process.Pid)
		}
	}
}

// look reads /proc/PID/status.
func (m *memory) look(pid int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return // It has ended.
	}
	for line := range strings.Lines(string(text)) {
		var kib uint64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			m.all = max(m.all, kib<<10)
		}
		if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &kib); err == nil {
			m.anonymous = max(m.anonymous, kib<<10)
		}
	}
}
