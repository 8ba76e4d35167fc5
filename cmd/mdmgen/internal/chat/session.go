package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/serve/frame"
	"mdmgen/tokenize"
	"mdmgen/tokenize/chat"
)

// session is a chat with its history. It belongs to one goroutine at a time.
type session struct {
	*options
	streams kit.Streams
	network model.Model
	facts   facts.Facts
	words   *tokenize.Tokenizer
	texts   *requests.Words
	builder *requests.Builder
	// story reports whether the model has no chat template: the messages are then parts of one text.
	story bool
	// instruction is the system's message, nil for none. It stands before the others.
	instruction *string
	messages    []chat.Message
	// set holds the options of /set, in the form of a request in JSON.
	set map[string]json.RawMessage
	// drawn is the number of answers so far. Each has random numbers of its own.
	seed, drawn uint64
	// left is the number of messages that were left out because the history is too long.
	left int
	// tell tells the user something; frames, if not nil, gets each frame of an answer.
	tell   func(text string)
	frames func(frame.Frame)
	// job is that of the last answer, and store has the rows of all.
	job   requests.Job
	store *samplers.Store
}

// history returns the system's message, if there is one, and the others without the first ones.
func (c *session) history(left int) []chat.Message {
	all := []chat.Message{}
	if c.instruction != nil {
		all = append(all, chat.Message{Role: "system", Content: *c.instruction})
	}
	return append(all, c.messages[left:]...)
}

// say appends a message of the user's, in place of one without an answer: templates want turns. In a
// story, a blank separates it from the text before it.
func (c *session) say(text string) {
	if n := len(c.messages); !c.story && n > 0 && c.messages[n-1].Role == "user" {
		c.messages = c.messages[:n-1]
	}
	first, _ := utf8.DecodeRuneInString(text)
	if n := len(c.messages); c.story && n > 0 && (unicode.IsLetter(first) || unicode.IsNumber(first)) {
		if last, _ := utf8.DecodeLastRuneInString(c.messages[n-1].Content); !unicode.IsSpace(last) {
			text = " " + text
		}
	}
	c.messages = append(c.messages, chat.Message{Role: "user", Content: text})
}

// room returns the number of positions that an answer of no given length has.
func (c *session) room() int { return max(1, min(requests.MaxAnswer, c.facts.Length/2)) }

// next makes the job of the next answer. If the history leaves no room for it, the oldest turns leave.
func (c *session) next(ctx context.Context) error {
	object, _ := json.Marshal(c.set) // It is JSON.
	r, err := c.builder.Parse(object)
	if err != nil {
		return err
	}
	for before := c.left; ; {
		if r.Messages = c.history(c.left); c.story {
			r.Messages, r.Prefix = nil, new(text(c.messages[c.left:]))
			if r.Length == (requests.Length{}) && !c.facts.FixedLength {
				r.Length.Fill = c.room()
			}
		}
		j, err := c.builder.Job(ctx, r)
		wrong, tight := errors.AsType[*requests.Error](err)
		tight = tight && wrong.Field == "length"
		if err == nil && r.Length == (requests.Length{}) {
			// Texts behind the answer's beginning take room too.
			spec := c.network.Spec()
			tight = r.Infill == nil && c.facts.Length-j.Prompt < c.room() || len(j.Tokens) == c.facts.Length && len(spec.Masked(j.Tokens)) < c.room()
		}
		if tight && len(c.messages)-c.left > 2 {
			c.left += 2
			continue
		}
		if c.left > before && before == 0 && err == nil {
			c.tell("the history is too long for the model: the oldest turns are left out from here on")
		}
		c.job = j
		return err
	}
}

// answer draws the answer to the messages and appends it. If ctx is cancelled, the answer is the text before
// its first mask, and the error is that of ctx.
func (c *session) answer(ctx context.Context) (text string, err error) {
	if err := c.next(ctx); err != nil {
		return "", c.wrong(fault.WithoutName(err))
	}
	var canvas frame.Canvas
	maker := frame.Maker{Mask: c.facts.MaskID, Piece: c.words.Piece(), Begin: time.Now()}
	one := samplers.Sequence{Index: c.drawn, Canvas: c.job.Tokens, Method: c.job.Sampler}
	seed := samplers.ValueOr(c.job.Seed, c.seed)
	c.drawn++
	take := func(r samplers.Result) error {
		s, err := requests.Printer{Words: c.words, Mask: c.facts.MaskID}.Sample(&c.job, r)
		if err == nil {
			text = *s.Text
		}
		if c.story {
			text = strings.Join(s.Filled, "") // of its only gap, if that has a text
		}
		return err
	}
	_, err = samplers.Sample(ctx, c.network, slices.Values([]samplers.Sequence{one}), samplers.Config{
		Method: c.builder.Sampler(), Seed: seed, Batch: 1, Keep: setup.KeepBytes(c.cacheMemory), Store: c.store,
		OnStep: func(s samplers.Step) {
			for _, f := range maker.Step(s, c.job.Tokens) {
				canvas.Apply(f)
				if c.frames != nil {
					c.frames(f)
				}
			}
		},
	}, take)
	if ctx.Err() != nil {
		err = cmp.Or(take(samplers.Result{IDs: c.settled(canvas.Cells)}), ctx.Err())
		text = strings.TrimRight(text, string(utf8.RuneError)) // without a part of a character
	} else if err != nil {
		return "", fault.WithoutName(err)
	}
	if text != "" {
		c.messages = append(c.messages, chat.Message{Role: "assistant", Content: text})
	}
	return text, err
}

// first returns the first position of the last answer.
func (c *session) first() int {
	if c.story {
		return slices.Index(c.job.Tokens, c.facts.MaskID)
	}
	return c.job.Prompt
}

// settled returns the ids of a canvas up to its first mask, and what follows every text.
func (c *session) settled(cells []frame.Cell) []int {
	ids := c.job.Tokens
	if given := slices.Index(ids, c.facts.MaskID); given >= 0 {
		ids = slices.Clip(ids[:given])
	}
	for _, cell := range cells[min(len(ids), len(cells)):] {
		if cell.Masked {
			break
		}
		ids = append(ids, cell.Token)
	}
	return append(ids, c.job.Tokens[len(c.job.Tokens)-c.job.After:]...)
}
