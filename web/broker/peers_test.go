package broker_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

// BenchmarkPeers reads the same tables in every way, in turn, and prints the best round of each
// with the ratios between them:
//
//	go test -run '^$' -bench Peers -benchtime 20x ./web/broker
//
// The machine's speed cancels out of the ratios (…-x: how many times faster than amqp091-go's
// decoder).
func BenchmarkPeers(b *testing.B) {
	for _, class := range append(specimens.Classes(), specimens.Class{
		Name: "mix",
		Draw: specimens.Mix,
		Last: "tenant",
	}) {
		b.Run(class.Name, func(b *testing.B) {
			tables := draw(class, 4<<20)
			size := 0
			for _, t := range tables {
				size += len(t)
			}
			peer := newPeer(b, tables)
			views := make([]fieldtable.Table, len(tables))
			for i, t := range tables {
				views[i] = fieldtable.View(t, fieldtable.RabbitMQ())
			}
			keys := []string{class.Last, "x-not-there", "x-nor-this"}
			contenders := []struct {
				name string
				run  func()
				best time.Duration
			}{
				{name: "amqp091-go", run: peer.decode},
				{name: "to-map", run: func() { each(tables, decodeToMap) }},
				{name: "every-byte", run: func() { each(tables, sum) }},
				{name: "hard-coded", run: func() { each(tables, hardCodedSkip) }},
				{name: "lookup", run: func() {
					for i := range views {
						if _, err := views[i].Lookup("x-not-there"); err != fieldtable.ErrAbsent {
							b.Fatal(err)
						}
					}
				}},
				{name: "view+lookup", run: func() {
					for _, t := range tables {
						if _, err := fieldtable.View(t, fieldtable.RabbitMQ()).Lookup("x-not-there"); err != fieldtable.ErrAbsent {
							b.Fatal(err)
						}
					}
				}},
				{name: "hit", run: func() {
					for i := range views {
						views[i].Get(class.Last)
					}
				}},
				{name: "project3", run: func() {
					var dst [3]fieldtable.Value
					for i := range views {
						if _, err := views[i].Project(keys, dst[:]); err != nil {
							b.Fatal(err)
						}
					}
				}},
				{name: "valid", run: func() {
					for i := range views {
						if err := views[i].Valid(); err != nil {
							b.Fatal(err)
						}
					}
				}},
				{name: "all", run: func() {
					for i := range views {
						for f, err := range views[i].All() {
							if err != nil || f.End == 0 {
								b.Fatal(err)
							}
						}
					}
				}},
			}
			for i := range contenders {
				contenders[i].best = math.MaxInt64
			}
			for b.Loop() {
				for i := range contenders {
					c := &contenders[i]
					start := time.Now()
					c.run()
					c.best = min(c.best, time.Since(start))
				}
			}
			ns := map[string]float64{}
			for _, c := range contenders {
				ns[c.name] = float64(c.best) / float64(len(tables))
				b.ReportMetric(ns[c.name], "ns/"+c.name)
			}
			b.ReportMetric(float64(size)/float64(len(tables)), "B/table")
			b.ReportMetric(ns["amqp091-go"]/ns["lookup"], "lookup-x")
			b.ReportMetric(ns["amqp091-go"]/ns["valid"], "valid-x")
			b.ReportMetric(ns["amqp091-go"]/ns["all"], "all-x")
			b.ReportMetric(ns["project3"]/ns["lookup"], "project3/lookup")
			b.ReportMetric(ns["lookup"]/ns["hard-coded"], "lookup/hard-coded")
			b.ReportMetric(float64(size)/float64(len(tables))/ns["lookup"], "GB/s-lookup")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// draw returns tables of a class that lie one after the other in memory, as they do in an archive.
func draw(class specimens.Class, size int) [][]byte {
	r := rand.New(rand.NewSource(1))
	var tables [][]byte
	for len(tables) == 0 || size > 0 {
		t := class.Draw(r)
		size -= len(t)
		tables = append(tables, t)
	}
	all := bytes.Join(tables, nil)
	for i, t := range tables {
		tables[i], all = all[:len(t):len(t)], all[len(t):]
	}
	return tables
}

var sink uint64

func each(tables [][]byte, read func([]byte) uint64) {
	for _, t := range tables {
		sink += read(t)
	}
}

// sum reads every octet once, eight at a time.
func sum(t []byte) (n uint64) {
	for ; len(t) >= 8; t = t[8:] {
		n += binary.LittleEndian.Uint64(t)
	}
	for _, c := range t {
		n += uint64(c)
	}
	return n
}

// hardCodedSkip looks for a key that is not there, with RabbitMQ's tags written into the code.
func hardCodedSkip(t []byte) (fields uint64) {
	const key = "x-not-there"
	for p := uint64(4); p < uint64(len(t)); fields++ {
		tagAt := p + 1 + uint64(t[p])
		if tagAt >= uint64(len(t)) {
			return 0
		}
		if string(t[p+1:tagAt]) == key {
			return fields
		}
		p = tagAt + 1
		switch t[tagAt] {
		case 'S', 'x', 'F', 'A':
			if p+4 > uint64(len(t)) {
				return 0
			}
			p += 4 + uint64(binary.BigEndian.Uint32(t[p:]))
		case 'I', 'i', 'f':
			p += 4
		case 'l', 'L', 'd', 'T':
			p += 8
		case 't', 'b', 'B':
			p++
		case 's', 'u':
			p += 2
		case 'D':
			p += 5
		case 'V':
		default:
			return 0
		}
		if p > uint64(len(t)) {
			return 0
		}
	}
	return fields
}

// decodeToMap is the decoder one would write from a slice: everything, eagerly, without regard for
// damage.
func decodeToMap(t []byte) uint64 { return uint64(len(mapOf(t[4:]))) }

func mapOf(b []byte) map[string]any {
	m := make(map[string]any)
	for len(b) > 0 {
		n := 1 + int(b[0])
		key := string(b[1:n])
		m[key], b = anyOf(b[n:])
	}
	return m
}

func anyOf(b []byte) (v any, rest []byte) {
	tag, b := b[0], b[1:]
	switch tag {
	case 'V':
		return nil, b
	case 't':
		return b[0] != 0, b[1:]
	case 'I':
		return int32(binary.BigEndian.Uint32(b)), b[4:]
	case 'l':
		return int64(binary.BigEndian.Uint64(b)), b[8:]
	case 'T':
		return time.Unix(int64(binary.BigEndian.Uint64(b)), 0), b[8:]
	case 'd':
		return math.Float64frombits(binary.BigEndian.Uint64(b)), b[8:]
	}
	n := 4 + int(binary.BigEndian.Uint32(b))
	payload, rest := b[4:n], b[n:]
	switch tag {
	case 'F':
		return mapOf(payload), rest
	case 'A':
		var list []any
		for len(payload) > 0 {
			v, payload = anyOf(payload)
			list = append(list, v)
		}
		return list, rest
	}
	return string(payload), rest
}

// peer is amqp091-go's decoder. It is not exported, so it is fed content-header frames through a
// connection in memory. Each frame holds many tables as the fields of one, so that what a frame
// costs by itself hardly counts.
type peer struct {
	server  *scriptedServer
	blocked chan amqp.Blocking
	frames  []byte
}

const peerTablesPerFrame = 64

func newPeer(b *testing.B, tables [][]byte) *peer {
	server, conn := connect(b)
	b.Cleanup(func() { server.Close() })
	p := &peer{server: server, blocked: conn.NotifyBlocked(make(chan amqp.Blocking, 1))}
	for len(tables) > 0 {
		n := min(len(tables), peerTablesPerFrame)
		p.frames = append(p.frames, headerFrame(encode.Table(func(e *encode.Encoder) {
			for i, t := range tables[:n] {
				e.Value(fmt.Sprint(i), 'F', t)
			}
		}))...)
		tables = tables[n:]
	}
	// connection.blocked tells that all before it is decoded
	p.frames = append(p.frames, method(0, 10, 60, []byte{0})...)
	return p
}

func (p *peer) decode() {
	p.server.out <- p.frames
	if _, ok := <-p.blocked; !ok {
		panic("amqp091-go closed the connection")
	}
}
