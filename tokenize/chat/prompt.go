package chat

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/tokenize"
)

// A Message is a turn of a conversation.
type Message struct {
	// Role is system, user or assistant.
	Role    string `json:"role"`
	Content string `json:"content"`
}

// roles are the valid roles of a message. No others are allowed, because templates write a role
// unchanged.
var roles = []string{"system", "user", "assistant"}

// Prompt returns the ids of messages, followed by the beginning of the assistant's answer.
func (t *Template) Prompt(words *tokenize.Tokenizer, messages []Message) ([]int, error) {
	parts, err := t.Parts(messages)
	if err != nil {
		return nil, err
	}
	return words.EncodeParts(parts)
}

// before, a message's number, and after form the placeholder for its content.
const (
	before = "\uE000"
	after  = "\uE001"
)

var place = regexp.MustCompile(before + `(\d+)` + after)

// edges are the changes that templates make to contents.
var edges = []func(string) string{
	func(s string) string { return s },
	strings.TrimSpace,
	func(s string) string { return strings.TrimLeft(s, " \n\t\r") },
	func(s string) string { return strings.TrimRight(s, " \n\t\r") },
	func(s string) string { return strings.TrimLeft(answer(s), "\n") },
}

// answer returns the part of a message after its thoughts. Qwen3's template omits the thoughts of
// earlier turns, which clients send back.
func answer(s string) string {
	parts := strings.Split(s, "</think>")
	return parts[len(parts)-1]
}

// Parts returns the prompt in parts, with the contents of messages plain. It runs the template
// twice: with placeholders, which shows where the contents go, and with the contents, which shows
// how they change. They may be trimmed or lose their thoughts, and nothing else.
func (t *Template) Parts(messages []Message) ([]tokenize.Part, error) {
	places := slices.Clone(messages)
	for i, m := range messages {
		if !slices.Contains(roles, m.Role) {
			return nil, fault.Errorf("chat", "message %d: the role is %.40q: must be %s", i+1, m.Role, strings.Join(roles, ", "))
		}
		places[i].Content = before + strconv.Itoa(i) + after
	}
	frame, err := t.render(places)
	if err != nil {
		return nil, err
	}
	whole, err := t.render(messages)
	if err != nil {
		return nil, err
	}
	var parts []tokenize.Part
	seen := make([]bool, len(messages))
	at := 0 // in frame
	for _, m := range append(place.FindAllStringSubmatchIndex(frame, -1), []int{len(frame), len(frame), 0, 0}) {
		piece := frame[at:m[0]]
		rest, ok := strings.CutPrefix(whole, piece)
		if !ok {
			return nil, t.changes()
		}
		parts = append(parts, tokenize.Part{Text: piece})
		if whole, at = rest, m[1]; m[0] == m[1] {
			break
		}
		i, err := strconv.Atoi(frame[m[2]:m[3]])
		if err != nil || i >= len(messages) {
			return nil, t.changes()
		}
		next := frame[at:]
		if p := place.FindStringIndex(next); p != nil {
			next = next[:p[0]]
		}
		k := slices.IndexFunc(edges, func(edge func(string) string) bool {
			return strings.HasPrefix(whole, edge(messages[i].Content)+next)
		})
		if k < 0 {
			return nil, t.changes()
		}
		content := edges[k](messages[i].Content)
		parts = append(parts, tokenize.Part{Text: content, Plain: true})
		whole, seen[i] = whole[len(content):], true
	}
	if whole != "" {
		return nil, t.changes()
	}
	if i := slices.Index(seen, false); i >= 0 {
		return nil, fault.Errorf("chat", "%s leaves out message %d, of the %s", t.file, i+1, messages[i].Role)
	}
	return parts, nil
}

func (t *Template) changes() error {
	return fault.Errorf("chat", "%s changes or inspects the messages' contents, so its own tokens cannot be distinguished from theirs: give the prompt as --prefix", t.file)
}
