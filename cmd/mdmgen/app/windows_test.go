package app

import (
	"strings"
	"testing"
)

// TestAutoCache checks that auto is the window that schedule found for the model, and the cheapest
// if any window is within the target.
func TestAutoCache(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	out, stderr, code := runCommand(t, "", "schedule", "--cache", "--target-kl-per-token", "9", "--length", "12", "--model", tinyModel)
	if code != 0 || !strings.Contains(out, "--cache window:0/16") || !strings.Contains(stderr, "kept as ") {
		t.Fatalf("exit status %d: %s%s", code, out, stderr)
	}
	if other := mustRun(t, "", "schedule", "--cache", "--target-kl-per-token", "9", "--seed", "4", "--length", "12", "--model", tinyModel); other == out || !strings.Contains(other, "--cache window:0/16") {
		t.Errorf("with another seed: %s", other)
	}
	if _, stderr, code := runCommand(t, "", "generate", "--cache", "auto", "--length", "12", "--model", tinyModel, "--format", "ids"); code != 0 || !strings.Contains(stderr, "auto is window:0/16, found for this model") {
		t.Errorf("exit status %d: %s", code, stderr)
	}
	if out, stderr, code := runCommand(t, "", "bench", "--case", "fhs cache=auto", "--length", "12", "-n", "1", "-r", "1", "--model", tinyModel); code != 0 || !strings.Contains(out, "cache=window:0/16") {
		t.Errorf("exit status %d: %s%s", code, out, stderr)
	}
	if _, stderr, code := runCommand(t, "", "schedule", "--cache", "--target-kl-per-token", "1e-300", "--seed", "4", "--confidence", "0.9", "--length", "12", "--model", tinyModel); code != 1 || !strings.Contains(stderr, "no window loses") {
		t.Errorf("exit status %d: %s", code, stderr)
	}
}
