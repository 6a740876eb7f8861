package web

import (
	"strconv"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

// appendPassage appends the member passage: how a message passed through a relay. Texts are as
// their senders wrote them.
func appendPassage(b []byte, p *source.Passage) []byte {
	if p == nil {
		return b
	}
	text := func(name string, s string) { b = typedjson.AppendOctets(typedjson.AppendMember(b, name), []byte(s)) }
	number := func(name string, n uint64) { b = strconv.AppendUint(typedjson.AppendMember(b, name), n, 10) }
	flag := func(name string, on bool) { b = strconv.AppendBool(typedjson.AppendMember(b, name), on) }
	b = append(b, `,"passage":{`...)
	text("method", string(p.Method))
	b = append(typedjson.AppendMember(b, "connection"), '{')
	number("id", p.Connection.ID)
	text("peer", p.Connection.Peer)
	text("user", p.Connection.User)
	text("mechanism", p.Connection.Mechanism)
	text("product", p.Connection.Product)
	text("version", p.Connection.Version)
	text("name", p.Connection.Name)
	text("vhost", p.Connection.VHost)
	b = append(b, '}')
	number("channel", uint64(p.Channel))
	text("queue", p.Queue)
	flag("mandatory", p.Mandatory)
	flag("immediate", p.Immediate)
	flag("confirms", p.Confirms)
	flag("no_ack", p.NoAck)
	text("outcome", string(p.Outcome))
	b = strconv.AppendFloat(typedjson.AppendMember(b, "after_ms"), float64(p.After.Microseconds())/1000, 'g', -1, 64)
	number("code", uint64(p.Code))
	text("text", p.Text)
	for _, other := range []struct {
		name string
		seqs []uint64
	}{{"published", p.Published}, {"delivered", p.Delivered}, {"returned", p.Returned}} {
		b = append(typedjson.AppendMember(b, other.name), '[')
		for _, seq := range other.seqs {
			b = strconv.AppendUint(typedjson.AppendNext(b), seq, 10)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}
