package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"mdmgen/internal/printable"
)

// JSON prints a record, indented.
func JSON(w io.Writer, record any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(record)
}

// Print prints a record, indented, if the format is json, and a text in place of it otherwise.
func Print(w io.Writer, format string, record any, text string) error {
	if format == "json" {
		return JSON(w, record)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Table is a text in columns. What is written to it has a tab between columns.
type Table struct {
	*tabwriter.Writer
	text strings.Builder
}

// NewTable returns a table whose columns are two blanks apart, and aligned to the right if right is
// set.
func NewTable(right bool) *Table {
	t := &Table{}
	align := uint(0)
	if right {
		align = tabwriter.AlignRight
	}
	t.Writer = tabwriter.NewWriter(&t.text, 0, 0, 2, ' ', align)
	return t
}

// Row adds a line with a name and a value, which may come from a stranger's file.
func (t *Table) Row(name, format string, args ...any) {
	fmt.Fprintf(t, "%s\t%s\n", name, printable.String(fmt.Sprintf(format, args...)))
}

// Break lets the next lines have columns of their own widths.
func (t *Table) Break() { t.Flush() } // Writing to a text cannot fail.

// String returns the table as text.
func (t *Table) String() string {
	t.Break()
	return t.text.String()
}

// JSONLine returns a record as one line without its end. It does not escape <, > and &.
func JSONLine(record any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(record)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// PrintLine writes a record on a line of its own, if the format is JSON, and a text in place of it
// otherwise.
func PrintLine(out *Output, format string, record any, text string) error {
	if format != "json" && format != "jsonl" {
		out.WriteString(text) // An error is kept until Flush.
		return nil
	}
	return WriteLine(out, record)
}

// WriteLine writes a record on a line of its own.
func WriteLine(out *Output, record any) error {
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

// unquoted matches a word that a shell takes as it is.
var unquoted = regexp.MustCompile(`^[\w./=:,+@-]+$`)

// Quoted returns s quoted for a shell.
func Quoted(s string) string {
	if unquoted.MatchString(s) {
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
