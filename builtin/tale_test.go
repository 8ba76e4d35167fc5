package builtin_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"mdmgen/builtin"
	"mdmgen/model/ort/orttest"
	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

func tale(ctx context.Context, beginning string) (string, error) {
	m, err := builtin.Open(ctx)
	if err != nil {
		return "", err
	}
	defer m.Close()
	given, err := m.Tokenizer().Encode(beginning)
	if err != nil {
		return "", err
	}
	canvas := append(given, slices.Repeat([]int{m.Spec().Mask}, 32)...)
	ids, err := samplers.Fill(ctx, m, canvas, plan.NewFHS(0), 1)
	if err != nil {
		return "", err
	}
	return m.Tokenizer().Decode(ids)
}

// TestTale: the code that docs/go.md shows writes a text that begins as it was begun.
func TestTale(t *testing.T) {
	const beginning = "Once upon a time"
	text, err := tale(t.Context(), beginning)
	orttest.Need(t, err)
	if err != nil || !strings.HasPrefix(text, beginning) || len(text) < len(beginning)+32 {
		t.Errorf("%q, %v", text, err)
	}
	page, err := os.ReadFile("../docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("tale_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\nfunc tale(")
	shown, _, _ = strings.Cut(shown, "```")
	if shown == "" || !strings.Contains(string(code), "func tale("+shown) {
		t.Error("docs/go.md shows other code")
	}
}
