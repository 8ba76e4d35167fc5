package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

// maskNames are the names of MASK in tokenizers, in order of preference, for models without any
// other statement of its id.
var maskNames = []string{"<|mask|>", "<|mdm_mask|>", "[MASK]", "<mask>", "<|MASK|>", "|<MASK>|", "<M>"}

// maskFiles are the files beside config.json that may give the id of MASK, in this order.
var maskFiles = []string{"generation_config.json", "tokenizer.json", addedFile, "tokenizer_config.json"}

// addedFile has nothing but added tokens, with their ids.
const addedFile = "added_tokens.json"

// maskFile is what is read of the others.
type maskFile struct {
	MaskTokenID *int               `json:"mask_token_id"`
	Added       []addedToken       `json:"added_tokens"`
	ByID        map[int]addedToken `json:"added_tokens_decoder"`
	Mask        any                `json:"mask_token"`
}

// maskIn returns the id of MASK that a file gives, nil where it has none.
func maskIn(name string, text []byte) (*int, error) {
	var f maskFile
	var ids map[string]int
	var err error
	switch name {
	case addedFile:
		err = plainjson.Unmarshal(text, &ids)
	case "tokenizer.json": // As package tokenize reads it.
		err = plainjson.Plain(text, json.Unmarshal(text, &f))
	default:
		err = plainjson.Unmarshal(text, &f)
	}
	for content, id := range ids {
		f.Added = append(f.Added, addedToken{id, content})
	}
	for id, t := range f.ByID {
		f.Added = append(f.Added, addedToken{id, t.Content})
	}
	mask, _ := f.Mask.(string)
	if m, ok := f.Mask.(map[string]any); ok {
		mask, _ = m["content"].(string)
	}
	return cmp.Or(f.MaskTokenID, maskAmong(f.Added, mask)), err
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
	for _, name := range maskFiles {
		if c.Config.MaskID != facts.Unknown {
			return nil
		}
		text, err := plainfile.ReadFS(c.fsys, name, maxTokenizer)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var id *int
		if err == nil {
			id, err = maskIn(name, text)
		}
		if err == nil && id != nil {
			c.Config.MaskID = *id
			c.digests = append(c.digests, name)
			err = c.Config.check()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// unstated returns the facts that the files do not state, each with an explanation.
func (c *Checkpoint) unstated() map[string]error {
	out := map[string]error{}
	if c.Config.MaskID == facts.Unknown {
		why := "neither config.json nor " + maskFiles[0] + " has a mask_token_id, and no added token of " +
			"tokenizer.json, added_tokens.json or tokenizer_config.json is called " + strings.Join(maskNames, ", ")
		if c.Config.Shift == Unstated {
			why += "; causal language models, which have none, are not supported"
		}
		out["mask_id"] = fault.Advise("%s: give %v", why, fault.Term{Name: "fact", Value: "mask_id=ID"})
	}
	if c.Config.Shift == Unstated {
		out["shift"] = fault.Advise("config.json names the class of a causal language model, whose networks are trained for diffusion with position i predicting token i+1 or token i: give %v or %v",
			fault.Term{Name: "fact", Value: "shift=true"}, fault.Term{Name: "fact", Value: "shift=false"})
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
