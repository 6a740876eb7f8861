package web

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/budget"
)

// metric is a line of what /metrics says of the explorer.
type metric struct {
	name  string // after "headerglass_"
	kind  prometheus.ValueType
	help  string
	value func(r *reading) float64
}

// reading is what one scrape reads, so that its figures fit together.
type reading struct {
	source  source.Status // of the source that a metric is about
	archive archive.Stats
	budget  budget.Stats
	server  *Server
}

// sourceMetrics are those with a value for each source, which their label names.
func sourceMetrics() []metric {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return []metric{
		{"messages_stored", gauge, "Messages kept now.",
			func(r *reading) float64 { return float64(r.archive.Stored - r.archive.Evicted) }},
		{"messages_evicted_total", counter, "Messages that gave way to newer ones.",
			func(r *reading) float64 { return float64(r.archive.Evicted) }},
		{"archive_bytes", gauge, "Bytes that the archive keeps.",
			func(r *reading) float64 { return float64(r.archive.Bytes) }},
		{"archive_max_bytes", gauge, "Bytes that the archive may keep.",
			func(r *reading) float64 { return float64(r.archive.MaxBytes) }},
		{"archive_pinned_bytes", gauge, "Bytes evicted that readers still hold.",
			func(r *reading) float64 { return float64(r.archive.Pinned) }},
		{"ingest_rate", gauge, "Messages arrived in a second, averaged over the last few.",
			func(r *reading) float64 { return r.source.Kept.Rate }},
		{"messages_held", gauge, "Messages held unacknowledged at the broker.",
			func(r *reading) float64 { return float64(r.source.Held) }},
		{"messages_given_back_total", counter, "Messages given back to the queue.",
			func(r *reading) float64 { return float64(r.source.GivenBack) }},
		{"messages_acknowledged_total", counter, "Messages acknowledged, so removed from the queue.",
			func(r *reading) float64 { return float64(r.source.Acknowledged) }},
	}
}

// metrics are those of the explorer as a whole.
func metrics() []metric {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return []metric{
		{"full_decodes_total", counter, "Header tables decoded whole, once for each message opened or exported.",
			func(r *reading) float64 { return float64(r.server.FullDecodes()) }},
		{"exports_cut_off_total", counter, "Exports cut off because messages were evicted before they were written.",
			func(r *reading) float64 { return float64(r.server.exportsCutOff.Load()) }},
		{"websocket_clients", gauge, "Open live feeds.",
			func(r *reading) float64 { return float64(r.server.live.Conns()) }},
		{"budget_max_bytes", gauge, "Bytes that work in progress may take.",
			func(r *reading) float64 { return float64(r.budget.Max) }},
		{"budget_waiting", gauge, "Pieces of work that wait for bytes.",
			func(r *reading) float64 { return float64(r.budget.Waiting) }},
		{"budget_pinned_bytes", gauge, "Bytes of the budget that were evicted and are still being read.",
			func(r *reading) float64 { return float64(r.budget.Pinned) }},
		{"requests_under_way", gauge, "Requests that have begun and not ended, but for live feeds.",
			func(r *reading) float64 { return float64(r.server.admitted.Stats().Running) }},
		{"requests_refused_total", counter, "Requests refused because their address had too many under way.",
			func(r *reading) float64 { return float64(r.server.admitted.Stats().Refused) }},
		{"turns_waiting", gauge, "Answers that wait for a processor.",
			func(r *reading) float64 {
				return float64(r.server.pages.Stats().Waiting + r.server.long.Stats().Waiting)
			}},
		{"turns_refused_total", counter, "Answers refused because no processor became free for their address.",
			func(r *reading) float64 {
				return float64(r.server.pages.Stats().Refused + r.server.long.Stats().Refused)
			}},
	}
}

// kindMetric is a line with a value for each kind of work in progress.
type kindMetric struct {
	name  string
	kind  prometheus.ValueType
	help  string
	value func(b budget.Stats, of budget.Kind) float64
}

func kindMetrics() []kindMetric {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return []kindMetric{
		{"budget_bytes", gauge, "Bytes that work in progress takes.",
			func(b budget.Stats, of budget.Kind) float64 { return float64(b.Held[of]) }},
		{"budget_refused_total", counter, "Pieces of work refused because too few bytes were free.",
			func(b budget.Stats, of budget.Kind) float64 { return float64(b.Refused[of]) }},
		{"budget_gave_way_total", counter, "Pieces of work ended because others needed their bytes.",
			func(b budget.Stats, of budget.Kind) float64 { return float64(b.Revoked[of]) }},
	}
}

// newMetrics sets up a registry of the server's own.
func (s *Server) newMetrics() {
	s.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "headerglass_http_requests_total",
		Help: "HTTP requests by route and status.",
	}, []string{"route", "status"})
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "headerglass_build_info",
		Help:        "Always 1; the label says which version this is.",
		ConstLabels: prometheus.Labels{"version": s.cfg.Version},
	}, func() float64 { return 1 })
	c := &collector{server: s, metrics: metrics(), sources: sourceMetrics(), kinds: kindMetrics()}
	for _, m := range c.metrics {
		c.descs = append(c.descs, prometheus.NewDesc("headerglass_"+m.name, m.help, nil, nil))
	}
	for _, m := range c.sources {
		c.sourceDescs = append(c.sourceDescs,
			prometheus.NewDesc("headerglass_"+m.name, m.help, []string{"source"}, nil))
	}
	for _, m := range c.kinds {
		c.kindDescs = append(c.kindDescs, prometheus.NewDesc("headerglass_"+m.name, m.help, []string{"work"}, nil))
	}
	c.state = prometheus.NewDesc("headerglass_broker_state",
		"1 for the state that the connection to the broker is in.", []string{"source", "state"}, nil)
	s.registry = prometheus.NewRegistry()
	s.registry.MustRegister(s.requests, build, c,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

func (s *Server) serveMetrics() handler {
	h := promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{})
	return func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}
}

// collector reads the archive, the source and the server once for each scrape.
type collector struct {
	server  *Server
	metrics []metric
	descs   []*prometheus.Desc // of metrics, in their order
	state   *prometheus.Desc

	sources     []metric
	sourceDescs []*prometheus.Desc // of sources, in their order

	kinds     []kindMetric
	kindDescs []*prometheus.Desc // of kinds, in their order
}

func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
	for _, d := range c.sourceDescs {
		ch <- d
	}
	for _, d := range c.kindDescs {
		ch <- d
	}
	ch <- c.state
}

func (c *collector) Collect(ch chan<- prometheus.Metric) {
	r := &reading{budget: c.server.budget.Stats(), server: c.server}
	for i, m := range c.metrics {
		ch <- prometheus.MustNewConstMetric(c.descs[i], m.kind, m.value(r))
	}
	for i, m := range c.kinds {
		for _, of := range budget.Kinds() {
			ch <- prometheus.MustNewConstMetric(c.kindDescs[i], m.kind, m.value(r.budget, of), of.String())
		}
	}
	for _, one := range c.server.sources.View().Statuses() {
		r.source, r.archive = one.Status, one.Archive
		for i, m := range c.sources {
			ch <- prometheus.MustNewConstMetric(c.sourceDescs[i], m.kind, m.value(r), one.Name)
		}
		now := one.State.String()
		state := func(value float64, word string) {
			ch <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, value, one.Name, word)
		}
		for _, other := range source.States() {
			if string(other) != now {
				state(0, string(other))
			}
		}
		state(1, now)
	}
}
