package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/plainjson"
	"mdmgen/tokenize"
)

func tokenizeCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "tokenize",
		Usage: "turn text into token ids and back",
		Description: "Reads lines of text from standard input and prints one JSON list of ids a line. Added and special\n" +
			"tokens in the text are matched as the tokenizer's file says; --plain reads them as text, as every\n" +
			"other command does. With --json a line of input is a JSON string, which may hold newlines.\n" +
			"--decode reads lists of ids and prints the text of each (with --json as a JSON string).",
		Flags: []cli.Flag{
			tokenizerFlag(),
			modelFlag("or a model's folder, whose tokenizer is used"),
			&cli.BoolFlag{Name: "plain", Usage: "read added and special tokens in the text as text"},
			&cli.BoolFlag{Name: "json", Usage: "texts are JSON strings"},
			&cli.BoolFlag{Name: "decode", Usage: "turn ids into text"},
		},
		Action: func(c *cli.Context) error { return tokenizeLines(c, s) },
	}
}

func tokenizeLines(c *cli.Context, s streams) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if c.Bool("decode") && c.Bool("plain") {
		return usagef("tokenize: --plain says how text is read; it does not go with --decode")
	}
	if given(c, "model") && given(c, "tokenizer") {
		return usagef("tokenize: --model and --tokenizer both name a tokenizer; give one")
	}
	t, err := openTokenizer(c, s)
	if err != nil {
		return needTokenizer(err, "tokenize", "")
	}
	line := encodeLine(t, c.Bool("plain"), c.Bool("json"))
	if c.Bool("decode") {
		line = decodeLine(t, c.Bool("json"))
	}
	out := bufio.NewWriter(s.out)
	for l, err := range lines(s.in, "standard input") {
		if err == nil {
			err = c.Context.Err()
		}
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		result, err := line(l.text)
		if err != nil {
			return errors.Join(out.Flush(), fmt.Errorf("standard input:%d: %w", l.n, err))
		}
		out.Write(append(result, '\n')) // A failure is kept until Flush.
	}
	return out.Flush()
}

// encodeLine returns the function that turns a line of text into a line of ids.
func encodeLine(t *tokenize.Tokenizer, plain, asJSON bool) func([]byte) ([]byte, error) {
	encode := t.Encode
	if plain {
		encode = t.EncodePlain
	}
	return func(line []byte) ([]byte, error) {
		text := string(line)
		if !utf8.Valid(line) {
			return nil, errors.New("the text is not valid UTF-8")
		}
		if asJSON {
			if err := json.Unmarshal(line, &text); err != nil || len(bytes.TrimSpace(line)) == 0 || bytes.TrimSpace(line)[0] != '"' {
				return nil, errors.New("not a JSON string")
			}
			if err := plainjson.Strict(line); err != nil {
				return nil, err
			}
		}
		ids, err := encode(text)
		if err != nil {
			return nil, err
		}
		if ids == nil {
			ids = []int{}
		}
		return json.Marshal(ids)
	}
}

// decodeLine returns the function that turns a line of ids into a line of text.
func decodeLine(t *tokenize.Tokenizer, asJSON bool) func([]byte) ([]byte, error) {
	return func(line []byte) ([]byte, error) {
		var listed []*int
		d := json.NewDecoder(bytes.NewReader(line))
		if err := d.Decode(&listed); err != nil || listed == nil {
			return nil, errors.New("not a JSON list of ids")
		}
		ids := make([]int, len(listed))
		for i, id := range listed {
			if id == nil {
				return nil, fmt.Errorf("position %d is null, a mask that was left: it has no text", i)
			}
			ids[i] = *id
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("more than one JSON value in a line")
		}
		text, err := t.Decode(ids)
		if err != nil || !asJSON {
			return []byte(text), err
		}
		return marshalText(text)
	}
}

// marshalText is the JSON string of a text, with <, > and & as they are.
func marshalText(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}
