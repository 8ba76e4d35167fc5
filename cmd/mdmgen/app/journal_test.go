package app

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/internal/exit"
)

// TestOneFileForTwo checks that no two flags write to one file, under whatever names.
func TestOneFileForTwo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep, link, hard := filepath.Join(dir, "keep.json"), filepath.Join(dir, "link.json"), filepath.Join(dir, "hard.json")
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	writeFile(t, ids, `{"ids":[1,0,1]}`+"\n"+`{"ids":[0,0,1]}`+"\n"+`{"ids":[1,1,1]}`+"\n")
	score := []string{"score", ids, "--model", worldFile(t, "xor3-mixed"), "--draws", "2", "--seed", "7", "--format", "jsonl"}
	bench := []string{"bench", "--model", worldFile(t, "xor3-mixed"), "--case", "tweedie steps=2", "-n", "2", "-r", "1", "--quality", "error=3,nelbo=2",
		"--seed", "7", "--format", "json"}
	mustRun(t, "", append(score[:len(score):len(score)], "--resume", keep)...)
	whole := []byte(readAll(t, keep))
	if os.Symlink(keep, link) != nil || os.Link(keep, hard) != nil {
		t.Skip("no links here")
	}
	alias := filepath.Join(dir, "alias")
	if err := os.Symlink(dir, alias); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{keep, link, hard, dir + "/./keep.json", filepath.Join(alias, "keep.json")} {
		refused(t, exit.Usage, "the same file", slices.Concat(score, []string{"--resume", keep, "-o", name})...)
	}
	// If there is no file yet, names are compared.
	fresh := filepath.Join(dir, "new.json")
	for _, name := range []string{fresh, dir + "/./new.json", filepath.Join(alias, "new.json")} {
		refused(t, exit.Usage, "the same file", slices.Concat(score, []string{"--resume", fresh, "-o", name})...)
		refused(t, exit.Usage, "the same file", slices.Concat(bench, []string{"--html", fresh, "-o", name})...)
	}
	if now, err := os.ReadFile(keep); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the journal was changed: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 4 {
		t.Errorf("the folder holds %v", entries)
	}
}
