package broker

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/spool"
)

// spoolAhead bounds the memory of what has arrived and is not on disk yet. A single message may be
// larger.
const spoolAhead = 64 << 20

// spooled is a delivery on its way to disk.
type spooled struct {
	record      spool.Record
	tag         uint64
	redelivered bool
}

// spooler writes the deliveries of one connection to disk, on a goroutine of its own, as many with
// one transaction as have arrived meanwhile, and then into the archive. The reader never waits for
// it: the broker sends no more than the prefetch ahead of the acknowledgements, and when that is
// too much, what follows is not taken and given back.
type spooler struct {
	c        *Consumer
	sink     *sink
	redactor *archive.Redactor
	in       chan spooled
	waiting  atomic.Int64 // bytes of what was offered and is not on disk
	quit     chan struct{}
	once     sync.Once
	done     sync.WaitGroup

	record spool.Record // the delivery in progress
	writer *archive.Writer
}

func newSpooler(c *Consumer, s *sink) *spooler {
	sp := &spooler{
		c:        c,
		sink:     s,
		redactor: c.cfg.Archive.Redactor(),
		in:       make(chan spooled, c.prefetch()),
		quit:     make(chan struct{}),
		writer:   c.cfg.Archive.Writer(),
	}
	sp.done.Go(sp.run)
	return sp
}

func (sp *spooler) begin(d *wire.Delivery, now time.Time) { sp.record = spool.NewRecord(d, now) }

func (sp *spooler) body(chunk []byte) { sp.record = append(sp.record, chunk...) }

func (sp *spooler) abort() { sp.record = nil }

func (sp *spooler) end(tag uint64, redelivered bool) {
	sp.offer(spooled{sp.record, tag, redelivered})
	sp.record = nil
}

// offer takes a delivery without waiting.
func (sp *spooler) offer(x spooled) {
	size := int64(len(x.record))
	if ahead := sp.waiting.Add(size); ahead == size || ahead <= spoolAhead {
		select {
		case sp.in <- x:
			return
		default:
		}
	}
	sp.waiting.Add(-size)
	fewer := max(len(sp.in)/2, 1)
	sp.c.narrowed.Store(int32(fewer))
	sp.sink.refuse(&Error{
		Kind: KindSpoolBehind,
		Msg: fmt.Sprintf(
			"messages of %s arrive faster than the spool can be written: what was not written was given back, and from now on %d are under way at most",
			sp.c.target(),
			fewer,
		),
	})
}

// finish waits until everything offered is dealt with.
func (sp *spooler) finish() {
	sp.once.Do(func() { close(sp.quit) })
	sp.done.Wait()
}

func (sp *spooler) run() {
	var batch []spooled
	failed := false
	for {
		select {
		case x := <-sp.in:
			batch = sp.gather(append(batch[:0], x))
		case <-sp.quit:
			if batch = sp.gather(batch[:0]); len(batch) == 0 {
				return
			}
		}
		failed = failed || !sp.write(batch)
		clear(batch)
	}
}

// gather adds what has arrived meanwhile, up to what one transaction should hold.
func (sp *spooler) gather(batch []spooled) []spooled {
	size := 0
	for _, x := range batch {
		size += len(x.record)
	}
	for size < spool.BatchBytes {
		select {
		case x := <-sp.in:
			batch = append(batch, x)
			size += len(x.record)
		default:
			return batch
		}
	}
	return batch
}

// write stores what is new and reports whether all of it could be.
func (sp *spooler) write(batch []spooled) bool {
	s, m := sp.sink, sp.c.delivered
	type fresh struct {
		record       spool.Record
		print, index uint64
	}
	var news []fresh
	var records []spool.Record
	var size int64
	for i, x := range batch {
		size += int64(len(x.record))
		var print uint64
		if m.recent != nil {
			d := x.record.Delivery()
			m.print.begin(&d)
			m.print.body(x.record.Body())
			if print = m.print.sum(); m.recent.claim(print, x.redelivered, x.record.Received()) {
				s.counts.known.Add(1)
				continue
			}
		}
		record := x.record.Seal(sp.redactor, print)
		news, records = append(news, fresh{record, print, uint64(i)}), append(records, record)
	}
	n, err := 0, error(nil)
	if len(records) > 0 {
		n, err = sp.c.cfg.Spool.Append(records)
	}
	for _, f := range news[:n] {
		f.record.Store(sp.writer)
		s.counts.stored.Add(1)
		if m.recent != nil {
			m.recent.stored(f.print, batch[f.index].tag)
		}
	}
	sp.waiting.Add(-size)
	dealt := len(batch)
	if n < len(news) {
		dealt = int(news[n].index)
	}
	if dealt > 0 {
		s.dealt(batch[dealt-1].tag)
		s.rouse()
	}
	if err != nil {
		sp.sink.refuse(sp.c.spoolError(err))
	}
	return err == nil
}

// checkSpool reports whether what is delivered could be stored.
func (c *Consumer) checkSpool() *Error {
	if c.cfg.Spool == nil {
		return nil
	}
	if err := c.cfg.Spool.Check(); err != nil {
		return c.spoolError(err)
	}
	return nil
}

func (c *Consumer) spoolError(err error) *Error {
	const after = "nothing more is acknowledged, and what was not stored was given back"
	sp := c.cfg.Spool
	switch {
	case errors.Is(err, spool.ErrFull):
		return &Error{
			Kind: KindSpoolFull,
			Err:  err,
			Msg: fmt.Sprintf(
				"the spool in %s has reached its bound of %s: %s; start again with a larger --spool-size, another --spool folder, or --spool-drop-oldest",
				sp.Dir(),
				humanize.IBytes(uint64(sp.Stats().MaxBytes)),
				after,
			),
		}
	case isAny(err, diskFullErrors()):
		return &Error{
			Kind: KindSpool,
			Err:  err,
			Msg:  fmt.Sprintf("the disk that holds the spool in %s is full: %s", sp.Dir(), after),
		}
	}
	return &Error{
		Kind: KindSpool,
		Err:  err,
		Msg:  fmt.Sprintf("the spool in %s cannot be written: %v: %s", sp.Dir(), innermost(err), after),
	}
}

// restore puts what the spool holds into the archive and remembers what may come again.
func (c *Consumer) restore() error {
	if c.cfg.Spool == nil {
		return nil
	}
	loaded, err := c.cfg.Spool.Load(c.cfg.Archive)
	if err != nil {
		return err
	}
	if loaded.Stored+loaded.Damaged > 0 {
		c.cfg.Logger.Info(
			"loaded the spool",
			"folder",
			c.cfg.Spool.Dir(),
			"messages",
			loaded.Stored,
			"older, on disk only",
			loaded.Older,
			"damaged",
			loaded.Damaged,
		)
	}
	if c.delivered.recent == nil {
		return nil
	}
	prints, err := c.cfg.Spool.Recent(cap(c.delivered.recent.ring))
	for _, print := range prints {
		if print != 0 {
			c.delivered.recent.stored(print, 0)
		}
	}
	c.delivered.recent.disconnected(0)
	return err
}
