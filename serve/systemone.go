package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/reading"
)

// SystemOneRequest asks questions about a state, a text or any JSON, as for other servers with this
// route.
type SystemOneRequest struct {
	Model     string                       `json:"model,omitempty"`
	State     json.RawMessage              `json:"state"`
	Questions map[string]SystemOneQuestion `json:"questions"`
}

// SystemOneQuestion is a question. Type is choice; Criteria maps labels to descriptions or null.
type SystemOneQuestion struct {
	Type         string                     `json:"type"`
	Instructions string                     `json:"instructions"`
	Criteria     map[string]json.RawMessage `json:"criteria"`
}

// SystemOneAnswer holds answers by the names of the questions. Calibrated is false: probabilities
// are the network's for the labels as texts.
type SystemOneAnswer struct {
	Model      string                     `json:"model"`
	Answers    map[string]SystemOneChoice `json:"answers"`
	Calibrated bool                       `json:"calibrated"`
	Usage      SystemOneUsage             `json:"usage"`
}

// SystemOneUsage counts the tokens of states and questions; none are sampled.
type SystemOneUsage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// SystemOneChoice is the most probable label. Its probability p, the greatest of k, gives the
// Confidence (p − 1/k)/(1 − 1/k). LogP holds the log-probabilities in nats before normalisation;
// Law says how they are computed if a label has several tokens.
type SystemOneChoice struct {
	Type          string                     `json:"type"`
	Choice        string                     `json:"choice"`
	Probabilities map[string]float64         `json:"probabilities"`
	Confidence    float64                    `json:"confidence"`
	LogP          map[string]estimate.Number `json:"log_probabilities"`
	Law           reading.Law                `json:"law,omitempty"`
	Rows          int                        `json:"rows"`
}

// maxQuestions and maxLabels are the limits of a request.
const (
	maxQuestions = 64
	maxLabels    = 255
)

func (s *Server) systemone(x *exchange, q *SystemOneRequest) (*SystemOneAnswer, error) {
	if q.State == nil {
		return nil, refuse(http.StatusBadRequest, "state", "state is missing")
	}
	if n := len(q.Questions); n < 1 || n > maxQuestions {
		return nil, refuse(http.StatusBadRequest, "questions", fmt.Sprintf("%d questions: must be 1..%d", n, maxQuestions))
	}
	out := &SystemOneAnswer{Model: s.Name, Answers: make(map[string]SystemOneChoice)}
	for name, question := range q.Questions {
		if n := len(question.Criteria); question.Type != "choice" || n < 2 || n > maxLabels {
			return nil, refuse(http.StatusBadRequest, "questions", fmt.Sprintf("question %q is of type %q with %d labels in criteria: must be choice, with 2..%d", name, question.Type, n, maxLabels))
		}
		labels := slices.Sorted(maps.Keys(question.Criteria))
		a, err := x.reading(question.about(plain(q.State), labels))
		if err != nil {
			return nil, err
		}
		out.Answers[name] = choose(labels, a)
		out.Usage.InputTokens += a.Given
	}
	return out, nil
}

// about returns the question as a reading request with a gap after "Answer:".
func (q SystemOneQuestion) about(state string, labels []string) reading.Request {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n%s\n", state, q.Instructions)
	r := reading.Request{Top: new(0)}
	for _, label := range labels {
		r.Candidates = append(r.Candidates, " "+label)
		fmt.Fprintf(&text, "- %s", label)
		if about := plain(q.Criteria[label]); about != "null" {
			fmt.Fprintf(&text, ": %s", about)
		}
		text.WriteByte('\n')
	}
	text.WriteString("Answer:")
	r.Infill, _ = json.Marshal([]any{text.String(), 1}) // A text and a number have no error.
	return r
}

// plain returns a string's text, or other JSON unchanged.
func plain(raw json.RawMessage) string {
	text := string(raw)
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // It has been decoded before.
	}
	return text
}

// choose normalises the probabilities of the labels. If all are 0 they become equal.
func choose(labels []string, a *reading.Answer) SystemOneChoice {
	out := SystemOneChoice{Type: "choice", Probabilities: make(map[string]float64), LogP: make(map[string]estimate.Number), Law: a.Law, Rows: a.Rows}
	all := a.Gaps[0].Candidates
	most, sum := slices.MaxFunc(all, func(a, b reading.Candidate) int { return cmp.Compare(a.LogP, b.LogP) }).LogP, 0.0
	for i, c := range all {
		p := math.Exp(float64(c.LogP - most))
		if math.IsNaN(p) { // All are log 0.
			p = 1
		}
		out.LogP[labels[i]], out.Probabilities[labels[i]] = c.LogP, p
		sum += p
	}
	for label := range out.Probabilities {
		out.Probabilities[label] /= sum
	}
	uniform := 1 / float64(len(labels))
	out.Choice = labels[slices.IndexFunc(all, func(c reading.Candidate) bool { return c.LogP == most })]
	out.Confidence = (out.Probabilities[out.Choice] - uniform) / (1 - uniform)
	return out
}
