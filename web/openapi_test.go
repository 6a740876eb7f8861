package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// saidOpenAPI is what an explorer says about itself: the document, and the same as a schema to hold
// values against.
func (f *fixture) saidOpenAPI() (*openapi3.T, *jsonschema.Compiler) {
	f.t.Helper()
	b := f.get("/api/openapi.json").want(http.StatusOK).body
	document, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		f.t.Fatal(err)
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		f.t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("document", plain); err != nil {
		f.t.Fatal(err)
	}
	return document, c
}

func TestOpenAPIIsValid(t *testing.T) {
	for _, base := range []string{"", "/glass"} {
		t.Run(base, func(t *testing.T) {
			f := newFixture(t, func(c *Config, _ *archiveConfig) { c.BasePath, c.Version = base, "v1.2.3" })
			document, _ := f.saidOpenAPI()
			if err := document.Validate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each kind of answer that the API gives is as the document says, and each member that the document
// names is in one of them.
func TestAnswersAreAsOpenAPISays(t *testing.T) {
	f := everyShape(t)
	document, compiler := f.saidOpenAPI()
	asked, seen := make(map[string]bool), make(map[string]bool)
	// holds compares an answer with what is said of it, and notes the route and the members.
	holds := func(path string, want int) {
		t.Run(path, func(t *testing.T) {
			got := f.in(t).get(path).want(want).wantHeader("Content-Type", "application/json")
			found, ok := f.route(requestFor(t, "http://localhost:8080"+path))
			if !ok {
				t.Fatal("no route")
			}
			asked[found.path] = true
			status := "default"
			if want == http.StatusOK {
				status = "200"
			}
			at := "document#"
			for _, step := range []string{
				"paths", found.path, "get", "responses", status, "content", "application/json", "schema",
			} {
				at += "/" + url.PathEscape(strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1"))
			}
			schema, err := compiler.Compile(at)
			if err != nil {
				t.Fatal(err)
			}
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.body))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%#v in %.2000s", err, got.body)
			}
			if found.schema != "OpenAPI" { // that one names every member itself
				members(v, seen)
			}
		})
	}
	holds("/api/messages", 200)
	holds("/api/messages?explain=1&q=nosuchname%20%3D%20x", 200)
	holds("/api/messages?cols=$exchange,$routing_key,$user_id,tenant,list,authorization,deep,when,long&limit=1000", 200)
	holds("/api/messages?limit=1", 200)
	holds("/api/messages?limit=1&sort=tenant", 200)
	holds("/api/messages?q=%28", 400)
	holds("/api/messages?before=x", 400)
	holds("/s/orders/api/messages?limit=1", 200)
	holds("/s/nowhere/api/messages", 404)
	holds("/s/orders/api/messages/999", 404)
	holds("/s/orders/api/keys", 200)
	holds("/s/orders/api/complete?q=ten", 200)
	holds("/api/keys", 200)
	holds("/api/complete?q=ten", 200)
	holds("/api/complete?q=$", 200)
	holds("/api/complete?q=ten&at=9", 400)
	holds("/api/sources", 200)
	holds("/api/status", 200)
	holds("/api/openapi.json", 200)
	for seq := 1; seq <= f.stored; seq++ {
		holds(fmt.Sprintf("/s/orders/api/messages/%d?dialect=lenient", seq), 200)
		holds(fmt.Sprintf("/s/orders/api/messages/%d?dialect=qpid-java", seq), 200)
	}
	for path := range document.Paths.Map() {
		if underAPI(path) && !asked[path] && !asked["/s/{source}"+path] {
			t.Errorf("%s was not asked", path)
		}
	}
	var all any
	if err := json.Unmarshal(schemas, &all); err != nil {
		t.Fatal(err)
	}
	for name := range namedMembers(all) {
		if !seen[name] {
			t.Errorf("no answer has the member %s", name)
		}
	}
}

// members notes the names of all members in v.
func members(v any, seen map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			seen[name] = true
			members(inner, seen)
		}
	case []any:
		for _, inner := range v {
			members(inner, seen)
		}
	}
}

// namedMembers are the names of all members that schemas speak of.
func namedMembers(v any) map[string]bool {
	found := make(map[string]bool)
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if named, ok := v["properties"].(map[string]any); ok && v["type"] == "object" {
				for name := range named {
					found[name] = true
				}
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(v)
	return found
}

// everyShape is an explorer whose answers have every member that there is.
func everyShape(t *testing.T) *fixture {
	redact, err := archive.ParseRedaction("authorization,$user_id")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(c *Config, a *archiveConfig) {
		a.Redact, a.BodyLimit = redact, 4
		a.Origin = archive.Origin{Source: "orders", Queue: "orders.dlq"}
		c.Sources[0].Name = "orders"
		c.Sources[0].Passage = func(seq uint64) *source.Passage {
			if seq != 2 {
				return nil
			}
			return &source.Passage{
				Method: source.Publish, Channel: 1, Confirms: true,
				Outcome: source.Refused, After: 1500 * time.Microsecond,
				Connection: source.Connection{
					ID: 3, Peer: "127.0.0.1:5", User: "guest", Product: "pika", Version: "1.4.4",
				},
				Code: 312, Text: "NO_ROUTE", Delivered: []uint64{3}, Published: []uint64{1, 4},
			}
		}
		c.Sources[0].Status = func() source.Status {
			return source.Status{
				State: source.Reconnecting, Since: noon, Mode: source.Copy, Name: "orders.dlq", Error: "No such exchange.",
				Notes: []string{"a note"}, Gaps: []source.Gap{{From: noon, To: noon.Add(time.Minute)}},
				ObservedAt: noon, Ready: 7,
				Spool: &source.Spool{Messages: 1, Bytes: 2, MaxBytes: 3, Damage: []string{"a block"}},
			}
		}
	})
	all := []wire.Property{
		{Name: "content_type", Raw: []byte("text/plain")}, {Name: "content_encoding", Raw: []byte("gzip")},
		{Name: "headers", Raw: encode.Table(func(e *encode.Encoder) {
			e.Str("tenant", "acme")
			e.Str("authorization", "secret")
			e.Int64("big", 9007199254740993)
			e.Array("list", func(e *encode.Encoder) { e.Bool("", true) })
			e.Nested("deep", func(e *encode.Encoder) { e.Int32("n", 3) })
			e.Value("when", 'T', []byte{0, 0, 0, 0, 0x65, 0x53, 0xf1, 0})
			e.Value("odd", 't', []byte{2})
			e.Str("\xff", "\xfe")
			e.Str("long", strings.Repeat("x", maxCell+1))
		})},
		{Name: "delivery_mode", Raw: []byte{2}}, {Name: "priority", Raw: []byte{9}},
		{Name: "correlation_id", Raw: []byte{0xff}}, {Name: "reply_to", Raw: []byte("r")},
		{Name: "expiration", Raw: []byte("1000")}, {Name: "message_id", Raw: []byte("id")},
		{Name: "timestamp", Raw: []byte{0, 0, 0, 0, 0x65, 0x53, 0xf1, 0}}, {Name: "type", Raw: []byte("t")},
		{Name: "user_id", Raw: []byte("guest")}, {Name: "app_id", Raw: []byte("app")},
		{Name: "cluster_id", Raw: []byte("c")},
	}
	f.add(message{exchange: "shop", key: "a.b", redelivered: true, consumer: "ctag", body: []byte("longer"), props: all})
	f.add(message{exchange: "e\xff"})
	for _, s := range specimens.Specimens() {
		f.add(message{headers: s.Encoded})
	}
	f.add(message{headers: encode.Table(func(e *encode.Encoder) { e.Value("bad", 'Z', []byte{1, 2}) })})
	w := f.archive.Writer()
	w.Begin(&wire.Delivery{Method: wire.Publish, Header: wire.AppendContentHeaderPayload(nil, 0)}, noon)
	w.Commit()
	f.stored++
	return f
}

// What the document says about parameters holds: a number is refused where it is none, and every
// value that is named is taken.
func TestParametersAreAsOpenAPISays(t *testing.T) {
	f := everyShape(t)
	document, _ := f.saidOpenAPI()
	for path, item := range document.Paths.Map() {
		if !underAPI(path) {
			continue
		}
		address := strings.NewReplacer("{seq}", "1", "{source}", "orders").Replace(path)
		for _, p := range item.Get.Parameters {
			if p.Value.In != "query" {
				continue
			}
			t.Run(path+" "+p.Value.Name, func(t *testing.T) {
				f := f.in(t)
				with := address + "?" + p.Value.Name + "="
				schema := p.Value.Schema.Value
				if schema.Type.Is("integer") {
					f.get(with + "x").want(http.StatusBadRequest)
					f.get(with + "0").want(http.StatusOK)
				}
				for _, value := range schema.Enum {
					f.get(with + url.QueryEscape(fmt.Sprint(value))).want(http.StatusOK)
				}
			})
		}
	}
}

// A login is asked for everywhere but where the document says that none is.
func TestLoginsAreAsOpenAPISays(t *testing.T) {
	f := newGuarded(t).fixture
	document, err := f.openAPI()
	if err != nil {
		t.Fatal(err)
	}
	read, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range read.Paths.Map() {
		t.Run(path, func(t *testing.T) {
			asks := item.Get.Security == nil || len(*item.Get.Security) > 0
			got := f.in(t).get(strings.NewReplacer("{seq}", "1", "{source}", "x").Replace(path))
			if (got.StatusCode == http.StatusUnauthorized) != asks {
				t.Errorf("status %d, a login is asked for: %t", got.StatusCode, asks)
			}
		})
	}
}

func TestAPISaysHowAMessagePassed(t *testing.T) {
	got := string(everyShape(t).get("/s/orders/api/messages/2").want(http.StatusOK).body)
	want := `,"passage":{"method":"publish","connection":{"id":3,"peer":"127.0.0.1:5","user":"guest","mechanism":"",` +
		`"product":"pika","version":"1.4.4","name":"","vhost":""},"channel":1,"queue":"","mandatory":false,` +
		`"immediate":false,"confirms":true,"no_ack":false,"outcome":"refused","after_ms":1.5,"code":312,` +
		`"text":"NO_ROUTE","published":[1,4],"delivered":[3],"returned":[]}}` + "\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want the end %s", got, want)
	}
}
