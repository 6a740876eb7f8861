package web

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/headerglass/headerglass/fieldtable/source"
)

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
	s.registry = prometheus.NewRegistry()
	s.registry.MustRegister(s.requests, build, newGauges(s),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

func (s *Server) serveMetrics() handler {
	h := promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{})
	return func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}
}

// gauges reads the archive, the broker and the server once for each scrape.
type gauges struct {
	s                                                     *Server
	stored, evicted, bytes, maxBytes, pinned, ingest      *prometheus.Desc
	decodes, conns, held, givenBack, acknowledged, broker *prometheus.Desc
}

func newGauges(s *Server) *gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("headerglass_"+name, help, labels, nil)
	}
	return &gauges{
		s:        s,
		stored:   desc("messages_stored", "Messages kept now."),
		evicted:  desc("messages_evicted_total", "Messages that gave way to newer ones."),
		bytes:    desc("archive_bytes", "Bytes that the archive keeps."),
		maxBytes: desc("archive_max_bytes", "Bytes that the archive may keep."),
		pinned:   desc("archive_pinned_bytes", "Bytes evicted that readers still hold."),
		ingest:   desc("ingest_rate", "Messages arrived in a second, averaged over the last few."),
		decodes: desc(
			"full_decodes_total",
			"Header tables decoded whole, once for each message opened or exported.",
		),
		conns:        desc("websocket_clients", "Open live feeds."),
		held:         desc("messages_held", "Messages held unacknowledged at the broker."),
		givenBack:    desc("messages_given_back_total", "Messages given back to the queue."),
		acknowledged: desc("messages_acknowledged_total", "Messages acknowledged, so removed from the queue."),
		broker:       desc("broker_state", "1 for the state that the connection to the broker is in.", "state"),
	}
}

func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.stored, g.evicted, g.bytes, g.maxBytes, g.pinned, g.ingest,
		g.decodes, g.conns, g.held, g.givenBack, g.acknowledged, g.broker} {
		ch <- d
	}
}

func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	st, b := g.s.archive.Stats(), g.s.cfg.Broker()
	gauge(g.stored, float64(st.Stored-st.Evicted))
	counter(g.evicted, st.Evicted)
	gauge(g.bytes, float64(st.Bytes))
	gauge(g.maxBytes, float64(st.MaxBytes))
	gauge(g.pinned, float64(st.Pinned))
	gauge(g.ingest, g.s.rate())
	counter(g.decodes, g.s.FullDecodes())
	gauge(g.conns, float64(g.s.live.Conns()))
	gauge(g.held, float64(b.Held))
	counter(g.givenBack, b.GivenBack)
	counter(g.acknowledged, b.Acknowledged)
	state := source.State(b.State.String())
	for _, other := range source.States() {
		if other != state {
			gauge(g.broker, 0, string(other))
		}
	}
	gauge(g.broker, 1, string(state))
}
