// Package web is the HTTP surface of the explorer: pages, partials, the JSON
// API, downloads, the live feed, health and metrics.
//
// It only reads. Every route answers GET and HEAD, /inspect POST as well, and
// none changes the broker or the archive. What a publisher wrote leaves the server either as
// octets of an attachment, as JSON, or through the escaping of templ.
package web

import (
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/static"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/live"
	"github.com/headerglass/headerglass/web/sources"
)

// What a Server admits unless its Config says otherwise.
const (
	DefaultQueries     = 8
	DefaultExportLimit = 100_000 // messages
)

// Config is what a Server shows and how much it admits. Only a source, with its
// archive, is required.
type Config struct {
	// Sources are where messages come from. Growing: others may come, see [Server.Sources].
	Sources []sources.Source
	Growing bool
	// Dialect reads field tables unless a request asks for another. Nil: that of the broker's
	// product where it has one of its own, else fieldtable.Lenient.
	Dialect *fieldtable.Dialect
	// Logger may be nil.
	Logger  *slog.Logger
	Version string
	// AllowedHosts are the names, besides localhost and IP addresses, that
	// the explorer answers to, as a browser writes them: with the port
	// where it is not the scheme's own.
	AllowedHosts []string
	// BasePath is the path that a proxy serves the explorer under, such as
	// "/headerglass". Requests may carry it or not. "": the root.
	BasePath string
	// Guard says who may see more than /healthz and /readyz. Nil: everyone.
	Guard *access.Guard
	// MaxQueries is how many listings and exports run at once. 0: DefaultQueries.
	MaxQueries int
	// QueryBudget is how long one listing looks for matches. 0: query.DefaultBudget.
	QueryBudget time.Duration
	// MaxLive and MaxLivePerAddr cap the live feeds, in all and for one remote address; 0: as
	// package live has them.
	MaxLive, MaxLivePerAddr int
	// Proxies are trusted to say by X-Forwarded-For who sent a request.
	Proxies access.Proxies
	// MaxConns is how many connections may be open beside the live feeds, and a quarter of them
	// from one network. 0: 1024.
	MaxConns int
	// Budget is how many bytes work in progress may take. 0: 32 MiB.
	Budget int64
	// ExportLimit is the most messages one export holds. 0: DefaultExportLimit.
	ExportLimit int
	// NoExports refuses every export.
	NoExports bool
	// TraceURL is where recognised traces are shown: an http or https address
	// with {trace} and, if wanted, {span} in it. "": nowhere.
	TraceURL string
	// Remedies fill in the sentences that say what can be done about something.
	Remedies Remedies
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// ConfigError says which part of a Config cannot be used.
type ConfigError struct {
	Field string // of Config
	Value string
	Msg   string // what it has to be like
}

func (e *ConfigError) Error() string {
	return "web: " + e.Field + " " + strconv.Quote(e.Value) + ": " + e.Msg
}

// What may be under way for one address.
const (
	maxRequests = 128 // each keeps its address and headers in memory
	pagesLine   = 64  // answers that wait for a processor
)

// Server serves the explorer. It is safe for concurrent use.
type Server struct {
	cfg         Config
	sources     *sources.Set
	logger      *slog.Logger
	base        string // "" or "/path", without a slash at the end
	run         string // when it was started, as RFC 3339 has it: tells this run from another
	hosts       access.Hosts
	live        *live.Feeds
	parts       liveParts
	assets      *static.Assets
	budget      *budget.Budget
	longFilters longFilters
	// admitted has a place for each request under way; feeds have bounds of their own.
	admitted *budget.Limiter
	// pages has a place for each answer that may be made at once before it is sent: as many for one
	// address as there are processors but one. What waits keeps its request in memory.
	pages *budget.Limiter
	// long is the same of what takes long, such as exports: half of the processors.
	long        *budget.Limiter
	compressors sync.Pool     // of *gzip.Writer
	buffers     sync.Pool     // of *[]byte, for the JSON of one message
	exportStall time.Duration // how long an export waits for a browser to take some more
	// one for each table decoded whole, of a message opened, exported or pasted
	fullDecodes atomic.Uint64
	// exportsCutOff counts exports that eviction overtook.
	exportsCutOff atomic.Uint64
	registry      *prometheus.Registry
	requests      *prometheus.CounterVec
	handler       http.Handler
	router        chi.Routes       // what handler knows
	surface       map[string]route // by path
}

// New returns a Server for cfg. Close ends its live feeds.
func New(cfg Config) (*Server, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxQueries == 0 {
		cfg.MaxQueries = DefaultQueries
	}
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 1024
	}
	if cfg.Budget == 0 {
		cfg.Budget = 32 << 20
	}
	if cfg.ExportLimit == 0 {
		cfg.ExportLimit = DefaultExportLimit
	}
	if cfg.TraceURL != "" && !validTraceURL(cfg.TraceURL) {
		return nil, &ConfigError{"TraceURL", cfg.TraceURL,
			"a trace URL is an http or https address with {trace} in its path, query or fragment"}
	}
	base, err := cleanBase(cfg.BasePath)
	if err != nil {
		return nil, err
	}
	assets, err := static.New()
	if err != nil {
		return nil, err
	}
	procs := runtime.GOMAXPROCS(0)
	s := &Server{
		cfg:    cfg,
		logger: cfg.Logger,
		base:   base,
		run:    cfg.Now().UTC().Format(time.RFC3339Nano),
		hosts:  access.NewHosts(cfg.AllowedHosts),
		assets: assets,
		budget: budget.New(cfg.Budget),
		admitted: budget.NewTurns(budget.Limits{
			All: math.MaxInt, Each: maxRequests, Line: maxRequests / 4, Wait: budget.Wait,
		}),
		pages: budget.NewTurns(budget.Limits{All: 4 * procs, Each: max(1, procs-1), Line: pagesLine, Wait: queryWait}),
		long:  budget.NewTurns(budget.Limits{All: max(1, procs/2)}),

		exportStall: 30 * time.Second,
	}
	if s.sources, err = sources.New(sources.Config{
		Sources: cfg.Sources,
		Growing: cfg.Growing,
		Queries: budget.NewLimiter(cfg.MaxQueries, queryWait),
		Budget:  cfg.QueryBudget,
		Now:     cfg.Now,
	}); err != nil {
		return nil, err
	}
	s.budget.Reads(s.sources.EvictedBytes)
	s.live = live.New(live.Config{
		MaxConns:        cfg.MaxLive,
		MaxConnsPerAddr: cfg.MaxLivePerAddr,
		Budget:          s.budget,
		Now:             cfg.Now,
		Logger:          cfg.Logger,
	})
	s.newMetrics()
	s.handler = s.newRouter()
	return s, nil
}

// cleanBase checks a base path and takes the slash off its end.
func cleanBase(p string) (string, error) {
	p = strings.TrimRight(p, "/")
	if p == "" {
		return "", nil
	}
	if p[0] != '/' || strings.Contains(p, "//") || strings.Contains(p, "/.") || strings.ContainsFunc(p, notInBase) {
		return "", &ConfigError{"BasePath", p, "a base path begins with / and holds only letters, digits and -._~/"}
	}
	return p, nil
}

func notInBase(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~/", r)
}

// Handler returns the whole surface.
func (s *Server) Handler() http.Handler { return s.handler }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Sources are what is shown. Others can be added while the server runs, where Config.Growing says
// so.
func (s *Server) Sources() *sources.Set { return s.sources }

// FullDecodes is how many times a message's header table was decoded whole.
func (s *Server) FullDecodes() uint64 { return s.fullDecodes.Load() }

// Close ends the live feeds and returns when they are gone.
func (s *Server) Close() { s.live.Close() }

// HTTPServer returns an http.Server for h with a time-out on everything that
// a peer can drag out and a limit on everything that it can send. When h is a
// *Server, shutting down ends its live feeds too.
func HTTPServer(h http.Handler) *http.Server {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		// OPTIONS * is answered like everything else.
		DisableGeneralOptionsHandler: true,
	}
	if s, ok := h.(*Server); ok {
		srv.ConnState = access.NewConns(s.cfg.MaxConns, max(s.cfg.MaxConns/4, 1)).Changed
		srv.ErrorLog = slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug)
		srv.RegisterOnShutdown(s.Close)
	}
	return srv
}

// validTraceURL reports whether a configured address is one that a browser can
// be sent to with a trace's id in it.
func validTraceURL(address string) bool {
	if !strings.Contains(address, "{trace}") {
		return false
	}
	id := strings.NewReplacer("{trace}", "0", "{span}", "0").Replace(address)
	u, err := url.Parse(id)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return false
	}
	return strings.Contains(address, "://"+u.Host) // so nothing in the host is replaced
}

// dialect reads field tables where a request asks for none. It may change once, when the broker has
// said which product it is.
func (s *Server) dialect(v sources.View) *fieldtable.Dialect {
	switch {
	case s.cfg.Dialect != nil:
		return s.cfg.Dialect
	case v.Broker().Product == source.BrokerJ:
		return fieldtable.QpidJava()
	}
	return fieldtable.Lenient()
}
