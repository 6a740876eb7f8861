package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/snippet"
	"github.com/headerglass/headerglass/web/broker"
	"github.com/headerglass/headerglass/web/sources"
	"github.com/headerglass/headerglass/web/spool"
)

// sourceFlags say what is read, from where and how. A table of the configuration file has them,
// too.
type sourceFlags struct {
	connectionFlags

	Queue            []string `placeholder:"NAME"  help:"A queue or stream to read; may be repeated."                                                                                            sep:"none"`
	Stream           []string `placeholder:"NAME"  help:"A stream to read beside queues, from --offset on; may be repeated."                                                                     sep:"none"`
	Mode             string   `                    help:"peek gives every message back on exit; drain removes what it has stored (${default})."                 default:"peek" enum:"peek,drain"`
	Exchange         []string `placeholder:"NAME"  help:"Read copies from this exchange through a queue of the explorer's own; may be repeated."                                                 sep:"none"`
	Binding          []string `placeholder:"KEY"   help:"A binding key for --exchange; may be repeated (# reaches everything on a topic exchange)."                                              sep:"none"`
	Offset           string   `placeholder:"WHERE" help:"Where to read --stream from, or --queue where there is no --stream: first, last, next, an offset, an RFC 3339 time, or an age such as 15m."`
	StreamFilter     []string `placeholder:"VALUE" sep:"none" help:"Of a stream, read messages with this x-stream-filter-value only; repeatable."`
	StreamUnfiltered bool     `help:"With --stream-filter, also read messages that have no x-stream-filter-value."`

	Window                int           `default:"${window}" help:"How many messages peek holds at most, 1 to 65535 (${default})."`
	Hold                  time.Duration `default:"${hold}"  help:"How long peek holds them before it gives them back; keep it below the broker's consumer timeout (${default})."`
	Prefetch              int           `default:"${prefetch}" help:"How many messages may be under way in the other modes, 1 to 65535 (${default})."`
	Spool                 string        `               help:"Keep drained or copied messages on disk in this folder; only what is synced there is acknowledged, and a restart shows it again." placeholder:"DIR"`
	SpoolSize             byteSize      `default:"${spool_size}" help:"How large the spool may grow; at the bound nothing more is acknowledged (${default})."                                     placeholder:"SIZE"`
	SpoolDropOldest       bool          `               help:"At the bound, drop the oldest spooled messages and go on; they are lost."`
	AcceptLoss            bool          `               help:"Let drain remove messages that are then kept in memory only."`
	AcceptRedeliveryCount bool          `               help:"Let peek read a quorum queue, which counts each delivery against its delivery limit; --management tells the limit."`
	Management            secret        `               help:"RabbitMQ's management API, http://host:15672, to learn the queue's type first; or @FILE with it."                                 placeholder:"URL"`
}

type serveCmd struct {
	sourceFlags

	Config      configFile `placeholder:"FILE" help:"Read more sources from a TOML file: [[source]] tables with the flags of a source as keys and a name, other flags at the top. Flags win over the file."`
	ExitOnError bool       `help:"End with exit code 1 at the first error in place of trying again."`

	explorerFlags
}

// check says what is wrong with the flags together.
func (c *sourceFlags) check() error {
	queues, streams := c.Queue, c.Stream
	if len(streams) == 0 && c.Offset != "" {
		queues, streams = nil, c.Queue
	}
	switch {
	case c.Window < 1 || c.Window > broker.MaxWindow:
		return usageError{
			fmt.Sprintf(
				"--window %d: the window is 1 to %d messages, what a prefetch count can say",
				c.Window,
				broker.MaxWindow,
			),
		}
	case c.Prefetch < 1 || c.Prefetch > broker.MaxWindow:
		return usageError{
			fmt.Sprintf("--prefetch %d: the prefetch count is 1 to %d messages", c.Prefetch, broker.MaxWindow),
		}
	case c.Hold <= 0:
		return usageError{"--hold must be above 0"}
	case c.Spool != "" && c.SpoolSize < spool.MinMaxBytes:
		return usageError{fmt.Sprintf("--spool-size must be at least %dMiB", spool.MinMaxBytes>>20)}
	case len(c.Queue)+len(c.Stream)+len(c.Exchange) == 0:
		return usageError{
			"say what to read: --queue NAME to look into a queue, or --exchange NAME --binding KEY for copies of what " +
				"an exchange routes; headerglass demo needs neither",
		}
	case len(queues) == 0 && len(streams) == 0 && c.Mode != "peek",
		len(c.Queue)+len(c.Stream) == 0 && c.Offset != "":
		return usageError{
			"--mode and --offset are for --queue: what an exchange routes is copied, and nothing is removed",
		}
	case c.Spool != "" && len(c.Exchange) == 0 && c.Mode != "drain":
		return usageError{
			"--spool is for --mode drain and --exchange: otherwise the broker keeps the messages itself",
		}
	case (len(c.StreamFilter) > 0 || c.StreamUnfiltered) && len(streams) == 0:
		return usageError{"--stream-filter and --stream-unfiltered are for a stream: " +
			"say with --offset where to read it from"}
	case c.StreamUnfiltered && len(c.StreamFilter) == 0:
		return usageError{"--stream-unfiltered adds to --stream-filter: without a filter all messages are read"}
	case len(c.Binding) > 0 && len(c.Exchange) == 0:
		return usageError{"--binding needs --exchange"}
	case c.Offset != "" && c.Mode == "drain" && len(queues) == 0:
		return usageError{"--offset reads a stream, which keeps its messages: leave out --mode drain"}
	}
	return nil
}

// readings are the sources that the flags name, without what they have in common.
func (c *sourceFlags) readings() (list []reading) {
	queues, streams := c.Queue, c.Stream
	if len(streams) == 0 && c.Offset != "" {
		queues, streams = nil, c.Queue
	}
	mode := source.Peek
	if c.Mode == "drain" {
		mode = source.Drain
	}
	for _, q := range queues {
		list = append(list, reading{
			origin: archive.Origin{Source: sources.Name(q), Queue: q},
			cfg:    broker.Config{Mode: mode, Queue: q},
			draw:   c.publishing("amq.default", q),
		})
	}
	for _, q := range streams {
		list = append(list, reading{
			origin: archive.Origin{Source: sources.Name(q), Queue: q},
			cfg: broker.Config{
				Mode:             source.Stream,
				Queue:            q,
				Offset:           c.Offset,
				StreamFilters:    c.StreamFilter,
				StreamUnfiltered: c.StreamUnfiltered,
			},
			draw: c.publishing("amq.default", q),
		})
	}
	for _, e := range c.Exchange {
		key := "#"
		if len(c.Binding) > 0 {
			key = c.Binding[0]
		}
		list = append(list, reading{
			origin: archive.Origin{Source: sources.Name(e)},
			cfg:    broker.Config{Mode: source.Copy, Exchange: e, Bindings: c.Binding},
			draw:   c.publishing(e, key),
		})
	}
	return list
}

// complete fills in what the flags say of every source.
func (c *sourceFlags) complete(cfg *broker.Config) {
	cfg.Window = c.Window
	cfg.Hold = c.Hold
	cfg.Prefetch = c.Prefetch
	cfg.AcceptLoss = c.AcceptLoss
	cfg.AcceptRedeliveryCount = c.AcceptRedeliveryCount
	cfg.ManagementURL = c.Management.value
	cfg.Remedies = brokerRemedies()
	c.connect(cfg)
}

// Run shows what is read until a signal arrives.
func (c *serveCmd) Run(ctx context.Context, kctx *kong.Context, std stdio) error {
	list, err := c.all(kctx)
	if err != nil {
		return err
	}
	if err := distinct(list); err != nil {
		return err
	}
	for i := range list {
		one := &list[i]
		one.cfg.ExitOnError = c.ExitOnError
		if one.spool.folder == "" || one.cfg.Mode != source.Drain && one.cfg.Mode != source.Copy {
			continue
		}
		kept, err := one.spool.open(one.origin.Source, len(list), c.logger(std.err))
		if err != nil {
			return err
		}
		defer kept.Close()
		one.cfg.Spool = kept
	}
	return c.explore(ctx, std, list)
}

// all are the sources that the flags and the file name.
func (c *serveCmd) all(kctx *kong.Context) (list []reading, err error) {
	if c.Config != "" {
		if list, err = c.Config.readings(kctx); err != nil {
			return nil, err
		}
	}
	if len(list) > 0 && len(c.Queue)+len(c.Stream)+len(c.Exchange) == 0 {
		return list, nil
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return append(list, c.completed()...), nil
}

// completed are the sources that the flags name, with all that they say of them.
func (c *sourceFlags) completed() []reading {
	list := c.readings()
	for i := range list {
		c.complete(&list[i].cfg)
		list[i].spool = spoolFlags{c.Spool, int64(c.SpoolSize), c.SpoolDropOldest}
	}
	return list
}

// distinct refuses two sources of one name.
func distinct(list []reading) error {
	at := make(map[string]int)
	for i, one := range list {
		if j, ok := at[one.origin.Source]; ok {
			return usageError{fmt.Sprintf("two sources of one name, %s: %s and %s",
				one.origin.Source, what(list[j].cfg), what(one.cfg))}
		}
		at[one.origin.Source] = i
	}
	return nil
}

// what is read, in a few words.
func what(cfg broker.Config) string {
	if cfg.Mode == source.Copy {
		return fmt.Sprintf("exchange %q", cfg.Exchange)
	}
	return fmt.Sprintf("queue %q", cfg.Queue)
}

// spoolFlags say where messages are kept on disk. "": nowhere.
type spoolFlags struct {
	folder     string
	size       int64
	dropOldest bool
}

// open opens the folder of one of so many sources. Of several each has one of its own below the
// folder, and a part of its size.
func (f spoolFlags) open(name string, of int, log *slog.Logger) (*spool.Spool, error) {
	folder, size := f.folder, f.size
	if of > 1 {
		folder, size = filepath.Join(folder, name), max(size/int64(of), spool.MinMaxBytes)
	}
	return spool.Open(folder, spool.Config{MaxBytes: size, DropOldest: f.dropOldest, Logger: log})
}

// publishing adds to a status a shell command that puts one message with a header where the
// explorer sees it.
func (c *sourceFlags) publishing(exchange, key string) func(source.Status) source.Status {
	command := fmt.Sprintf(
		`rabbitmqadmin publish exchange=%s routing_key=%s payload='hello' properties='{"headers":{"tenant":"acme"}}'`,
		snippet.ShellWord(exchange),
		snippet.ShellWord(key),
	)
	return func(s source.Status) source.Status {
		s.PublishCommand = command
		return s
	}
}

// brokerRemedies name the flags that help where the consumer says what is wrong.
func brokerRemedies() broker.Remedies {
	const instead = "read a copy instead with --exchange and --binding"
	return broker.Remedies{
		Loss:      "keep them on disk with --spool DIR, or allow it with --accept-loss",
		NotSpool:  "a spool is for --mode drain and --exchange",
		Counted:   instead + ", or allow it with --accept-redelivery-count",
		Limit:     "name the management API, which knows, with --management",
		Few:       instead,
		Stream:    "read it with --offset and without --mode",
		NoStream:  "read it without --offset",
		Offset:    "read on behind it, with a higher --offset",
		Binding:   "leave it out with other --binding keys",
		SpoolFull: "start again with a larger --spool-size, another --spool folder, or --spool-drop-oldest",
		SpoolSize: "A larger --spool-size takes them.",
	}
}
