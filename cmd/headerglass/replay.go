package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/capture"
)

type replayCmd struct {
	Files []string `arg:"" name:"file" help:"Files to read, one after the other: export.jsonl, export.zip and export.pcapng of the explorer, and captures of AMQP 0-9-1 traffic as tcpdump and Wireshark write them (pcap, pcapng). All but zip may be compressed with gzip."`

	explorerFlags
}

// Run shows what is in the files until a signal arrives. A file that is of no known kind ends it
// before anything is shown; damage in a file ends only the reading of that file, and makes the exit
// code 1.
func (c *replayCmd) Run(ctx context.Context, std stdio) error {
	r := &replay{bodyLimit: int(c.BodyLimit), log: c.logger(std.err)}
	defer r.close()
	for _, name := range c.Files {
		f, err := capture.Open(name)
		if err != nil {
			return usageError{err.Error()}
		}
		r.files = append(r.files, f)
	}
	a, d, err := c.newArchive()
	if err != nil {
		return err
	}
	r.archive = a
	r.set(source.Replaying, "")
	return c.show(ctx, std, r.log, a, d, feed{
		run:    r.run,
		status: func() source.Status { return *r.status.Load() },
	})
}

// replay reads files into an archive.
type replay struct {
	files     []*capture.File
	archive   *archive.Archive
	bodyLimit int // octets kept of a body
	log       *slog.Logger
	status    atomic.Pointer[source.Status]
}

func (r *replay) close() {
	for _, f := range r.files {
		_ = f.Close()
	}
}

// set replaces the status.
func (r *replay) set(state source.State, trouble string) {
	r.status.Store(&source.Status{
		State: state,
		Since: time.Now(),
		Mode:  source.Replay,
		Name:  r.names(),
		Error: trouble,
	})
}

// names lists the files, as many as are good to read.
func (r *replay) names() string {
	const most = 3
	var names []string
	for i, f := range r.files {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(r.files)-most))
			break
		}
		names = append(names, filepath.Base(f.Name()))
	}
	return strings.Join(names, ", ")
}

// errNothing ends a replay that has nothing to show.
var errNothing = errors.New("there are no AMQP 0-9-1 messages in what could be read")

// run reads the files and then waits for the end of ctx. The error is what could not be read, or
// that nothing could.
func (r *replay) run(ctx context.Context) error {
	var total capture.Report
	var damage []error
	for _, f := range r.files {
		report, err := f.Read(ctx, capture.Config{Archive: r.archive, BodyLimit: r.bodyLimit})
		if ctx.Err() != nil {
			return nil
		}
		total.Add(report)
		r.log.Info("read "+f.Name(), "format", f.Format().String(), "found", report.String())
		for _, note := range report.Notes() {
			r.log.Warn(f.Name() + ": " + note)
		}
		if err != nil {
			err = fmt.Errorf("%w; %s before that %s shown", err,
				plural.Of(report.Messages, "message"), plural.Verb(report.Messages, "is", "are"))
			r.log.Error(err.Error())
			damage = append(damage, err)
		}
	}
	if total.Messages == 0 {
		return errors.Join(append(damage, errNothing)...)
	}
	if evicted := r.archive.Stats().Evicted; evicted > 0 {
		r.log.Warn("the first messages made way for later ones; a larger --memory keeps them", "messages", evicted)
	}
	err := errors.Join(damage...)
	trouble := ""
	if err != nil {
		trouble = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	r.set(source.Replayed, trouble)
	<-ctx.Done()
	return err
}
