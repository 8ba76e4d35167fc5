package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
	"mdmgen/internal/wordlist"
	"mdmgen/model/facts"
)

// findWords reads BERT's vocabulary, of tokenizer.json or else of vocab.txt, if there is one: the
// special tokens, which no text contains, the two around every text, and the id of MASK if no other
// file has it. The second of the two ends answers, too, if there is a chat template.
func (c *Checkpoint) findWords() error {
	if n := c.Config.Network(); n != Encoder && n != Modern {
		return nil
	}
	var file struct {
		Model struct{ Vocab map[string]int }
		Added []addedToken `json:"added_tokens"`
	}
	name := "tokenizer.json"
	text, err := plainfile.ReadFS(c.fsys, name, maxTokenizer)
	if err == nil { // As package tokenize reads it.
		err = plainjson.Plain(text, json.Unmarshal(text, &file))
	}
	ids := make(map[string]int)
	maps.Copy(ids, file.Model.Vocab)
	for _, t := range file.Added {
		ids[t.Content] = t.ID
	}
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
		if wordlist.Special(token) && (token != "[SEP]" || !c.chats()) && id != c.Config.MaskID && 0 <= id && id < c.Config.Columns {
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

// chats reports whether a chat template is among the files.
func (c *Checkpoint) chats() bool {
	var config struct {
		Template any `json:"chat_template"`
	}
	_ = plainjson.ReadFS(c.fsys, "tokenizer_config.json", maxJSON, &config) // Whoever needs it reports faults.
	_, err := fs.Stat(c.fsys, "chat_template.jinja")
	return err == nil || config.Template != nil
}
