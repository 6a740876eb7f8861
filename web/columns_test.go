package web

import (
	"net/http"
	"net/url"
	"testing"
)

// Columns and orders read as the left side of a comparison in a filter does.
func TestColumnsAreOperands(t *testing.T) {
	f := newFixture(t)
	f.add(message{
		exchange: "e",
		key:      "b",
		headers:  table("NServiceBus.MessageId", "x1", "ключ", "да"),
		body:     make([]byte, 9),
	})
	f.add(message{exchange: "e", key: "a", headers: table("n", "1"), body: make([]byte, 10)})
	f.add(message{key: "c", headers: []byte{0, 0, 0, 4, 2, 'n', 'o', 'Z'}})
	get := func(cols string) *response {
		t.Helper()
		return f.get("/api/messages?cols=" + url.QueryEscape(cols)).want(http.StatusOK)
	}
	get(`NServiceBus.MessageId`).wantText(`{"NServiceBus.MessageId":{"tag":"S","type":"longstr","value":"x1",`)
	get(`"ключ"`).wantText(`"value":"да"`)
	get("$routing_key,$size").wantText(`{"$routing_key":"b","$size":"9"}`, `{"$routing_key":"a","$size":"10"}`)
	get("absent").wantText(`{"absent":null}`, `{"absent":{"damaged":true}}`)
	get(
		"n,absent[*].x",
	).wantText(`{"n":{"tag":"S","type":"longstr","value":"1","offset":6,"end":12},"absent[*].x":null}`)
	f.get("/?cols=$routing_key,NServiceBus.MessageId").want(http.StatusOK).wantText("x1", "damaged before this header")
	f.get("/export.csv?cols=$routing_key,NServiceBus.MessageId").
		want(http.StatusOK).
		wantText("header_bytes,body_bytes,$routing_key,NServiceBus.MessageId\n", ",b,x1\n")

	for sort, want := range map[string]string{
		"$size":                 "3 1 2",
		"$size:desc":            "2 1 3",
		"$routing_key":          "2 1 3",
		"NServiceBus.MessageId": "1 3 2",
	} {
		t.Run(sort, func(t *testing.T) {
			f := f.in(t)
			if got := jsonSeqs(f.get("/api/messages?sort=" + sort).json()); got != want {
				t.Errorf("sort=%s: %s, want %s", sort, got, want)
			}
		})
	}
	for path, said := range map[string]string{
		"/api/messages?cols=nope[":     "The column nope[ does not read",
		"/api/messages?sort=x[":        "The column x[ does not read",
		"/api/messages?cols=ключ=1":    "at character 5",
		"/api/messages?cols=$nope":     "$nope",
		"/api/messages?cols=a,%22a%22": "A column is named twice.",
		"/api/messages?cols=%22%FF%22": "UTF-8",
	} {
		t.Run(path, func(t *testing.T) {
			f := f.in(t)
			f.get(path).want(http.StatusBadRequest).wantText(said)
		})
	}
}

// A reader who starts at nothing seen meets every message, in steps of any size.
func TestAfterZero(t *testing.T) {
	f := newFixture(t)
	for range 7 {
		f.add(message{})
	}
	for path, want := range map[string]string{
		"/api/messages?after=0&limit=3":          "3 2 1",
		"/api/messages?after=3&limit=3":          "6 5 4",
		"/api/messages?after=6&limit=3":          "7",
		"/api/messages?after=0&limit=3&before=6": "5 4 3",
		"/api/messages?after=&limit=3":           "7 6 5",
		"/api/messages?limit=3":                  "7 6 5",
	} {
		t.Run(path, func(t *testing.T) {
			f := f.in(t)
			if got := jsonSeqs(f.get(path).json()); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		})
	}
	f.get("/api/messages?after=0&limit=3").wantText(`"next":3}`)
	f.get("/?after=0&limit=3").want(http.StatusOK).wantText(`data-seq="1"`, `data-seq="3"`)
}
