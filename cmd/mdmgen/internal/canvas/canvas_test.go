package canvas

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize/chat"
)

// letters is an encoder for tests: one id per byte.
type letters struct{}

func (letters) EncodePlain(text string) ([]int, error) {
	var ids []int
	for _, b := range []byte(text) {
		ids = append(ids, int(b))
	}
	return ids, nil
}

// testLayout returns a layout of canvases of at most 12 positions; 256 is MASK.
func testLayout(length int) *Layout {
	return &Layout{
		Facts:  model.Facts{Schema: facts.Schema, Columns: 257, MaskID: 256, Length: 12},
		Length: Length{Total: length},
		Open:   func() (Encoder, error) { return letters{}, nil },
		Chat: func(messages []chat.Message) (ids []int, err error) {
			for _, m := range messages {
				more, _ := letters{}.EncodePlain(m.Role[:min(len(m.Role), 1)] + m.Content)
				ids = append(ids, more...)
			}
			return ids, nil
		},
	}
}

// show formats a canvas, with _ for MASK.
func show(canvas []int) string {
	var b strings.Builder
	for _, id := range canvas {
		if id == 256 {
			b.WriteByte('_')
		} else {
			b.WriteByte(byte(id))
		}
	}
	return b.String()
}

func TestInfill(t *testing.T) {
	for _, c := range []struct {
		template string
		length   int
		want     string
	}{
		{"ab{{2}}c", 0, "ab__c"},
		{"{{2}}", 0, "__"},
		{"{{1}}{{2}}a", 0, "___a"},
		{"a{{*}}b", 0, "a__________b"},
		{"a{{*}}b{{1}}", 6, "a___b_"},
		{"ab", 0, "ab"},
		{`{{"{{3}}"}}{{1}}`, 0, "{{3}}_"},
		{`{{"a\"}}b"}}x`, 0, `a"}}bx`},
		{"a}}b{c{{1}}", 0, "a}}b{c_"},
		{"é{{1}}", 0, "\xc3\xa9_"},
		{"{{3}}", 3, "___"},
	} {
		pieces, err := parseInfill(c.template)
		if err != nil {
			t.Errorf("%s: %v", c.template, err)
			continue
		}
		canvas, err := testLayout(c.length).template(pieces, c.length)
		if err != nil || show(canvas) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.template, show(canvas), err, c.want)
		}
	}
	for _, bad := range []string{"{{", "{{}}", "{{0}}", "{{-1}}", "{{1.5}}", "{{a}}", "{{1 }", "{{1", "{{\"a}}", "{{\"a\"", "{{\"a\"}", "{{{1}}}", "{{**}}", "{{99999999999999999999}}", "{{ 1 }}"} {
		reftest.Fails(t, reftest.Err(parseInfill(bad)), "", bad)
	}
}

func TestInputLine(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"prefix":"ab","suffix":"c","length":5}`, "ab__c"},
		{`{"prefix":"ab"}`, "ab__________"},
		{`{"length":3}`, "___"},
		{`{}`, "____________"},
		{`{"infill":"a{{1}}"}`, "a_"},
		{`{"infill":["a{{1}}",2,"b"]}`, "a{{1}}__b"},
		{`{"infill":["a",null],"length":3}`, "a__"},
		{`{"infill":["a","b",1,""]}`, "ab_"},
		{`{"ids":[97,null,98]}`, "a_b"},
		{`{"messages":[{"role":"user","content":"hi"}],"length":5}`, "uhi__"},
		{`{"messages":[{"role":"system","content":"b"},{"role":"user","content":"c"}]}`, "sbuc________"},
	} {
		canvas, _, err := parseLine([]byte(c.line), testLayout(0))
		if err != nil || show(canvas) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.line, show(canvas), err, c.want)
		}
	}
	null := `{"length":2,"prefix":"a","infill":null,"ids":null,"n":null,"seed":null,"sampler":null,"temperature":null,"regex":null,"choices":null}`
	if j, err := testLayout(0).Object([]byte(null)); err != nil || show(j.Canvas) != "a_" || j.Own.Patterns != nil || len(j.Own.Given) > 0 {
		t.Errorf("%s: %+v, %v", null, j, err)
	}
	if _, err := testLayout(0).Object([]byte(`{"choices":["a",null]}`)); err == nil {
		t.Error("null is a choice")
	}
	reftest.Fails(t, reftest.Err(testLayout(0).Object([]byte(`{"length":2,"foo":null}`))), `unknown key "foo"`)
	for _, c := range []struct{ line, want string }{
		{`{"prefix":"ab","infill":"c"}`, "infill"},
		{`{"ids":[1],"length":1}`, "ids exclude"},
		{`{"ids":[]}`, "length 0"},
		{`{"ids":[256]}`, "is the mask"},
		{`{"ids":[257]}`, "ids are 0..256"},
		{`{"ids":[1,-1]}`, "position 1"},
		{`{"ids":["a"]}`, "ids must be"},
		{`{"ids":[1.5]}`, "ids must be"},
		{`{"length":0}`, "length 0"},
		{`{"length":13}`, "at most 12"},
		{`{"prefix":"abcdefghijklm"}`, "nothing is left"},
		{`{"prefix":"ab","length":2}`, "nothing is left"},
		{`{"infill":3}`, "infill"},
		{`{"infill":[0]}`, "infill[0]"},
		{`{"infill":[1.5]}`, "infill[0]"},
		{`{"infill":[null,null]}`, "only once"},
		{`{"infill":"ab","length":3}`, "{{*}}"},
		{`{"ids":null}`, "ids must be"},
		{`{"messages":[]}`, "at least one"},
		{`{"messages":[{"role":"user","content":"hi"}],"length":3}`, "nothing is left"},
		{`{"messages":[{"role":"user","content":"hi"}],"suffix":"a"}`, "messages exclude"},
		{`{"messages":[{"role":"user","content":"hi"}],"ids":[1]}`, "ids exclude"},
		{`{"messages":[{"role":"user","content":["hi"]}]}`, "messages"},
		{`{"messages":[{"role":"user","text":"hi"}]}`, "text"},
		{`{"messages":"hi"}`, "messages"},
		{`null`, "JSON object"},
		{"{\"prefix\":\"a\xff\"}", "UTF-8"},
		{`{"text":"a"}`, "text"},
		{`[1]`, "not a line"},
		{`{} {}`, "more than one"},
		{`{`, "not a line"},
	} {
		if canvas, _, err := parseLine([]byte(c.line), testLayout(0)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, %v, want one line with %q", c.line, show(canvas), err, c.want)
		}
	}
}

// TestNoTokenizer checks that a line of ids needs no tokenizer, and that a
// text does.
func TestNoTokenizer(t *testing.T) {
	l := testLayout(0)
	l.Open = func() (Encoder, error) { return nil, errors.New("asked") }
	if _, _, err := parseLine([]byte(`{"ids":[1,null]}`), l); err != nil {
		t.Error(err)
	}
	if _, _, err := parseLine([]byte(`{"length":3}`), l); err != nil {
		t.Error(err)
	}
	if _, _, err := parseLine([]byte(`{"prefix":"a"}`), l); err == nil {
		t.Error("no tokenizer was asked for")
	}
}

// FuzzInfill checks that a text in a JSON string never turns into a mask, and
// that a template gives a canvas of valid length or an error.
func FuzzInfill(f *testing.F) {
	for _, s := range []string{"", "a{{2}}b", "{{*}}", `{{"{{"}}`, "{{{{", "}}{{1}}", `{{"a\u0000"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if pieces, err := parseInfill(s); err == nil {
			canvas, err := testLayout(0).template(pieces, 0)
			if err == nil && (len(canvas) < 1 || len(canvas) > 12) {
				t.Errorf("%q: a canvas of %d", s, len(canvas))
			}
		}
		quoted := reftest.Must(json.Marshal(s))(t)
		pieces := reftest.Must(parseInfill("{{"+string(quoted)+"}}"))(t, s, "as a text:")
		if slices.ContainsFunc(pieces, func(p piece) bool { return p.masks != 0 }) {
			t.Errorf("%q as a text has masks: %v", s, pieces)
		}
	})
}

// FuzzInputLine checks that a line gives a canvas of valid ids, or a one-line error.
func FuzzInputLine(f *testing.F) {
	for _, s := range []string{`{"prefix":"a","length":4}`, `{"infill":["a",1]}`, `{"ids":[1,null]}`, `{}`, `{"messages":[{"role":"user","content":"a"}]}`, `[`, `{"ids":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		canvas, _, err := parseLine(line, testLayout(0))
		if err != nil {
			return
		}
		if len(canvas) < 1 || len(canvas) > 12 {
			t.Errorf("a canvas of %d", len(canvas))
		}
		for _, id := range canvas {
			if id < 0 || id > 256 {
				t.Errorf("id %d", id)
			}
		}
	})
}

// TestTrueLimits asks for more positions than there are. The message must have the maximum,
// wherever the number is.
func TestTrueLimits(t *testing.T) {
	for _, line := range []string{`{"length":5000001}`, `{"infill":"{{5000001}}"}`, `{"infill":[5000001]}`, `{"infill":"{{13}}"}`, `{"length":13}`, `{"infill":["a",12]}`} {
		_, _, err := parseLine([]byte(line), testLayout(0))
		reftest.Fails(t, err, "at most 12 positions", line)
	}
}

// TestStrictLines checks that lines that two parsers would read differently are rejected.
func TestStrictLines(t *testing.T) {
	for line, want := range map[string]string{
		`{"length":3,"length":4}`:           `field "length" appears twice`,
		`{"length":3,"Length":4}`:           `appears twice`,
		`{"prefix":"a\ud800b"}`:             `field "prefix": \ud800 is half of a character`,
		`{"infill":["a","\udc00",1]}`:       `field "infill": \udc00 is half of a character`,
		`{"infill":"{{\"\\ud800\"}}{{1}}"}`: `\ud800 is half of a character`,
	} {
		_, _, err := parseLine([]byte(line), testLayout(0))
		reftest.Fails(t, err, want, line)
	}
}

// TestTwice checks that a setting has one name in a line.
func TestTwice(t *testing.T) {
	if _, _, err := takeOwn([]byte(`{"block_length":3,"block-length":4}`), MaxSamples); err == nil || !strings.Contains(err.Error(), "appears twice") {
		t.Errorf("%v, want that it appears twice", err)
	}
}

// TestZeroOverrides checks that a line's setting overrides the flags' even if it is the zero value.
func TestZeroOverrides(t *testing.T) {
	for _, line := range []string{`{"guidance":0}`, `{"guidance":0.5}`} {
		own, _, err := takeOwn([]byte(line), MaxSamples)
		if err != nil {
			t.Fatal(err)
		}
		var base catalog.Options
		base.Sampler, base.Guidance = "fhs", 2
		got, err := own.With(base)
		if want := own.Options.Guidance; err != nil || got.Guidance != want {
			t.Errorf("%s over a guidance of 2: %v, %v; want %v", line, got.Guidance, err, want)
		}
	}
}
