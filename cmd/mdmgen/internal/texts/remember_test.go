package texts

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model"
)

// TestRemembered checks that a survey is loaded without reading the text, and that another text or
// cutting has another survey. A survey that took no time is not cached.
func TestRemembered(t *testing.T) {
	t.Setenv("MDMGEN_CACHE", t.TempDir())
	defer func(d time.Duration, n int64) { rememberedFrom, minRemembered = d, n }(rememberedFrom, minRemembered)
	rememberedFrom, minRemembered = 0, 1
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	write := func(text string) {
		t.Helper()
		old := time.Now().Add(-time.Hour)
		reftest.OK(t, os.WriteFile(path, []byte(text), 0o600))
		reftest.OK(t, os.Chtimes(path, old, old))
	}
	reads := 0
	survey := func(length int) *Survey {
		t.Helper()
		reads = 0
		r := &Reader{Cutting: Cutting{Length: length, Frame: "none", Tail: "keep"}, Ctx: t.Context(), Path: path, Command: "test", Facts: model.Facts{Length: 8, Columns: 5, MaskID: 5},
			Check: func(likelihood.Target) error { reads++; return nil }}
		return reftest.Must(r.Survey())(t)
	}
	write(strings.Repeat(`{"ids":[1,2,3,4,1,2]}`+"\n", 20))
	first := survey(4)
	if reads != 40 {
		t.Fatalf("%d windows were read", reads)
	}
	again := survey(4)
	if reads != 0 || again.Windows != 40 || again.Digest != first.Digest || !reflect.DeepEqual(again.Shapes, first.Shapes) || !reflect.DeepEqual(again.Places, first.Places) {
		t.Errorf("%d windows were read again: %+v, want %+v", reads, again, first)
	}
	n := 0
	for w, err := range again.From(13) {
		if err != nil || w.Document != (13+n)/2 {
			t.Fatal(w, err)
		}
		n++
	}
	if n != 27 {
		t.Errorf("%d windows from 13 on", n)
	}
	rememberedFrom = time.Hour
	for range 2 {
		if survey(5); reads != 40 {
			t.Errorf("a survey that takes no time: %d windows were read", reads)
		}
	}
	if s := survey(3); reads != 40 || s.Digest == first.Digest {
		t.Errorf("another length: %d windows were read", reads)
	}
	write(strings.Repeat(`{"ids":[2,2,3,4,1,2]}`+"\n", 20))
	if s := survey(4); reads != 40 || s.Digest == first.Digest {
		t.Errorf("another text: %d windows were read", reads)
	}
}
