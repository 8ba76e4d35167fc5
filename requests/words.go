package requests

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"mdmgen/internal/fault"
	"mdmgen/tokenize"
	"mdmgen/tokenize/chat"
)

// Words opens a tokenizer when a text needs it, and the chat template beside it when messages do. It
// may be used concurrently. A nil Words has neither.
type Words struct {
	tokenizer func() (*tokenize.Tokenizer, error)
	template  func() (*chat.Template, error)
	used      atomic.Pointer[chat.Template]
}

// OpenWords returns the Words of a tokenizer that open opens, at most once.
func OpenWords(open func() (*tokenize.Tokenizer, error)) *Words {
	w := &Words{tokenizer: sync.OnceValues(open)}
	w.template = sync.OnceValues(func() (*chat.Template, error) {
		words, err := w.tokenizer()
		if err != nil {
			return nil, err
		}
		if words.Folder() == "" {
			return nil, &NoTemplateError{fault.Advise("messages need a chat template, and the model has none: give the text as %v", fault.Term{Name: "prefix"})}
		}
		t, err := chat.Open(words.Folder())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &NoTemplateError{fault.Advise("messages need a chat template: neither chat_template.jinja nor chat_template in tokenizer_config.json is in %s: give the text as %v", words.Folder(), fault.Term{Name: "prefix"})}
		case err == nil:
			w.used.Store(t)
		}
		return t, err
	})
	return w
}

// WordsOf returns the Words of a tokenizer; nil for nil.
func WordsOf(t *tokenize.Tokenizer) *Words {
	if t == nil {
		return nil
	}
	return OpenWords(func() (*tokenize.Tokenizer, error) { return t, nil })
}

// NoTemplateError is the error of messages for a model without a chat template.
type NoTemplateError struct{ error }

// Unwrap returns the message.
func (e *NoTemplateError) Unwrap() error { return e.error }

// Missing marks the error as that of a missing file.
func (e *NoTemplateError) Missing() {}

// Tokenizer returns the tokenizer.
func (w *Words) Tokenizer() (*tokenize.Tokenizer, error) {
	if w == nil {
		return nil, errors.New("a text needs a tokenizer, and the model has none: give ids")
	}
	return w.tokenizer()
}

// Prompt returns the tokens of messages by the chat template, with the beginning of the answer. An
// error of the request is an [*Error].
func (w *Words) Prompt(a chat.Asked) ([]int, error) {
	words, err := w.Tokenizer()
	if err != nil {
		return nil, err
	}
	t, err := w.template()
	if err != nil {
		return nil, err
	}
	if err := t.Check(a.Kwargs); err != nil {
		return nil, wrong("chat_template_kwargs", err)
	}
	return t.Prompt(words, a)
}

// Talks reports whether there is a chat template; an error is that of one that cannot be used with the
// values of variables.
func (w *Words) Talks(kwargs map[string]any) (bool, error) {
	_, err := w.Prompt(chat.Asked{Messages: []chat.Message{{Role: "user", Content: "Hello"}}, Kwargs: kwargs})
	if errors.As(err, new(*NoTemplateError)) {
		return false, nil
	}
	return true, err
}

// Template returns "sha256:…" of the chat template, "" if none was opened. It opens none.
func (w *Words) Template() string {
	if w == nil || w.used.Load() == nil {
		return ""
	}
	return w.used.Load().Digest()
}

// End returns the token that ends an answer, false if the chat template names none.
func (w *Words) End() (int, bool) {
	t, err := w.template()
	if err != nil {
		return 0, false
	}
	words, _ := w.tokenizer() // It is open.
	return words.ID(t.End())
}
