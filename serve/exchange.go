package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
	"mdmgen/samplers"
)

// exchange is a request that is being answered.
type exchange struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	began   time.Time
	// stream reports whether the client wants a stream, which is of a form, and streamed whether a part
	// of it was sent, after which no plain answer can follow.
	stream, streamed bool
	form             form
	client           *client
	free             func() // gives up the place of the body
	turn             samplers.Turn
	// meta sums the steps of the canvases.
	meta Meta
}

// post serves a route whose body is a Q and whose answer is an A. In a stream the answer is the
// last event; it is nil if nothing remains to be sent. A Q that implements [settings] accepts
// fields of samplers' settings.
func post[Q, A any](serve func(x *exchange, q *Q) (*A, error)) func(x *exchange) error {
	return func(x *exchange) error {
		q := new(Q)
		if err := x.read(q); err != nil {
			return err
		}
		a, err := serve(x, q)
		switch {
		case err != nil:
			return err
		case !x.stream:
			return x.answer(http.StatusOK, a)
		case a != nil:
			err = x.send(a)
		}
		return cmp.Or(err, x.write(x.form.end))
	}
}

// settings is a request that has keys of [requests.Parse] in addition to its own fields.
type settings interface {
	keys() []string
	settings(fields) error
}

// maxBody is the maximum size of a request in bytes, and smallBody that of one that does not wait for
// others: connections are limited. bodyTime is the time in which a body must arrive. Tests shorten it.
const (
	maxBody   = 4 << 20
	smallBody = 32 << 10
)

var bodyTime = 30 * time.Second

// read decodes the body into a struct. It returns an error for unknown fields.
func (x *exchange) read(q any) error {
	// A page of another site cannot send JSON without asking. Ollama's documents send it with curl's own type,
	// which a browser's request has only with one of the other headers.
	h := x.r.Header
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	curl := kind == "application/x-www-form-urlencoded" && h.Get("Origin")+h.Get("Sec-Fetch-Site") == "" && strings.HasPrefix(x.r.URL.Path, "/api/")
	if !curl && (err != nil || kind != "application/json") {
		return refuse(http.StatusUnsupportedMediaType, "", "the body must be JSON, with the header Content-Type: application/json")
	}
	// A large body takes its place, as long as it may become, among those that are being read, decoded and
	// encoded.
	length := x.r.ContentLength
	if length < 0 || length > maxBody {
		length = maxBody
	}
	if length > smallBody {
		free, err := x.hold(x.r.Context(), x.s.bodies, length)
		if err != nil {
			return err
		}
		x.free = sync.OnceFunc(free)
	}
	_ = x.control.SetReadDeadline(time.Now().Add(bodyTime)) // A test's recorder does not support it.
	var body bytes.Buffer
	body.Grow(int(length) + bytes.MinRead)
	_, err = body.ReadFrom(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	switch tooLong := new(http.MaxBytesError); {
	case errors.As(err, &tooLong):
		return refuse(http.StatusRequestEntityTooLarge, "", fmt.Sprintf("the body is longer than %d bytes", maxBody))
	case err != nil: // The deadline remains, so that nothing waits for the rest.
		return refuse(http.StatusRequestTimeout, "", "the body was not received in time")
	}
	_ = x.control.SetReadDeadline(time.Time{})
	if done, ok := x.r.Context().Value(received{}).(func()); ok {
		done()
	}
	var f fields
	switch err := plainjson.Unmarshal(body.Bytes(), &f); {
	case err != nil:
		return invalid("", err)
	case f == nil:
		return refuse(http.StatusBadRequest, "", "the body must be a JSON object")
	}
	var name string
	if _ = json.Unmarshal(f["model"], &name); name != "" { // The loop decodes it again.
		if err := x.s.serves(name); err != nil {
			return err
		}
	}
	return f.fill(q)
}

// answer writes an answer as JSON.
func (x *exchange) answer(status int, a any) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_ = x.control.SetWriteDeadline(time.Now().Add(writeTime))
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(append(text, '\n')) // The client may be gone.
	return nil
}

// Refusal is an error in the form that OpenAI's clients read.
type Refusal struct {
	status  int
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   string `json:"param,omitempty"`
	Code    string `json:"code,omitempty"`
}

// Failure is the answer to a request that is rejected or fails.
type Failure struct {
	Error *Refusal `json:"error"`
}

func (r *Refusal) Error() string { return r.Message }

// refuse returns an error of the request; param is the field at fault, "" for none.
func refuse(status int, param, message string) *Refusal {
	return &Refusal{status: status, Message: message, Type: "invalid_request_error", Param: param}
}

func invalid(param string, err error) *Refusal {
	return refuse(http.StatusBadRequest, param, fault.Plain(err))
}

// refusal returns the Refusal for an error. An error that is not the request's is the server's.
func refusal(err error) *Refusal {
	r := new(Refusal)
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, context.DeadlineExceeded):
		return &Refusal{status: http.StatusGatewayTimeout, Message: "the deadline of the server has passed", Type: "timeout"}
	case errors.Is(err, context.Canceled):
		return &Refusal{status: statusGone, Message: "the client disconnected", Type: "cancelled"}
	}
	return &Refusal{status: http.StatusInternalServerError, Message: fault.Plain(err), Type: "server_error"}
}

// statusGone is the status, in logs and metrics, of a request whose client is gone.
const statusGone = 499

// handle serves a route.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, serve func(*exchange) error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.Deadline)
	defer cancel()
	s.metrics.running.Inc()
	defer s.metrics.running.Dec()
	x := &exchange{s: s, w: w, control: http.NewResponseController(w), began: time.Now(), client: s.client(r.RemoteAddr), free: func() {}, form: events}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		x.form = lines
	}
	defer func() { x.free() }()
	x.turn.Of = &x.client.turn
	x.r = r.WithContext(context.WithValue(ctx, asking{}, x))
	err, status := error(nil), http.StatusOK
	if slices.Contains(open, r.URL.Path) || s.knows(r) {
		err = serve(x)
	} else {
		w.Header().Set("WWW-Authenticate", "Bearer")
		err = refuse(http.StatusUnauthorized, "", "the key is missing or wrong: send it as Authorization: Bearer KEY")
	}
	if err != nil {
		refused := refusal(err)
		if gone := r.Context().Err(); gone != nil && refused.status == http.StatusInternalServerError {
			refused = refusal(gone) // Writing to it failed.
		}
		status = refused.status
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		if failure := x.form.failure(refused); x.streamed {
			_ = cmp.Or(x.send(failure), x.write(x.form.end)) // The client may be gone.
		} else {
			_ = x.answer(status, failure) // The client may be gone.
		}
	}
	took := time.Since(x.began).Seconds()
	_, route, _ := strings.Cut(strings.TrimSuffix(r.Pattern, "{$}"), " ") // not the path: clients may send any number
	s.metrics.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	s.metrics.seconds.WithLabelValues(route).Observe(took)
	s.Log.Info("request", "route", r.URL.Path, "status", status, "seconds", took)
}

// writeTime is the time in which a client must read what is written. Tests shorten it.
var writeTime = 30 * time.Second

// keepAlive is the interval at which an idle stream is written to.
const keepAlive = 10 * time.Second

// form is the form of a stream: its type, what is around each value in JSON, what an idle stream is
// written, which clients skip, and its end. failure is the answer to a request that fails.
type form struct {
	kind, before, after, idle, end string
	failure                        func(*Refusal) any
}

// Streams are OpenAI's events, or Ollama's lines.
var (
	events = form{"text/event-stream", "data: ", "\n\n", ": still here\n\n", "data: [DONE]\n\n", func(r *Refusal) any { return Failure{r} }}
	lines  = form{"application/x-ndjson", "", "\n", "", "", func(r *Refusal) any { return OllamaFailure{r.Message} }}
)

// send writes a value if the client asked for a stream.
func (x *exchange) send(v any) error {
	if !x.stream {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return x.write(x.form.before + string(data) + x.form.after)
}

// write writes to the stream, and begins it first if necessary. Before that, an error has a status
// of its own.
func (x *exchange) write(text string) error {
	if !x.streamed {
		x.streamed = true
		h := x.w.Header()
		h.Set("Content-Type", x.form.kind)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // A proxy must not buffer events.
		x.w.WriteHeader(http.StatusOK)
	}
	_ = x.control.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := x.w.Write([]byte(text)); err != nil {
		return err
	}
	return x.control.Flush()
}
