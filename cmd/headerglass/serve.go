package main

import (
	"context"
	"fmt"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/snippet"
	"github.com/headerglass/headerglass/web/broker"
	"github.com/headerglass/headerglass/web/spool"
)

type serveCmd struct {
	connectionFlags

	Queue            string   `placeholder:"NAME"  help:"The queue or stream to read."`
	Mode             string   `                    help:"peek gives every message back on exit; drain removes what it has stored (${default})."                 default:"peek" enum:"peek,drain"`
	Exchange         string   `placeholder:"NAME"  help:"Read copies from this exchange through a queue of the explorer's own."`
	Binding          []string `placeholder:"KEY"   help:"A binding key for --exchange; may be repeated (# reaches everything on a topic exchange)."                                              sep:"none"`
	Offset           string   `placeholder:"WHERE" help:"Read --queue as a stream, from first, last, next, an offset, an RFC 3339 time, or an age such as 15m."`
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
	ExitOnError           bool          `               help:"End with exit code 1 at the first error in place of trying again."`

	explorerFlags
}

// mode works out how to read from the flags that name it.
func (c *serveCmd) mode() (source.Mode, error) {
	switch {
	case c.Window < 1 || c.Window > broker.MaxWindow:
		return "", usageError{
			fmt.Sprintf(
				"--window %d: the window is 1 to %d messages, what a prefetch count can say",
				c.Window,
				broker.MaxWindow,
			),
		}
	case c.Prefetch < 1 || c.Prefetch > broker.MaxWindow:
		return "", usageError{
			fmt.Sprintf("--prefetch %d: the prefetch count is 1 to %d messages", c.Prefetch, broker.MaxWindow),
		}
	case c.Hold <= 0:
		return "", usageError{"--hold must be above 0"}
	case c.Spool != "" && c.SpoolSize < spool.MinMaxBytes:
		return "", usageError{fmt.Sprintf("--spool-size must be at least %dMiB", spool.MinMaxBytes>>20)}
	case c.Queue == "" && c.Exchange == "":
		return "", usageError{
			"say what to read: --queue NAME to look into a queue, or --exchange NAME --binding KEY for copies of what an exchange routes; headerglass demo needs neither",
		}
	case c.Queue != "" && c.Exchange != "":
		return "", usageError{"--queue and --exchange exclude each other: a queue is read itself, an exchange is copied"}
	case c.Exchange != "" && (c.Mode != "peek" || c.Offset != ""):
		return "", usageError{
			"--mode and --offset are for --queue: what an exchange routes is copied, and nothing is removed",
		}
	case c.Spool != "" && c.Exchange == "" && c.Mode != "drain":
		return "", usageError{
			"--spool is for --mode drain and --exchange: otherwise the broker keeps the messages itself",
		}
	case (len(c.StreamFilter) > 0 || c.StreamUnfiltered) && c.Offset == "":
		return "", usageError{"--stream-filter and --stream-unfiltered are for a stream: say with --offset where to read it from"}
	case c.StreamUnfiltered && len(c.StreamFilter) == 0:
		return "", usageError{"--stream-unfiltered adds to --stream-filter: without a filter all messages are read"}
	case c.Exchange != "":
		return source.Copy, nil
	case len(c.Binding) > 0:
		return "", usageError{"--binding needs --exchange"}
	case c.Offset != "" && c.Mode == "drain":
		return "", usageError{"--offset reads a stream, which keeps its messages: leave out --mode drain"}
	case c.Offset != "":
		return source.Stream, nil
	case c.Mode == "drain":
		return source.Drain, nil
	}
	return source.Peek, nil
}

// Run shows the queue until a signal arrives.
func (c *serveCmd) Run(ctx context.Context, std stdio) error {
	mode, err := c.mode()
	if err != nil {
		return err
	}
	a, d, err := c.newArchive()
	if err != nil {
		return err
	}
	var kept *spool.Spool
	if c.Spool != "" {
		if kept, err = spool.Open(c.Spool, spool.Config{
			MaxBytes:   int64(c.SpoolSize),
			DropOldest: c.SpoolDropOldest,
			Logger:     c.logger(std.err),
		}); err != nil {
			return err
		}
		defer kept.Close()
	}
	publish := c.publishCommand()
	cfg := broker.Config{
		Mode:                  mode,
		Queue:                 c.Queue,
		Exchange:              c.Exchange,
		Bindings:              c.Binding,
		Offset:                c.Offset,
		StreamFilters:         c.StreamFilter,
		StreamUnfiltered:      c.StreamUnfiltered,
		Window:                c.Window,
		Hold:                  c.Hold,
		Prefetch:              c.Prefetch,
		Spool:                 kept,
		AcceptLoss:            c.AcceptLoss,
		AcceptRedeliveryCount: c.AcceptRedeliveryCount,
		ManagementURL:         c.Management.value,
		ExitOnError:           c.ExitOnError,
		Remedies:              brokerRemedies(),
	}
	c.connect(&cfg)
	return c.explore(ctx, std, a, d, cfg, func(s source.Status) source.Status {
		s.PublishCommand = publish
		return s
	})
}

// publishCommand is a shell command that puts one message with a header where the explorer sees it.
func (c *serveCmd) publishCommand() string {
	exchange, key := "amq.default", c.Queue
	if c.Exchange != "" {
		exchange, key = c.Exchange, "#"
		if len(c.Binding) > 0 {
			key = c.Binding[0]
		}
	}
	return fmt.Sprintf(
		`rabbitmqadmin publish exchange=%s routing_key=%s payload='hello' properties='{"headers":{"tenant":"acme"}}'`,
		snippet.ShellWord(exchange),
		snippet.ShellWord(key),
	)
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
