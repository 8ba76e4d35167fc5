package stamp

import (
	"os"
	"syscall"
)

func markOf(f *os.File) (mark, error) {
	info, err := f.Stat()
	if err != nil {
		return mark{}, err
	}
	m := mark{Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		m.Change, m.Device, m.Inode = syscall.TimespecToNsec(st.Ctim), uint64(st.Dev), st.Ino
	}
	return m, nil
}
