package tools

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/plainjson"
	"mdmgen/tokenize"
)

// tokenizing holds the flags of tokenize.
type tokenizing struct {
	model         setup.Model
	tokenizer     setup.Tokenizer
	plain, decode bool
	format        string
	all           kit.Set
}

func (o *tokenizing) flags() kit.Set {
	o.all = append(kit.Set{
		o.tokenizer.Flag(),
		o.model.Flag("the tokenizer of a folder or OWNER/NAME"),
		o.model.OfflineFlag(),
		kit.Bool(&o.plain, kit.Flag{Name: "plain", Category: kit.CatEstimate, Usage: "treat added and special tokens in the text as plain text"}),
		kit.Bool(&o.decode, kit.Flag{Name: "decode", Category: kit.CatEstimate, Usage: "decode ids to text"}),
	}, kit.Format(&o.format, "text", "json")...)
	o.all.Find("format").Usage = "`FORMAT` of the texts, one per line: text as it is, or json, JSON strings"
	return o.all
}

// Tokenize returns the command tokenize.
func Tokenize() *kit.Command {
	o := &tokenizing{}
	return &kit.Command{
		Name:      "tokenize",
		Usage:     "encode text as token ids, or decode ids",
		Arguments: "[TEXT]",
		Description: "Prints a JSON list of ids for TEXT, or for each line of standard input. Added and special tokens are recognised, unless\n" +
			"--plain reads them as text, as every other command does. With --format json each line is a JSON string, which\n" +
			"may contain newlines.",
		Flags: o.flags(),
		Run:   o.run,
	}
}

func (o *tokenizing) run(ctx context.Context, s kit.Streams, args []string) error {
	if err := o.all.ExcludeAs("tokenize: %s is for encoding: it excludes %s", [2]string{"plain", "decode"}); err != nil {
		return err
	}
	if o.all.Given("model") && o.all.Given("tokenizer") {
		return exit.Usagef("tokenize: --model and --tokenizer both name a tokenizer; give one")
	}
	t, err := o.tokenizer.Open(ctx, s, &o.model)
	if err != nil {
		return setup.NeedTokenizer(err, "tokenize", "")
	}
	line := o.encoded
	if o.decode {
		line = o.decoded
	}
	if len(args) > 0 && args[0] != "-" {
		result, err := line(t, []byte(args[0]))
		if err != nil {
			return fmt.Errorf("tokenize: %w", err)
		}
		_, err = s.Out.Write(append(result, '\n'))
		return err
	}
	if kit.IsTerminal(s.In) {
		s.Notice("reading lines from standard input, up to Ctrl-D")
	}
	out := bufio.NewWriter(s.Out)
	for l, err := range kit.Lines(s.In, "standard input") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		result, err := line(t, l.Text)
		if err != nil {
			return errors.Join(out.Flush(), fmt.Errorf("standard input:%d: %w", l.N, err))
		}
		out.Write(append(result, '\n')) // An error is kept until Flush.
	}
	return out.Flush()
}

// encoded turns a line of text into a line of ids.
func (o *tokenizing) encoded(t *tokenize.Tokenizer, line []byte) ([]byte, error) {
	encode := t.Encode
	if o.plain {
		encode = t.EncodePlain
	}
	if !utf8.Valid(line) {
		return nil, errors.New("the text is not valid UTF-8")
	}
	text := new(string(line))
	if o.format == "json" {
		if err := json.Unmarshal(line, &text); err != nil || text == nil {
			return nil, errors.New("not a JSON string")
		}
		if err := plainjson.Strict(line); err != nil {
			return nil, err
		}
	}
	ids, err := encode(*text)
	if err != nil {
		return nil, err
	}
	return json.Marshal(append([]int{}, ids...)) // [] and not null
}

// decoded turns a line of ids into a line of text.
func (o *tokenizing) decoded(t *tokenize.Tokenizer, line []byte) ([]byte, error) {
	var listed []*int
	if err := json.Unmarshal(line, &listed); err != nil || listed == nil {
		return nil, errors.New("not a JSON list of ids")
	}
	ids := make([]int, len(listed))
	for i, id := range listed {
		if id == nil {
			return nil, fmt.Errorf("position %d is null, a remaining mask: it has no text", i)
		}
		ids[i] = *id
	}
	text, err := t.Decode(ids)
	if err != nil || o.format != "json" {
		return []byte(text), err
	}
	return kit.JSONLine(text)
}
