// Package chat turns messages into the prompt format that a model was trained on, with the template
// next to its tokenizer: chat_template.jinja, else chat_template in tokenizer_config.json.
//
// A template is an untrusted program. A Jinja library runs it, after a translation that lets it print
// what jinja2 prints; a construct for which that is not known is refused by its name when the template
// is opened. It can read only the messages and the names of special tokens, and its source, its output,
// its values and its time are bounded.
//
// Special tokens come only from the template. The content of a message is text: <|im_end|> in it is
// read as its characters, and no message can end its own turn or begin another's.
package chat

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ardanlabs/jinja"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

// Limits of the files, in bytes. Published templates have up to 10 KB.
const (
	maxConfig   = 16 << 20
	maxTemplate = 32 << 10
)

// The files read in a tokenizer's folder.
const (
	templateFile = "chat_template.jinja"
	configFile   = "tokenizer_config.json"
	tokensFile   = "special_tokens_map.json"
)

// A Template makes prompts from messages. It does not change and is safe for concurrent use.
type Template struct {
	// file is the file with the template, for messages.
	file, source string
	program      *jinja.Template
	// tokens are the special tokens that templates name, such as bos_token.
	tokens map[string]string
}

// tokenNames are the special tokens that a template may name.
var tokenNames = []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}

// Open reads the template in a tokenizer's folder. The error satisfies errors.Is(err,
// fs.ErrNotExist) if there is none.
func Open(dir string) (*Template, error) {
	t := &Template{tokens: make(map[string]string)}
	var template json.RawMessage
	for _, name := range []string{configFile, tokensFile} {
		var fields map[string]json.RawMessage
		if err := plainjson.ReadFS(plainfile.Folder(dir), name, maxConfig, &fields); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Errorf("chat", "%s: %w", filepath.Join(dir, name), plainfile.Cause(err))
		}
		if name == configFile {
			template = fields["chat_template"]
		}
		for _, token := range tokenNames {
			if text := tokenText(fields[token]); text != "" && t.tokens[token] == "" {
				t.tokens[token] = text
			}
		}
	}
	text, err := plainfile.ReadFS(plainfile.Folder(dir), templateFile, maxTemplate)
	switch {
	case err == nil:
		t.file, t.source = filepath.Join(dir, templateFile), string(text)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fault.Errorf("chat", "%s: %w", filepath.Join(dir, templateFile), plainfile.Cause(err))
	default:
		t.file = filepath.Join(dir, configFile)
		if t.source, err = templateText(template); err != nil {
			return nil, fault.Errorf("chat", "%s: chat_template: %w", t.file, err)
		}
		if t.source == "" {
			return nil, fault.Errorf("chat", "%s has no chat template: neither %s nor chat_template in %s: %w", dir, templateFile, configFile, fs.ErrNotExist)
		}
	}
	if len(t.source) > maxTemplate {
		return nil, fault.Errorf("chat", "%s: the template has %d bytes: at most %d are read", t.file, len(t.source), maxTemplate)
	}
	return t, t.compile()
}

// Digest returns "sha256:" and the hexadecimal hash of the template.
func (t *Template) Digest() string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(t.source))) }

// End returns the text of the token that ends a sequence, which for BERT is [SEP]; "" if the tokenizer
// names none.
func (t *Template) End() string { return cmp.Or(t.tokens["eos_token"], t.tokens["sep_token"]) }

// tokenText reads a special token: a string, or an object with the string as its content; "" for none.
func tokenText(raw json.RawMessage) string {
	var text string
	var full struct{ Content string }
	_, _ = json.Unmarshal(raw, &text), json.Unmarshal(raw, &full) // Other values are none.
	return cmp.Or(text, full.Content)
}

// templateText reads chat_template: a string, or a list of named templates, of which it returns
// default.
func templateText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var list []struct{ Name, Template string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", errors.New("must be a text, or a list of {name, template}")
	}
	for _, x := range list {
		if x.Name == "default" {
			return x.Template, nil
		}
	}
	return "", fmt.Errorf("is a list of %d templates, none of them named default", len(list))
}
