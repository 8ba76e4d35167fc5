//go:build unix

package library

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mdmgen/internal/reftest"
)

// stat is a made-up description of a file.
type stat struct {
	fs.FileInfo
	mode     fs.FileMode
	uid, gid uint32
}

func (s stat) Mode() fs.FileMode { return s.mode }
func (s stat) Sys() any          { return &syscall.Stat_t{Uid: s.uid, Gid: s.gid} }

func TestTrustedEntry(t *testing.T) {
	me, mine := uint32(os.Geteuid()), uint32(os.Getegid())
	const someone, theirs = 54321, 54322
	tests := []struct {
		name  string
		info  stat
		above bool
		want  string
	}{
		{"my file", stat{mode: 0o755, uid: me, gid: mine}, false, ""},
		{"root's file", stat{mode: 0o755}, false, ""},
		{"root's file for root's group", stat{mode: 0o775}, false, ""},
		{"somebody's file", stat{mode: 0o755, uid: someone, gid: mine}, false, "belongs to another user (uid 54321)"},
		{"somebody's folder above", stat{mode: fs.ModeDir | 0o755, uid: someone}, true, "belongs to another user"},
		{"somebody's sticky folder above", stat{mode: fs.ModeDir | fs.ModeSticky | 0o777, uid: someone}, true, "belongs to another user"},
		{"for all", stat{mode: 0o757, uid: me, gid: mine}, false, "others can write to /x: run chmod go-w /x"},
		{"for a group", stat{mode: 0o775, uid: me, gid: theirs}, false, "others can write to /x"},
		{"readable for all", stat{mode: 0o755, uid: me, gid: theirs}, false, ""},
		{"a folder for all above", stat{mode: fs.ModeDir | 0o777}, true, "others can write to /x"},
		{"a sticky folder above", stat{mode: fs.ModeDir | fs.ModeSticky | 0o777}, true, ""},
		{"a sticky folder of libraries", stat{mode: fs.ModeDir | fs.ModeSticky | 0o777}, false, "others can write to /x: copy the library"},
	}
	for _, tt := range tests {
		err := trustedEntry("/x", tt.info, tt.above)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestWritableCache checks that nothing is fetched into a folder that everybody can write to.
func TestWritableCache(t *testing.T) {
	cache := fakeMachine(t, map[string]string{"python3": "touch ran"})
	reftest.OK(t, os.Chmod(cache, 0o777))
	_, err := Search{}.Fetch(t.Context(), nil)
	missing(t, err, "others can write to "+cache, "MDMGEN_CACHE")
	if got := left(t, cache); len(got) != 0 {
		t.Errorf("files were left: %v", got)
	}
}

// TestNoPipeForALibrary checks that a pipe is not opened: that would wait for a writer that never
// comes.
func TestNoPipeForALibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	reftest.Fails(t, reftest.Err(probe(path)), "not a regular file")
	// Advice about permissions would be wrong for a device.
	for _, path := range []string{path, os.DevNull} {
		_, _, err := Search{}.findNamed(t.Context(), path, "runtime", nil)
		reftest.Fails(t, err, "not a regular file", path)
	}
}
