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

var special = regexp.MustCompile(`^\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]$`)

// Special reports whether BERT uses a token for something other than text.
func Special(token string) bool { return special.MatchString(token) }

// Folder is a [plainfile.Folder] that also has the vocab.txt of the folder that contains it, where
// Python packages may keep it, if that has as many tokens as config.json says.
type Folder string

// Open implements [fs.FS].
func (d Folder) Open(name string) (fs.File, error) {
	f, err := plainfile.Folder(d).Open(name)
	if name != Name || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	var config struct {
		Size int `json:"vocab_size"`
	}
	above := plainfile.Folder(filepath.Join(string(d), ".."))
	cerr := plainjson.ReadFS(plainfile.Folder(d), "config.json", 1<<20, &config)
	if _, lines, aerr := read(above); aerr != nil || cerr != nil || lines != config.Size {
		return nil, err
	}
	return above.Open(name)
}

// Read returns the ids of the tokens in the vocab.txt of a folder. Of equal tokens the last counts, as
// for BERT's authors. The error satisfies errors.Is(err, fs.ErrNotExist) if there is no file.
func Read(folder fs.FS) (map[string]int, error) {
	ids, _, err := read(folder)
	return ids, err
}

func read(folder fs.FS) (ids map[string]int, lines int, err error) {
	text, err := plainfile.ReadFS(folder, Name, maxFile)
	ids = make(map[string]int)
	for line := range strings.Lines(string(text)) {
		if token := strings.TrimRight(line, "\r\n"); token != "" {
			ids[token] = lines
		}
		lines++
	}
	if err == nil && len(ids) == 0 {
		err = errors.New("has no tokens")
	}
	return ids, lines, err
}
