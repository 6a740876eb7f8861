package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// same compares a response's body with the literal JSON wanted, white space aside.
func (r *response) same(want string) {
	r.t.Helper()
	r.want(http.StatusOK).wantHeader("Content-Type", "application/json")
	if !json.Valid(r.body) {
		r.t.Fatalf("not JSON: %s", r.body)
	}
	var b strings.Builder
	for line := range strings.Lines(want) {
		b.WriteString(strings.TrimSpace(line))
	}
	if got := strings.TrimSpace(string(r.body)); got != b.String() {
		r.t.Errorf("got  %s\nwant %s", got, b.String())
	}
}

// contract holds one message of each kind that the JSON tells apart.
func contract(t *testing.T) *fixture {
	f := newFixture(t, func(_ *Config, a *archiveConfig) { a.BodyLimit = 4 })
	f.add(message{key: "none"})
	f.add(message{exchange: "shop", key: "a.b", redelivered: true, consumer: "ctag", body: []byte("longer"),
		headers: encode.Table(func(e *encode.Encoder) {
			e.Str("tenant", "acme")
			e.Int32("retries", 3)
			e.Int64("big", 9007199254740993)
			e.Str("tenant", "again")
			e.Array("list", func(e *encode.Encoder) { e.Bool("", true) })
		}),
		props: []wire.Property{
			{Name: "content_type", Raw: []byte("text/plain")},
			{Name: "delivery_mode", Raw: []byte{2}},
			{Name: "priority", Raw: []byte{9}},
			{Name: "correlation_id", Raw: []byte{0xff}},
			{Name: "timestamp", Raw: []byte{0, 0, 0, 0, 0x65, 0x53, 0xf1, 0x00}},
		}})
	f.add(message{exchange: "e\xff", key: "<b>&\u2028", headers: encode.Table(func(e *encode.Encoder) {
		e.Str("ok", "v")
		e.Value("bad", 'Z', []byte{1, 2})
	})})
	return f
}

func TestAPIMessages(t *testing.T) {
	f := contract(t)
	f.get("/api/messages?limit=2").same(`{"messages":[
		{"seq":3,"received":"2026-03-01T12:00:02.000000000Z","exchange":{"hex":"65ff"},"routing_key":"\u003cb\u003e\u0026\u2028","redelivered":false,
			"header_count":1,"header_bytes":20,"body_bytes":0,"body_kept":0,"damaged":true,"duplicates":false,"columns":{}},
		{"seq":2,"received":"2026-03-01T12:00:01.000000000Z","exchange":"shop","routing_key":"a.b","redelivered":true,
			"header_count":5,"header_bytes":75,"body_bytes":6,"body_kept":4,"damaged":false,"duplicates":true,"columns":{}}
		],"matched":2,"scanned":2,"damaged":0,"next":2}`)
	f.get("/api/messages?before=2").same(`{"messages":[
		{"seq":1,"received":"2026-03-01T12:00:00.000000000Z","exchange":"","routing_key":"none","redelivered":false,
			"header_count":0,"header_bytes":0,"body_bytes":0,"body_kept":0,"damaged":false,"duplicates":false,"columns":{}}
		],"matched":1,"scanned":1,"damaged":0,"next":null}`)
}

func TestAPIMessagesFilterAndColumns(t *testing.T) {
	f := contract(t)
	f.get("/api/messages?q=tenant%3Dacme&cols=retries,big,list[0],absent&limit=1").same(`{"messages":[
		{"seq":2,"received":"2026-03-01T12:00:01.000000000Z","exchange":"shop","routing_key":"a.b","redelivered":true,
			"header_count":5,"header_bytes":75,"body_bytes":6,"body_kept":4,"damaged":false,"duplicates":true,"columns":{
			"retries":{"tag":"I","type":"int32","value":3,"offset":28,"end":33},
			"big":{"tag":"l","type":"int64","value":"9007199254740993","offset":37,"end":46},
			"list[0]":{"tag":"t","type":"bool","value":true,"offset":73,"end":75},
			"absent":null}}
		],"matched":1,"scanned":2,"damaged":1,"next":2}`)
}

// after gives the messages next to the cursor, newest first like every page,
// and next goes on in the same direction.
func TestAPIMessagesAfter(t *testing.T) {
	f := newFixture(t)
	f.fill(9)
	got := f.get("/api/messages?after=2&limit=3").json()
	if s := jsonSeqs(got); s != "5 4 3" || got["next"] != json.Number("5") {
		t.Errorf("after 2: %s, next %v", s, got["next"])
	}
	if s := jsonSeqs(f.get("/api/messages?after=2&before=5").json()); s != "4 3" {
		t.Errorf("between: %s", s)
	}
	if got := f.get("/api/messages?after=9").json(); jsonSeqs(got) != "" || got["next"] != nil {
		t.Errorf("after the last: %v", got)
	}
	if s := jsonSeqs(f.get("/api/messages?limit=0").json()); s != "9 8 7 6 5 4 3 2 1" {
		t.Errorf("limit 0: %s", s)
	}
}

func TestAPILimits(t *testing.T) {
	f := newFixture(t)
	f.fill(1100)
	for query, want := range map[string]int{"": 50, "limit=1": 1, "limit=1000": 1000, "limit=1000000": 1000} {
		t.Run(query, func(t *testing.T) {
			f := f.in(t)
			if got := f.get("/api/messages?" + query).json()["messages"].([]any); len(got) != want {
				t.Errorf("%q: %d messages, want %d", query, len(got), want)
			}
		})
	}
}

func jsonSeqs(v map[string]any) string {
	var s []string
	for _, m := range v["messages"].([]any) {
		s = append(s, m.(map[string]any)["seq"].(json.Number).String())
	}
	return strings.Join(s, " ")
}

func TestAPIMessage(t *testing.T) {
	f := contract(t)
	f.get("/api/messages/2").
		same(`{"seq":2,"received":"2026-03-01T12:00:01.000000000Z","delivery_tag":2,"redelivered":true,"consumer_tag":"ctag",
		"exchange":"shop","routing_key":"a.b","properties":{"content_type":"text/plain","delivery_mode":2,"priority":9,"correlation_id":{"hex":"ff"},
			"timestamp":{"unit":"s","value":"1700000000","time":"2023-11-14T22:13:20Z"}},"properties_error":null,"dialect":"lenient","headers":{"fields":[
			{"key":"tenant","tag":"S","type":"longstr","value":"acme","offset":4,"end":20},
			{"key":"retries","tag":"I","type":"int32","value":3,"offset":20,"end":33},
			{"key":"big","tag":"l","type":"int64","value":"9007199254740993","offset":33,"end":46},
			{"key":"tenant","tag":"S","type":"longstr","value":"again","offset":46,"end":63},
			{"key":"list","tag":"A","type":"array","value":{"items":[{"tag":"t","type":"bool","value":true,"offset":73,"end":75}],"error":null},"offset":63,"end":75}
		],"error":null},"header_bytes":75,"content_header_bytes":112,"body_bytes":6,"body_kept":4,"damaged":false,"duplicates":true}`)
	f.get("/api/messages/1").
		same(`{"seq":1,"received":"2026-03-01T12:00:00.000000000Z","delivery_tag":1,"redelivered":false,"consumer_tag":"",
		"exchange":"","routing_key":"none","properties":{},"properties_error":null,"dialect":"lenient","headers":null,
		"header_bytes":0,"content_header_bytes":14,"body_bytes":0,"body_kept":0,"damaged":false,"duplicates":false}`)
	f.get("/api/messages/3").wantText(`"error":{"offset":`, `"reason":"unknown_tag","path":"bad","tag":"Z"}`)
}

func TestAPIMessageDamagedContentHeader(t *testing.T) {
	f := newFixture(t)
	f.add(message{payload: []byte{0, 60, 0, 0}})
	f.get("/api/messages/1").
		wantText(`"properties":{},"properties_error":"content header at offset 4 (0x4): `, `"headers":null`)
	f.get("/m/1").want(http.StatusOK)
	f.get("/").want(http.StatusOK)
}

func TestAPIDialect(t *testing.T) {
	f := newFixture(t)
	f.add(message{headers: encode.Table(func(e *encode.Encoder) { e.Value("s", 's', []byte{1, 'A'}) })})
	f.get("/api/messages/1").wantText(`"type":"int16","value":321,`)
	f.get("/api/messages/1?dialect=spec-0-9-1").wantText(`"dialect":"spec-0-9-1"`, `"type":"shortstr","value":"A",`)
	f.get("/api/messages?cols=s&dialect=spec-0-9-1").wantText(`"s":{"tag":"s","type":"shortstr","value":"A"`)
}

func TestAPIKeys(t *testing.T) {
	f := newFixture(t)
	f.get("/api/keys").same(`{"keys":[]}`)
	f.add(message{headers: table("b", "1", "a", "2")})
	f.add(message{headers: table("b", "1")})
	f.add(message{headers: encode.Table(func(e *encode.Encoder) {
		e.Int32("b", 1)
		e.Str("k\xff", "")
	})})
	f.get("/api/keys").
		same(`{"keys":[{"key":"b","count":3,"tags":{"I":1,"S":2}},{"key":"a","count":1,"tags":{"S":1}},{"key":null,"key_hex":"6bff","count":1,"tags":{"S":1}}]}`)
}

func TestAPIStatus(t *testing.T) {
	f := newFixture(t)
	f.fill(2)
	f.get("/m/1").want(http.StatusOK)
	got := f.get("/api/status").json()
	for name, want := range map[string]any{
		"mode": "peek", "held": json.Number("3"), "stored": json.Number("2"), "evicted": json.Number("0"),
		"rate": json.Number("0"), "full_decodes": json.Number("1"),
	} {
		t.Run(name, func(t *testing.T) {
			if got[name] != want {
				t.Errorf("%s: %v, want %v", name, got[name], want)
			}
		})
	}
	if n, err := got["bytes"].(json.Number).Int64(); err != nil || n <= 0 {
		t.Errorf("bytes %v", got["bytes"])
	}
	broker := got["broker"].(map[string]any)
	if broker["state"] != "consuming" || broker["since"] != "2026-03-01T12:00:00.000000000Z" ||
		broker["error"] != nil ||
		len(broker) != 3 {
		t.Errorf("broker %v", broker)
	}
	f = newFixture(t, func(c *Config, _ *archive.Config) {
		c.Sources[0].Status = func() source.Status {
			return source.Status{
				State: source.Reconnecting,
				Error: "The broker refused the user name or password.",
			}
		}
	})
	f.get("/api/status").
		wantText(`"broker":{"state":"reconnecting","since":null,"error":"The broker refused the user name or password."}`).
		wantText(`"notes":[],"gaps":[],"spool":null,"sources":[{"name":""`)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f = newFixture(t, func(c *Config, _ *archive.Config) {
		c.Sources[0].Status = func() source.Status {
			return source.Status{
				Notes: []string{"left out"}, Gaps: []source.Gap{{From: noon, To: noon.Add(time.Second)}},
				Spool: &source.Spool{Messages: 3, Dropped: 2, Bytes: 4, MaxBytes: 5, Lost: 1, Damage: []string{"here"}},
			}
		}
	})
	f.get("/api/status").
		wantText(`"notes":["left out"],"gaps":[{"from":"2026-03-01T12:00:00.000000000Z","to":"2026-03-01T12:00:01.000000000Z"}]`).
		wantText(`"spool":{"messages":3,"dropped":2,"bytes":4,"max_bytes":5,"lost":1,"damage":["here"]},"sources":[`)
}

func TestAPIErrors(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archive.Config) { a.MaxBytes, a.SegmentBytes = 256<<10, 64<<10 })
	f.fill(10_000)
	for _, tt := range []struct {
		path   string
		status int
		want   string
	}{
		{"/api/messages/1", 410, `{"error":{"status":410,"message":"This message was kept once and has been evicted to make room for newer ones."}}`},
		{"/api/messages/10001", 404, `{"error":{"status":404,"message":"No message has this number yet."}}`},
		{"/api/messages/0", 404, `{"error":{"status":404,"message":"There is no such page."}}`},
		{"/api/messages/x", 404, `{"error":{"status":404,"message":"There is no such page."}}`},
		{"/api/nowhere", 404, `{"error":{"status":404,"message":"There is no such page."}}`},
		{"/api", 404, `{"error":{"status":404,"message":"There is no such page."}}`},
		{"/api/messages?limit=x", 400, `{"error":{"status":400,"message":"The parameter limit of this address cannot be understood."}}`},
	} {
		t.Run(tt.path, func(t *testing.T) {
			f := f.in(t)
			r := f.get(tt.path, "Accept", "text/html").want(tt.status).wantHeader("Content-Type", "application/json")
			if got := strings.TrimSpace(string(r.body)); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.path, got, tt.want)
			}
		})
	}
	bad := f.get("/api/messages?q=a+%3D").want(http.StatusBadRequest).json()["error"].(map[string]any)
	if bad["status"] != json.Number("400") || bad["offset"] != json.Number("3") || bad["message"] == "" ||
		len(bad) != 3 {
		t.Errorf("bad filter: %v", bad)
	}
}
