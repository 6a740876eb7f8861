package relay

import (
	"cmp"
	"slices"
	"time"
)

// maxAwaited bounds the messages of a channel whose outcome is waited for.
const maxAwaited = 1 << 16

// awaited is a message whose outcome is not there yet.
type awaited struct {
	tag uint64 // publish sequence number, or delivery tag
	seq uint64 // in the archive
	key uint64
	at  time.Time
}

// window is what a channel waits for, by ascending tag.
type window struct{ items []awaited }

// add appends what has a higher tag than all before, and reports whether there was room.
func (w *window) add(a awaited) bool {
	if len(w.items) >= maxAwaited || len(w.items) > 0 && w.items[len(w.items)-1].tag >= a.tag {
		return false
	}
	w.items = append(w.items, a)
	return true
}

// take removes what a tag settles: with multiple all up to it, and all there is for tag 0 (AMQP
// 0-9-1 specification, basic.ack).
func (w *window) take(tag uint64, multiple bool, each func(awaited)) {
	byTag := func(a awaited, tag uint64) int { return cmp.Compare(a.tag, tag) }
	at, found := slices.BinarySearchFunc(w.items, tag, byTag)
	from, to := at, at
	if found {
		to++
	}
	if multiple {
		from = 0
		if tag == 0 {
			to = len(w.items)
		}
	}
	for _, a := range w.items[from:to] {
		each(a)
	}
	if from == 0 {
		w.items = w.items[to:] // append makes a new array once the end of this one is reached
		return
	}
	w.items = slices.Delete(w.items, from, to)
}
