package generate

import (
	"errors"
	"io/fs"
	"slices"

	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/tokenize/chat"
)

// prompt makes tokens of messages by the chat template beside the tokenizer.
func (g *generation) prompt(messages []chat.Message) ([]int, error) {
	words, err := g.encoder()
	if err != nil {
		return nil, err
	}
	if g.template == nil {
		if words.Folder() == "" {
			return nil, exit.Missingf("messages need a chat template: %s has none: give a text with --prefix", g.model.Ref)
		}
		t, err := chat.Open(words.Folder())
		if errors.Is(err, fs.ErrNotExist) {
			return nil, exit.Missingf("messages need a chat template: neither chat_template.jinja nor chat_template in tokenizer_config.json is in %s: give a text with --prefix", words.Folder())
		}
		if err != nil {
			return nil, failed(err)
		}
		g.template = t
	}
	ids, err := g.template.Prompt(words, messages)
	return ids, failed(err)
}

// asked is the one message of --chat.
func asked(text string) []chat.Message { return []chat.Message{{Role: "user", Content: text}} }

// failed makes an error of the template no mistake of the command line.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &exit.Error{Code: exit.Failure, Err: fault.WithoutName(err)}
}

// templateDigest is the digest of the chat template, "" where none was needed.
func (g *generation) templateDigest() string {
	if g.template == nil {
		return ""
	}
	return g.template.Digest()
}

// answer is what follows the prompt of a chat, up to the special token that ends the turn; all of a
// canvas without one.
func (g *generation) answer(ids []int, prompt int) []int {
	if prompt == 0 {
		return ids
	}
	ids = ids[prompt:]
	if i := slices.IndexFunc(ids, func(id int) bool { return id != g.facts.MaskID && g.words.Special(id) }); i >= 0 {
		ids = ids[:i]
	}
	return ids
}
