package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/capture"
	"github.com/headerglass/headerglass/web/sources"
)

type replayCmd struct {
	Files []string `arg:"" name:"file" help:"Files to read, each a source of its own: export.jsonl, export.zip and export.pcapng of the explorer, and captures of AMQP 0-9-1 traffic as tcpdump and Wireshark write them (pcap, pcapng). All but zip may be compressed with gzip."`

	explorerFlags
}

// Run shows what is in the files until a signal arrives. A file that is of no known kind ends it
// before anything is shown; damage in a file ends only the reading of that file, and makes the exit
// code 1.
func (c *replayCmd) Run(ctx context.Context, std stdio) error {
	log := c.logger(std.err)
	var replays []*replay
	defer func() {
		for _, r := range replays {
			_ = r.file.Close()
		}
	}()
	var origins []archive.Origin
	for _, name := range c.Files {
		f, err := capture.Open(name)
		if err != nil {
			return usageError{err.Error()}
		}
		r := &replay{file: f, bodyLimit: int(c.BodyLimit), log: log, only: len(c.Files) == 1}
		r.set(source.Replaying, "")
		replays = append(replays, r)
		origins = append(origins, archive.Origin{Source: newName(filepath.Base(name), origins)})
	}
	archives, err := c.newArchives(origins)
	if err != nil {
		return err
	}
	var feeds []feed
	for i, r := range replays {
		r.archive = archives[i]
		feeds = append(feeds, feed{
			archive: archives[i],
			run:     r.run,
			status:  func() source.Status { return *r.status.Load() },
			only:    r.only,
		})
	}
	return c.show(ctx, std, log, feeds)
}

// newName is a name for addresses that no other source has.
func newName(from string, others []archive.Origin) string {
	name := sources.Name(from)
	for n := 2; slices.ContainsFunc(others, func(o archive.Origin) bool { return o.Source == name }); n++ {
		name = fmt.Sprintf("%s-%d", sources.Name(from), n)
	}
	return name
}

// replay reads a file into an archive.
type replay struct {
	file      *capture.File
	archive   *archive.Archive
	bodyLimit int // octets kept of a body
	log       *slog.Logger
	status    atomic.Pointer[source.Status]
	only      bool // there is no other file
}

// set replaces the status.
func (r *replay) set(state source.State, trouble string) {
	r.status.Store(&source.Status{
		State: state,
		Since: time.Now(),
		Mode:  source.Replay,
		Name:  filepath.Base(r.file.Name()),
		Error: trouble,
	})
}

// errNothing ends a replay that has nothing to show.
var errNothing = errors.New("there are no AMQP 0-9-1 messages in what could be read")

// run reads the file and then waits for the end of ctx. The error is what could not be read, or
// that nothing could.
func (r *replay) run(ctx context.Context) error {
	report, err := r.file.Read(ctx, capture.Config{Archive: r.archive, BodyLimit: r.bodyLimit})
	if ctx.Err() != nil {
		return nil
	}
	name := r.file.Name()
	r.log.Info("read "+name, "format", r.file.Format().String(), "found", report.String())
	for _, note := range report.Notes() {
		r.log.Warn(name + ": " + note)
	}
	if err != nil {
		err = fmt.Errorf("%w; %s before that %s shown", err,
			plural.Of(report.Messages, "message"), plural.Verb(report.Messages, "is", "are"))
		r.log.Error(err.Error())
	}
	if report.Messages == 0 {
		err = errors.Join(err, errNothing)
		if r.only {
			return err
		}
	}
	if evicted := r.archive.Stats().Evicted; evicted > 0 {
		r.log.Warn("the first messages made way for later ones; a larger --memory keeps them", "messages", evicted)
	}
	trouble := ""
	if err != nil {
		trouble = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	r.set(source.Replayed, trouble)
	<-ctx.Done()
	return err
}
