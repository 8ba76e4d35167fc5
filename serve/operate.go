package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mdmgen/samplers"
)

// Limits of connections: the time in which a header must come, and its bytes; how long one may be idle.
const (
	headerTime = 10 * time.Second
	maxHeader  = 64 << 10
	idleTime   = 2 * time.Minute
)

// Serve answers until the context ends. What is under way then is answered, and no new connection accepted.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, MaxHeaderBytes: maxHeader, IdleTimeout: idleTime}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		s.draining.Store(true)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Deadline)
	defer cancel()
	_ = server.Shutdown(drain) // What is not answered by then is given up.
	return nil
}

// guarded is a handler behind what every request must pass: it comes under a name of the server, so that no other
// site's name leads a browser here; and a browser's comes from a page of the server itself or of an allowed site.
func (s *Server) guarded(h http.Handler) http.Handler {
	checked, all := http.NewCrossOriginProtection().Handler(h), slices.Contains(s.Origins, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // A recorder of tests has none.
		if len(s.Hosts) > 0 && !slices.Contains(s.Hosts, strings.ToLower((&url.URL{Host: r.Host}).Hostname())) {
			http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		origin := r.Header.Get("Origin")
		if origin == "" || !all && !slices.Contains(s.Origins, origin) {
			checked.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Vary", "Origin")
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// knows reports whether a request has the key, in a time that does not depend on how much of it is right.
func (s *Server) knows(r *http.Request) bool {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.Key))
	return s.Key == "" || bearer && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// metrics are the server's. Names end as those of vLLM and llama-server do that mean the same.
type metrics struct {
	registry         *prometheus.Registry
	requests         *prometheus.CounterVec
	seconds          *prometheus.HistogramVec
	first            prometheus.Histogram
	running, waiting prometheus.Gauge
}

// newMetrics registers them. What the engine counts is read when somebody asks.
func newMetrics(s *Server) *metrics {
	registry, buckets := prometheus.NewRegistry(), prometheus.ExponentialBuckets(0.005, 2, 16)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	add := promauto.With(registry)
	for _, c := range []struct {
		name, help string
		of         func(samplers.Totals) float64
	}{
		{"generation_tokens", "Tokens that were drawn.", func(t samplers.Totals) float64 { return float64(t.Tokens) }},
		{"sequences", "Canvases that were filled.", func(t samplers.Totals) float64 { return float64(t.Sequences) }},
		{"network_calls", "Calls of the network.", func(t samplers.Totals) float64 { return float64(t.NetworkCalls) }},
		{"network_call_seconds", "Seconds in calls of the network.", func(t samplers.Totals) float64 { return t.Network.Seconds() }},
		{"network_rows", "Canvases in calls of the network.", func(t samplers.Totals) float64 { return float64(t.Rows) }},
		{"network_idle_rows", "Rows of --batch that calls left empty.", func(t samplers.Totals) float64 { return float64(max(t.NetworkCalls*s.Batch-t.Rows, 0)) }},
		{"network_positions", "Positions that calls computed.", func(t samplers.Totals) float64 { return float64(t.Positions) }},
	} {
		add.NewCounterFunc(prometheus.CounterOpts{Name: "mdmgen_" + c.name + "_total", Help: c.help}, func() float64 { return c.of(s.engine.Totals()) })
	}
	add.NewGaugeFunc(prometheus.GaugeOpts{Name: "mdmgen_kept_bytes", Help: "Bytes of keys and values that are kept."}, func() float64 { return float64(s.engine.Totals().Kept) })
	return &metrics{
		registry: registry,
		requests: add.NewCounterVec(prometheus.CounterOpts{Name: "mdmgen_requests_total", Help: "Requests by route and status."}, []string{"route", "status"}),
		seconds:  add.NewHistogramVec(prometheus.HistogramOpts{Name: "mdmgen_e2e_request_latency_seconds", Help: "Seconds of a request.", Buckets: buckets}, []string{"route"}),
		first:    add.NewHistogram(prometheus.HistogramOpts{Name: "mdmgen_time_to_first_frame_seconds", Help: "Seconds to the first step of a request.", Buckets: buckets}),
		running:  add.NewGauge(prometheus.GaugeOpts{Name: "mdmgen_num_requests_running", Help: "Requests that are being answered."}),
		waiting:  add.NewGauge(prometheus.GaugeOpts{Name: "mdmgen_num_requests_waiting", Help: "Requests that wait for room."}),
	}
}

// counted answers with the metrics.
func (s *Server) counted(x *exchange) error {
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(x.w, x.r)
	return nil
}
