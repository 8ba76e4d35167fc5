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

// Limits of connections: the time for the header and its maximum size in bytes, and the maximum
// idle time.
const (
	headerTime = 10 * time.Second
	maxHeader  = 64 << 10
	idleTime   = 2 * time.Minute
)

// Serve answers requests until the context ends. It then accepts no new connections, and returns
// when running requests are answered or the deadline has passed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	all := &connections{most: s.Connections, idle: make(map[net.Conn]time.Time)}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, MaxHeaderBytes: maxHeader, IdleTimeout: idleTime, ConnState: all.note, ConnContext: all.context}
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
	_ = server.Shutdown(drain) // Requests that are not answered by then are abandoned.
	return nil
}

// guarded wraps a handler with the checks of every request. It must be addressed to one of the
// server's names, so that another site's name cannot lead a browser here. A browser's request must
// come from a page of the server or of an allowed site.
func (s *Server) guarded(h http.Handler) http.Handler {
	checked, all := http.NewCrossOriginProtection().Handler(h), slices.Contains(s.Origins, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // A test's recorder does not support it.
		if len(s.Hosts) > 0 && !slices.Contains(s.Hosts, strings.ToLower((&url.URL{Host: r.Host}).Hostname())) {
			http.Error(w, "unknown host name", http.StatusMisdirectedRequest)
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

// knows reports whether a request has the key, in constant time.
func (s *Server) knows(r *http.Request) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.Key))
	return s.Key == "" || strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// metrics holds the server's metrics. Their names end like those of vLLM's and llama-server's
// metrics with the same meaning.
type metrics struct {
	registry         *prometheus.Registry
	requests         *prometheus.CounterVec
	seconds          *prometheus.HistogramVec
	first            prometheus.Histogram
	running, waiting prometheus.Gauge
}

// newMetrics registers the metrics. The engine's counters are read on request.
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
		{"network_idle_rows", "Rows of the batch that calls left empty.", func(t samplers.Totals) float64 { return float64(max(t.NetworkCalls*s.Batch-t.Rows, 0)) }},
		{"network_positions", "Positions that calls computed.", func(t samplers.Totals) float64 { return float64(t.Positions) }},
		{"shared_positions", "Positions that other calls had computed.", func(t samplers.Totals) float64 { return float64(t.Cached) }},
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
