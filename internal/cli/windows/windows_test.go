package windows

import (
	"strings"
	"testing"
)

// TestStrictLines refuses lines that two readers would read differently.
func TestStrictLines(t *testing.T) {
	for line, want := range map[string]string{`{"text":"a","text":"b"}`: "twice", `{"text":"\ud83d"}`: `\ud83d`, `{"ids":[1],"context":"\udfff"}`: `\udfff`} {
		if _, err := parseScoreLine([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// FuzzScoreLine checks that a line is read or refused in one line, and that what is
// read is text or ids.
func FuzzScoreLine(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a"}`, `{"ids":[1,2]}`, `{"ids":[1,null]}`, `{"ids":[]}`, `{"ids":null}`, `{"text":"a","context":"b"}`,
		`{"ids":[1],"context":[2]}`, `{"ids":[1],"context":null}`, `{"text":"a","ids":[1]}`, `{"text":1}`, `[]`, `{} {}`, "{\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := parseScoreLine(line)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line", err)
			}
			return
		}
		if (got.Text == nil) == (got.IDs == nil) || got.ContextText != nil && got.ContextIDs != nil {
			t.Errorf("%q gives %+v", line, got)
		}
	})
}
