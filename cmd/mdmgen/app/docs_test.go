package app

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"mdmgen/builtin"
	"mdmgen/internal/exit"
	"mdmgen/internal/hubtest"
	"mdmgen/internal/reftest"
)

var (
	docsRun    = flag.String("docs-run", "", "run all blocks of a `TAG` in the documents: sh, network, gpu or long")
	docsUpdate = flag.Bool("update-docs", false, "write the output of the documents' commands below them")
)

// docsTags are the words allowed after sh: what a block needs besides this repository.
var docsTags = []string{"", "network", "gpu", "long"}

// TestDocs checks the commands in the documents. Those of the README and the quickstart run
// unchanged, against a hub of the test. Those with output run, and the output is compared byte by
// byte. All others end once their flags are parsed and checked. With -docs-run the commands of one
// tag run to their end, page by page, each page in its own folder:
//
//	go test ./cmd/mdmgen/app -run TestDocs -docs-run long -timeout 0
func TestDocs(t *testing.T) {
	needRuntime(t)
	root, pages := documents(t)
	if *docsRun == "" {
		hub := tinyHub(t)
		published := hubtest.Folder(t, builtin.Fairytale())
		delete(published.Files, "tokenizer.json")
		hub.Set("kuleshov-group/mdlm-owt", published)
		hub.Use(t)
	}
	outputs := make(map[string]string)
	for _, path := range pages {
		t.Run(path, func(t *testing.T) {
			text := readAll(t, filepath.Join(root, path))
			if m := regexp.MustCompile(`(?m)^    mdmgen .*`).FindString(text); m != "" {
				t.Errorf("%s: put commands between ```sh and ```", m)
			}
			dir := t.TempDir()
			for _, name := range []string{"examples", "testdata", "docs", "README.md"} {
				if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
					t.Skipf("no symbolic links: %v", err)
				}
			}
			t.Chdir(dir)
			printed := make(map[string]string)
			s := docsShell{outputs: outputs}
			for _, b := range shellBlocks(text) {
				if !slices.Contains(docsTags, b.Tag) {
					t.Errorf("sh %s: a block is for %q", b.Tag, docsTags)
				}
				first := path == "README.md" || path == filepath.Join("docs", "quickstart.md")
				s.parse, s.really = false, *docsRun != ""
				switch {
				case s.really && cmp.Or(b.Tag, "sh") != *docsRun:
					continue
				case !s.really && !(b.Tag == "" && b.Shown || first && (b.Tag == "" || b.Tag == "network")):
					s.parse = true
				}
				out := reftest.Must(s.run(t.Context(), b.Command))(t, b.Command)
				if printed[b.Command] = out; b.Shown && !s.parse && b.Tag == "" && out != b.Output && !*docsUpdate {
					t.Errorf("%s printed\n%swant\n%s", b.Command, out, b.Output)
				}
				if s.parse && b.Shown {
					delete(printed, b.Command)
					if b.Output == "" {
						t.Errorf("%s: its output is missing", b.Command)
					}
				}
			}
			if want := readGolden(t); path == "README.md" && *docsRun == "" && outputs[fmt.Sprintf("mdmgen\x00generate\x00--seed\x00%d", want.Seed)] != want.Text+"\n" {
				t.Errorf("%s is without the golden sample of seed %d: %q", path, want.Seed, outputs)
			}
			if *docsUpdate {
				writeFile(t, filepath.Join(root, path), replaceOutputs(text, printed))
			}
		})
	}
}

// docsShell runs blocks of shell.
type docsShell struct {
	// parse only parses the flags of mdmgen's commands; really also runs other programs.
	parse, really bool
	// outputs caches the output of commands that write no file: several blocks and pages share
	// them.
	outputs map[string]string
}

// run runs a block and returns its output. It stops at the first failing command.
func (s *docsShell) run(ctx context.Context, block string) (string, error) {
	program, err := syntax.NewParser().Parse(strings.NewReader(block), "")
	if err != nil {
		return "", err
	}
	var out, errs strings.Builder
	r, err := interp.New(interp.StdIO(nil, &out, &errs), interp.Params("-e", "-o", "pipefail"), interp.ExecHandlers(s.handle))
	if err == nil {
		err = r.Run(ctx, program)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return out.String(), err
}

// handle runs one command of a block.
func (s *docsShell) handle(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		h := interp.HandlerCtx(ctx)
		if len(args) > 2 && slices.Equal(args[:3], []string{"go", "run", "./cmd/mdmgen"}) {
			args = append([]string{"mdmgen"}, args[3:]...)
		}
		switch {
		case args[0] == "mdmgen":
			return s.mdmgen(ctx, args, h)
		case args[0] == "grep" && len(args) == 3 && args[1] == "-E" && !s.parse:
			return grep(args[2], h.Stdin, h.Stdout)
		case s.parse || args[0] == "go": // This is a test of go test.
			return nil
		case s.really:
			return next(ctx, args)
		}
		return interp.ExitStatus(127)
	}
}

func (s *docsShell) mdmgen(ctx context.Context, args []string, h interp.HandlerContext) error {
	if s.parse {
		// With a cancelled context a command parses its flags and does no work.
		ended, end := context.WithCancel(ctx)
		end()
		if code := Run(ended, args, strings.NewReader(""), io.Discard, h.Stderr); code == exit.Usage {
			return interp.ExitStatus(code)
		}
		return nil
	}
	line := strings.Join(args, "\x00")
	out, ok := s.outputs[line]
	if !ok {
		var b strings.Builder
		if code := Run(ctx, args, strings.NewReader(""), &b, h.Stderr); code != exit.OK {
			return interp.ExitStatus(code)
		}
		if out = b.String(); !slices.Contains(args, "-o") {
			s.outputs[line] = out
		}
	}
	_, err := io.WriteString(h.Stdout, out)
	return err
}

// grep prints the lines that match a pattern. It is the same on every system.
func grep(pattern string, in io.Reader, out io.Writer) error {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(in)
	for line := range strings.Lines(string(text)) {
		if err == nil && re.MatchString(strings.TrimSuffix(line, "\n")) {
			_, err = io.WriteString(out, line)
		}
	}
	return err
}
