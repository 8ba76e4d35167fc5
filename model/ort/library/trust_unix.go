//go:build unix

package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"mdmgen/internal/plainfile"
)

// trusted returns nil for a file, or a folder for files, that nobody but this user and root can
// change: the file, its folder and all folders above, once links are followed, belong to one of the
// two and cannot be written by others. A folder with the sticky bit, such as /tmp, may be writable
// by all if it is above the folder that holds the files, since only their owners can remove its
// entries. The error is one line that names the path and the remedy.
func trusted(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return plainfile.Cause(err)
	}
	holder := filepath.Dir(real)
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return plainfile.Cause(err)
		}
		if at == real && info.IsDir() {
			holder = real
		}
		if err := trustedEntry(at, info, len(at) < len(holder)); err != nil {
			return err
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// trustedEntry checks one step of a path; above means that it is a folder above the one that holds
// the files.
func trustedEntry(path string, info fs.FileInfo, above bool) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("its owner is not known")
	}
	if uid := int(st.Uid); uid != 0 && uid != os.Geteuid() && !(above && unmapped(uid)) {
		return fmt.Errorf("%s belongs to another user (uid %d), who could change it: copy the library into a folder of your own", path, uid)
	}
	if above && info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	if perm := info.Mode().Perm(); perm&0o002 != 0 || perm&0o020 != 0 && !ownGroup(int(st.Gid)) {
		if info.Mode()&fs.ModeSticky != 0 {
			// The folder is meant to be writable by others.
			return fmt.Errorf("others can write to %s: copy the library into a folder of your own", path)
		}
		return fmt.Errorf("others can write to %s: run chmod go-w %s, or copy the library into a folder of your own", path, path)
	}
	return nil
}

// ownGroup reports whether a group contains only this user and administrators: root's, on macOS the
// administrators', who own what Homebrew installs, and the group of the user's own name that many
// systems create for each user.
func ownGroup(gid int) bool {
	if gid == 0 || runtime.GOOS == "darwin" && gid == 80 {
		return true
	}
	me, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil || me.Gid != strconv.Itoa(gid) {
		return false
	}
	group, err := user.LookupGroupId(me.Gid)
	return err == nil && group.Name == me.Username
}

// unmapped reports whether an owner is invisible to this process because it runs in a user
// namespace: root's folders then seem to belong to nobody.
func unmapped(uid int) bool {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(overflow)) != strconv.Itoa(uid) {
		return false
	}
	m, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(m)), " ") != "0 0 4294967295"
}
