// Command rename-module gives the module another path: in the go.mod files, in the imports of all
// tracked Go files and in the Go code of pages. Everything else reads the path from go.mod. From the
// repository's root:
//
//	go run ./tools/rename-module example.org/mdmgen
//	gofmt -w . && go mod tidy && (cd queue && go mod tidy)
package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/rename-module NEW")
		os.Exit(2)
	}
	if err := rename(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "rename-module:", err)
		os.Exit(1)
	}
}

func rename(to string) error {
	old, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	from := strings.TrimSpace(string(old))
	list, err := exec.Command("git", "ls-files", "-z", "*.go", "*go.mod", "*.md").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		renamed := others(text, filepath.Ext(name), from, to)
		if filepath.Ext(name) == ".go" {
			if renamed, err = imports(name, text, from, to); err != nil {
				return err
			}
		}
		if !bytes.Equal(text, renamed) {
			if err := os.WriteFile(name, renamed, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// imports renames in the import declarations of a Go file, and in links of its comments.
func imports(name string, text []byte, from, to string) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, spec := range slices.Backward(f.Imports) {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || rest[0] == '/') {
			at := set.Position(spec.Path.Pos()).Offset
			text = slices.Replace(slices.Clone(text), at, at+len(spec.Path.Value), []byte(strconv.Quote(to+rest))...)
		}
	}
	return bytes.ReplaceAll(text, []byte("["+from+"/"), []byte("["+to+"/")), nil
}

// others renames the lines of go.mod that name modules, and of pages those that import a package or
// name one to go doc.
func others(text []byte, kind, from, to string) []byte {
	name := regexp.QuoteMeta(from)
	pattern := `(?m)^(module |replace |\t|require )` + name + `(/\S+)?( v| =>|$)`
	if kind == ".md" {
		pattern = `(?m)(^\t"|^replace |^require |go doc (?:-all )?)` + name + `(/[a-z/]+)?("| v| =>|` + "`" + `)`
	}
	return regexp.MustCompile(pattern).ReplaceAll(text, []byte("${1}"+to+"${2}${3}"))
}
