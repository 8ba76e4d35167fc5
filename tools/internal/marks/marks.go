// Package marks updates the generated parts of pages.
package marks

import (
	"bytes"
	"log"
	"os"
	"slices"

	"mdmgen/tools/internal/fatal"
)

// Replace puts a text between the marks of a name on a page; by is the command that generates it.
func Replace(page, name, by string, text []byte) {
	old := fatal.Must(os.ReadFile(page))
	begin, end := []byte("<!-- "+name+": written by "+by+" -->\n"), []byte("<!-- end of "+name+" -->")
	before, rest, ok := bytes.Cut(old, begin)
	_, after, ok2 := bytes.Cut(rest, end)
	if !ok || !ok2 {
		log.Fatalf("%s: the marks of %q are missing", page, name)
	}
	fatal.Check(os.WriteFile(page, slices.Concat(before, begin, text, end, after), 0o644))
}
