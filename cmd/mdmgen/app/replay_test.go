package app

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestReplayCheck checks that a trace of every sampler equals the run repeated from its header, and
// that a changed trace does not.
func TestReplayCheck(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	dir := t.TempDir()
	var paths []string
	for i, line := range traced() {
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		mustRun(t, "", append(line, "--trace", path, "-o", os.DevNull)...)
		paths = append(paths, path)
	}
	if len(paths) < 36 {
		t.Errorf("%d traces, want 36 or more", len(paths))
	}
	for len(paths) > 0 {
		n := min(8, len(paths))
		if out := mustRun(t, "", append([]string{"replay", "--check"}, paths[:n]...)...); strings.Count(out, ": the same ") != n {
			t.Error(out)
		}
		paths = paths[n:]
	}
	good := readAll(t, filepath.Join(dir, "0.jsonl"))
	bad := filepath.Join(dir, "bad.jsonl")
	lines := strings.SplitAfter(good, "\n")
	token := regexp.MustCompile(`"tokens":\[\d+`)
	for change, want := range map[string]string{
		token.ReplaceAllString(good, `"tokens":[0`):                                   ": token 0, log-probability ",
		strings.Replace(good, `"--seed"`, "", 1):                                      "",
		strings.Replace(good, `"seed":["3"]`, `"seed":["4"]`, 1):                      "now",
		strings.Join(append(lines[:3:3], lines[len(lines)-1:]...), ""):                "", // the footer belongs to the last, empty element
		strings.Replace(good, lines[2], strings.Replace(lines[2], `[-`, `[-9`, 1), 1): "log-probability -9",
	} {
		writeFile(t, bad, change)
		stdout, stderr, code := runCommand(t, "", "replay", "--check", bad)
		if want == "" && code != exit.OK || want != "" && (code != exit.Invalid || !strings.Contains(stderr, want) || !strings.Contains(stderr, bad+": line ")) {
			t.Errorf("exit status %d, want %q: %s%s", code, want, stdout, stderr)
		}
	}
	writeFile(t, bad, strings.Replace(good, `"digest":"sha256:`, `"digest":"sha256:0`, 1))
	refused(t, exit.Invalid, "has changed: its digest is sha256:", "replay", "--check", bad)
	piped := filepath.Join(dir, "piped.jsonl")
	runCommand(t, `{"ids":[null,1,null]}`+"\n", "generate", "--model", worldFile(t, "xor3-mixed"), "--seed", "1", "--input", "-", "--format", "ids", "--trace", piped)
	refused(t, exit.Failure, "standard input", "replay", "--check", piped)
}

// TestReplayKilled ends a run by SIGKILL: its trace has whole lines, and what it has is the run's, also with
// the footer of an interrupt.
func TestReplayKilled(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	path := filepath.Join(t.TempDir(), "run.jsonl")
	cmd := exec.Command("mdmgen", "generate", "--seed", "1", "-n", "100000", "--length", "16", "--format", "ids", "--trace", path)
	reftest.OK(t, cmd.Start())
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil && strings.Count(string(text), "\n") > 40 {
			break
		}
	}
	reftest.OK(t, cmd.Process.Kill())
	_ = cmd.Wait()
	text := reftest.Must(os.ReadFile(path))(t)
	interrupted := filepath.Join(filepath.Dir(path), "interrupted.jsonl")
	footer := `{"end":{"samples":1,"interrupted":true,"seconds":1}}` + "\n"
	reftest.OK(t, os.WriteFile(interrupted, append(text[:bytes.LastIndexByte(text, '\n')+1], footer...), 0o600))
	if out := mustRun(t, "", "replay", "--check", path, interrupted); strings.Count(out, "of a run that did not end") != 2 {
		t.Error(out)
	}
}

// TestReplayPage checks that a page is small and has no external references, that its policy allows
// only its own script and style, and that a picture is XML with the texts.
func TestReplayPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	world := worldFile(t, "xor3-mixed")
	a, b := filepath.Join(dir, "a<b>.jsonl"), filepath.Join(dir, "b.jsonl")
	mustRun(t, "", "generate", "--model", world, "--seed", "1", "-n", "3", "--format", "ids", "--trace", a)
	mustRun(t, "", "generate", "--model", world, "--seed", "1", "--sampler", "remdm", "--steps", "5", "--format", "ids", "--trace", b)
	page := mustRun(t, "", "replay", a, b)
	for _, must := range []string{"default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "a&lt;b&gt;"} {
		if !strings.Contains(page, must) {
			t.Errorf("the page has no %s", must)
		}
	}
	outside := regexp.MustCompile(`(?i)\b(src|href|action)\s*=|url\(|@import|https?:|fetch\(|unsafe|style="`)
	for _, found := range outside.FindAllString(strings.ReplaceAll(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), `<link rel="icon" href="data:,">`, ""), -1) {
		t.Errorf("the page has %s", found)
	}
	picture := filepath.Join(dir, "x.svg")
	mustRun(t, "", "replay", a, b, "-o", picture)
	svg := readAll(t, picture)
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(svg, "prefers-reduced-motion") || !strings.Contains(svg, "a&lt;b&gt;: 3 calls") {
		t.Errorf("%.2000s", svg)
	}
	large := filepath.Join(dir, "large.jsonl")
	writeFile(t, large, largeTrace(readAll(t, a)))
	if page := mustRun(t, "", "replay", large); len(page) > 2<<20 {
		t.Errorf("a page of 1,000 calls of 1,024 positions has %d bytes", len(page))
	} else {
		t.Logf("%d bytes", len(page))
	}
	for _, args := range [][]string{{}, {a, "--check", "-o", picture}, {a, "-o", a}, {a, a, a, a, a, a, a, a, a}} {
		refused(t, exit.Usage, "", append([]string{"replay"}, args...)...)
	}
}

// largeTrace returns a trace with the header of another: 1,000 calls that fill 1,024 positions,
// mask an eighth of them and fill these again.
func largeTrace(other string) string {
	var b strings.Builder
	b.WriteString(other[:strings.Index(other, "\n")+1])
	b.WriteString(`{"sequence":0,"call":0,"length":1024,"theta":0,"positions":[],"tokens":[],"log_probabilities":[],"seconds":0}` + "\n")
	for call := 1; call <= 1000; call++ {
		var positions, tokens, logs, pieces, masked []string
		for i := range 16 {
			h := uint32(call*16+i) * 2654435761
			positions, tokens = append(positions, fmt.Sprint(h>>8%1024)), append(tokens, fmt.Sprint(h>>5%30000))
			logs, pieces = append(logs, fmt.Sprintf("-%d.%d", h%9, h>>3%1000000)), append(pieces, fmt.Sprintf(`" w%d"`, h>>5%30000))
			if call < 900 && i%4 == 0 {
				masked = append(masked, fmt.Sprint(h>>13%1024))
			}
		}
		fmt.Fprintf(&b, `{"sequence":0,"call":%d,"theta":1,"positions":[%s],"tokens":[%s],"log_probabilities":[%s],"pieces":[%s],"masked_again":[%s],"seconds":%d}`+"\n",
			call, strings.Join(positions, ","), strings.Join(tokens, ","), strings.Join(logs, ","), strings.Join(pieces, ","), strings.Join(masked, ","), call)
	}
	return b.String()
}
