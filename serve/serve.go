// Package serve answers HTTP requests by one network: OpenAI's routes, llama-server's, and routes of its
// own. Requests share the calls of a [samplers.Engine]: each joins at any call and leaves when it is done or
// when its client is gone, and its ids depend on its canvas, settings and seed alone.
package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/serve/page"
	"mdmgen/tokenize"
)

// Job is a canvas that is filled N times, with the seed's first N sequences of random numbers.
type Job struct {
	Canvas []int
	N      int
	Seed   uint64
	Method *catalog.Sampler
	// Sample is what `mdmgen generate` prints of a result.
	Sample func(samplers.Result) (any, error)
	// top is how many alternatives are listed beside each token, given the number of positions that are not sampled.
	top, given int
}

// Config configures a server.
type Config struct {
	Model model.Model
	// Words is nil for a model without a tokenizer.
	Words *tokenize.Tokenizer
	// Name is the model's for clients, Fingerprint identifies model and program.
	Name, Fingerprint string
	// Job reads a line of `mdmgen generate --input`. fill, where it is not 0, is how many positions are
	// sampled beside what it gives. Record is what a record of its samples begins with.
	Job    func(ctx context.Context, line []byte, fill int) (Job, error)
	Record func(Job) any
	// Piece returns a function that gives the text of a token, for one goroutine.
	Piece func() func(token int) string
	// Batch is the greatest number of rows of a call.
	Batch int
	// Queue bounds the requests that wait, Positions the positions of canvases that are filled at once, and
	// CacheMemory the bytes of keys and values that they keep.
	Queue, Positions int
	CacheMemory      int64
	// Deadline is the longest time that a request may take.
	Deadline time.Duration
	// Key, where it is not "", must come with every request; Origins are sites whose pages may ask, "*" for all; and
	// Hosts, where there are any, the only names under which the server is asked.
	Key            string
	Origins, Hosts []string
	Log            *slog.Logger
}

// Server is the server of a network, which is its own until [Server.Close].
type Server struct {
	Config
	engine   *samplers.Engine
	metrics  *metrics
	routes   map[string]func(*exchange) error
	began    time.Time
	draining atomic.Bool
	// What all requests share: a place in the queue for those that are not wholly under way, and the positions and
	// kept bytes of canvases that are. Those that wait take their turn in the order in which they came.
	queue, positions, memory *semaphore.Weighted
}

// open are the paths that need no key.
var open = []string{"/", "/health", "/readyz"}

// New starts the engine.
func New(c Config) (*Server, error) {
	engine, err := samplers.NewEngine(c.Model, c.Batch)
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c, engine: engine, began: time.Now()}
	s.queue, s.positions, s.memory = semaphore.NewWeighted(int64(c.Queue)), semaphore.NewWeighted(int64(c.Positions)), semaphore.NewWeighted(c.CacheMemory)
	s.metrics = newMetrics(s)
	s.routes = map[string]func(*exchange) error{
		"GET /{$}":                  s.page,
		"GET /health":               s.health,
		"GET /readyz":               s.ready,
		"GET /props":                s.props,
		"GET /metrics":              s.counted,
		"GET /openapi.json":         s.document,
		"GET /v1/models":            s.models,
		"POST /v1/completions":      post(s.completions),
		"POST /v1/chat/completions": post(s.chat),
		"POST /v1/generate":         post(s.generate),
		"POST /v1/read":             post(s.read),
		"POST /v1/score":            post(s.score),
		"POST /v1/systemone":        post(s.systemone),
		"POST /infill":              post(s.infill),
		"POST /tokenize":            post(s.tokenize),
		"POST /detokenize":          post(s.detokenize),
	}
	return s, nil
}

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range s.routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.handle(w, r, serve) })
	}
	return s.guarded(mux)
}

// Close ends the engine; what is under way ends with an error.
func (s *Server) Close() { s.engine.Close() }

//go:generate go test -run TestDocument -update .

// document is the OpenAPI document, which TestDocument makes of the types of requests and answers.
//
//go:embed openapi.json
var document []byte

// document answers with the OpenAPI document.
func (s *Server) document(x *exchange) error {
	return x.answer(http.StatusOK, json.RawMessage(document))
}

// page answers with the page on which canvases fill.
func (s *Server) page(x *exchange) error {
	h := x.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "frame-ancestors 'none'") // A page has the rest itself.
	h.Set("Referrer-Policy", "no-referrer")
	return page.Live(x.w, s.Name, catalog.Descriptors())
}
