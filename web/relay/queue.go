package relay

import (
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of buffers. Connections that are idle or slow have a small one.
const (
	smallBuffer = 4 << 10
	largeBuffer = 64 << 10
)

// buffer is octets that are being forwarded and read. It goes back to its pool when both are done.
type buffer struct {
	b     []byte
	users atomic.Int32
	pool  *sync.Pool
	// wipe says that it holds octets of a connection's opening.
	wipe bool
}

// release is called once by each user.
func (b *buffer) release() {
	if b.users.Add(-1) > 0 {
		return
	}
	if b.wipe {
		clear(b.b)
		b.wipe = false
	}
	b.pool.Put(b)
}

// chunk is what was read from a connection at once.
type chunk struct {
	half *half
	buf  *buffer // nil: the connection has ended
	n    int     // octets of buf
	lost int     // octets before these that were forwarded and not queued
	at   time.Time
}

// maxChunks bounds the chunks that wait, however small they are.
const maxChunks = 1 << 13

// queue holds what waits to be read.
type queue struct {
	chunks       chan chunk
	most         int64        // octets of the buffers that may wait
	waiting      atomic.Int64 // of these
	small, large *sync.Pool

	overlooked atomic.Uint64 // octets that did not fit
	gaps       atomic.Uint64 // how often some did not
}

func newQueue(most int64) queue {
	pool := func(size int) *sync.Pool {
		p := new(sync.Pool)
		p.New = func() any { return &buffer{b: make([]byte, size), pool: p} }
		return p
	}
	return queue{chunks: make(chan chunk, maxChunks), most: most, small: pool(smallBuffer), large: pool(largeBuffer)}
}

// share is what one direction of a connection may take of the queue.
const share = 4

// buffer returns a buffer with one user.
func (q *queue) buffer(large bool) *buffer {
	pool := q.small
	if large {
		pool = q.large
	}
	b := pool.Get().(*buffer)
	b.users.Store(1)
	return b
}

// offer queues the first n octets of buf where there is room, and reports whether there was.
func (q *queue) offer(h *half, buf *buffer, n int, at time.Time) bool {
	size := int64(len(buf.b))
	if q.reserve(h, size) {
		buf.users.Add(1)
		select {
		case q.chunks <- chunk{h, buf, n, h.lost, at}:
			h.lost = 0
			return true
		default:
			buf.users.Add(-1)
			q.free(h, size)
		}
	}
	if h.lost == 0 {
		q.gaps.Add(1)
	}
	h.lost += n
	q.overlooked.Add(uint64(n))
	return false
}

func (q *queue) reserve(h *half, size int64) bool {
	all, own := q.waiting.Add(size), h.waiting.Add(size)
	if all <= q.most && own <= q.most/share {
		return true
	}
	q.free(h, size)
	return false
}

func (q *queue) free(h *half, size int64) {
	q.waiting.Add(-size)
	h.waiting.Add(-size)
}

// done is called when a chunk has been read.
func (q *queue) done(c chunk) {
	if c.buf == nil {
		return
	}
	q.free(c.half, int64(len(c.buf.b)))
	c.buf.release()
}
