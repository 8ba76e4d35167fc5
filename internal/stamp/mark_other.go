//go:build !linux && !darwin

package stamp

import "os"

func markOf(f *os.File) (mark, error) {
	info, err := f.Stat()
	if err != nil {
		return mark{}, err
	}
	return mark{Size: info.Size(), ModTime: info.ModTime().UnixNano()}, nil
}
