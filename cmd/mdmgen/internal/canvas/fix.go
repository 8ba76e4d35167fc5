package canvas

import (
	"fmt"
	"strconv"
	"strings"
)

// Fix puts texts at positions of a canvas that are masked there, each "POSITION:TEXT" with
// positions counted from 0.
func (l *Layout) Fix(canvas []int, fixes []string) error {
	for _, fix := range fixes {
		where, text, _ := strings.Cut(fix, ":")
		at, err := strconv.Atoi(where)
		if err != nil || at < 0 || text == "" {
			return fmt.Errorf("--fix %.40q: write POSITION:TEXT, such as 3:king, positions being counted from 0", fix)
		}
		ids, err := l.IDs(text)
		if err != nil {
			return fmt.Errorf("--fix %.40q: %w", fix, err)
		}
		if at >= len(canvas) || at+len(ids) > len(canvas) {
			return fmt.Errorf("--fix %.40q: it ends at position %d, and the canvas at %d: raise --length", fix, at+len(ids)-1, len(canvas)-1)
		}
		for i, id := range ids {
			if canvas[at+i] != l.Facts.MaskID {
				return fmt.Errorf("--fix %.40q: something is given at position %d already: choose another", fix, at+i)
			}
			canvas[at+i] = id
		}
	}
	return nil
}
