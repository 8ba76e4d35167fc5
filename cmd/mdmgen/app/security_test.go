package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityPageNamesTests: every test that docs/security.md names exists.
func TestSecurityPageNamesTests(t *testing.T) {
	page, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z/]+): ((?:(?:Test|Fuzz)[A-Za-z0-9]+(?:, )?)+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 10 {
		t.Fatalf("%d groups of tests are named", len(named))
	}
	for _, m := range named {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", m[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var code strings.Builder
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(b)
		}
		for _, test := range strings.Split(m[2], ", ") {
			if !strings.Contains(code.String(), "func "+test+"(") {
				t.Errorf("%s has no %s", m[1], test)
			}
		}
	}
}
