package kit

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// JSON prints a record, for people too.
func JSON(w io.Writer, record any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(record)
}

// JSONLine is a record as one line, without its end, with <, > and & as they are.
func JSONLine(record any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(record)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// WriteRecord writes the record of a run in the formats that have one, on a line of its own.
func WriteRecord(out *Output, format string, record any) error {
	if format != "json" && format != "jsonl" {
		return nil
	}
	line, err := JSONLine(record)
	if err != nil {
		return err
	}
	out.Write(append(line, '\n')) // A failure is kept until Flush.
	return nil
}

// Width is the number of columns in which a paragraph reads well.
const Width = 90

// Indent begins the lines of a paragraph that is shown as it is.
const Indent = "    "

// Wrap breaks a paragraph into lines of at most n characters, each indented.
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

// Closing closes what a command opened; that it could not is the command's error where there
// is no other.
func Closing(c io.Closer, err *error) {
	if cerr := c.Close(); *err == nil {
		*err = cerr
	}
}

// Quoted is a word as a shell reads it back.
func Quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// CommandLine is the program with its arguments, as a shell reads it back.
func CommandLine(args []string) string {
	out := "mdmgen"
	for _, a := range args {
		out += " " + Quoted(a)
	}
	return out
}
