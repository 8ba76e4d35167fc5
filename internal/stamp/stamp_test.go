package stamp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/internal/stamp"
	"mdmgen/internal/stamp/stamptest"
)

func hexOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// age advances a test's clock, see [synctest.Test], until the digest of a newly written file is cached.
func age(t *testing.T, path string) {
	t.Helper()
	time.Sleep(time.Until(reftest.Must(os.Stat(path))(t).ModTime()) + 2100*time.Millisecond)
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testSHA256)
}

func testSHA256(t *testing.T) {
	dir := t.TempDir()
	path, store := filepath.Join(dir, "weights"), filepath.Join(dir, "stamps")
	s := stamp.Store{Dir: store}
	ctx := context.Background()
	get := func(s stamp.Store) string {
		t.Helper()
		return reftest.Must(s.SHA256(ctx, path))(t)
	}
	reftest.OK(t, os.WriteFile(path, []byte("old bytes"), 0o600))
	if got := get(s); got != hexOf("old bytes") {
		t.Fatalf("digest %s", got)
	}
	if n := stamptest.Forge(t, store, ""); n != 0 {
		t.Fatalf("%d entries for a file that was just written: an edit within the clock's step would go unseen", n)
	}
	age(t, path)
	if got := get(s); got != hexOf("old bytes") {
		t.Fatalf("digest %s", got)
	}
	forged := strings.Repeat("f", 64)
	if n := stamptest.Forge(t, store, forged); n != 1 {
		t.Fatalf("%d entries, want 1", n)
	}
	if got := get(s); got != forged {
		t.Errorf("an unchanged file was read again")
	}
	if got := get(stamp.Store{Dir: store, Full: true}); got != hexOf("old bytes") {
		t.Errorf("a full check believed the store")
	}
	stamptest.Forge(t, store, "no digest")
	if got := get(s); got != hexOf("old bytes") {
		t.Errorf("a damaged entry gave %s", got)
	}
	// An edit of the same size with the modification time restored.
	info := reftest.Must(os.Stat(path))(t)
	reftest.OK(t, os.WriteFile(path, []byte("new bytes"), 0o600))
	reftest.OK(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	if got := get(s); runtime.GOOS != "windows" && got != hexOf("new bytes") {
		t.Errorf("an edit that keeps size and modification time was not seen")
	}
}

func TestSHA256EndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	reftest.OK(t, os.WriteFile(path, []byte("x"), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (stamp.Store{}).SHA256(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// An entry with a changed, added or missing byte, or under another key's name, is none.
func TestChangedEntry(t *testing.T) {
	t.Parallel()
	s := stamp.Store{Dir: t.TempDir()}
	s.Save("key", []int{10, 20, 30})
	name := reftest.Must(filepath.Glob(filepath.Join(s.Dir, "*")))(t)[0]
	whole := reftest.Must(os.ReadFile(name))(t)
	load := func(key string, data []byte) bool {
		reftest.OK(t, os.WriteFile(name, data, 0o600))
		return s.Load(key, new([]int))
	}
	if !load("key", whole) {
		t.Fatal("the entry does not load")
	}
	for i := range whole {
		for bit := range 8 {
			changed := bytes.Clone(whole)
			changed[i] ^= 1 << bit
			if load("key", changed) {
				t.Errorf("loads with bit %d of byte %d changed", bit, i)
			}
		}
		if load("key", whole[:i]) || load("key", append(bytes.Clone(whole), whole[i])) {
			t.Errorf("loads with %d bytes, or one more", i)
		}
	}
	s.Save("other", []int{1})
	for _, path := range reftest.Must(filepath.Glob(filepath.Join(s.Dir, "*")))(t) {
		reftest.OK(t, os.WriteFile(path, whole, 0o600))
	}
	if s.Load("other", new([]int)) {
		t.Error("the entry of another key loads")
	}
}
