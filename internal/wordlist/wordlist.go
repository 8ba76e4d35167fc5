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

// Read returns the ids of the tokens in the vocab.txt of a folder. Python packages may keep it in the
// folder that contains dir, whose vocab.txt is read if it has as many tokens as config.json says; dir
// is "" for a folder that nothing contains. Of equal tokens the last counts, as for BERT's authors. The
// error satisfies errors.Is(err, fs.ErrNotExist) if there is no file.
func Read(folder fs.FS, dir string) (ids map[string]int, path string, err error) {
	ids, _, err = read(folder)
	if !errors.Is(err, fs.ErrNotExist) || dir == "" {
		return ids, filepath.Join(dir, Name), err
	}
	var config struct {
		Size int `json:"vocab_size"`
	}
	if text, cerr := plainfile.ReadFS(folder, "config.json", 1<<20); cerr != nil || plainjson.Unmarshal(text, &config) != nil {
		return nil, Name, err
	}
	above := filepath.Join(dir, "..")
	ids, lines, err := read(plainfile.Folder(above))
	if err == nil && lines != config.Size {
		ids, err = nil, fs.ErrNotExist // another model's
	}
	return ids, filepath.Join(above, Name), err
}

func read(folder fs.FS) (ids map[string]int, lines int, err error) {
	text, err := plainfile.ReadFS(folder, Name, maxFile)
	if err != nil {
		return nil, 0, err
	}
	ids = make(map[string]int)
	for line := range strings.Lines(string(text)) {
		if token := strings.TrimRight(line, "\r\n"); token != "" {
			ids[token] = lines
		}
		lines++
	}
	if len(ids) == 0 {
		return nil, 0, errors.New("has no tokens")
	}
	return ids, lines, nil
}
