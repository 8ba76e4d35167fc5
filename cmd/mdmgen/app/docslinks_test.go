package app

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// documents returns the hand-written pages, relative to the repository's root.
func documents(t *testing.T) (root string, pages []string) {
	t.Helper()
	root = reftest.Must(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/howto/*.md", "docs/research/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, found, err)
		}
		for _, f := range found {
			if rel, err := filepath.Rel(root, f); err != nil {
				t.Fatal(err)
			} else if rel != filepath.Join("docs", "cli.md") { // generated, and tested elsewhere
				pages = append(pages, rel)
			}
		}
	}
	return root, pages
}

var (
	docsLink  = regexp.MustCompile(`\]\(([^)\s#]*)(?:#([^)\s]*))?\)`)
	docsCode  = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	docsTitle = regexp.MustCompile(`(?m)^#+ (.*)$`)
	docsSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestDocsLinks checks that every link in the documents resolves, including headings, and that
// every page links to the glossary.
func TestDocsLinks(t *testing.T) {
	root, pages := documents(t)
	for _, path := range append(pages, filepath.Join("docs", "cli.md")) {
		text := docsCode.ReplaceAllString(readAll(t, filepath.Join(root, path)), "")
		if !strings.Contains(text, "glossary.md") && filepath.Base(path) != "glossary.md" {
			t.Errorf("%s does not link the glossary", path)
		}
		for _, m := range docsLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := filepath.Join(root, path)
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(target), filepath.FromSlash(m[1]))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links %s, which does not exist", path, m[1])
			} else if m[2] != "" && !slices.Contains(headings(readAll(t, target)), m[2]) {
				t.Errorf("%s links %s#%s: there is no such heading", path, m[1], m[2])
			}
		}
	}
}

// headings returns the anchors of a page's headings.
func headings(text string) []string {
	var out []string
	for _, m := range docsTitle.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.ReplaceAll(docsSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return out
}
