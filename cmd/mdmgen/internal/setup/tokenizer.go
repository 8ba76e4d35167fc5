package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mdmgen/builtin"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/model/world"
	"mdmgen/tokenize"
)

// Tokenizer holds --tokenizer, for commands that convert text to ids or back.
type Tokenizer struct {
	path string
	flag *kit.Flag
}

// KwargsFlag returns the flag for the variables of a chat template.
func KwargsFlag(to *map[string]any) *kit.Flag {
	parse := func(text string) (out map[string]any, err error) {
		if err = json.Unmarshal([]byte(text), &out); err != nil || out == nil {
			return nil, errors.New(`must be a JSON object, such as {"enable_thinking":false}`)
		}
		return out, nil
	}
	show := func(m map[string]any) string {
		text, _ := json.Marshal(m) // It was JSON.
		return strings.TrimPrefix(string(text), "null")
	}
	return kit.Parsed(to, parse, show, kit.Flag{Name: "chat-template-kwargs", Category: kit.CatInput, Words: []string{`{"enable_thinking":false}`}, Usage: "set variables of the chat template, a `JSON` object such as {\"enable_thinking\":false}"})
}

// EnvTokenizer is the variable that names the tokenizer of models without their own.
const EnvTokenizer = "MDMGEN_TOKENIZER"

// Flag returns --tokenizer.
func (t *Tokenizer) Flag() *kit.Flag {
	t.flag = kit.Text(&t.path, kit.Flag{Name: "tokenizer", Category: kit.CatGeneral, Env: EnvTokenizer, Lazy: true, Default: "own, or $" + EnvTokenizer,
		Usage: "use tokenizer `PATH` or OWNER/NAME"})
	return t.flag
}

// Fit returns an error if the tokenizer's tokens are not the network's, because texts would not
// match the ids. A nil tokenizer fits, and so does one with slightly fewer
// tokens than the network: vocabularies of networks are padded to round numbers (Dream's by 1/400).
// The ids of the padding have no text.
func Fit(opened *tokenize.Tokenizer, f model.Facts) error {
	if opened == nil {
		return nil
	}
	n, least, most := opened.Size(), f.Columns-len(f.Excluded()), max(f.Columns, f.MaskID+1)
	opened.Pad(f.Columns, f.MaskID)
	if n >= least-least/32 && n <= most {
		return nil
	}
	return fmt.Errorf("the tokenizer has %d tokens and the network %d: they do not match: name the model's own with --tokenizer", n, least)
}

// Given reports whether the command line names a tokenizer.
func (t *Tokenizer) Given() bool { return t.flag.IsSet() }

// NoTokenizerError reports that a model has no tokenizer, and why.
type NoTokenizerError struct{ Why string }

// Error implements error.
func (e *NoTokenizerError) Error() string { return "no tokenizer: " + e.Why }

// Lacks reports whether err says that there is no tokenizer.
func Lacks(err error) bool {
	return errors.As(err, new(*NoTokenizerError))
}

// Open opens the tokenizer that --tokenizer names, else the model's own, else the one of the
// environment. A world has none, because its tokens have no text. Open returns a
// NoTokenizerError if there is none.
func (t *Tokenizer) Open(ctx context.Context, s kit.Streams, m *Model) (opened *tokenize.Tokenizer, err error) {
	begin, source, path := time.Now(), "--tokenizer", t.path
	defer func() {
		if err == nil {
			s.Detail("tokenizer %s: %d tokens, opened in %.3g s", cmp.Or(path, "of the model"), opened.Size(), time.Since(begin).Seconds())
		}
	}()
	if t.Given() && path != "" {
		return NamedTokenizer(ctx, s, m.Offline(), source, path)
	}
	if path == "" {
		source, path = EnvTokenizer, os.Getenv(EnvTokenizer)
	}
	opened, err = ownTokenizer(ctx, s, m)
	if path == "" || !Lacks(err) || IsWorld(m.Ref) {
		path = ""
		return opened, err
	}
	return NamedTokenizer(ctx, s, m.Offline(), source, path)
}

// OpenAny is Open, but returns nil if there is no tokenizer.
func (t *Tokenizer) OpenAny(ctx context.Context, s kit.Streams, m *Model) (*tokenize.Tokenizer, error) {
	opened, err := t.Open(ctx, s, m)
	if Lacks(err) {
		return nil, nil
	}
	return opened, err
}

// NamedTokenizer opens the tokenizer at a path or of a name on the hub. source is the flag or
// variable that gave it.
func NamedTokenizer(ctx context.Context, s kit.Streams, offline bool, source, path string) (*tokenize.Tokenizer, error) {
	if n, ok := HubName(path); ok {
		dir, err := hubTokenizer(ctx, s, offline, n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		path = dir
	}
	t, err := tokenize.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		lacks := "it has no tokenizer.json"
		if _, err := os.Stat(path); err != nil {
			lacks = "no such file or folder"
		}
		return nil, exit.Missingf("%s %s: %s", source, path, lacks)
	}
	return t, err
}

// BesideTokenizer opens the tokenizer in a folder of ONNX files. Hubs keep a model's ONNX files in
// a folder named onnx, and the tokenizer in its parent.
func BesideTokenizer(ctx context.Context, dir string) (*tokenize.Tokenizer, error) {
	t, err := tokenize.Open(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(dir) == "onnx" {
		return tokenize.Open(ctx, filepath.Dir(dir))
	}
	return t, err
}

// ownTokenizer opens the tokenizer in the folder of a model.
func ownTokenizer(ctx context.Context, s kit.Streams, m *Model) (*tokenize.Tokenizer, error) {
	if m.network {
		if err := m.locate(ctx, s); err != nil {
			return nil, err
		}
	}
	ref := m.Ref
	if n, ok := HubName(ref); ok {
		dir, err := hubTokenizer(ctx, s, m.Offline(), n)
		if err != nil {
			return nil, err
		}
		return tokenize.Open(ctx, dir)
	}
	kind, path, err := model.Resolve(ref, Builtins())
	if err != nil {
		return nil, err
	}
	switch kind {
	case model.KindBuiltin:
		data, err := fs.ReadFile(builtin.Fairytale(), "tokenizer.json")
		if err != nil {
			return nil, err
		}
		return tokenize.Parse(ref, data)
	case model.KindWorld:
		if _, err := world.Open(path); err != nil {
			return nil, err // A fault of the file comes first.
		}
		return nil, &NoTokenizerError{ref + " is a world, whose tokens have no text"}
	}
	// The tokenizer of a single-file model is in the same folder.
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	t, err := BesideTokenizer(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoTokenizerError{ref + " has no tokenizer.json"}
	}
	return t, err
}

// NeedTokenizer turns a NoTokenizerError into advice: what needs the tokenizer and which flag names
// one.
func NeedTokenizer(err error, what, otherwise string) error {
	if none, ok := errors.AsType[*NoTokenizerError](err); ok {
		return exit.Missingf("%s needs a tokenizer: %s; give one with --tokenizer%s", what, none.Why, otherwise)
	}
	return err
}

// First returns the token that texts begin with where nobody gives one: the tokenizer's, else the first.
func First(t *tokenize.Tokenizer, f model.Facts) int {
	first := 0
	if t != nil {
		begin, _, _ := t.Frame()
		first = max(begin, 0)
	}
	for slices.Contains(f.Excluded(), first) {
		first++
	}
	return first
}
