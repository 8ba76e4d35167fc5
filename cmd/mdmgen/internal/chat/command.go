package chat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	case "/help":
		says = help
	case "/system":
		c.instruct(rest)
	case "/set":
		err = c.option(rest)
	case "/show":
		says, err = c.settings()
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
	case "/exit":
		leave = true
	default:
		names := strings.Fields("/help /system /set /show /regen /undo /clear /save /load /exit")
		err = exit.Usagef("%.40s: no such command%s", name, cmp.Or(suggest.Ending(name, names), "; // begins a message with /"))
	}
	c.left = min(c.left, max(0, c.turns()-1))
	return answers, says, leave, err
}

// option sets or removes an option of requests.
func (c *session) option(text string) error {
	name, value, _ := strings.Cut(text, " ")
	name, value = strings.ReplaceAll(name, "-", "_"), strings.TrimSpace(value)
	if name == "" {
		return exit.Usagef("/set: name an option and its value: /set temperature 0.5")
	}
	set := maps.Clone(c.set)
	delete(set, name)
	if value == "" {
		c.set = set
		return nil
	}
	if set == nil {
		set = make(map[string]json.RawMessage)
	}
	// A value is text, such as that of prefix, or else JSON, such as that of chat_template_kwargs.
	quoted, _ := json.Marshal(value)
	var wrong error
	for _, raw := range [][]byte{quoted, []byte(value)} {
		set[name] = raw
		object, err := json.Marshal(map[string]json.RawMessage{name: raw})
		if err != nil {
			break
		}
		_, err = c.builder.Parse(object)
		if err == nil {
			if _, others := requests.Keys(); !slices.Contains(append(others, "prefix", "suffix", "infill", "length", "chat_template_kwargs"), name) || name == "n" {
				return exit.Usagef("/set %s: is no option of an answer", name)
			}
			c.set = set
			return nil
		}
		wrong = err
	}
	return exit.Usagef("/set: %s", fault.Plain(wrong))
}

// settings describes the chat.
func (c *session) settings() (string, error) {
	t := kit.NewTable(false)
	t.Row("model", "%s", c.model.Ref)
	t.Row("messages", "%d, %d of them left out", len(c.messages), c.left)
	t.Row("seed", "%d", c.seed)
	for _, name := range slices.Sorted(maps.Keys(c.set)) {
		t.Row(name, "%s", c.set[name])
	}
	used := c.builder.Sampler()
	if c.job.Sampler != nil {
		used = c.job.Sampler
	}
	line, err := kit.JSONLine(used.Settings())
	t.Row("sampler", "%s", line)
	return strings.TrimSuffix(t.String(), "\n"), err
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
	if object["messages"] = c.messages; c.story {
		delete(object, "messages")
		text := ""
		for _, m := range c.messages {
			text += m.Content
		}
		object["prefix"] = text
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
	var last kit.TextLine
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
	var set map[string]json.RawMessage
	if err := json.Unmarshal(last.Text, &set); err != nil {
		return err
	}
	delete(set, "messages")
	c.messages, c.set, c.left = r.Messages, set, 0
	if c.story {
		delete(set, "prefix")
		c.messages = []chat.Message{{Role: "user", Content: *r.Prefix}}
	}
	return nil
}
