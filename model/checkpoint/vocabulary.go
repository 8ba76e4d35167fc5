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

// findWords reads BERT's vocabulary, of tokenizer.json or else of vocab.txt, if there is one: the
// special tokens, which no text contains, the two around every text, and the id of MASK if no other
// file has it.
func (c *Checkpoint) findWords() error {
	if c.Config.Network() != Encoder {
		return nil
	}
	var file struct {
		Model struct{ Vocab map[string]int }
	}
	name := "tokenizer.json"
	text, err := plainfile.ReadFS(c.fsys, name, maxTokenizer)
	if err == nil { // As package tokenize reads it.
		err = plainjson.Plain(text, json.Unmarshal(text, &file))
	}
	ids := file.Model.Vocab
	if errors.Is(err, fs.ErrNotExist) {
		name = wordlist.Name
		if ids, err = wordlist.Read(c.fsys); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
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
	if err == nil {
		err = c.Config.check()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
