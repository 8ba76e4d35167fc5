// Package serve answers HTTP requests by one network: OpenAI's routes, llama-server's, and routes of its
// own. Requests share the calls of a [samplers.Engine]: each joins at any call and leaves when it is done or
// when its client is gone, and its ids depend on its canvas, settings and seed alone.
package serve

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
)

// Job is a canvas that is filled N times, with the seed's first N sequences of random numbers.
type Job struct {
	Canvas []int
	// Prompt is the number of positions that messages take, 0 where there are none.
	Prompt, N int
	Seed      uint64
	Method    *catalog.Sampler
	// Sample is what `mdmgen generate` prints of a result.
	Sample func(samplers.Result) (any, error)
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
	Job    func(line []byte, fill int) (Job, error)
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
	Log      *slog.Logger
}

// Server is the server of a network, which is its own until [Server.Close].
type Server struct {
	Config
	engine *samplers.Engine
	budget *budget
	routes []Route
}

// New starts the engine.
func New(c Config) (*Server, error) {
	engine, err := samplers.NewEngine(c.Model, c.Batch)
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c, engine: engine, budget: newBudget(&c)}
	s.routes = []Route{
		get("/health", "whether the server runs", s.health),
		post("/v1/generate", "fill a canvas, a line of mdmgen generate --input", s.generate),
		post("/v1/completions", "complete a text, as OpenAI's clients ask", s.completions),
	}
	return s, nil
}

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes {
		mux.HandleFunc(r.Method+" "+r.Path, s.handle(r))
	}
	return mux
}

// Close ends the engine; what is under way ends with an error.
func (s *Server) Close() { s.engine.Close() }

// Health is the state of the server.
type Health struct {
	Status string `json:"status"`
}

func (s *Server) health(context.Context) (*Health, error) { return &Health{"ok"}, nil }
