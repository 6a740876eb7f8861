package demoserver

import (
	"cmp"
	"slices"
	"strings"
)

// entry is one message in a queue, or delivered and not settled. Its place in the queue stays its
// own when it comes back.
type entry struct {
	place       uint64
	redelivered bool
	message     Message
}

// queue is guarded by Server.mu.
type queue struct {
	name      string
	place     uint64 // of the last message
	ready     []entry
	head      int // ready[:head] is gone
	unsettled int
	consumers []*consumer
	owner     *conn // of an exclusive queue
	deleted   bool
	// autoDelete removes the queue with its last consumer.
	autoDelete bool
}

func (q *queue) waiting() int { return len(q.ready) - q.head }

// size counts the messages ready and delivered: what a limit applies to.
func (q *queue) size() int { return q.waiting() + q.unsettled }

func (q *queue) push(m Message) {
	q.place++
	q.ready = append(q.ready, entry{place: q.place, redelivered: m.Redelivered, message: m})
}

func (q *queue) pop() entry {
	e := q.ready[q.head]
	q.ready[q.head] = entry{}
	q.head++
	if q.head == len(q.ready) {
		q.ready, q.head = q.ready[:0], 0
	} else if q.head > 1024 && q.head > len(q.ready)/2 {
		n := copy(q.ready, q.ready[q.head:])
		clear(q.ready[n:])
		q.ready, q.head = q.ready[:n], 0
	}
	q.unsettled++
	return e
}

// requeue puts entries back where they were, marked as redelivered.
func (q *queue) requeue(entries []entry) {
	q.unsettled -= len(entries)
	if q.deleted || len(entries) == 0 {
		return
	}
	for i := range entries {
		entries[i].redelivered = true
	}
	q.ready = append(slices.Clone(entries), q.ready[q.head:]...)
	q.head = 0
	slices.SortStableFunc(q.ready, func(a, b entry) int { return cmp.Compare(a.place, b.place) })
}

// binding routes from an exchange to a queue.
type binding struct{ exchange, key, queue string }

// matches reports whether a routing key fits the binding: exactly, or by a topic exchange's * (one
// word) and # (any number of words).
func (b binding) matches(kind, key string) bool {
	if kind == "fanout" || kind == "headers" {
		return true
	}
	return b.key == key || kind != "direct" && topicMatch(strings.Split(b.key, "."), strings.Split(key, "."))
}

func topicMatch(pattern, words []string) bool {
	for i, p := range pattern {
		if p == "#" {
			for skip := i; skip <= len(words); skip++ {
				if topicMatch(pattern[i+1:], words[skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(words) || p != "*" && p != words[i] {
			return false
		}
	}
	return len(pattern) == len(words)
}
