// Package wordlist reads vocab.txt, the vocabulary of BERT's checkpoints of before 2020.
package wordlist

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

// Name is the name of the file. It holds a token on each line, whose number from 0 on is its id.
const Name = "vocab.txt"

const maxFile = 64 << 20 // bytes; the largest published ones have 2 MB

// special matches the tokens of BERT that are not text.
var special = regexp.MustCompile(`^\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]$`)

// Special reports whether BERT uses a token for something other than text.
func Special(token string) bool { return special.MatchString(token) }

// Words are the tokens of a file.
type Words struct {
	IDs map[string]int
	// Folder holds the file, whose path is Path.
	Folder fs.FS
	Path   string
}

// Read reads the vocab.txt of a folder. Python packages may keep it in the folder that contains dir,
// whose vocab.txt is read if it has as many tokens as config.json says; dir is "" for a folder that
// nothing contains. Of equal tokens the last counts, as for BERT's authors. The error satisfies
// errors.Is(err, fs.ErrNotExist) if there is no file.
func Read(folder fs.FS, dir string) (Words, error) {
	w := Words{Folder: folder, Path: filepath.Join(dir, Name)}
	_, err := w.read()
	if !errors.Is(err, fs.ErrNotExist) || dir == "" {
		return w, err
	}
	var config struct {
		Size int `json:"vocab_size"`
	}
	if text, cerr := plainfile.ReadFS(folder, "config.json", 1<<20); cerr != nil || plainjson.Unmarshal(text, &config) != nil {
		return w, err
	}
	above := filepath.Join(dir, "..")
	w = Words{Folder: plainfile.Folder(above), Path: filepath.Join(above, Name)}
	lines, err := w.read()
	if err == nil && lines != config.Size {
		return Words{}, fs.ErrNotExist // another model's
	}
	return w, err
}

// read returns the number of lines.
func (w *Words) read() (lines int, err error) {
	text, err := plainfile.ReadFS(w.Folder, Name, maxFile)
	if err != nil {
		return 0, err
	}
	w.IDs = make(map[string]int)
	for line := range strings.Lines(string(text)) {
		if token := strings.TrimRight(line, "\r\n"); token != "" {
			w.IDs[token] = lines
		}
		lines++
	}
	if len(w.IDs) == 0 {
		return 0, errors.New("has no tokens")
	}
	return lines, nil
}
