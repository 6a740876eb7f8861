package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/broker"
	"github.com/headerglass/headerglass/web/capture"
)

type publishCmd struct {
	Files []string `arg:"" name:"file" help:"Files with the messages: export.jsonl, export.zip and export.pcapng of the explorer, captures of AMQP traffic, or a content-header.bin and after it its body.bin."`

	connectionFlags
	Exchange   *string  `placeholder:"NAME" help:"The exchange to publish to; '' is the default exchange, whose routing keys are queues."`
	RoutingKey *string  `placeholder:"KEY"  help:"The routing key of every message, in place of each message's own."`
	Rate       float64  `placeholder:"N"    help:"How many messages a second at most (0: as fast as the broker takes them)." default:"0"`
	Count      int      `placeholder:"N"    help:"Publish only the first N messages (0: all)." default:"0"`
	Memory     byteSize `placeholder:"SIZE" help:"How many bytes of messages the files may hold (${default})." default:"1GiB"`
	DryRun     bool     `                   help:"Say what would be published and where, and do nothing."`
	Yes        bool     `                   help:"Do not ask first. Without a terminal nothing is published unless this is said."`
}

// maxPublishedBody is the largest body that is read from a file, in octets: four times what
// RabbitMQ takes.
const maxPublishedBody = 512 << 20

// AfterApply refuses what cannot be meant.
func (c *publishCmd) AfterApply() error {
	switch {
	case c.Exchange == nil:
		return usageError{
			"say where to publish: --exchange NAME, or --exchange '' for the default exchange, whose routing keys are queues",
		}
	case c.Rate < 0 || c.Count < 0:
		return usageError{"--rate and --count must not be below 0"}
	case len(*c.Exchange) > 255 || c.RoutingKey != nil && len(*c.RoutingKey) > 255:
		return usageError{"an exchange's name and a routing key have at most 255 bytes"}
	}
	return nil
}

// parcel is a message to publish, and where it came from.
type parcel struct {
	broker.Publication
	file   string
	number int // in the file, from 1
}

func (p parcel) String() string {
	return fmt.Sprintf("message %d of %s (routing key %q)", p.number, p.file, p.RoutingKey)
}

// Run publishes the messages of the files, after it has said what and where.
func (c *publishCmd) Run(ctx context.Context, std stdio) error {
	parcels, err := c.read(ctx)
	if err != nil {
		return err
	}
	cfg := broker.Config{Exchange: *c.Exchange, Version: buildVersion(debug.ReadBuildInfo())}
	c.connect(&cfg)
	publisher, err := broker.NewPublisher(cfg, c.Rate)
	if err != nil {
		return usageError{err.Error()}
	}
	for _, line := range plan(parcels, publisher.Target()) {
		fmt.Fprintln(std.out, line)
	}
	if c.DryRun {
		fmt.Fprintln(std.out, "Nothing was published: this was a dry run.")
		return nil
	}
	if !c.Yes {
		if err := ask(std); err != nil {
			return err
		}
	}
	return publishAll(ctx, std, publisher, parcels)
}

// read reads every file, in their order.
func (c *publishCmd) read(ctx context.Context) ([]parcel, error) {
	var parcels []parcel
	for i := 0; i < len(c.Files); i++ {
		name := c.Files[i]
		if header, ok := readContentHeader(name); ok {
			p := parcel{Publication: broker.Publication{Header: header}, file: name, number: 1}
			if wire.ViewContentHeader(header).BodySize() > 0 {
				if i++; i == len(c.Files) {
					return nil, usageError{fmt.Sprintf("%s is a content header: name the file with its body after it", name)}
				}
				body, err := os.ReadFile(c.Files[i]) // #nosec G304 -- the file that the command line names
				if err != nil {
					return nil, usageError{err.Error()}
				}
				p.Body = body
			}
			parcels = append(parcels, p)
			continue
		}
		more, err := c.readFile(ctx, name)
		if err != nil {
			return nil, err
		}
		parcels = append(parcels, more...)
	}
	if c.Count > 0 {
		parcels = parcels[:min(c.Count, len(parcels))]
	}
	for i := range parcels {
		if c.RoutingKey != nil {
			parcels[i].RoutingKey = []byte(*c.RoutingKey)
		}
	}
	return parcels, nil
}

// readContentHeader reads a file that is the payload of one content header of class basic, as the
// explorer's content-header.bin is.
func readContentHeader(name string) (payload []byte, ok bool) {
	f, err := os.Open(name) // #nosec G304 -- the file that the command line names
	if err != nil {
		return nil, false
	}
	defer f.Close()
	payload, err = io.ReadAll(io.LimitReader(f, wire.DefaultMaxHeaderBytes+1))
	if err != nil || len(payload) > wire.DefaultMaxHeaderBytes || len(payload) < wire.ContentHeaderFixed {
		return nil, false
	}
	// Class 60 and weight 0. No other kind of file that is read begins so.
	return payload, bytes.HasPrefix(payload, []byte{0, wire.ClassBasic, 0, 0})
}

// readFile reads an export or a capture. A file that is damaged is not published in part.
func (c *publishCmd) readFile(ctx context.Context, name string) ([]parcel, error) {
	f, err := capture.Open(name)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	defer f.Close()
	a := archive.New(archive.Config{MaxBytes: int64(c.Memory), BodyLimit: maxPublishedBody})
	if _, err := f.Read(ctx, capture.Config{Archive: a, BodyLimit: maxPublishedBody}); err != nil {
		return nil, err
	}
	switch stats := a.Stats(); {
	case stats.Evicted > 0:
		return nil, usageError{fmt.Sprintf("%s holds more than --memory %s of messages", name, humanize.IBytes(uint64(c.Memory)))}
	case stats.Stored == 0:
		return nil, usageError{fmt.Sprintf("%s holds no messages", name)}
	}
	var parcels []parcel
	for m := range a.Snapshot().Forward(0) {
		parcels = append(parcels, parcel{
			Publication: broker.Publication{RoutingKey: m.RoutingKey(), Header: m.Header().Payload(), Body: m.Body()},
			file:        name, number: len(parcels) + 1,
		})
	}
	return parcels, nil
}

// plan says what is going to be published, and what may come of it.
func plan(parcels []parcel, target string) []string {
	files := map[string]bool{}
	keys := map[string]int{}
	damaged, copies, timed := 0, 0, 0
	for _, p := range parcels {
		files[p.file] = true
		keys[string(p.RoutingKey)]++
		h := wire.ViewContentHeader(p.Header)
		if encoded, ok := h.HeaderTable(); ok {
			table := fieldtable.View(encoded, fieldtable.RabbitMQ())
			if table.Valid() != nil {
				damaged++
			}
			if _, err := table.Lookup("CC"); err == nil {
				copies++
			}
		}
		if _, ok := h.Property("expiration"); ok {
			timed++
		}
	}
	lines := []string{fmt.Sprintf("%s of %s, to %s", plural.Of(len(parcels), "message"), plural.Of(len(files), "file"), target)}
	const most = 10
	for i, key := range slices.Sorted(maps.Keys(keys)) {
		if i == most {
			lines = append(lines, fmt.Sprintf("  and %s more", plural.Of(len(keys)-most, "routing key")))
			break
		}
		lines = append(lines, fmt.Sprintf("  %s with routing key %q", plural.Of(keys[key], "message"), key))
	}
	if damaged > 0 {
		lines = append(lines, plural.Of(damaged, "message")+" with a header table that RabbitMQ cannot read: "+
			"it ends the connection there, and what follows is not published.")
	}
	if copies > 0 {
		lines = append(lines, plural.Of(copies, "message")+" with a CC header: RabbitMQ also delivers to the routing keys in it.")
	}
	if timed > 0 {
		lines = append(lines, plural.Of(timed, "message")+" with an expiration: a queue drops or dead-letters them when it has passed.")
	}
	return lines
}

// ask asks on the terminal.
func ask(std stdio) error {
	in, ok := std.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) { // #nosec G115 -- a file descriptor is small
		return usageError{"nothing was published: there is no terminal to ask on, so say --yes"}
	}
	fmt.Fprint(std.out, "Publish? [y/N] ")
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	fmt.Fprintln(std.out, "Nothing was published.")
	return exitCode(exitFailed)
}

// publishAll publishes and says what became of each message that is not confirmed.
func publishAll(ctx context.Context, std stdio, publisher *broker.Publisher, parcels []parcel) error {
	done := newProgress(std.err, len(parcels))
	var failed []broker.Outcome
	counts := map[broker.Fate]int{}
	publisher.Blocked = func(reason string) {
		if reason != "" {
			done.say("The broker takes no messages for now: " + reason)
		}
	}
	err := publisher.Publish(ctx, publications(parcels), func(o broker.Outcome) {
		counts[o.Fate]++
		if o.Fate != broker.Confirmed {
			failed = append(failed, o)
		}
		done.add()
	})
	done.end()
	unsent := 0
	for _, o := range failed {
		if o.Fate == broker.Unsent {
			unsent++
			continue
		}
		fmt.Fprintf(std.out, "%s: %s: %s\n", o.Fate, parcels[o.Index], o.Reason)
	}
	if unsent > 0 {
		fmt.Fprintf(std.out, "not sent: %s\n", plural.Of(unsent, "message"))
	}
	fmt.Fprintf(std.out, "%s confirmed\n", plural.Of(counts[broker.Confirmed], "message"))
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return exitCode(exitFailed)
	}
	return nil
}

func publications(parcels []parcel) iter.Seq[broker.Publication] {
	return func(yield func(broker.Publication) bool) {
		for _, p := range parcels {
			if !yield(p.Publication) {
				return
			}
		}
	}
}

// progress is a bar on a terminal, and a line every few seconds elsewhere.
type progress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar // nil: there is no terminal
	n, of int
	said  time.Time
}

const sayEvery = 5 * time.Second

func newProgress(w io.Writer, of int) *progress {
	p := &progress{w: w, of: of, said: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) { // #nosec G115 -- a file descriptor is small
		p.bar = progressbar.NewOptions(of,
			progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("publishing"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("messages"),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

func (p *progress) add() {
	p.n++
	if p.bar != nil {
		_ = p.bar.Add(1)
		return
	}
	if now := time.Now(); now.Sub(p.said) >= sayEvery {
		p.said = now
		fmt.Fprintf(p.w, "%d of %s\n", p.n, plural.Of(p.of, "message"))
	}
}

func (p *progress) say(line string) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintln(p.w, line)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
