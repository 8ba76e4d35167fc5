package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/journal"
)

// journals are command lines that keep a journal and take milliseconds, with what makes two
// equal runs print the same.
func journals(t testing.TB) map[string]struct {
	args  []string
	plain func(string) string
} {
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	writeFile(t, ids, `{"ids":[1,0,1]}`+"\n"+`{"ids":[0,0,1]}`+"\n"+`{"ids":[1,1,1]}`+"\n")
	return map[string]struct {
		args  []string
		plain func(string) string
	}{
		"score": {[]string{"score", ids, "--model", worldFile(t, "xor3-mixed"), "--draws", "2", "--seed", "7", "--format", "jsonl"}, unclocked},
		"bench": {[]string{"bench", "--model", worldFile(t, "xor3-mixed"), "--case", "tweedie steps=2", "-n", "2", "-r", "1", "--quality", "error,nelbo", "--error-samples", "3",
			"--draws", "2", "--seed", "7", "--format", "json"}, unmeasured},
	}
}

// TestEveryByteOfAJournal edits the journals of real runs, a byte at a time: the run that
// would go on refuses the file and leaves it as it is, or it was the end of its last line, and
// the results are those of an undisturbed run. Every fifth place is
// tried on the reader, whose own test tries all, and some on the whole command.
func TestEveryByteOfAJournal(t *testing.T) {
	for name, c := range journals(t) {
		t.Run(name, func(t *testing.T) {
			keep := filepath.Join(t.TempDir(), "keep.jsonl")
			args := append(c.args[:len(c.args):len(c.args)], "--resume", keep)
			want := c.plain(mustRun(t, "", args...))
			whole, err := os.ReadFile(keep)
			if err != nil {
				t.Fatal(err)
			}
			schema := map[string]string{"score": resumeSchema, "bench": benchResumeSchema}[name]
			last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
			for at := range whole {
				if at%5 > 0 && at < len(whole)-10 {
					continue
				}
				for kind, edited := range map[string][]byte{
					"changed":   slices.Concat(whole[:at], []byte{whole[at] ^ 1}, whole[at+1:]),
					"put in":    slices.Concat(whole[:at], []byte{'0'}, whole[at:]),
					"taken out": slices.Concat(whole[:at], whole[at+1:]),
				} {
					if bytes.Equal(edited, whole) {
						continue
					}
					if err := os.WriteFile(keep, edited, 0o644); err != nil {
						t.Fatal(err)
					}
					j, err := journal.Open(keep, schema)
					if err == nil {
						err = j.Records(func(json.RawMessage) error { return nil })
					}
					j.Close()
					// What has no end counts for nothing.
					unended := edited[len(edited)-1] != '\n' && bytes.HasPrefix(edited, whole[:last])
					if (err == nil) != unended {
						t.Fatalf("byte %d %s: %v", at, kind, err)
					}
					if at%65 > 0 && !unended {
						continue
					}
					stdout, stderr, code := runCommand(t, "", args...)
					if unended {
						if code != exitOK || c.plain(stdout) != want {
							t.Errorf("byte %d %s: exit status %d: %s%.300s", at, kind, code, stderr, stdout)
						}
						continue
					}
					line := 1 + bytes.Count(whole[:at], []byte("\n"))
					if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, fmt.Sprintf("mdmgen: --resume %s:%d: ", keep, line)) {
						t.Errorf("byte %d %s in line %d: exit status %d: %s", at, kind, line, code, stderr)
					}
					if now, err := os.ReadFile(keep); err != nil || !bytes.Equal(now, edited) {
						t.Errorf("byte %d %s: the file was changed: %v", at, kind, err)
					}
				}
			}
		})
	}
}

// TestOldJournal: a file of the layout before is refused in a line that says what to do.
func TestOldJournal(t *testing.T) {
	for name, c := range journals(t) {
		keep := filepath.Join(t.TempDir(), "keep.jsonl")
		writeFile(t, keep, fmt.Sprintf(`{"schema":"mdmgen.%s-resume/1","version":"(devel)","seed":7,"settings":{}}`+"\n", name))
		stdout, stderr, code := runCommand(t, "", append(c.args, "--resume", keep)...)
		if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "remove it") {
			t.Errorf("%s: exit status %d: %s", name, code, stderr)
		}
	}
}

// TestOneFileForTwo: no two flags write to one file, whatever they call it.
func TestOneFileForTwo(t *testing.T) {
	dir := t.TempDir()
	keep, link, hard, ahead := filepath.Join(dir, "keep.json"), filepath.Join(dir, "link.json"), filepath.Join(dir, "hard.json"), filepath.Join(dir, "ahead.json")
	all := journals(t)
	score, bench := all["score"].args, all["bench"].args
	mustRun(t, "", append(score[:len(score):len(score)], "--resume", keep)...)
	whole, err := os.ReadFile(keep)
	if err != nil {
		t.Fatal(err)
	}
	if os.Symlink(keep, link) != nil || os.Link(keep, hard) != nil || os.Symlink("new.json", ahead) != nil {
		t.Skip("no links here")
	}
	alias := filepath.Join(dir, "alias")
	if err := os.Symlink(dir, alias); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{keep, link, hard, dir + "/./keep.json", filepath.Join(alias, "keep.json")} {
		for _, flags := range [][]string{{"-o", name}, {"--profile", name}} {
			if _, stderr, code := runCommand(t, "", slices.Concat(score, []string{"--resume", keep}, flags)...); code != exitUsage || !strings.Contains(stderr, "the same file") {
				t.Errorf("score %v: exit status %d: %s", flags, code, stderr)
			}
		}
		for _, flags := range [][]string{{"-o", name}, {"-o", "csv:" + name}, {"--html", name}} {
			if _, stderr, code := runCommand(t, "", slices.Concat(bench, []string{"--resume", keep}, flags)...); code != exitUsage || !strings.Contains(stderr, "the same file") {
				t.Errorf("bench %v: exit status %d: %s", flags, code, stderr)
			}
		}
	}
	// Where there is no file yet, names tell.
	fresh := filepath.Join(dir, "new.json")
	for _, name := range []string{fresh, dir + "/./new.json", filepath.Join(alias, "new.json"), ahead} {
		if _, stderr, code := runCommand(t, "", slices.Concat(bench, []string{"--resume", fresh, "-o", name})...); code != exitUsage || !strings.Contains(stderr, "the same file") {
			t.Errorf("bench -o %s: exit status %d: %s", name, code, stderr)
		}
		if _, stderr, code := runCommand(t, "", slices.Concat(bench, []string{"--html", fresh, "-o", name})...); code != exitUsage || !strings.Contains(stderr, "the same file") {
			t.Errorf("bench --html, -o %s: exit status %d: %s", name, code, stderr)
		}
	}
	if now, err := os.ReadFile(keep); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the journal was changed: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 5 {
		t.Errorf("the folder holds %v", entries)
	}
}
