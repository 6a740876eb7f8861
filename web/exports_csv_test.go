package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestExportCSV(t *testing.T) {
	f := contract(t)
	r := f.get("/export.csv?cols=retries,big,tenant,list,list[0],bad").
		want(http.StatusOK).
		wantHeader("Content-Type", "text/csv; charset=utf-8")
	want := strings.Join([]string{
		"seq,received,exchange,routing_key,redelivered,header_count,header_bytes,body_bytes,retries,big,tenant,list,list[0],bad",
		"1,2026-03-01T12:00:00Z,,none,false,0,0,0,,,,,,",
		`2,2026-03-01T12:00:01Z,shop,a.b,true,5,75,6,3,9007199254740993,acme,"{""items"":[{""tag"":""t"",""type"":""bool"",""value"":true,""offset"":73,""end"":75}],""error"":null}",true,`,
		"3,2026-03-01T12:00:02Z,hex:65ff (not UTF-8),<b>&\u2028,false,1,20,0,(damaged),(damaged),(damaged),(damaged),(damaged),(damaged)", "",
	}, "\n")
	if got := string(r.body); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := f.FullDecodes(); n != 0 {
		t.Errorf("%d messages were decoded", n)
	}
}

// Text that a spreadsheet would execute is text; numbers are numbers.
func TestExportCSVIsInert(t *testing.T) {
	f := newFixture(t)
	f.add(message{exchange: "=1+1", key: "@SUM(A1)", headers: encode.Table(func(e *encode.Encoder) {
		e.Int32("negative", -5)
		e.Float64("float", -0.5)
		e.Float64("infinite", inf())
		e.Decimal("decimal", 2, -314)
		e.Str("text-negative", "-5")
		e.Str("lf", "\n=1+1")
		e.Str("wide", "＝1+1")
		e.Bytes("octets", []byte{0x12, 0xe5})
		e.Str("invalid", "=\xff")
		e.Timestamp("ts", -1)
		e.Void("void")
		e.Str("=name()", "quoted, \"text\"")
	})})
	r := f.get(`/export.csv?cols=negative,float,infinite,decimal,text-negative,lf,wide,octets,invalid,ts,void,%22%3Dname()%22`).
		want(http.StatusOK)
	want := "seq,received,exchange,routing_key,redelivered,header_count,header_bytes,body_bytes,negative,float,infinite,decimal,text-negative,lf,wide,octets,invalid,ts,void,\"\"\"=name()\"\"\"\n" +
		"1,2026-03-01T12:00:00Z,'=1+1,'@SUM(A1),false,12,189,0,-5,-0.5,'+Inf,-3.14,'-5,\"'\n=1+1\",'＝1+1,hex:12e5,hex:3dff (not UTF-8),-1,null,\"quoted, \"\"text\"\"\"\n"
	if got := string(r.body); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A property that is a number is one there too, in the dialect's unit.
func TestExportCSVOfPropertyNumbers(t *testing.T) {
	f := newFixture(t)
	f.add(message{props: []wire.Property{
		{Name: "priority", Raw: []byte{9}},
		{Name: "timestamp", Raw: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfb}},
	}})
	for _, dialect := range []string{"lenient", "qpid-java"} {
		r := f.get("/export.csv?cols=$priority,$timestamp,$received&dialect=" + dialect).want(http.StatusOK)
		if !strings.HasSuffix(string(r.body), ",9,-5,2026-03-01T12:00:00Z\n") {
			t.Errorf("%s: %s", dialect, r.body)
		}
	}
	f.get("/api/messages/1?dialect=qpid-java").
		want(http.StatusOK).
		wantText(`"timestamp":{"unit":"ms","value":"-5","time":"1969-12-31T23:59:59.995Z"}`)
	f.get("/m/1?dialect=qpid-java").want(http.StatusOK).wantText("1969-12-31 23:59:59.995 UTC")
}

func inf() float64 {
	zero := 0.0
	return 1 / zero
}

func TestExportCSVHidesWhatWasRemoved(t *testing.T) {
	redact, err := archive.ParseRedaction("token")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(_ *Config, a *archive.Config) { a.Redact = redact })
	f.add(message{headers: table("token", "secret", "tenant", "acme")})
	f.get("/export.csv?cols=token,tenant").want(http.StatusOK).wantText(",(redacted),acme\n")
	for _, path := range exportPaths() {
		if strings.Contains(string(f.get(path+"?cols=token").body), "secret") {
			t.Errorf("%s holds what was removed", path)
		}
	}
}
