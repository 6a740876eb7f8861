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
}

// scan shows every message of the range that matches to one of the collectors,
// on all cores. It gives way to other goroutines every few microseconds, so that
// ingest keeps its share. Where ctx ends, what was collected so far stays valid.
func (q *Filter) scan(
	ctx context.Context,
	s archive.Snapshot,
	r PageRequest,
	newCollector func() collector,
) (Explain, error) {
	start := time.Now()
	work := slices.Collect(r.stretches(s))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(work)))
	explain := q.explain(s, r.matcher(q))

	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		c := newCollector()
		wg.Go(func() {
			w := scanWorker{Matcher: r.matcher(q), collector: c, ctx: ctx, snapshot: s, request: &r}
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
		})
	}
	wg.Wait()
	explain.Elapsed = time.Since(start)
	return explain, ctx.Err()
}

type scanWorker struct {
	*Matcher
	collector collector
	ctx       context.Context
	snapshot  archive.Snapshot
	request   *PageRequest
	damaged   uint64
	unchecked int
}

func (w *scanWorker) run(t *stretch) {
	if w.misses(w.snapshot, t) || w.wholeShapes(t) {
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
		}
		if !read {
			continue
		}
		if w.unchecked++; w.unchecked == betweenChecks {
			w.unchecked = 0
			if w.ctx.Err() != nil {
				return
			}
			runtime.Gosched()
		}
	}
}

// wholeShapes answers for a whole segment by the counts of its shapes, if all are
// decided.
func (w *scanWorker) wholeShapes(t *stretch) bool {
	if !w.shaped || t.timed || t.lo > 0 || t.hi < t.segment.Len() {
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
