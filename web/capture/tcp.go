package capture

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"
)

const (
	// maxFlows is how many directions of connections are followed at once; past it the half that
	// has been silent for longest is given up.
	maxFlows = 1 << 16
	// maxPending octets or segments of a flow wait for what is missing before it is taken for lost.
	maxPendingBytes = 4 << 20
	maxPending      = 1024
	// maxJump is how far a sequence number may lie from what is expected, in octets. Nothing is
	// reordered or sent again over such a distance, so what lies further away belongs to another
	// connection between the same ports, or follows on a large loss.
	maxJump = 16 << 20
)

// flowKey names one direction of a TCP connection.
type flowKey struct{ src, dst netip.AddrPort }

// segment is what one packet has of a flow.
type segment struct {
	seq     uint32 // of its first octet
	syn     bool
	data    []byte
	clipped int // octets after data that are not in the capture
	at      time.Time
}

// flow puts one direction of a TCP connection in order. FIN and RST are not needed for that: a
// stream ends with the file, or where a new connection uses the same ports.
type flow struct {
	stream  stream
	first   uint32 // sequence number of the first octet, where the SYN was seen
	synced  bool   // it was
	next    uint32 // sequence number expected
	pending []segment
	bytes   int    // in pending
	touched uint64 // number of the last packet
}

// flows puts the packets of one file in order.
type flows struct {
	streams
	byKey   map[flowKey]*flow
	packets uint64
}

func newFlows(s streams) *flows { return &flows{streams: s, byKey: make(map[flowKey]*flow)} }

// packet takes the next packet of the file. seg.data is not kept.
func (a *flows) packet(k flowKey, seg segment) {
	a.packets++
	f := a.byKey[k]
	if seg.syn {
		seg.seq++ // the SYN has a sequence number of its own
		if f == nil || !f.synced || f.first != seg.seq {
			if f != nil {
				a.end(f)
			}
			f = a.begin(k, seg.seq)
			f.first, f.synced = seg.seq, true
		}
	}
	if len(seg.data) == 0 && seg.clipped == 0 {
		return
	}
	if f == nil {
		f = a.begin(k, seg.seq)
	}
	f.touched = a.packets
	ahead := int32(seg.seq - f.next)
	if ahead > maxJump || ahead < -maxJump {
		a.flush(f)
		f.stream.gap()
		f.next, ahead = seg.seq, 0
	}
	if ahead > 0 {
		a.hold(f, seg)
		return
	}
	f.take(seg)
	a.drain(f)
}

func (a *flows) begin(k flowKey, next uint32) *flow {
	if len(a.byKey) >= maxFlows && a.byKey[k] == nil {
		a.evict()
	}
	f := &flow{stream: newStream(&a.streams), next: next, touched: a.packets}
	a.byKey[k] = f
	return f
}

// evict gives up half of the flows.
func (a *flows) evict() {
	keys := a.bySilence()
	a.endAll(keys[:(len(keys)+1)/2])
}

// finish ends all flows.
func (a *flows) finish() { a.endAll(a.bySilence()) }

// bySilence returns the flows' keys, that of the longest silent one first.
func (a *flows) bySilence() []flowKey {
	return slices.SortedFunc(maps.Keys(a.byKey), func(k, l flowKey) int {
		return cmp.Compare(a.byKey[k].touched, a.byKey[l].touched)
	})
}

func (a *flows) endAll(keys []flowKey) {
	for _, k := range keys {
		a.end(a.byKey[k])
		delete(a.byKey, k)
	}
}

func (a *flows) end(f *flow) {
	a.flush(f)
	f.stream.end()
}

// hold keeps a segment until what comes before it is there, or too much waits.
func (a *flows) hold(f *flow, seg segment) {
	for len(f.pending) > 0 && (len(f.pending) >= maxPending || f.bytes+len(seg.data) > maxPendingBytes ||
		len(seg.data) > a.most-a.kept) {
		a.skip(f)
	}
	if int32(seg.seq-f.next) <= 0 {
		f.take(seg)
		a.drain(f)
		return
	}
	if !a.reserve(len(seg.data)) {
		f.stream.gap()
		f.next = seg.seq
		f.take(seg)
		return
	}
	seg.data = slices.Clone(seg.data)
	f.bytes += len(seg.data)
	at, _ := slices.BinarySearchFunc(f.pending, seg, func(p, seg segment) int { return int(int32(p.seq - seg.seq)) })
	f.pending = slices.Insert(f.pending, at, seg)
}

// drain takes the pending segments that follow on what was taken.
func (a *flows) drain(f *flow) {
	for len(f.pending) > 0 && int32(f.pending[0].seq-f.next) <= 0 {
		a.takePending(f)
	}
}

// skip gives up waiting for what comes before the first pending segment.
func (a *flows) skip(f *flow) {
	f.stream.gap()
	f.next = f.pending[0].seq
	a.drain(f)
}

func (a *flows) flush(f *flow) {
	for len(f.pending) > 0 {
		a.skip(f)
	}
}

func (a *flows) takePending(f *flow) {
	seg := f.pending[0]
	f.pending[0] = segment{}
	f.pending = f.pending[1:]
	f.bytes -= len(seg.data)
	a.kept -= len(seg.data)
	f.take(seg)
}

// take gives the stream what is new of a segment that does not begin after f.next.
func (f *flow) take(seg segment) {
	again := int(f.next - seg.seq) // octets that were there before
	if again >= len(seg.data)+seg.clipped {
		return
	}
	data := seg.data[min(again, len(seg.data)):]
	clipped := seg.clipped - max(0, again-len(seg.data))
	f.next = seg.seq + uint32(len(seg.data)+seg.clipped)
	if len(data) > 0 {
		f.stream.data(data, seg.at)
	}
	if clipped > 0 {
		f.stream.gap()
	}
}
