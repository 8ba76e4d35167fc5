package chat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
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

// errLeave ends a chat.
var errLeave = errors.New("the chat is over")

// line does what a line says, and reports whether an answer is due.
func (c *session) line(ctx context.Context, line string) (answers bool, err error) {
	line = strings.TrimSuffix(line, "\r")
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "//") {
		return c.command(ctx, name, strings.TrimSpace(rest))
	}
	answers = name != "" || c.story
	if text := strings.TrimPrefix(line, "/"); answers && text != "" {
		c.say(text)
	}
	return answers, nil
}

// command does a command, and reports whether an answer is due.
func (c *session) command(ctx context.Context, name, rest string) (answers bool, err error) {
	switch name {
	case "/help", "/?": // /?, /bye and /quit are what other chats have
		c.tell(help)
	case "/system":
		if c.story {
			return false, exit.Usagef("/system: a story has no system's message")
		}
		if c.instruction = &rest; rest == "" {
			c.instruction = nil
		}
	case "/set":
		err = c.option(rest)
	case "/show":
		c.tell(c.settings(ctx))
	case "/regen", "/undo":
		last := len(c.messages) - 1
		for last >= 0 && c.messages[last].Role == "assistant" {
			last--
		}
		if last < 0 {
			return false, exit.Usagef("%s: there is no message", name)
		}
		if answers = name == "/regen"; answers {
			last++
		}
		c.messages = c.messages[:last]
	case "/clear":
		c.messages = nil
	case "/save":
		err = c.save(ctx, rest)
	case "/load":
		err = c.read(ctx, rest)
	case "/exit", "/bye", "/quit":
		err = errLeave
	default:
		names := append(regexp.MustCompile(`(?m)^/\w+`).FindAllString(help, -1), "/help")
		err = exit.Usagef("%.40s: no such command%s", name, cmp.Or(suggest.Ending(name, names), "; // begins a message with /"))
	}
	c.left = min(c.left, max(0, len(c.messages)-1))
	return answers, err
}

// option sets or removes an option of requests.
func (c *session) option(text string) (err error) {
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
	quoted, _ := json.Marshal(value)
	for _, raw := range [][]byte{quoted, []byte(value)} {
		if !json.Valid(raw) {
			break
		}
		if _, err = requests.Parse(fmt.Appendf(nil, "{%q:%s}", name, raw), 1); err == nil {
			c.set[name] = raw
			return nil
		}
	}
	return exit.Usagef("/set: %s", fault.Plain(err))
}

// settings describes the chat and its next answer.
func (c *session) settings(ctx context.Context) string {
	t := kit.NewTable(false)
	t.Row("model", "%s", c.model.Ref)
	t.Row("messages", "%d, %d of them left out", len(c.history(0)), c.left)
	t.Row("seed", "%d", c.seed)
	for _, name := range slices.Sorted(maps.Keys(c.set)) {
		t.Row(name, "%s", strings.Trim(string(c.set[name]), `"`))
	}
	next := *c
	next.tell = func(string) {}
	if n := len(c.messages); !c.story && (n == 0 || c.messages[n-1].Role != "user") {
		next.messages = append(next.messages, chat.Message{Role: "user", Content: "Hello"})
	}
	_ = next.next(ctx) // The answer reports errors.
	t.Row("answers by", "%s", bench.Setting{Options: cmp.Or(next.job.Sampler, c.builder.Sampler()).Settings().Options}.ID())
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
		object["messages"] = c.history(0)
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
	data, err := plainfile.Named(ctx, path, kit.MaxLine)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	lines := bytes.Split(bytes.TrimRight(data, " \t\r\n"), []byte("\n"))
	n, last := len(lines), lines[len(lines)-1]
	r, err := requests.Parse(last, 1)
	if err != nil {
		return exit.Usagef("%s:%d: %s", path, n, fault.Plain(err))
	}
	switch {
	case c.story && (r.Messages != nil || r.Prefix == nil):
		return exit.Usagef("%s:%d: has no prefix, the text of a story", path, n)
	case !c.story && r.Messages == nil:
		return exit.Usagef("%s:%d: has no messages", path, n)
	}
	c.instruction, c.messages, c.set, c.left = nil, r.Messages, make(map[string]json.RawMessage), 0
	if err := json.Unmarshal(last, &c.set); err != nil {
		return err
	}
	delete(c.set, "messages")
	if c.story {
		delete(c.set, "prefix")
		c.messages = []chat.Message{{Role: "user", Content: *r.Prefix}}
	} else if len(r.Messages) > 0 && r.Messages[0].Role == "system" {
		c.instruction, c.messages = &r.Messages[0].Content, r.Messages[1:]
	}
	return nil
}
