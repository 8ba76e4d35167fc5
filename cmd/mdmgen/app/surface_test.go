package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// public lists the packages that other programs may use, as docs/go.md does.
var public = strings.Fields(`builtin samplers samplers/plan samplers/rank samplers/remask samplers/layer samplers/match samplers/spread
	samplers/cache samplers/draw samplers/schedule samplers/catalog samplers/exact samplers/subset model tokenize tokenize/chat requests serve serve/frame analysis/likelihood analysis/estimate analysis/certificate analysis/reading`)

// TestPublic checks that what public packages export has no types of packages that are not public, other
// than by a name of their own.
func TestPublic(t *testing.T) {
	t.Parallel()
	page := string(reftest.Must(os.ReadFile("../../../docs/go.md"))(t))
	for _, pkg := range public {
		if !strings.Contains(page, "`"+pkg+"`") {
			t.Errorf("docs/go.md does not list %s", pkg)
		}
		for _, file := range reftest.Must(filepath.Glob("../../../" + pkg + "/*.go"))(t) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f := reftest.Must(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t)
			imports := make(map[string]string)
			for _, i := range f.Imports {
				imported := reftest.Must(strconv.Unquote(i.Path.Value))(t)
				imports[path.Base(imported)] = imported
				if i.Name != nil {
					imports[i.Name.Name] = imported
				}
			}
			for name, types := range exported(f) {
				ast.Inspect(types, func(n ast.Node) bool {
					if f, ok := n.(*ast.Field); ok && len(f.Names) > 0 && !f.Names[0].IsExported() && name[0] != '(' {
						return false
					}
					s, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					x, _ := s.X.(*ast.Ident)
					if own, ok := strings.CutPrefix(imports[x.Name], "mdmgen/"); ok && !slices.Contains(public, own) {
						t.Errorf("%s: %s has the type %s.%s", file, name, own, s.Sel.Name)
					}
					return false
				})
			}
		}
	}
}

// TestNoFlagsInLibraries checks that texts of packages outside cmd name neither flags nor commands, which
// a Go program and a client do not have: errors carry a field.
func TestNoFlagsInLibraries(t *testing.T) {
	t.Parallel()
	names := testApp().Names()
	typed := regexp.MustCompile(`--[a-z]|\bmdmgen (` + strings.Join(names, "|") + `)\b`)
	others := map[string]string{"fetch.go": "pip", "gpu.go": "nvidia-smi"} // programs that are run
	seen := 0
	reftest.OK(t, filepath.WalkDir("../../..", func(name string, d os.DirEntry, err error) error {
		if d.IsDir() && slices.Contains([]string{"cmd", "tools", "findings", "examples", "python", ".git"}, d.Name()) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || others[d.Name()] != "" {
			return err
		}
		text, err := os.ReadFile(name)
		if seen++; err != nil || !typed.Match(text) {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && typed.MatchString(s.Value) {
				t.Errorf("%s: %s", name, s.Value)
			}
			return true
		})
		return nil
	}))
	if seen < 300 {
		t.Errorf("%d files", seen)
	}
}

// exported returns the types of what a file exports, by name; those of functions have brackets.
func exported(f *ast.File) map[string]ast.Node {
	out := make(map[string]ast.Node)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				out["("+d.Name.Name+")"] = d.Type
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && !s.Assign.IsValid() {
					out[s.Name.Name] = s.Type
				}
				if s, ok := s.(*ast.ValueSpec); ok && s.Type != nil && s.Names[0].IsExported() {
					out[s.Names[0].Name] = s.Type
				}
			}
		}
	}
	return out
}
