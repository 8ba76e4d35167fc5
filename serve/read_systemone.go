package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/reading"
	"mdmgen/internal/exit"
)

// SystemOneRequest are questions about a state, as other servers of this route read them.
type SystemOneRequest struct {
	Model string `json:"model,omitempty"`
	// State is a text, or any JSON, which is read as its text.
	State     json.RawMessage              `json:"state"`
	Questions map[string]SystemOneQuestion `json:"questions"`
}

// SystemOneQuestion is a question. Type is choice, and no other; Criteria are the labels, each with a
// description or null.
type SystemOneQuestion struct {
	Type         string             `json:"type"`
	Instructions string             `json:"instructions"`
	Criteria     map[string]*string `json:"criteria"`
}

// SystemOneAnswer are answers by the names of the questions.
type SystemOneAnswer struct {
	Model   string                     `json:"model"`
	Answers map[string]SystemOneChoice `json:"answers"`
	// Calibrated is false: the probabilities are the network's own, of the labels as texts.
	Calibrated bool           `json:"calibrated"`
	Usage      SystemOneUsage `json:"usage"`
}

// SystemOneChoice is the most probable label with the probabilities of all, LogP before they were made to add up
// to 1. Confidence is (p − 1/k)/(1 − 1/k) of the greatest of k probabilities.
type SystemOneChoice struct {
	Type          string                     `json:"type"`
	Choice        string                     `json:"choice"`
	Probabilities map[string]float64         `json:"probabilities"`
	Confidence    float64                    `json:"confidence"`
	LogP          map[string]estimate.Number `json:"log_probabilities"`
	// Law is that of labels of several tokens, "" where there are none.
	Law  reading.Law `json:"law,omitempty"`
	Rows int         `json:"rows"`
}

// SystemOneUsage counts tokens of states and questions; none are generated.
type SystemOneUsage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// maxQuestions and maxLabels bound a request.
const (
	maxQuestions = 64
	maxLabels    = 255
)

func (s *Server) systemone(x *exchange, q *SystemOneRequest) (*SystemOneAnswer, error) {
	if err := s.named(q.Model); err != nil {
		return nil, err
	}
	if s.Words == nil {
		return nil, refuse(http.StatusBadRequest, "", "the model has no tokenizer: use /v1/read with ids")
	}
	if n := len(q.Questions); n < 1 || n > maxQuestions {
		return nil, refuse(http.StatusBadRequest, "questions", fmt.Sprintf("%d questions: must be 1..%d", n, maxQuestions))
	}
	state := string(q.State)
	var text string
	if json.Unmarshal(q.State, &text) == nil {
		state = text
	}
	out := &SystemOneAnswer{Model: s.Name, Answers: make(map[string]SystemOneChoice)}
	for _, name := range slices.Sorted(maps.Keys(q.Questions)) {
		question := q.Questions[name]
		switch n := len(question.Criteria); {
		case question.Type != "choice":
			return nil, refuse(http.StatusBadRequest, "questions", fmt.Sprintf("question %q is of type %q: must be choice", name, question.Type))
		case n < 2 || n > maxLabels:
			return nil, refuse(http.StatusBadRequest, "questions", fmt.Sprintf("question %q has %d labels in criteria: must be 2..%d", name, n, maxLabels))
		}
		asked, err := s.asked(state, question)
		if err != nil {
			return nil, invalid("questions", fmt.Errorf("question %q: %w", name, err))
		}
		for _, id := range asked.Canvas {
			if id != s.Model.Facts().MaskID {
				out.Usage.InputTokens++
			}
		}
		a, err := x.reading(asked)
		if err != nil {
			return nil, err
		}
		out.Answers[name] = question.choose(a)
	}
	return out, nil
}

// labels are the labels in their order in prompts.
func (q SystemOneQuestion) labels() []string { return slices.Sorted(maps.Keys(q.Criteria)) }

// asked is a question as one about a canvas: the answer to a message, where the model has a chat template, else
// what follows "Answer:".
func (s *Server) asked(state string, q SystemOneQuestion) (reading.Question, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", state, q.Instructions)
	for _, label := range q.labels() {
		fmt.Fprintf(&b, "- %s", label)
		if about := q.Criteria[label]; about != nil {
			fmt.Fprintf(&b, ": %s", *about)
		}
		b.WriteByte('\n')
	}
	message := []map[string]string{{"role": "user", "content": b.String() + "Answer with one of these, and nothing else."}}
	out, err := s.labelled(q, reading.Canvas{Messages: marshal(message)}, "")
	if exit.Code(err) == exit.Missing {
		return s.labelled(q, reading.Canvas{Infill: marshal([]any{b.String() + "Answer:", 1})}, " ")
	}
	return out, err
}

// labelled asks for the labels, behind a text, in the gap of a canvas.
func (s *Server) labelled(q SystemOneQuestion, c reading.Canvas, behind string) (reading.Question, error) {
	r := reading.Request{Canvas: c, Top: new(0), Fit: true}
	for _, label := range q.labels() {
		r.Candidates = append(r.Candidates, marshal(behind+label))
	}
	return s.question(&r)
}

// marshal is a value of texts and numbers as JSON, which has no error.
func marshal(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}

// choose makes the probabilities of labels add up to 1.
func (q SystemOneQuestion) choose(a *reading.Answer) SystemOneChoice {
	out := SystemOneChoice{Type: q.Type, Probabilities: make(map[string]float64), LogP: make(map[string]estimate.Number), Law: a.Law, Rows: a.Rows}
	best, sum, labels := math.Inf(-1), 0.0, q.labels()
	for i, c := range a.Gaps[0].Candidates {
		logP := float64(c.LogP)
		if out.LogP[labels[i]] = c.LogP; logP > best || i == 0 {
			out.Choice, best = labels[i], logP
		}
	}
	weight := func(label string) float64 {
		if math.IsInf(best, -1) {
			return 1
		}
		return math.Exp(float64(out.LogP[label]) - best)
	}
	for _, label := range labels {
		sum += weight(label)
	}
	for _, label := range labels {
		out.Probabilities[label] = weight(label) / sum
	}
	uniform := 1 / float64(len(labels))
	out.Confidence = max(0, (out.Probabilities[out.Choice]-uniform)/(1-uniform))
	return out
}
