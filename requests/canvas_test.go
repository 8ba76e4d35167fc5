package requests

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
)

// layout returns a layout of canvases of at most 12 positions, with an id per byte; 256 is MASK. Its
// chat template writes the first letter of a role and the content.
func layout(t testing.TB, length int) Layout {
	t.Helper()
	dir := t.TempDir()
	writeBytes(t, dir)
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte("{% for m in messages %}{{ m.role[:1] + m.content }}{% endfor %}"), 0o644))
	words := reftest.Must(tokenize.Open(t.Context(), dir))(t)
	return Layout{Facts: model.Facts{Schema: facts.Schema, Columns: 257, MaskID: 256, Length: 12}, Length: Length{Total: length}, Words: WordsOf(words)}
}

// writeBytes writes a tokenizer with an id per byte, and special tokens after those.
func writeBytes(t testing.TB, dir string, special ...string) {
	t.Helper()
	vocabulary, added := make(map[string]int), []map[string]any{}
	for i, r := range byteRunes() {
		vocabulary[string(r)] = i
	}
	for i, token := range special {
		added = append(added, map[string]any{"id": 256 + i, "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
	}
	data := reftest.Must(json.Marshal(map[string]any{
		"added_tokens":  added,
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
		"decoder":       map[string]any{"type": "ByteLevel"},
		"model":         map[string]any{"type": "BPE", "vocab": vocabulary, "merges": []string{}},
	}))(t)
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), data, 0o644))
}

// byteRunes returns the characters by which byte-level tokenizers spell the bytes.
func byteRunes() (runes [256]rune) {
	next := rune(256)
	for b := range 256 {
		if r := rune(b); r > ' ' && r < 0x7f || r > 0xa0 && r != 0xad {
			runes[b] = r
		} else {
			runes[b] = next
			next++
		}
	}
	return runes
}

// canvas parses a request and builds its canvas.
func canvas(l Layout, line string) ([]int, error) {
	r, err := Parse([]byte(line), 0)
	if err != nil {
		return nil, err
	}
	c, err := l.Canvas(r)
	return c.Tokens, err
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
		got, err := layout(t, c.length).Canvas(Request{Infill: &c.template})
		if err != nil || show(got.Tokens) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.template, show(got.Tokens), err, c.want)
		}
	}
	for _, bad := range []string{"{{", "{{}}", "{{0}}", "{{-1}}", "{{1.5}}", "{{a}}", "{{1 }", "{{1", "{{\"a}}", "{{\"a\"", "{{\"a\"}", "{{{1}}}", "{{**}}", "{{99999999999999999999}}", "{{ 1 }}"} {
		reftest.Fails(t, reftest.Err(parseInfill(bad)), "", bad)
	}
}

// TestBlank: a blank before masks goes into them where tokens of words begin with a blank, and the text
// of the gap does not repeat it. A single blank stays, and so does one before a pattern, or of a tokenizer
// whose tokens are letters.
func TestBlank(t *testing.T) {
	t.Parallel()
	words := reftest.Must(tokenize.Open(t.Context(), "../builtin/fairytale"))(t)
	tale := Layout{Facts: model.Facts{Schema: facts.Schema, Columns: 8192, MaskID: 8192, Length: 32}, Words: WordsOf(words)}
	for _, c := range []struct {
		layout Layout
		line   string
		as     string
		blanks int
	}{
		{tale, `{"infill":["The ",2," king "],"length":null}`, `{"infill":["The",2," king "]}`, 1},
		{tale, `{"infill":["The  ",2," king ",null],"length":12}`, `{"infill":["The ",2," king",null],"length":12,"keep_blank":true}`, 2},
		{tale, `{"prefix":"Once upon a ","suffix":" king"}`, `{"prefix":"Once upon a","suffix":" king"}`, 1},
		{tale, `{"infill":[" ",2," king"]}`, `{"infill":[" ",2," king"],"keep_blank":true}`, 0},
		{layout(t, 0), `{"infill":"a {{2}}"}`, `{"infill":"a {{2}}","keep_blank":true}`, 0},
	} {
		r, as := reftest.Must(Parse([]byte(c.line), 0))(t), reftest.Must(Parse([]byte(c.as), 0))(t)
		asLayout := c.layout
		asLayout.KeepBlank = as.KeepBlank
		got, want := reftest.Must(c.layout.Canvas(r))(t), reftest.Must(asLayout.Canvas(as))(t)
		if !slices.Equal(got.Tokens, want.Tokens) || len(got.Blanks) != c.blanks || want.Blanks != nil {
			t.Errorf("%s: %v with blanks before %v, want %v and %d", c.line, got.Tokens, got.Blanks, want.Tokens, c.blanks)
		}
		for _, l := range got.Blanks {
			if got.Tokens[l] != c.layout.Facts.MaskID || got.Tokens[l-1] == c.layout.Facts.MaskID {
				t.Errorf("%s: %v: no gap begins at %d", c.line, got.Tokens, l)
			}
		}
	}
	canvas := reftest.Must(words.EncodePlain("The old king"))(t)
	given := slices.Concat(canvas[:1], []int{8192}, canvas[2:])
	if texts := (&reader{Printer: Printer{words, 8192}, end: tokenize.None}).filled(given, canvas, func(l int) bool { return l == 1 }); !slices.Equal(texts, []string{"old"}) {
		t.Errorf("the gap is filled with %q", texts)
	}
	for _, b := range []*Builder{{Config: Config{KeepBlank: true}}, {Config: Config{Patterns: []Pattern{{}}}}, {}} {
		b.Network = bytesOnly{}
		if kept := b.Layout(Request{}).KeepBlank; kept != (b.KeepBlank || b.Patterns != nil) {
			t.Errorf("%+v: keeps the blank: %v", b.Config, kept)
		}
	}
}

// The frame stands around every text; a length does not count it. The end of a canvas that grows is
// not known, and ids are a whole canvas.
func TestFrame(t *testing.T) {
	framed := layout(t, 0)
	framed.Facts.Frame = []int{'<', '>'}
	growing := framed
	growing.Block, growing.MaxLength = 2, 12
	for _, c := range []struct {
		layout       Layout
		line, canvas string
		inside       string
	}{
		{framed, `{"prefix":"ab","suffix":"c","length":5}`, "<ab__c>", "ab__c"},
		{framed, `{"prefix":"ab"}`, "<ab________>", "ab________"},
		{framed, `{"infill":["a",2,"b"]}`, "<a__b>", "a__b"},
		{framed, `{"ids":[97,null,98]}`, "a_b", "a_b"},
		{growing, `{"prefix":"ab"}`, "<ab__", "ab__"},
	} {
		got := reftest.Must(c.layout.Canvas(reftest.Must(Parse([]byte(c.line), 0))(t)))(t)
		if show(got.Tokens) != c.canvas || show(got.Inside(got.Tokens)) != c.inside {
			t.Errorf("%s: %s, inside %s", c.line, show(got.Tokens), show(got.Inside(got.Tokens)))
		}
	}
	named := reftest.Must(framed.Canvas(reftest.Must(Parse([]byte(`{"infill":"a{{X:2}}"}`), 0))(t)))(t)
	if named.Gaps["X"] != (Gap{2, 4}) {
		t.Errorf("the gap is %+v", named.Gaps["X"])
	}
	reftest.Fails(t, reftest.Err(canvas(framed, `{"length":11}`)), "at most 10 positions")
}

func TestParse(t *testing.T) {
	l := layout(t, 0)
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
		{`{"messages":[{"role":"user","content":"hi"}],"prefix":"ok","length":"+2"}`, "uhiok__"},
		{`{"messages":[{"role":"user","content":"hi"}],"suffix":"!"}`, "uhi________!"},
		{`{"messages":[{"role":"user","content":"hi"}],"infill":["a",null,"b"]}`, "uhia_______b"},
		{`{"messages":[{"role":"user","content":"hi"}],"prefix":"ok","suffix":"!","length":8}`, "uhiok__!"},
		{`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":" {{2}}"}],"continue_final_message":true,"length":10}`, "uhi {{2}}_"},
		{`{"messages":[{"role":"user","content":"hi"}],"infill":["a",2,"b",1]}`, "uhia__b_"},
		{`{"messages":[{"role":"user","content":"hi"}],"infill":"{{1}}b"}`, "uhi_b"},
	} {
		got, err := canvas(l, c.line)
		if err != nil || show(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.line, show(got), err, c.want)
		}
	}
	null := `{"length":2,"prefix":"a","infill":null,"ids":null,"n":null,"seed":null,"sampler":null,"temperature":null,"regex":null,"choices":null}`
	if r, err := Parse([]byte(null), 0); err != nil || r.Patterns != nil || r.Set != nil || r.Infill != nil || r.Length.Total != 2 || *r.Prefix != "a" {
		t.Errorf("%s: %+v, %v", null, r, err)
	}
	reftest.Fails(t, reftest.Err(Parse([]byte(`{"choices":["a",null]}`), 0)), "choices must be")
	reftest.Fails(t, reftest.Err(Parse([]byte(`{"length":2,"foo":null}`), 0)), `unknown key "foo"`)
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
		{`{"messages":[]}`, "at least one"},
		{`{"messages":[{"role":"user","content":"hi"}],"length":3}`, "nothing is left"},
		{`{"messages":[{"role":"user","content":"hi"}],"suffix":"a","infill":"{{2}}"}`, "infill excludes"},
		{`{"messages":[{"role":"user","content":"hi"}],"continue_final_message":true}`, "the last message must be"},
		{`{"messages":[{"role":"assistant","content":"hi"}],"continue_final_message":true,"prefix":"a"}`, "both begin"},
		{`{"messages":[{"role":"assistant","content":"hi"}],"continue_final_message":true}`, "at least one"},
		{`{"messages":[{"role":"user","content":"hi"}],"chat_template_kwargs":{"thinking":true}}`, "no variable \"thinking\""},
		{`{"messages":[{"role":"user","content":"hi"}],"chat_template_kwargs":{"messages":1}}`, "no variable \"messages\""},
		{`{"prefix":"hi","chat_template_kwargs":{"role":1}}`, "there are no messages"},
		{`{"prefix":"hi","continue_final_message":true}`, "there are no messages"},
		{`{"messages":[{"role":"user","content":"hi"}],"ids":[1]}`, "ids exclude"},
		{`{"messages":[{"role":"user","content":["hi"]}]}`, "messages"},
		{`{"messages":[{"role":"user","text":"hi"}]}`, "text"},
		{`{"messages":"hi"}`, "messages"},
		{`{"prefix":3}`, `field "prefix": a number instead of text`},
		{`null`, "JSON object"},
		{"{\"prefix\":\"a\xff\"}", "UTF-8"},
		{`{"text":"a"}`, "text"},
		{`[1]`, "not a request"},
		{`{} {}`, "after top-level value"},
		{`{`, "not a request"},
	} {
		got, err := canvas(l, c.line)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || !errors.As(err, new(*Error)) {
			t.Errorf("%s: %q, %v, want one line with %q", c.line, show(got), err, c.want)
		}
	}
}

// TestNoTokenizer checks that a line of ids needs no tokenizer, and that a
// text does.
func TestNoTokenizer(t *testing.T) {
	l := layout(t, 0)
	asked := errors.New("asked")
	l.Words = OpenWords(func() (*tokenize.Tokenizer, error) { return nil, asked })
	for line, want := range map[string]error{`{"ids":[1,null]}`: nil, `{"length":3}`: nil, `{"prefix":"a"}`: asked} {
		if _, err := canvas(l, line); err != want {
			t.Errorf("%s: %v, want %v", line, err, want)
		}
	}
}

// FuzzInfill checks that a text in a JSON string never turns into a mask, and
// that a template gives a canvas of valid length or an error.
func FuzzInfill(f *testing.F) {
	for _, s := range []string{"", "a{{2}}b", "{{*}}", `{{"{{"}}`, "{{{{", "}}{{1}}", `{{"a\u0000"}}`} {
		f.Add(s)
	}
	l := layout(f, 0)
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := l.Canvas(Request{Infill: &s}); err == nil && (len(c.Tokens) < 1 || len(c.Tokens) > 12) {
			t.Errorf("%q: a canvas of %d", s, len(c.Tokens))
		}
		quoted := reftest.Must(json.Marshal(s))(t)
		pieces := reftest.Must(parseInfill("{{"+string(quoted)+"}}"))(t, s, "as a text:")
		if slices.ContainsFunc(pieces, func(p piece) bool { return p.masks != 0 }) {
			t.Errorf("%q as a text has masks: %v", s, pieces)
		}
	})
}

// FuzzParse checks that a request gives a canvas of valid ids, or a one-line error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"prefix":"a","length":4}`, `{"infill":["a",1]}`, `{"ids":[1,null]}`, `{}`, `{"messages":[{"role":"user","content":"a"}]}`, `[`, `{"ids":null}`} {
		f.Add([]byte(s))
	}
	l := layout(f, 0)
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := canvas(l, string(line))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q", line, err)
			}
			return
		}
		if len(got) < 1 || len(got) > 12 {
			t.Errorf("a canvas of %d", len(got))
		}
		for _, id := range got {
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
		_, err := canvas(layout(t, 0), line)
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
		_, err := canvas(layout(t, 0), line)
		reftest.Fails(t, err, want, line)
	}
}

// TestTwice checks that a setting has one name in a line.
func TestTwice(t *testing.T) {
	reftest.Fails(t, reftest.Err(Parse([]byte(`{"block_length":3,"block-length":4}`), 0)), "appears twice")
}

// TestZeroOverrides checks that a line's setting overrides the flags' even if it is the zero value.
func TestZeroOverrides(t *testing.T) {
	for _, line := range []string{`{"guidance":0}`, `{"guidance":0.5}`} {
		r := reftest.Must(Parse([]byte(line), 0))(t)
		var base catalog.Options
		base.Sampler, base.Guidance = "fhs", 2
		got, err := r.over(base)
		if want := r.Options.Guidance; err != nil || got.Guidance != want {
			t.Errorf("%s over a guidance of 2: %v, %v; want %v", line, got.Guidance, err, want)
		}
	}
}
