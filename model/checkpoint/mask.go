package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

// maskNames are the names of MASK in tokenizers, in order of preference, for models without any
// other statement of its id.
var maskNames = []string{"<|mask|>", "<|mdm_mask|>", "[MASK]", "<mask>", "<|MASK|>", "|<MASK>|", "<M>"}

// maskFiles are the files next to config.json that may contain the id of MASK, in order of
// preference. read returns nil if a file has none.
var maskFiles = []struct {
	name string
	read func(text []byte) (*int, error)
}{
	{"generation_config.json", func(text []byte) (*int, error) {
		var f struct {
			MaskTokenID *int `json:"mask_token_id"`
		}
		err := plainjson.Unmarshal(text, &f)
		return f.MaskTokenID, err
	}},
	{"tokenizer.json", func(text []byte) (*int, error) {
		var f struct {
			Added []addedToken `json:"added_tokens"`
		}
		err := json.Unmarshal(text, &f)
		return maskAmong(f.Added, ""), plainjson.Plain(text, err)
	}},
	{"added_tokens.json", func(text []byte) (*int, error) {
		var f map[string]int
		err := plainjson.Unmarshal(text, &f)
		var added []addedToken
		for content, id := range f {
			added = append(added, addedToken{id, content})
		}
		return maskAmong(added, ""), err
	}},
	{"tokenizer_config.json", func(text []byte) (*int, error) {
		var f struct {
			Added map[int]addedToken `json:"added_tokens_decoder"`
			Mask  any                `json:"mask_token"`
		}
		err := plainjson.Unmarshal(text, &f)
		var added []addedToken
		for id, t := range f.Added {
			added = append(added, addedToken{id, t.Content})
		}
		name, _ := f.Mask.(string)
		if m, ok := f.Mask.(map[string]any); ok {
			name, _ = m["content"].(string)
		}
		return maskAmong(added, name), err
	}},
}

// maxTokenizer is the maximum size of such a file in bytes.
const maxTokenizer = 256 << 20

// addedToken is a token added to a tokenizer's own.
type addedToken struct {
	ID      int    `json:"id"`
	Content string `json:"content"`
}

// maskAmong returns the id of MASK among added tokens: that of name, if it is among them, else of
// the first of maskNames.
func maskAmong(added []addedToken, name string) *int {
	slices.SortFunc(added, func(a, b addedToken) int { return cmp.Compare(a.ID, b.ID) })
	for _, name := range append([]string{name}, maskNames...) {
		if i := slices.IndexFunc(added, func(t addedToken) bool { return t.Content == name && name != "" }); i >= 0 {
			return &added[i].ID
		}
	}
	return nil
}

// findMask looks for the id of MASK if config.json has none. The file that contains it becomes part
// of the digest.
func (c *Checkpoint) findMask() error {
	for _, f := range maskFiles {
		if c.Config.MaskID != facts.Unknown {
			return nil
		}
		text, err := plainfile.ReadFS(c.fsys, f.name, maxTokenizer)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var id *int
		if err == nil {
			id, err = f.read(text)
		}
		if err == nil && id != nil {
			c.Config.MaskID = *id
			c.digests = append(c.digests, f.name)
			err = c.Config.check()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// untold returns the facts that the files do not state, each with an explanation.
func (c *Checkpoint) untold() map[string]string {
	out := map[string]string{}
	if c.Config.MaskID == facts.Unknown {
		why := "neither config.json nor " + maskFiles[0].name + " has a mask_token_id, and no added token of " +
			"tokenizer.json, added_tokens.json or tokenizer_config.json is called " + strings.Join(maskNames, ", ")
		if c.Config.Shift == Untold {
			why += "; a causal language model, which has none, is not read"
		}
		out["mask_id"] = why + ": give --set fact=mask_id=ID"
	}
	if c.Config.Shift == Untold {
		out["shift"] = "config.json names the class of a causal language model, whose networks are trained for diffusion with position i predicting token i+1 or token i: give --set fact=shift=true or --set fact=shift=false"
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
