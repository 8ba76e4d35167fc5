package serve

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mdmgen/samplers"
)

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
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mdmgen_requests_total", Help: "Requests by route and status."}, []string{"route", "status"}),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "mdmgen_e2e_request_latency_seconds", Help: "Seconds of a request.", Buckets: prometheus.ExponentialBuckets(0.005, 2, 16)}, []string{"route"}),
		first:    prometheus.NewHistogram(prometheus.HistogramOpts{Name: "mdmgen_time_to_first_frame_seconds", Help: "Seconds to the first step of a request.", Buckets: prometheus.ExponentialBuckets(0.005, 2, 16)}),
		running:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "mdmgen_num_requests_running", Help: "Requests that are being answered."}),
		waiting:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "mdmgen_num_requests_waiting", Help: "Requests that wait for room."}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.first, m.running, m.waiting, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for name, c := range map[string]struct {
		help string
		of   func(samplers.Totals) float64
	}{
		"mdmgen_generation_tokens_total":    {"Tokens that were drawn.", func(t samplers.Totals) float64 { return float64(t.Tokens) }},
		"mdmgen_sequences_total":            {"Canvases that were filled.", func(t samplers.Totals) float64 { return float64(t.Sequences) }},
		"mdmgen_network_calls_total":        {"Calls of the network.", func(t samplers.Totals) float64 { return float64(t.NetworkCalls) }},
		"mdmgen_network_call_seconds_total": {"Seconds in calls of the network.", func(t samplers.Totals) float64 { return t.Network.Seconds() }},
		"mdmgen_network_rows_total":         {"Canvases in calls of the network.", func(t samplers.Totals) float64 { return float64(t.Rows) }},
		"mdmgen_network_idle_rows_total":    {"Rows of --batch that calls left empty.", func(t samplers.Totals) float64 { return float64(max(t.NetworkCalls*s.Batch-t.Rows, 0)) }},
		"mdmgen_network_positions_total":    {"Positions that calls computed.", func(t samplers.Totals) float64 { return float64(t.Positions) }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: c.help}, func() float64 { return c.of(s.engine.Totals()) }))
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "mdmgen_kept_bytes", Help: "Bytes of keys and values that are kept."}, func() float64 { return float64(s.engine.Totals().Kept) }))
	return m
}

// counted answers with the metrics.
func (s *Server) counted(x *exchange) error {
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(x.w, x.r)
	return nil
}
