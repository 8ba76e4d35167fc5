package app

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/hub"
)

// TestKnownTable checks that docs/models.md has the table of the known repositories.
func TestKnownTable(t *testing.T) {
	page := readAll(t, filepath.Join("..", "..", "..", "docs", "models.md"))
	var table strings.Builder
	if reftest.OK(t, hub.WriteKnown(&table)); !strings.Contains(page, "builtin -->\n"+table.String()+"<!--") {
		t.Error("docs/models.md has another table: run go generate ./builtin")
	}
	// Families of which some published configs were not read.
	unread := []string{"bd3lm", "sdar", "fast-dllm-v2", "sdar-moe", "llada2", "llada-moe", "diffugpt", "diffullama", "nemotron"}
	for _, k := range hub.KnownList() {
		if n, ok := hub.Parse(k.Repo); !ok || n.Repo != k.Repo || k.Parameters == 0 && !slices.Contains(unread, k.Family) || k.Works == "" || k.Checked == "" {
			t.Errorf("%+v", k)
		}
	}
}

// TestKnownOnTerminal checks that a known repository has one line of a terminal.
func TestKnownOnTerminal(t *testing.T) {
	t.Parallel()
	screen := newTerminal(t, "70", "16", "mdmgen list --known").seen("status 0")
	if got := strings.Count(screen, "…\n"); got != len(hub.KnownList())+1 {
		t.Errorf("%d lines end early: %s", got, screen)
	}
}

// TestFamiliesTable checks that docs/families.md has the tables of supported and of rejected
// families.
func TestFamiliesTable(t *testing.T) {
	page := readAll(t, filepath.Join("..", "..", "..", "docs", "families.md"))
	for _, write := range []func(io.Writer) error{checkpoint.WriteFamilies, checkpoint.WriteRefused} {
		var table strings.Builder
		if err := write(&table); err != nil || !strings.Contains(page, "builtin -->\n"+table.String()+"<!--") {
			t.Errorf("docs/families.md has other tables than the program (%v): run go generate ./builtin", err)
		}
	}
}
