package query

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// collector is one worker's share of what a scan collects.
type collector interface {
	// message is told of one that matches.
	message(m archive.Message)
	// shape is told of n matching messages of a shape at once; false asks for
	// each of them instead.
	shape(id uint16, n uint64) bool
	// segment is told of the messages of the segment of t that match: those whose truths have
	// isYes.
	segment(t *stretch, all []truths)
}

// eachYes shows a collector each of the messages that [collector.segment] tells of.
func eachYes(c collector, t *stretch, all []truths) {
	for i, of := range all {
		if of&isYes != 0 {
			c.message(t.segment.At(i))
		}
	}
}

// scan shows every message of the range that matches to one of the collectors,
// on all cores. It gives way to other goroutines every few microseconds, so that
// ingest keeps its share. Where ctx ends, what was collected so far stays valid.
func (q *Filter) scan(
	ctx context.Context,
	s archive.Snapshot,
	r PageRequest,
	newCollector func(archive.Columns) collector,
) (Explain, error) {
	start := time.Now()
	work := slices.Collect(r.stretches(s))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(work)))
	explain := q.explain(s, r.matcher(q))

	columns := s.Columns()
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		c := newCollector(columns)
		wg.Go(func() {
			w := scanWorker{Matcher: r.matcher(q), collector: c, ctx: ctx, snapshot: s, request: &r}
			w.answers = r.answers(w.Matcher, s, columns)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(work) {
					break
				}
				w.run(&work[i])
			}
			mu.Lock()
			defer mu.Unlock()
			explain.Scanned += w.scanned
			explain.Skipped += w.skipped
			explain.Damaged += w.damaged
			explain.BytesRead += w.scratch.bytesRead
			w.answers.explain(&explain)
		})
	}
	wg.Wait()
	explain.Elapsed = time.Since(start)
	return explain, ctx.Err()
}

type scanWorker struct {
	*Matcher
	answers   *answers
	collector collector
	ctx       context.Context
	snapshot  archive.Snapshot
	request   *PageRequest
	damaged   uint64
	unchecked int
}

func (w *scanWorker) run(t *stretch) {
	if w.misses(w.snapshot, t) || w.wholeShapes(t) || w.byColumns(t) {
		return
	}
	warms := w.warms(w.snapshot, t)
	for i := t.lo; i < t.hi; i++ {
		if warms && (i-t.lo)%archive.WarmMessages == 0 {
			w.warm(w.snapshot, t, i, t.hi)
		}
		truth, read := w.at(w.snapshot, t, i, w.request)
		switch truth.verdict() {
		case Yes:
			m := t.segment.At(i)
			w.collector.message(m)
			read = true
		case Damaged:
			w.damaged++
			if w.request.IncludeDamaged {
				w.collector.message(t.segment.At(i))
			}
		}
		if read && w.stops() {
			return
		}
	}
}

// stops is called after each message that was read. It gives way to others, and reports whether the
// question is over.
func (w *scanWorker) stops() bool {
	if w.unchecked++; w.unchecked < betweenChecks {
		return false
	}
	w.unchecked = 0
	runtime.Gosched()
	return w.ctx.Err() != nil
}

// byColumns answers for a stretch by columns, as far as they can, and reads what they leave open.
func (w *scanWorker) byColumns(t *stretch) bool {
	some, ok := w.answers.look(t)
	if !ok {
		return false
	}
	if !some {
		w.answers.answered += t.len()
		return true
	}
	if c, ok := w.collector.(*counter); ok && !t.timed && t.len() == uint64(t.segment.Len()) {
		if n, damaged, ok := w.answers.count(); ok {
			c.n += n
			w.damaged += damaged
			w.answers.answered += t.len()
			return true
		}
	}
	all := w.answers.all(t)
	fillWith(all[:t.lo], isNo)
	fillWith(all[t.hi:], isNo)
	if w.answers.union != isYes || t.timed {
		w.readOpen(t, all)
	} else {
		w.answers.answered += t.len()
	}
	w.collector.segment(t, all)
	return true
}

// readOpen reads the messages that columns leave open, and in a range of time those that match.
// Where the question is over before, the rest is no.
func (w *scanWorker) readOpen(t *stretch, all []truths) {
	read := isOpen
	if t.timed {
		read |= isYes
	}
	unread := 0
	for i, truth := range all {
		switch {
		case truth&isYes == 0:
		case truth&read != 0:
			unread++
		case truth != isYes:
			all[i] = w.undecided()
		}
	}
	w.answers.answered += t.len() - uint64(unread) // #nosec G115 -- at most as many
	if unread == 0 {
		return
	}
	warms, over := unread > len(all)/8, false
	for i := t.lo; i < t.hi; i++ {
		if warms && (i-t.lo)%archive.WarmMessages == 0 {
			w.warm(w.snapshot, t, i, t.hi)
		}
		if all[i]&isYes == 0 || all[i]&read == 0 {
			continue
		}
		truth := isNo
		if !over {
			truth = w.readOne(t, i, all[i])
		}
		if truth.verdict() == Damaged {
			truth = w.undecided()
		}
		all[i] = truth
		over = over || w.stops()
	}
}

// undecided counts a message that damage leaves open, and says whether it is shown.
func (w *scanWorker) undecided() truths {
	w.damaged++
	return truthOf(w.request.IncludeDamaged)
}

// readOne decides message i of t, of which columns have told these truths.
func (w *scanWorker) readOne(t *stretch, i int, told truths) truths {
	if told&isOpen != 0 {
		truth, _ := w.at(w.snapshot, t, i, w.request)
		return truth
	}
	w.skipped++
	m := &w.scratch.message
	if t.segment.Load(i, m); !w.request.receivedIn(m.Received()) {
		return isNo
	}
	return told
}

// wholeShapes answers for a whole segment by the counts of its shapes, if all are
// decided.
func (w *scanWorker) wholeShapes(t *stretch) bool {
	if !w.shaped || t.timed || w.request.IncludeDamaged || t.lo > 0 || t.hi < t.segment.Len() {
		return false
	}
	counts := t.shapeCounts()
	for _, c := range counts {
		d := w.shape(w.snapshot, c.ID)
		if !d.decided || d.truth == isYes && !w.collector.shape(c.ID, 0) {
			return false
		}
	}
	for _, c := range counts {
		n := uint64(c.N)
		w.skipped += n
		switch w.shape(w.snapshot, c.ID).truth.verdict() {
		case Yes:
			w.collector.shape(c.ID, n)
		case Damaged:
			w.damaged += n
		}
	}
	return true
}
