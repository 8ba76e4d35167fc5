//go:build linux || darwin

package sysinfo

import "syscall"

// Disk returns the number of bytes that this user may write to the file system of a folder, which
// need not exist yet. It returns false if the number is unknown.
func Disk(dir string) (uint64, bool) {
	var s syscall.Statfs_t
	err := syscall.Statfs(Existing(dir), &s)
	return s.Bavail * uint64(s.Bsize), err == nil
}

// Files returns the number of files that the process may have open, 0 if it is unknown.
func Files() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
