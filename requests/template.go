package requests

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"mdmgen/internal/plainjson"
)

// piece is a part of a template: given text or tokens, or masks to be filled.
type piece struct {
	text string
	// ids are given tokens.
	ids []int
	// masks is the number of positions, or rest for the remaining ones; name is the name of the
	// gap.
	masks int
	name  string
}

// maxMasks is the maximum number of masks that is parsed. The maximum for a canvas depends on the
// model, which is unknown here.
const maxMasks = 1 << 31

// rest marks the piece that takes the remaining length.
const rest = -1

// gapName matches the name of a gap.
var gapName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// parseInfill parses a template: {{N}} is N masks, {{*}} as many as the length leaves, {{NAME:N}} and
// {{NAME:*}} a gap with a name, {{"text"}} the text of a JSON string. Anything else after {{ is an
// error, so that text cannot turn into masks unnoticed: {{ in a text is written {{"{{"}}.
func parseInfill(template string) (pieces []piece, err error) {
	add := func(p piece) {
		switch last := len(pieces) - 1; {
		case p.masks == 0 && p.text == "":
		case p.masks == 0 && last >= 0 && pieces[last].masks == 0: // Adjacent texts are tokenized as one.
			pieces[last].text += p.text
		default:
			pieces = append(pieces, p)
		}
	}
	for s := template; s != ""; {
		before, after, found := strings.Cut(s, "{{")
		add(piece{text: before})
		if !found {
			break
		}
		p, n, err := parseDirective(after)
		if err != nil {
			return nil, err
		}
		add(p)
		s = after[n:]
	}
	return pieces, nil
}

// parseDirective parses what follows "{{" and returns the number of bytes up to
// and including "}}".
func parseDirective(s string) (piece, int, error) {
	if strings.HasPrefix(s, `"`) {
		d := json.NewDecoder(strings.NewReader(s))
		var text string
		if err := d.Decode(&text); err == nil {
			end := int(d.InputOffset())
			if serr := plainjson.Strict([]byte(s[:end])); serr != nil {
				return piece{}, 0, fmt.Errorf("{{%.20s: %w", s, serr)
			}
			if strings.HasPrefix(s[end:], "}}") {
				return piece{text: text}, end + 2, nil
			}
		}
		return piece{}, 0, fmt.Errorf(`{{%.20s: a text must be a JSON string followed by }}`, s)
	}
	inside, _, found := strings.Cut(s, "}}")
	if !found || len(inside) > 20 {
		return piece{}, 0, fmt.Errorf(`{{%.20s: expected {{N}} for N masks, {{*}} for the rest, or {{"text"}}; write {{"{{"}} for the two characters`, s)
	}
	name, masks, named := strings.Cut(inside, ":")
	if !named {
		name, masks = "", inside
	} else if !gapName.MatchString(name) {
		return piece{}, 0, fmt.Errorf("{{%s}}: a gap's name has letters, digits and _ only", inside)
	}
	if masks == "*" {
		return piece{masks: rest, name: name}, len(inside) + 2, nil
	}
	n, err := strconv.Atoi(masks)
	if errors.Is(err, strconv.ErrRange) || err == nil && n > maxMasks {
		return piece{}, 0, fmt.Errorf("{{%s}}: a canvas has at most %d positions, or what its model takes", inside, MaxLength)
	}
	if err != nil || n < 1 {
		return piece{}, 0, fmt.Errorf(`{{%s}}: expected {{N}} for N masks, {{*}} for the rest, or {{"text"}}; write {{"{{"}} for the two characters`, inside)
	}
	return piece{masks: n, name: name}, len(inside) + 2, nil
}
