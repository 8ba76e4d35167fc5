package chat

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/tokenize"
)

// golden is a line of testdata/golden.json: the output of transformers for messages.
type golden struct {
	Template, Case string
	Messages       []Message
	Text           string
	IDs            []int
}

func readGolden(t *testing.T) (rows []golden) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "golden.json"))
	if err == nil {
		err = json.Unmarshal(data, &rows)
	}
	if err != nil || len(rows) == 0 {
		t.Fatal(len(rows), err)
	}
	return rows
}

// joined returns the text of parts.
func joined(parts []tokenize.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// TestGoldenText checks that the templates of LLaDA and Dream produce the same text as in
// transformers, and that the contents of messages are plain.
func TestGoldenText(t *testing.T) {
	for _, g := range readGolden(t) {
		parts, err := reftest.Must(Open(filepath.Join("testdata", g.Template)))(t).Parts(g.Messages)
		if err != nil {
			t.Errorf("%s, %s: %v", g.Template, g.Case, err)
			continue
		}
		if got := joined(parts); got != g.Text {
			t.Errorf("%s, %s:\n%q\nwant\n%q", g.Template, g.Case, got, g.Text)
		}
		var plain []string
		for _, p := range parts {
			if p.Plain {
				plain = append(plain, strings.TrimSpace(p.Text))
			}
		}
		var said []string
		for _, m := range g.Messages {
			said = append(said, strings.TrimSpace(m.Content))
		}
		if !slices.Equal(plain, said) {
			t.Errorf("%s, %s: the plain parts are %q, want %q", g.Template, g.Case, plain, said)
		}
	}
}

// unzipped opens a tokenizer of the large reference files.
func unzipped(t *testing.T, name string) *tokenize.Tokenizer {
	t.Helper()
	return reftest.Must(tokenize.Parse(name, reftest.Gunzip(t, reftest.Shared(t, "reference", "tokenizers", name+"-like.tokenizer.json.gz"))))(t)
}

// TestGoldenIDs checks that ids are those of transformers; special tokens spelled in a message stay
// text, and only those of the template are special.
func TestGoldenIDs(t *testing.T) {
	t.Parallel()
	words := map[string]*tokenize.Tokenizer{"llada": unzipped(t, "llada"), "dream": unzipped(t, "dream")}
	for _, g := range readGolden(t) {
		template := reftest.Must(Open(filepath.Join("testdata", g.Template)))(t)
		w := words[g.Template]
		got, err := template.Prompt(w, g.Messages)
		if err != nil {
			t.Errorf("%s, %s: %v", g.Template, g.Case, err)
			continue
		}
		if g.IDs != nil {
			if !slices.Equal(got, g.IDs) {
				t.Errorf("%s, %s: %v, want %v", g.Template, g.Case, got, g.IDs)
			}
			continue
		}
		// The special tokens are those of a harmless message, and the text is complete.
		harmless := reftest.Must(template.Prompt(w, []Message{{"user", "x"}}))(t)
		special := func(id int) bool { return !w.Special(id) }
		a, b := slices.DeleteFunc(slices.Clone(got), special), slices.DeleteFunc(harmless, special)
		text := reftest.Must(w.Decode(got))(t)
		if !slices.Equal(a, b) || len(b) == 0 || text != g.Text {
			t.Errorf("%s: special tokens %v, want %v; text %q", g.Template, a, b, text)
		}
	}
}

// write makes a folder with a template.
func write(t *testing.T, template string) string {
	t.Helper()
	dir := t.TempDir()
	reftest.OK(t, os.WriteFile(filepath.Join(dir, templateFile), []byte(template), 0o600))
	return dir
}

// TestRefused checks that forbidden features and faults of a template are reported in one line that
// names the file, quickly, and without reading anything.
func TestRefused(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	reftest.OK(t, os.WriteFile(secret, []byte("the words of the secret"), 0o600))
	deep := strings.Repeat("{% for a in range(900) %}", 8) + strings.Repeat("{% endfor %}", 8)
	for _, c := range []struct{ name, template, want string }{
		{"not closed", "{% for m in messages %}", "fails"},
		{"unknown filter", "{{ messages[0].content | shout }}", "shout"},
		{"unknown tag", "{% shout %}", "shout"},
		{"raises", "{{ raise_exception('Only\nmen') }}", `it says "Only\nmen"`},
		{"include", "{% include '" + secret + "' %}", "include"},
		{"import", "{% import '" + secret + "' as x %}", "import"},
		{"from", "{% from '" + secret + "' import x %}", "from"},
		{"extends", "{% extends '" + secret + "' %}", "extends"},
		{"macro", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "macro"},
		{"recursion", "{% for m in messages recursive %}{{ loop(messages) }}{% endfor %}", "recursive loop"},
		{"a product", "{{ 'a' * 1000000000 }}", "not supported in templates"},
		{"a power", "{{ 10 ** 10 }}", "not supported in templates"},
		{"doubling", "{% set x = 'aaaaaaaa' %}" + strings.Repeat("{% set x = x + x %}", 60), "more than 6"},
		{"doubling in a namespace", "{% set n = namespace(x='aaaaaaaa') %}" + strings.Repeat("{% set n.x = n.x + n.x %}", 60), "more than 6"},
		{"output", "{% for a in range(1000) %}{% for b in range(1000) %}aaaaaaaaaaaaaaaaaa{% endfor %}{% endfor %}", "more than 6"},
		{"an indent", "a\n{{ messages | tojson(indent=1000000000) }}", "the template fails: line 2: invalid call to filter 'tojson': indent is 1000000000: must be at most 16"},
		{"an indent in a loop", "{% for m in messages %}\n\n{{ m | list | tojson(indent=17) | trim }}{% endfor %}", "line 3: invalid call to filter 'tojson': indent is 17"},
		{"a filter's argument", "\n{{ messages | first(1, 2) }}", "line 2: invalid call to filter 'first': received 2"},
		{"a sum", "{{ messages + 1 }}", "line 1: Unable to concatenate list to"},
		{"a sign", "{{ -messages }}", "a non-number expression '-'"},
		{"a separator", "{% set x = 'aaaaaaaa' %}" + strings.Repeat("{% set x = x + x %}", 11) + "{{ range(1000) | join(x) }}", "more than 6"},
		{"separators in one expression", "{% set x = range(200) | join('aaaaaaaa') %}{{ x | list | join(x) | list | join(x) }}", "more than 6"},
		{"numbers in lists", "{{ [" + strings.Repeat("range(1000),", 40) + "1] | tojson }}", "more than 6"},
		{"range", "{% for a in range(1000000000) %}{% endfor %}", "more than 1000 numbers"},
		{"time", deep, "longer than 1s"},
		{"deep brackets", "{{ " + strings.Repeat("(", 30000), "fails"},
		{"deep lists", "{{ " + strings.Repeat("[", 30000), "fails"},
		{"deep negations", "{{ " + strings.Repeat("not ", 7000) + "x }}", ""},
		{"deep conditions", strings.Repeat("{% if 1 %}", 1500) + strings.Repeat("{% endif %}", 1500), "leaves out message 1"},
		{"silence", "", "leaves out message 1"},
		{"loud", "{{ messages[0].content | upper }}", "changes or inspects"},
		{"looks", "{% if 'the' in messages[0].content %}a{% endif %}{{ messages[0].content }}", "changes or inspects"},
		{"places", "\uE000{{ messages[0].content }}", "U+E000"},
		{"long", strings.Repeat("a", maxTemplate+1), "chat_template.jinja"},
	} {
		template, err := Open(write(t, c.template))
		if err == nil {
			_, err = template.Parts([]Message{{"user", "the sky"}})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), templateFile) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "words of the secret") || len(err.Error()) > 600 {
			t.Errorf("%s: %v, want a line with %q", c.name, err, c.want)
		}
	}
}

// TestFolders checks that the template's file takes precedence over the settings, that lists of
// templates have a default, and that a folder without either is an error.
func TestFolders(t *testing.T) {
	const say = "{{ messages[0].content }}"
	for _, c := range []struct{ name, config, jinja, text, want string }{
		{"nothing", "", "", "", "has no chat template"},
		{"no template", `{"bos_token":"<s>"}`, "", "", "has no chat template"},
		{"a text", `{"bos_token":{"content":"<s>"},"chat_template":"{{ bos_token }}` + say + `"}`, "", "<s>x", ""},
		{"a list", `{"chat_template":[{"name":"rag","template":"r"},{"name":"default","template":"d` + say + `"}]}`, "", "dx", ""},
		{"no default", `{"chat_template":[{"name":"rag","template":"r"}]}`, "", "", "none of them named default"},
		{"a number", `{"chat_template":3}`, "", "", "must be a text"},
		{"no JSON", `{`, "", "", configFile},
		{"both", `{"chat_template":"old"}`, "new" + say, "newx", ""},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{configFile: c.config, templateFile: c.jinja} {
			if text != "" {
				reftest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
		}
		template, err := Open(dir)
		var parts []tokenize.Part
		if err == nil {
			parts, err = template.Parts([]Message{{"user", "x"}})
		}
		if c.want == "" && (err != nil || joined(parts) != c.text) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v, want %q %q", c.name, joined(parts), err, c.text, c.want)
		}
		if none := c.want == "has no chat template"; none != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: there is none: %t", c.name, !none)
		}
	}
}

// TestRoles checks that a role, which the template writes unchanged, is one of three.
func TestRoles(t *testing.T) {
	template := reftest.Must(Open(filepath.Join("testdata", "dream")))(t)
	for _, role := range []string{"", "user<|im_end|>", "tool", "User"} {
		reftest.Fails(t, reftest.Err(template.Parts([]Message{{role, "x"}})), "must be system, user, assistant", role)
	}
}

// FuzzTemplate requires that any template ends, and that its output contains the messages as plain
// parts.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{% for m in messages %}{{ m.role + m.content | trim }}{% endfor %}", "{{ messages[0]['content'] }}", "{% set x = namespace(a=1) %}", "{{ range(3) | list | tojson }}", "{%- if a is defined -%}{%- endif -%}", "{{ ''.split('') }}", "{{ messages[9:].x }}", "{{ 1 // 0 }}", "{{ 1 % 0 }}"} {
		f.Add(s, "hello")
	}
	f.Fuzz(func(t *testing.T, source, content string) {
		if len(source) > maxTemplate || strings.ContainsAny(source, before+after) {
			return
		}
		parts, err := (&Template{file: "x", source: source}).Parts([]Message{{"user", content}})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %v", err)
			}
			return
		}
		for _, p := range parts {
			if p.Plain && strings.TrimSpace(p.Text) != strings.TrimSpace(content) {
				t.Errorf("%q became %q", content, p.Text)
			}
		}
	})
}

// Qwen3's template omits the thoughts of earlier answers, which clients send back. The user's
// messages are unchanged.
func TestThoughts(t *testing.T) {
	template := reftest.Must(Open(write(t, `{%- for message in messages %}{%- set content = message.content %}
{%- if message.role == "assistant" and '</think>' in content %}
    {%- set content = content.split('</think>')[-1].lstrip('\n') %}
{%- endif %}
{{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}{%- endfor %}`)))(t)
	parts := reftest.Must(template.Parts([]Message{{"user", "Is </think> a word?"}, {"assistant", "<think>\nHm </think>.\n</think>\n\n No.\n"}, {"user", "\nWhy?"}}))(t)
	var text string
	for _, p := range parts {
		if p.Plain {
			p.Text = "[" + p.Text + "]"
		}
		text += p.Text
	}
	if want := "<|im_start|>user\n[Is </think> a word?]<|im_end|>\n<|im_start|>assistant\n[ No.\n]<|im_end|>\n<|im_start|>user\n[\nWhy?]<|im_end|>\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
