package relay

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// line is what the ledger has of a message.
type line struct {
	key        uint64 // that of every message with its message id or print
	peer       *peer
	subscribed *consumer // where a delivery comes from; nil: not known
	other      uint64    // of a publish its basic.return, of a basic.return its publish; 0: none
	reason     *reason   // of the outcome; nil: none was given
	after      time.Duration
	channel    uint16
	method     method
	flags      uint8
	outcome    outcome
}

// Flags of a line.
const (
	flagMandatory = 1 << iota
	flagImmediate
	flagConfirms
	flagNoAck
)

type (
	method  uint8
	outcome uint8
)

// The methods and outcomes of package source, in an octet.
const (
	publish method = iota
	deliver
	getOk
	returned
)

const (
	unasked outcome = iota
	awaitedOutcome
	confirmed
	refused
	sentBack
	acknowledged
	rejected
	requeued
	closed
	missed
)

func (m method) word() source.Method {
	return [...]source.Method{source.Publish, source.Deliver, source.GetOk, source.Return}[m]
}

func (o outcome) word() source.Outcome {
	return [...]source.Outcome{
		source.Unasked, source.Awaited, source.Confirmed, source.Refused, source.Returned,
		source.Acknowledged, source.Rejected, source.Requeued, source.Closed, source.Missed,
	}[o]
}

// reason is a reply code and text of the broker.
type reason struct {
	code uint16
	text string
}

const (
	lineBytes = 72
	pageLines = 1024
)

// ledger holds lines by the sequence number of their message. Its lines are consecutive: the relay
// is the archive's only writer.
type ledger struct {
	pages  [][]line      // all but the last full
	first  uint64        // sequence number of the first line; 0: there is none yet
	most   int           // pages
	oldest func() uint64 // the oldest message that is kept
}

func newLedger(size int64) ledger {
	return ledger{most: int(max(size/(lineBytes*pageLines), 2))}
}

// add appends the line of message seq, and drops pages that are too many or of messages that are
// gone.
func (l *ledger) add(seq uint64, n line) {
	if l.first == 0 {
		l.first = seq
	}
	last := len(l.pages) - 1
	if last < 0 || len(l.pages[last]) == pageLines {
		for len(l.pages) > 0 && (len(l.pages) >= l.most || l.first+pageLines <= l.oldest()) {
			l.pages[0] = nil
			l.pages = l.pages[1:]
			l.first += pageLines
		}
		l.pages = append(l.pages, make([]line, 0, pageLines))
		last = len(l.pages) - 1
	}
	l.pages[last] = append(l.pages[last], n)
}

// line is that of message seq, nil where there is none.
func (l *ledger) line(seq uint64) *line {
	if l.first == 0 || seq < l.first {
		return nil
	}
	at := seq - l.first
	page := at / pageLines
	if page >= uint64(len(l.pages)) || at%pageLines >= uint64(len(l.pages[page])) {
		return nil
	}
	return &l.pages[page][at%pageLines]
}

// alike calls each with the messages of a key, in order.
func (l *ledger) alike(key uint64, each func(seq uint64, n *line)) {
	for i, page := range l.pages {
		for j := range page {
			if page[j].key == key {
				each(l.first+uint64(i*pageLines+j), &page[j])
			}
		}
	}
}
