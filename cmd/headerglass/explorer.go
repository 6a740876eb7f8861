package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/broker"
	"github.com/headerglass/headerglass/web/sources"
)

// shutdownTime bounds how long open requests may take to end after a signal.
const shutdownTime = 5 * time.Second

// explorerFlags are what serve, demo and replay have in common: keeping messages and showing them.
type explorerFlags struct {
	Listen         string         `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where the explorer listens (${default})."`
	AuthFile       string         `                         placeholder:"FILE"      help:"Ask for a login: lines of user:hash as htpasswd -B writes them (bcrypt only); read again when it changes."                                                                        type:"existingfile"`
	TokenFile      string         `                         placeholder:"FILE"      help:"Ask for a login: one token a line, sent as Authorization: Bearer or as the password of HTTP Basic; read again when it changes."                                                   type:"existingfile"`
	AllowAnonymous bool           `                                                 help:"Let anyone who reaches a --listen address that is not loopback read every message."`
	TLSCert        string         `                         placeholder:"PEM"       help:"Serve HTTPS with this certificate chain; read again when it changes."                                                                                                             type:"existingfile" name:"tls-cert"`
	TLSKey         string         `                         placeholder:"PEM"       help:"Its private key."                                                                                                                                                                 type:"existingfile" name:"tls-key"`
	Redact         redaction      `                         placeholder:"PATTERNS"  help:"Store messages without the values of these headers, at every level, and $$properties: comma-separated, * and ? stand for characters. For example authorization,x-api-*,$$user_id; a header of that name is \\$$user_id."`
	AllowHost      []string       `                         placeholder:"HOST"      help:"A host name that browsers may use for the explorer, with its port unless the usual one; localhost and IP addresses always work."`
	TrustedProxy   []netip.Prefix `placeholder:"CIDR" help:"A proxy's network, such as 10.0.0.0/8: what it says in X-Forwarded-For is who limits count for. May be repeated."`
	BasePath       string         `                         placeholder:"/PATH"     help:"The path that a proxy serves the explorer under."`
	Memory         byteSize       `default:"${memory}"         placeholder:"SIZE"      help:"How many bytes of messages to keep; the oldest go first (${default})."`
	BodyLimit      byteSize       `default:"${body_limit}"          placeholder:"SIZE"      help:"How much of each body to keep (${default})."`
	Dialect        string         `default:"${dialect}"                                help:"How to read the tags, unless a page asks for another; auto: as qpid-java at Qpid Broker-J, else lenient (${enum})."                                                                                                                                                                   enum:"auto,${dialects}"`
	MaxLive        int            `default:"${max_live}"                                   help:"How many live feeds may be open (${default})."`
	MaxLivePerAddr int            `default:"${max_live_per_address}"                                    help:"How many of them for one address; behind a proxy every browser has the proxy's (${default})."                                                                                                         name:"max-live-per-address"`
	MaxQueries     int            `default:"${max_queries}"                                      help:"How many listings run at once (${default})."`
	QueryBudget    time.Duration  `default:"${query_budget}"                                  help:"How long one listing looks for matches before it shows what it has (${default})."`
	ExportLimit    int            `default:"${export_limit}"                                 help:"The most messages that one export holds (${default})."`
	NoExports      bool           `                                                 help:"Refuse every export; single messages can still be downloaded."`
	TraceUrl       string         `                         placeholder:"URL"       help:"A link for trace ids, with {trace} and optionally {span} in it, such as https://traces.example/trace/{trace}."`
	LogFormat      string         `default:"text"                                   help:"text or json, to standard error."                                                                                                                                                                                                 enum:"text,json"`
	LogLevel       slog.Level     `default:"info"                                   help:"debug, info, warn or error (${default})."`
}

// AfterApply refuses to show messages to a network by accident.
func (f *explorerFlags) AfterApply() error {
	// A log line that nobody reads any more must not end what holds messages.
	signal.Ignore(syscall.SIGPIPE)
	host, port, err := net.SplitHostPort(f.Listen)
	if err != nil {
		return usageError{fmt.Sprintf("--listen %q is no address; write for example 127.0.0.1:8080", f.Listen)}
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return usageError{
			fmt.Sprintf("--listen %q: a port is a number from 0 to 65535; write for example 127.0.0.1:8080", f.Listen),
		}
	}
	login := f.AuthFile != "" || f.TokenFile != ""
	switch {
	case login && f.AllowAnonymous:
		return usageError{
			"--allow-anonymous and a login exclude each other: leave out --auth-file and --token-file, or let it ask",
		}
	case !isLoopback(host) && !login && !f.AllowAnonymous:
		return usageError{
			fmt.Sprintf(
				"--listen %s would show every message to whoever reaches that address; ask for a login with --auth-file or --token-file, listen on 127.0.0.1, or say --allow-anonymous",
				f.Listen,
			),
		}
	case (f.TLSCert == "") != (f.TLSKey == ""):
		return usageError{"--tls-cert and --tls-key go together"}
	}
	if f.MaxLive < 1 || f.MaxLivePerAddr < 1 || f.MaxQueries < 1 {
		return usageError{"--max-live, --max-live-per-address and --max-queries must be at least 1"}
	}
	if f.ExportLimit < 1 {
		return usageError{"--export-limit must be at least 1; --no-exports refuses every export"}
	}
	if f.QueryBudget <= 0 {
		return usageError{"--query-budget must be above 0"}
	}
	if f.Memory < 1<<20 {
		return usageError{"--memory must be at least 1MiB"}
	}
	return nil
}

// isLoopback reports whether only this machine reaches a listener on host. A name other than
// localhost counts as reachable.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (f *explorerFlags) logger(w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// access is who may see the explorer, nil for everyone, and how connections are encrypted, nil for
// not at all.
func (f *explorerFlags) access(log *slog.Logger) (guard *access.Guard, tlsConfig *tls.Config, err error) {
	if f.TLSCert != "" {
		if tlsConfig, err = access.TLSConfig(f.TLSCert, f.TLSKey, log, nil); err != nil {
			return nil, nil, fmt.Errorf("--tls-cert and --tls-key: %w", err)
		}
	}
	if f.AuthFile != "" || f.TokenFile != "" {
		if guard, err = access.New(access.Config{
			UserFile:  f.AuthFile,
			TokenFile: f.TokenFile,
			Logger:    log,
		}); err != nil {
			return nil, nil, fmt.Errorf("--auth-file and --token-file: %w", err)
		}
	}
	if host, _, _ := net.SplitHostPort(f.Listen); tlsConfig == nil && !isLoopback(host) {
		log.Warn("messages, and passwords if any, cross the network unencrypted; --tls-cert and --tls-key encrypt them")
	}
	return guard, tlsConfig, nil
}

// budget is how many bytes work in progress may take beside the messages: pages, exports, live
// feeds.
func (f *explorerFlags) budget() int64 { return max(int64(f.Memory)/4, 32<<20) }

// autoDialect is the value of --dialect that leaves it to the broker's product.
const autoDialect = "auto"

// dialect is the one that --dialect names; nil: as the broker's product has it.
func (f *explorerFlags) dialect() (*fieldtable.Dialect, error) {
	if f.Dialect == autoDialect {
		return nil, nil
	}
	d, err := fieldtable.DialectByName(f.Dialect)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	return d, nil
}

// leastShare is what a source has of --memory at least.
const leastShare = 1 << 20

// newArchives returns an archive for each source. Each has an equal share of --memory that no other
// can take.
func (f *explorerFlags) newArchives(origins []archive.Origin) ([]*archive.Archive, error) {
	d, err := f.dialect()
	if err != nil {
		return nil, err
	}
	share := int64(f.Memory) / int64(len(origins))
	if share < leastShare {
		return nil, usageError{fmt.Sprintf(
			"--memory %s is too little for %d sources: each needs 1MiB at least", f.Memory, len(origins))}
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		// Evicted segments are the garbage of this process. A limit near what it may take has them
		// collected early; without one it grows to twice the bound. What of the program itself is
		// in RAM, some 24 MiB, is not counted here, and 16 MiB are to spare.
		debug.SetMemoryLimit(int64(f.Memory)*115/100 + 24<<20 + f.budget())
	}
	bodyLimit := int(f.BodyLimit)
	if bodyLimit == 0 {
		bodyLimit = -1 // to the archive 0 is its default
	}
	list := make([]*archive.Archive, len(origins))
	for i, origin := range origins {
		list[i] = archive.New(archive.Config{
			MaxBytes:  share,
			BodyLimit: bodyLimit,
			Dialect:   d,
			Redact:    f.Redact.value,
			Origin:    origin,
		})
	}
	return list, nil
}

// reading is one source of a broker, as a command starts it.
type reading struct {
	origin archive.Origin // Source is its name in addresses
	cfg    broker.Config  // Archive, Logger and Version are filled in by explore
	// draw is how the page shows the consumer's status. Nil: as it is.
	draw func(source.Status) source.Status
	// spool is where it is kept on disk, which is opened before explore.
	spool spoolFlags
}

// explore serves what is read and runs the consumers until ctx is done. One that fails is a state
// of that source; where there is only one its end is that of the command.
func (f *explorerFlags) explore(ctx context.Context, std stdio, readings []reading) error {
	var origins []archive.Origin
	for _, one := range readings {
		origins = append(origins, one.origin)
	}
	archives, err := f.newArchives(origins)
	if err != nil {
		return err
	}
	log := f.logger(std.err)
	var feeds []feed
	for i, one := range readings {
		cfg := one.cfg
		cfg.Archive, cfg.Logger, cfg.Version = archives[i], log, buildVersion(debug.ReadBuildInfo())
		if len(readings) > 1 {
			cfg.Logger = log.With("source", one.origin.Source)
		}
		consumer, err := broker.New(cfg)
		if err != nil {
			return usageError{err.Error()}
		}
		status := consumer.Status
		if one.draw != nil {
			status = func() source.Status { return one.draw(consumer.Status()) }
		}
		feeds = append(feeds, feed{
			archive: archives[i],
			run:     consumer.Run,
			status:  status,
			only:    cfg.ExitOnError || len(readings) == 1,
		})
	}
	return f.show(ctx, std, log, feeds)
}

// feed is where the messages of an archive come from.
type feed struct {
	archive *archive.Archive
	// run writes them until ctx is done; an earlier end is an error
	run    func(ctx context.Context) error
	status func() source.Status
	// passage is how a message passed; nil: it is no relay
	passage func(seq uint64) *source.Passage
	// only: its failure ends the explorer.
	only bool
}

// show serves the archives and runs the feeds until ctx is done, or the server or what must not
// fail fails. The address is printed once the explorer answers.
func (f *explorerFlags) show(ctx context.Context, std stdio, log *slog.Logger, feeds []feed) error {
	d, err := f.dialect()
	if err != nil {
		return err
	}
	var shown []sources.Source
	for _, one := range feeds {
		shown = append(shown, sources.Source{
			Name: one.archive.Origin().Source, Archive: one.archive, Status: one.status, Passage: one.passage,
		})
	}
	guard, tlsConfig, err := f.access(log)
	if err != nil {
		return usageError{err.Error()}
	}
	site, err := web.New(web.Config{
		Guard:          guard,
		Sources:        shown,
		Dialect:        d,
		Logger:         log,
		Version:        buildVersion(debug.ReadBuildInfo()),
		AllowedHosts:   f.AllowHost,
		BasePath:       f.BasePath,
		MaxLive:        f.MaxLive,
		MaxLivePerAddr: f.MaxLivePerAddr,
		MaxQueries:     f.MaxQueries,
		QueryBudget:    f.QueryBudget,
		TraceURL:       f.TraceUrl,
		Budget:         f.budget(),
		Proxies:        f.TrustedProxy,
		ExportLimit:    f.ExportLimit,
		NoExports:      f.NoExports,
		Remedies: web.Remedies{
			Host:   "name it with --allow-host to allow it",
			Memory: "a larger --memory keeps more",
			Paste:  "the command headerglass decode takes more",
			Body:   "A larger --body-limit keeps whole bodies of the messages to come.",
		},
	})
	if wrong, ok := errors.AsType[*web.ConfigError](err); ok {
		flag := map[string]string{"TraceURL": "--trace-url", "BasePath": "--base-path"}[wrong.Field]
		return usageError{fmt.Sprintf("%s %q: %s", flag, wrong.Value, wrong.Msg)}
	}
	if err != nil {
		return usageError{err.Error()}
	}
	defer site.Close()
	listener, err := net.Listen("tcp", f.Listen)
	if err != nil {
		return fmt.Errorf("the explorer cannot listen: %w; --listen chooses another address", err)
	}
	server := web.HTTPServer(site)
	server.TLSConfig = tlsConfig
	scheme, serve := "http", server.Serve
	if tlsConfig != nil {
		scheme, serve = "https", func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	consumed := make(chan error, len(feeds))
	for _, one := range feeds {
		go func() {
			err := one.run(ctx)
			switch {
			case err == nil || one.only:
			case ctx.Err() == nil:
				log.Error("a source has ended", "source", one.archive.Origin().Source, "error", err)
				err = nil
			}
			if err != nil {
				stop(err)
			}
			consumed <- err
		}()
	}
	served := make(chan error, 1)
	go func() {
		err := serve(listener)
		if !errors.Is(err, http.ErrServerClosed) {
			stop(err)
		}
		served <- err
	}()
	fmt.Fprintf(std.out, "headerglass: %s://%s%s/\n", scheme, listener.Addr(), strings.TrimRight(f.BasePath, "/"))

	<-ctx.Done()
	log.Info("stopping")
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if server.Shutdown(shutdown) != nil {
		_ = server.Close()
	}
	serveErr := <-served
	var runErr error
	for range feeds {
		runErr = errors.Join(runErr, <-consumed)
	}
	if errors.Is(serveErr, http.ErrServerClosed) {
		serveErr = nil
	}
	return errors.Join(serveErr, runErr)
}
