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
		parts, err := reftest.Must(Open(filepath.Join("testdata", g.Template)))(t).parts(Asked{Messages: g.Messages}, false)
		if err != nil {
			t.Errorf("%s, %s: %v", g.Template, g.Case, err)
			continue
		}
		if got := joined(parts); got != g.Text {
			t.Errorf("%s, %s:\n%q\nwant\n%q", g.Template, g.Case, got, g.Text)
		}
		var plain, said string
		for _, p := range parts {
			if p.Plain {
				plain += p.Text
			}
		}
		for _, m := range g.Messages {
			said += m.Content
		}
		if plain != strings.Join(strings.Fields(said), "") {
			t.Errorf("%s, %s: the plain parts are %q, want %q", g.Template, g.Case, plain, said)
		}
	}
}

// TestReference checks that templates of published kinds print what transformers does.
func TestReference(t *testing.T) {
	t.Parallel()
	for _, path := range []string{reftest.Shared(t, "reference", "chat", "templates.json"), reftest.Shared(t, "cases", "chat-templates.json")} {
		var r struct {
			Conversations [][]Message
			Templates     map[string]struct {
				Template string
				Prompts  []string
			}
			Expressions map[string]string
			Messages    []Message `json:"expression_messages"`
		}
		reftest.OK(t, json.Unmarshal(reftest.Must(os.ReadFile(path))(t), &r))
		equal, all := 0, 0
		for name, c := range r.Templates {
			for i, want := range c.Prompts {
				parts, err := prompt(t, c.Template, r.Conversations[i])
				if all++; err == nil && joined(parts) == want {
					equal++
				} else {
					t.Errorf("%s, %d: %q, %v, want %q", name, i, joined(parts), err, want)
				}
			}
		}
		t.Logf("%s: %d of %d prompts are equal", path, equal, all)
		equal = 0
		for e, want := range r.Expressions {
			parts, err := prompt(t, "{{ "+e+" }}", r.Messages)
			if got := joined(parts); err == nil && got != want {
				t.Errorf("%s: %q, want %q", e, got, want)
			} else if err == nil {
				equal++
			} else {
				t.Logf("%s: %v", e, err)
			}
		}
		t.Logf("%s: %d of %d expressions are equal", path, equal, len(r.Expressions))
	}
}

// prompt returns the prompt that a template writes.
func prompt(t *testing.T, source string, messages []Message) ([]tokenize.Part, error) {
	dir := folder(t, source)
	reftest.OK(t, os.WriteFile(filepath.Join(dir, configFile), []byte(`{"bos_token":"<s>","eos_token":"</s>"}`), 0o600))
	template, err := Open(dir)
	if err != nil {
		return nil, err
	}
	return template.parts(Asked{Messages: messages}, false)
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
		got, err := template.Prompt(w, Asked{Messages: g.Messages})
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
		harmless := reftest.Must(template.Prompt(w, Asked{Messages: []Message{{"user", "x"}}}))(t)
		special := func(id int) bool { return !w.Special(id) }
		a, b := slices.DeleteFunc(slices.Clone(got), special), slices.DeleteFunc(harmless, special)
		text := reftest.Must(w.Decode(got))(t)
		if !slices.Equal(a, b) || len(b) == 0 || text != g.Text {
			t.Errorf("%s: special tokens %v, want %v; text %q", g.Template, a, b, text)
		}
	}
}

// folder makes a folder with a template.
func folder(t *testing.T, template string) string {
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
		{"a product", "{{ 'a' * 1000000000 }}", "more than 6"},
		{"a power", "{{ 10 ** 10 }}", "line 1: ** is not supported"},
		{"doubling", "{% set x = 'aaaaaaaa' %}" + strings.Repeat("{% set x = x + x %}", 60), "more than 6"},
		{"doubling in a namespace", "{% set n = namespace(x='aaaaaaaa') %}" + strings.Repeat("{% set n.x = n.x + n.x %}", 60), "more than 6"},
		{"output", "{% for a in range(1000) %}{% for b in range(1000) %}aaaaaaaaaaaaaaaaaa{% endfor %}{% endfor %}", "more than 6"},
		{"an indent", "a\n{{ messages | tojson(indent=1000000000) }}", "an indent above 16 is not supported"},
		{"an indent in a loop", "{% for m in messages %}\n\n{{ m | list | tojson(indent=17) | trim }}{% endfor %}", "an indent above 16"},
		{"a filter's argument", "\n{{ messages | first(1, 2) }}", "2 arguments too many"},
		{"a sum", "{{ messages + 1 }}", "+ of such values is not supported"},
		{"a sign", "{{ -messages }}", "- of such values"},
		{"a separator", "{% set x = 'aaaaaaaa' %}" + strings.Repeat("{% set x = x + x %}", 11) + "{{ range(1000) | join(x) }}", "more than 6"},
		{"separators in one expression", "{% set x = range(200) | join('aaaaaaaa') %}{{ x | list | join(x) | list | join(x) }}", "more than 6"},
		{"numbers in lists", "{{ [" + strings.Repeat("range(1000),", 40) + "1] | tojson }}", "more than 6"},
		{"range", "{% for a in range(1000000000) %}{% endfor %}", "more than 1000 numbers"},
		{"time", deep, "longer than 1s"},
		{"deep brackets", "{{ " + strings.Repeat("(", 30000), "fails"},
		{"deep lists", "{{ " + strings.Repeat("[", 30000), "fails"},
		{"deep negations", "{{ " + strings.Repeat("not ", 7000) + "x }}", ""},
		{"a chain", "{{ 1 < 2 < 3 }}", "a chain of comparisons"},
		{"a test without brackets", "{{ 4 is divisibleby 2 }}", "test"},
		{"a list", "{{ [messages] }}", "printing a list"},
		{"a function", "{{ lipsum(3) }}", "calling lipsum"},
		{"a method", "{{ messages[0].content.title() }}", "the method title"},
		{"lists of themselves", "{% set n = namespace(a=[1]) %}" + strings.Repeat("{% set n.a = [n.a, n.a] %}", 40) + "{{ n.a == n.a }}", "more than 6"},
		{"lists of themselves, as JSON", "{% set a = [1] %}" + strings.Repeat("{% set a = [a, a] %}", 40) + "{{ a | tojson }}", "more than 6"},
		{"many values", "{% set n = namespace(a=[]) %}{% for i in range(1000) %}{% set n.a = n.a + ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] %}{% endfor %}", "more than 6"},
		{"comparisons", "{% set a = range(900) %}{% for i in a %}{% for j in a %}{% for k in a %}{% if a == a %}{% endif %}{% endfor %}{% endfor %}{% endfor %}", "longer than 1s"},
		{"loud", "{{ messages[0].content | upper }}", "changes or inspects"},
		{"looks", "{% if 'the' in messages[0].content %}a{% endif %}{{ messages[0].content }}", "changes or inspects"},
		{"cover", "\U000F0000{{ messages[0].content }}", "changes or inspects"},
		{"long", strings.Repeat("a", maxTemplate+1), "chat_template.jinja"},
	} {
		template, err := Open(folder(t, c.template))
		if err == nil {
			_, err = template.parts(Asked{Messages: []Message{{"user", "the sky"}}}, false)
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
			parts, err = template.parts(Asked{Messages: []Message{{"user", "x"}}}, false)
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
		reftest.Fails(t, reftest.Err(template.parts(Asked{Messages: []Message{{role, "x"}}}, false)), "must be system, user, assistant", role)
	}
}

// FuzzTemplate requires that any template ends, and that its output contains the messages as plain
// parts.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{% for m in messages %}{{ m.role + m.content | trim }}{% endfor %}", "{{ messages[0]['content'] }}", "{% set x = namespace(a=1) %}", "{{ range(3) | list | tojson }}", "{%- if a is defined -%}{%- endif -%}", "{{ ''.split('') }}", "{{ messages[9:].x }}", "{{ 1 // 0 }}", "{{ 1 % 0 }}"} {
		f.Add(s, "hello")
	}
	f.Fuzz(func(t *testing.T, source, content string) {
		if len(source) > maxTemplate || strings.ContainsFunc(source, isCover) {
			return
		}
		template := &Template{file: "x", source: source}
		err := template.compile()
		var parts []tokenize.Part
		if err == nil {
			parts, err = template.parts(Asked{Messages: []Message{{"user", content}}}, false)
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %v", err)
			}
			return
		}
		for _, p := range parts {
			if p.Plain && !strings.Contains(content, p.Text) {
				t.Errorf("%q became %q", content, p.Text)
			}
		}
	})
}

// Qwen3's template omits the thoughts of earlier answers, which clients send back. The user's
// messages are unchanged.
func TestThoughts(t *testing.T) {
	template := reftest.Must(Open(folder(t, `{%- for message in messages %}{%- set content = message.content %}
{%- if message.role == "assistant" and '</think>' in content %}
    {%- set content = content.split('</think>')[-1].lstrip('\n') %}
{%- endif %}
{{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}{%- endfor %}`)))(t)
	parts := reftest.Must(template.parts(Asked{Messages: []Message{{"user", "Is </think> a word?"}, {"assistant", "<think>\nHm </think>.\n</think>\n\n No.\n"}, {"user", "\nWhy?"}}}, false))(t)
	want := "<|im_start|>user\nIs </think> a word?<|im_end|>\n<|im_start|>assistant\n No.\n<|im_end|>\n<|im_start|>user\n\nWhy?<|im_end|>\n"
	if text := joined(parts); text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
