package library

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/reftest"
	"mdmgen/internal/stamp/stamptest"
)

// TestFetchOnce fetches from several goroutines: one does so, the others use its result.
func TestFetchOnce(t *testing.T) {
	b, data := here(t), []byte(libraryBytes)
	wheel := smallWheel(t, b.library())
	count := filepath.Join(t.TempDir(), "count")
	cache := fakeMachine(t, map[string]string{"python3": deliver(wheel) + "\necho once >> '" + count + "'"})
	pinned(t, b, wheel, data)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			l, err := Search{}.Fetch(t.Context(), nil)
			if err != nil {
				t.Errorf("fetch: %+v, %v", l, err)
			} else if got, err := os.ReadFile(l.Path); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: not the library: %v", l.Path, err)
			}
		})
	}
	wait.Wait()
	if runs, err := os.ReadFile(count); err != nil || string(runs) != "once\n" {
		t.Errorf("the client ran %q, %v", runs, err)
	}
	// A library that differs from the one fetched is replaced, once, with one notice.
	path := filepath.Join(cache, "runtime", b.folder(), filepath.Base(b.library()))
	reftest.OK(t, os.WriteFile(path, append(data[:len(data)-1:len(data)-1], ^data[len(data)-1]), 0o755))
	var mutex sync.Mutex
	var log []string
	for range 4 {
		wait.Go(func() {
			search := Search{Log: func(line string) {
				mutex.Lock()
				defer mutex.Unlock()
				log = append(log, line)
			}}
			found, tried, err := search.Find(t.Context(), nil, true)
			if found == nil && err == nil {
				found, err = search.Fetch(t.Context(), tried)
			}
			if err != nil || found.Path != path {
				t.Errorf("a damaged library: %+v, %v", found, err)
			}
		})
	}
	wait.Wait()
	if runs, _ := os.ReadFile(count); string(runs) != "once\nonce\n" {
		t.Errorf("the client ran %q", runs)
	}
	if len(log) != 1 || !strings.HasSuffix(log[0], ", in place of a damaged one") {
		t.Errorf("notices: %q", log)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
		t.Errorf("the library was not made again: %v", err)
	}
}

// TestDoctorReadsTheLibrary checks that a remembered digest is trusted, except in a full check.
func TestDoctorReadsTheLibrary(t *testing.T) {
	cache := fakeMachine(t, nil)
	path := reftest.Data(t, "foreign/bert.onnx") // a file that was just changed is not remembered
	library := read(t, path)
	pinned(t, here(t), "", library)
	reftest.Must(publishedSum(t.Context(), path, cachedir.Stamps(false)))(t)
	if n := stamptest.Forge(t, filepath.Join(cache, "stamps"), strings.Repeat("0", 64)); n != 1 {
		t.Fatalf("%d digests are remembered", n)
	}
	if _, err := publishedSum(t.Context(), path, cachedir.Stamps(false)); !errors.Is(err, errDamaged) {
		t.Errorf("the library is read each time: %v", err)
	}
	reftest.Must(publishedSum(t.Context(), path, cachedir.Stamps(true)))(t, "a full check believes what is remembered")
}

// TestSweepLater checks that searching the cache removes what a killed process left, except during
// a fetch.
func TestSweepLater(t *testing.T) {
	cache := fakeMachine(t, nil)
	root := filepath.Join(cache, "runtime")
	half := filepath.Join(root, ".fetch-1234", "half.whl")
	reftest.OK(t, os.MkdirAll(filepath.Dir(half), 0o755))
	reftest.OK(t, os.WriteFile(half, []byte("half"), 0o644))
	lock := reftest.Must(lockfile.Try(filepath.Join(root, lockName)))(t)
	search := func() {
		t.Helper()
		if _, _, err := (Search{Offline: true}).Find(t.Context(), nil, true); err != nil {
			t.Fatal(err)
		}
	}
	search()
	if got := left(t, cache); len(got) != 1 {
		t.Errorf("during a fetch: %v", got)
	}
	reftest.OK(t, lock.Release())
	search()
	if got := left(t, cache); len(got) != 0 {
		t.Errorf("files were left: %v", got)
	}
}
