package kit

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// JSON prints a record, indented.
func JSON(w io.Writer, record any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(record)
}

// JSONLine returns a record as one line without its end. It does not escape <, > and &.
func JSONLine(record any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(record)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// WriteRecord writes the record of a run on a line of its own, if the format is JSON.
func WriteRecord(out *Output, format string, record any) error {
	if format != "json" && format != "jsonl" {
		return nil
	}
	line, err := JSONLine(record)
	if err != nil {
		return err
	}
	out.Write(append(line, '\n')) // An error is kept until Flush.
	return nil
}

// Width is the width of a paragraph in columns.
const Width = 90

// Indent begins the lines of a paragraph that is shown unwrapped.
const Indent = "    "

// Wrap breaks a paragraph into lines of at most n characters, each with the indent.
func Wrap(text string, n int, indent string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && len([]rune(line))+1+len([]rune(word)) > n {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}

// Closing closes c. It sets *err to the error of Close if *err is nil.
func Closing(c io.Closer, err *error) {
	if cerr := c.Close(); *err == nil {
		*err = cerr
	}
}

// Quoted returns s quoted for a shell.
func Quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// CommandLine returns the program with its arguments, quoted for a shell.
func CommandLine(args []string) string {
	out := "mdmgen"
	for _, a := range args {
		out += " " + Quoted(a)
	}
	return out
}
