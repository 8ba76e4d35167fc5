package chat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/suggest"
	"mdmgen/requests"
	"mdmgen/tokenize/chat"
)

// help describes the commands of a chat.
const help = "/system TEXT       set the system's message; remove it without TEXT\n" +
	"/set OPTION VALUE  set an option; remove it without VALUE: prefix, suffix, infill,\n" +
	"                   length, chat_template_kwargs, sampler, seed, temperature …\n" +
	"/show              show the settings\n" +
	"/regen             answer the last message again\n" +
	"/undo              remove the last message and its answer\n" +
	"/clear             remove all messages but the system's\n" +
	"/save FILE         write messages and options, a line for generate --input\n" +
	"/load FILE         replace them by the last line of FILE\n" +
	"/exit              leave\n" +
	"//TEXT             the message /TEXT"

// line does what a line says. answers reports whether an answer is due, leave whether the chat is over;
// says is told to the user.
func (c *session) line(ctx context.Context, text string) (answers bool, says string, leave bool, err error) {
	text = strings.TrimSuffix(text, "\r")
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case name == "" && !c.story:
		return false, "", false, nil
	case !strings.HasPrefix(name, "/") || strings.HasPrefix(name, "//"):
		if text = strings.TrimPrefix(text, "/"); text != "" {
			c.say(text)
		}
		return true, "", false, nil
	case c.story && name == "/system":
		return false, "", false, exit.Usagef("/system: a story has no system's message")
	}
	switch system := len(c.messages) - c.turns(); name {
	case "/help", "/?": // /?, /bye and /quit are what other chats have
		says = help
	case "/system":
		c.instruct(rest)
	case "/set":
		err = c.option(rest)
	case "/show":
		says = c.settings(ctx)
	case "/regen", "/undo":
		n := len(c.messages)
		for n > system && c.messages[n-1].Role == "assistant" {
			n--
		}
		if answers = name == "/regen"; !answers {
			n--
		}
		if n < system || answers && n == system {
			return false, "", false, exit.Usagef("%s: there is no message", name)
		}
		c.messages = c.messages[:n]
	case "/clear":
		c.messages, c.left = c.messages[:system], 0
	case "/save":
		err = c.save(ctx, rest)
	case "/load":
		err = c.read(ctx, rest)
	case "/exit", "/bye", "/quit":
		leave = true
	default:
		names := append(regexp.MustCompile(`(?m)^/\w+`).FindAllString(help, -1), "/help")
		err = exit.Usagef("%.40s: no such command%s", name, cmp.Or(suggest.Ending(name, names), "; // begins a message with /"))
	}
	c.left = min(c.left, max(0, c.turns()-1))
	return answers, says, leave, err
}

// option sets or removes an option of requests.
func (c *session) option(text string) error {
	name, value, _ := strings.Cut(text, " ")
	name, value = strings.ReplaceAll(name, "-", "_"), strings.TrimSpace(value)
	switch {
	case slices.Contains([]string{"", "n", "ids", "messages", "continue_final_message"}, name):
		return exit.Usagef("/set: name an option of an answer and its value: /set temperature 0.5")
	case value == "":
		delete(c.set, name)
		return nil
	}
	// A value is text, such as that of prefix, or else JSON, such as that of chat_template_kwargs.
	raw, _ := json.Marshal(value)
	object := func() []byte { return fmt.Appendf(nil, "{%q:%s}", name, raw) }
	_, err := c.builder.Parse(object())
	if err != nil && json.Valid([]byte(value)) {
		raw = []byte(value)
		_, err = c.builder.Parse(object())
	}
	if err != nil {
		return exit.Usagef("/set: %s", fault.Plain(err))
	}
	c.set[name] = raw
	return nil
}

// settings describes the chat and its next answer.
func (c *session) settings(ctx context.Context) string {
	t := kit.NewTable(false)
	t.Row("model", "%s", c.model.Ref)
	t.Row("messages", "%d, %d of them left out", len(c.messages), c.left)
	t.Row("seed", "%d", c.seed)
	for _, name := range slices.Sorted(maps.Keys(c.set)) {
		t.Row(name, "%s", strings.Trim(string(c.set[name]), `"`))
	}
	next := *c
	if n := len(c.messages); !c.story && (n == 0 || c.messages[n-1].Role != "user") {
		next.messages = append(next.messages, chat.Message{Role: "user", Content: "Hello"})
	}
	_ = next.next(ctx, func(string) {}) // The answer reports errors.
	set := cmp.Or(next.job.Sampler, c.builder.Sampler()).Settings()
	how := set.Sampler
	for _, p := range set.List() {
		if value := p.Get(); value != "" {
			how += " " + p.Name + "=" + value
		}
	}
	t.Row("answers by", "%s", how)
	return strings.TrimSuffix(t.String(), "\n")
}

// text returns the text of a story.
func text(messages []chat.Message) (all string) {
	for _, m := range messages {
		all += m.Content
	}
	return all
}

// save writes the chat as a request in JSON.
func (c *session) save(ctx context.Context, path string) error {
	if path == "" {
		return exit.Usagef("/save: name a file")
	}
	object := make(map[string]any)
	for name, raw := range c.set {
		object[name] = raw
	}
	if c.story {
		object["prefix"] = text(c.messages)
	} else {
		object["messages"] = c.messages
	}
	out, err := kit.NewOutput(ctx, "/save", path, c.streams)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := kit.WriteLine(out, object); err != nil {
		return err
	}
	return out.Commit()
}

// read replaces messages and options by those of the last line of a file.
func (c *session) read(ctx context.Context, path string) error {
	if path == "" {
		return exit.Usagef("/load: name a file")
	}
	in, err := plainfile.OpenNamed(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer in.Close()
	last := kit.TextLine{N: 1}
	for line, err := range kit.Lines(in, path) {
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line.Text)) > 0 {
			last = kit.TextLine{N: line.N, Text: bytes.Clone(line.Text)}
		}
	}
	r, err := requests.Parse(last.Text, 1)
	if err != nil {
		return exit.Usagef("%s:%d: %s", path, last.N, fault.Plain(err))
	}
	switch {
	case c.story && (r.Messages != nil || r.Prefix == nil):
		return exit.Usagef("%s:%d: has no prefix, the text of a story", path, last.N)
	case !c.story && r.Messages == nil:
		return exit.Usagef("%s:%d: has no messages", path, last.N)
	}
	c.messages, c.set, c.left = r.Messages, make(map[string]json.RawMessage), 0
	if err := json.Unmarshal(last.Text, &c.set); err != nil {
		return err
	}
	delete(c.set, "messages")
	if c.story {
		delete(c.set, "prefix")
		c.messages = []chat.Message{{Role: "user", Content: *r.Prefix}}
	}
	return nil
}
