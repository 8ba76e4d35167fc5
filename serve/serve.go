// Package serve answers HTTP requests with one network: OpenAI's routes, Ollama's, llama-server's,
// and its own. Requests share the calls of a [samplers.Engine]: each joins at any call and leaves when it
// is done or its client is gone. Its ids depend only on its canvas, settings and seed.
package serve

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"mdmgen/internal/sysinfo"
	"mdmgen/model"
	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/serve/page"
	"mdmgen/tokenize"
)

// Config configures a server. All fields but Model may be zero.
type Config struct {
	Model model.Model
	// Words is nil for a model without a tokenizer.
	Words *tokenize.Tokenizer
	// Options are the sampler's options for requests without their own.
	Options catalog.Options
	// Name is the name of the model for clients, by default its reference; Fingerprint identifies
	// model and program.
	Name, Fingerprint string
	// Record is the beginning of the settings of each record, and Provenance is added to them.
	Record     requests.Settings
	Provenance any
	// Batch is the maximum number of rows per call, by default 8.
	Batch int
	// Queue is the maximum number of waiting requests, by default 256; Positions is the total length
	// of the canvases that are filled concurrently, by default 64 batches of the longest; CacheMemory
	// is the limit in bytes for their cached keys and values, by default half of the free memory.
	// Connections is the maximum number of open connections, by default 1024, or half of the files
	// that the system allows.
	Queue, Positions, Connections int
	CacheMemory                   int64
	// Store, if not nil, holds rows that requests share; KeepApart lets only those of one address with the
	// same key do so.
	Store     *samplers.Store
	KeepApart bool
	// Deadline is the maximum duration of a request, by default 10 minutes.
	Deadline time.Duration
	// Key, if not "", must come with every request. Origins are the sites whose pages may send
	// requests, "*" for all. Hosts, if any, are the only names under which the server answers.
	Key            string
	Origins, Hosts []string
	// Log is nil for no log.
	Log *slog.Logger
}

// Server serves a network, of which it has exclusive use until [Server.Close].
type Server struct {
	Config
	requests *requests.Builder
	engine   *samplers.Engine
	metrics  *metrics
	routes   map[string]func(*exchange) error
	began    time.Time
	draining atomic.Bool
	// These are shared by all requests: queue holds the places of requests whose canvases have not
	// all been started; positions and memory the positions and cached bytes of the canvases being
	// filled. Waiting requests are served in order of arrival.
	queue, memory *semaphore.Weighted
	// bodies are the bytes of large bodies that are being read, readers the requests that read and
	// score, and compilers those that compile a pattern.
	positions, bodies, readers, compilers *limit
	mu                                    sync.Mutex
	clients                               map[string]*client
}

// open lists the paths that need no key.
var open = []string{"/", "/health", "/readyz"}

// New starts the engine and returns its server.
func New(ctx context.Context, c Config) (*Server, error) {
	c.Batch, c.Queue, c.Deadline, c.Log = cmp.Or(c.Batch, 8), cmp.Or(c.Queue, 256), cmp.Or(c.Deadline, 10*time.Minute), cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Connections = cmp.Or(c.Connections, int(min(cmp.Or(sysinfo.Files()/2, 1024), 1024)))
	c.Positions = cmp.Or(c.Positions, 64*c.Batch*c.Model.Facts().Length)
	if c.CacheMemory == 0 {
		free, _ := sysinfo.Free()
		c.CacheMemory = int64(min(free/2, math.MaxInt64))
	}
	if d, ok := c.Model.(model.Describer); ok {
		c.Name = cmp.Or(c.Name, d.Origin().Reference)
	}
	builder, err := requests.New(ctx, requests.Config{Network: c.Model, Words: requests.WordsOf(c.Words), Options: c.Options, MaxN: MaxSamples, Compile: compile, Record: c.Record})
	if err != nil {
		return nil, err
	}
	engine, err := samplers.NewEngine(c.Model, c.Batch)
	if err != nil {
		return nil, err
	}
	engine.Share(c.Store)
	s := &Server{Config: c, requests: builder, engine: engine, began: time.Now(), clients: make(map[string]*client)}
	s.queue, s.memory = semaphore.NewWeighted(int64(c.Queue)), semaphore.NewWeighted(c.CacheMemory)
	s.positions = newLimit(int64(c.Positions), int64(c.Positions-c.Positions/8))
	s.bodies, s.readers, s.compilers = newLimit(2*maxBody, maxBody), newLimit(4, 3), newLimit(2, 1)
	s.metrics = newMetrics(s)
	s.routes = map[string]func(*exchange) error{
		"GET /{$}":                  s.page,
		"GET /health":               always(Health{"ok"}),
		"GET /readyz":               s.ready,
		"GET /props":                always(s.props()),
		"GET /metrics":              s.counted,
		"GET /openapi.json":         always(json.RawMessage(document)),
		"GET /v1/models":            always(Models{"list", []ModelCard{s.card()}}),
		"GET /v1/models/{name...}":  s.model,
		"POST /v1/completions":      post(s.completions),
		"POST /v1/chat/completions": post(s.chat),
		"POST /v1/generate":         post(s.generate),
		"POST /v1/read":             post(s.read),
		"POST /v1/score":            post(s.score),
		"POST /api/chat":            post(s.ollama),
		"POST /api/generate":        post(s.ollama),
		"POST /api/show":            post(s.show),
		"GET /api/tags":             always(map[string]any{"models": []any{s.shown()}}),
		"GET /api/version":          always(map[string]string{"version": "0.12.0"}), // of Ollama, which its clients check
		"POST /infill":              post(s.infill),
		"POST /tokenize":            post(s.tokenize),
		"POST /detokenize":          post(s.detokenize),
	}
	return s, nil
}

// always serves a route that has one answer.
func always(answer any) func(*exchange) error {
	return func(x *exchange) error { return x.answer(http.StatusOK, answer) }
}

// Handler returns the handler of all routes.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range s.routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.handle(w, r, serve) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.handle(w, r, s.unknown) })
	return s.guarded(mux)
}

// Close stops the engine. Running requests end with an error.
func (s *Server) Close() { s.engine.Close() }

//go:generate go test -run TestDocument -update .

// document is the OpenAPI document, which TestDocument generates from the types of requests and
// answers.
//
//go:embed openapi.json
var document []byte

// page answers with the page on which canvases fill.
func (s *Server) page(x *exchange) error {
	h, f := x.w.Header(), s.Model.Facts()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "frame-ancestors 'none'") // The page itself has the rest.
	h.Set("Referrer-Policy", "no-referrer")
	p := page.Server{Model: s.Name, Sampler: s.requests.Sampler().Settings().Sampler, Opening: "Once upon a time there was a{{24}} And they lived happily ever after."}
	switch {
	case s.Words == nil:
		n := f.Length
		if !f.FixedLength {
			n = min(n, 24)
		}
		p.Opening = "[" + strings.Repeat("null, ", n-1) + "null]"
	case f.FixedLength:
		p.Opening = strings.Replace(p.Opening, "{{24}}", "{{*}}", 1)
	case f.Length > requests.MaxAnswer && s.Options.MaxLength == 0:
		p.Length = fmt.Sprintf("+%d", requests.MaxAnswer)
	}
	if s.talks() {
		p.Chat, p.Room = true, max(1, min(requests.MaxAnswer, f.Length/2))
		for id := range s.Words.Size() {
			if s.Words.Special(id) && id != f.MaskID {
				p.Special = append(p.Special, id)
			}
		}
	}
	_ = page.Live(x.w, p) // The client may be gone.
	return nil
}

// talks reports whether the model has a chat template that can be used.
func (s *Server) talks() bool {
	talks, err := s.requests.Words.Talks(nil)
	return talks && err == nil
}
