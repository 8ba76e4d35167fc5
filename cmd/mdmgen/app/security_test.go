package app

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// TestSecurityPageNamesTests checks that every test that docs/security.md names exists.
func TestSecurityPageNamesTests(t *testing.T) {
	page := readAll(t, "../../../docs/security.md")
	named := regexp.MustCompile("`([a-z/]+): ((?:(?:Test|Fuzz)[A-Za-z0-9]+(?:, )?)+)`").FindAllStringSubmatch(page, -1)
	if len(named) < 10 {
		t.Fatalf("%d groups of tests are named", len(named))
	}
	for _, m := range named {
		files := reftest.Must(filepath.Glob(filepath.Join("..", "..", "..", m[1], "*_test.go")))(t)
		var code strings.Builder
		for _, f := range files {
			code.WriteString(readAll(t, f))
		}
		for _, test := range strings.Split(m[2], ", ") {
			if !strings.Contains(code.String(), "func "+test+"(") {
				t.Errorf("%s has no %s", m[1], test)
			}
		}
	}
}
