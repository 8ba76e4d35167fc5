package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
	"mdmgen/internal/wordlist"
	"mdmgen/model/facts"
)

// findWords reads BERT's vocabulary, if there is one: the special tokens, which no text contains, the
// two around every text, and the id of MASK if no other file has it.
func (c *Checkpoint) findWords() error {
	if c.Config.Network() != Encoder {
		return nil
	}
	ids, name, err := c.words()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if id, ok := ids["[MASK]"]; ok && c.Config.MaskID == facts.Unknown {
		c.Config.MaskID = id
	}
	for token, id := range ids {
		if wordlist.Special(token) && id != c.Config.MaskID && 0 <= id && id < c.Config.Columns {
			c.special = append(c.special, id)
		}
	}
	slices.Sort(c.special)
	begin, ok := ids["[CLS]"]
	if end, both := ids["[SEP]"]; ok && both {
		c.frame = []int{begin, end}
	}
	if err := c.Config.check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// words returns the ids of the tokens in tokenizer.json, or else in vocab.txt, and the file's name;
// none if there is neither.
func (c *Checkpoint) words() (map[string]int, string, error) {
	var file struct {
		Model struct {
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	name := "tokenizer.json"
	text, err := plainfile.ReadFS(c.fsys, name, maxTokenizer)
	if err == nil { // As package tokenize reads it.
		err = plainjson.Plain(text, json.Unmarshal(text, &file))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return file.Model.Vocab, name, err
	}
	read, err := wordlist.Read(c.fsys, c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	c.vocabulary = read.Folder
	return read.IDs, read.Path, err
}
