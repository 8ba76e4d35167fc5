package chat

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

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

// Asked is what a template makes a prompt of.
type Asked struct {
	Messages []Message
	// Kwargs are the values of variables of the template, such as enable_thinking: booleans, numbers or
	// words.
	Kwargs map[string]any
	// Begin is the text with which the answer begins.
	Begin string
}

// Prompt returns the ids of the messages, and of what comes before the assistant's answer and begins
// it.
func (t *Template) Prompt(words *tokenize.Tokenizer, a Asked) ([]int, error) {
	think, ok := words.ID("<think>")
	parts, err := t.parts(a, ok && words.Special(think))
	if err != nil {
		return nil, err
	}
	return words.EncodeParts(append(parts, tokenize.Part{Text: a.Begin, Plain: true}))
}

// Characters from firstCover to lastCover, of a plane for private use, stand for those of contents.
const (
	firstCover = '\U000F0000'
	lastCover  = '\U000FFFFD'
)

func isCover(r rune) bool { return firstCover <= r && r <= lastCover }

// thought matches the marks of thoughts, which templates leave out.
var thought = regexp.MustCompile(`^</?think>`)

// covered returns a content with a character under cover for each of its own, which it appends to
// runes. Blanks stay as they are, because templates trim them, as do the marks of thoughts unless they
// are special tokens.
func covered(content string, runes *[]string, special bool) string {
	var b strings.Builder
	for content != "" {
		r, n := utf8.DecodeRuneInString(content)
		switch mark := thought.FindString(content); {
		case mark != "" && !special:
			n = len(mark)
			b.WriteString(mark)
		case isSpace(r):
			b.WriteRune(r)
		default:
			b.WriteRune(firstCover + rune(len(*runes)))
			*runes = append(*runes, content[:n])
		}
		content = content[n:]
	}
	return b.String()
}

// parts returns the prompt in parts, with the contents of messages plain, except for blanks. It runs
// the template twice, with the contents and with contents under cover, which shows where each character
// comes from. A template that writes another prompt then, because it inspects or changes contents, is
// an error. special reports whether the thoughts' marks are special tokens.
func (t *Template) parts(a Asked, special bool) ([]tokenize.Part, error) {
	under := slices.Clone(a.Messages)
	var runes []string // that are covered
	for i, m := range a.Messages {
		if !slices.Contains(roles, m.Role) {
			return nil, fault.Errorf("chat", "message %d: the role is %.40q: must be %s", i+1, m.Role, strings.Join(roles, ", "))
		}
		if utf8.RuneCountInString(m.Content) > int(lastCover-firstCover)-len(runes) {
			return nil, fault.Errorf("chat", "the messages have more than %d characters", lastCover-firstCover)
		}
		under[i].Content = covered(m.Content, &runes, special)
	}
	whole, err := t.render(a.Messages, a.Kwargs)
	if err != nil {
		return nil, err
	}
	frame, err := t.render(under, a.Kwargs)
	if err != nil {
		return nil, err
	}
	var parts []tokenize.Part
	var text strings.Builder
	for _, r := range frame {
		s, plain := string(r), isCover(r)
		if plain {
			if int(r-firstCover) >= len(runes) {
				return nil, t.changes()
			}
			s = runes[r-firstCover]
		}
		text.WriteString(s)
		if n := len(parts); n > 0 && parts[n-1].Plain == plain {
			parts[n-1].Text += s
		} else {
			parts = append(parts, tokenize.Part{Text: s, Plain: plain})
		}
	}
	if text.String() != whole {
		return nil, t.changes()
	}
	return parts, nil
}

func (t *Template) changes() error {
	return fault.Errorf("chat", "%s changes or inspects the messages' contents, so its own tokens cannot be distinguished from theirs: give the prompt as a prefix", t.file)
}
