package opened

import (
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/views/viewtest"
)

func TestRecognise(t *testing.T) {
	const traces = "https://tempo.example/trace/{trace}?span={span}"
	for _, tt := range []struct{ name, text, want string }{
		{"id", "6f1c2d0e-8c1b-4d3e-9a53-ff7e0d2a91aa", "guess: UUID version 4"},
		{"id", "6F1C2D0E-8C1B-4D3E-9A53-FF7E0D2A91AA", "guess: UUID version 4"},
		{"id", "00000000-0000-0000-0000-000000000000", "guess: nil UUID"},
		// RFC 9562, appendix A.6.
		{"id", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "guess: UUID version 7, made 2022-02-22 19:22:22 UTC"},
		{"id", "6f1c2d0e-8c1b-4d3e-9a53-ff7e0d2a91ag", ""},
		{"id", "6f1c2d0e-8c1b-4d3e-9a53-ff7e0d2a91a", ""},
		{"at", "2026-11-29T03:04:05.0000000Z", "guess: time 2026-11-29 03:04:05 UTC, 10 h ago"},
		{"at", "2026-11-29T15:04:05+01:00", "guess: time 2026-11-29 14:04:05 UTC, in 43 s"},
		{"at", "2026-13-29T15:04:05Z", ""},
		{"at", "1795960942", "guess: time 2026-11-29 14:02:22 UTC, 60 s ago"},
		{"at", "1795960942123", "guess: time 2026-11-29 14:02:22.123 UTC, 60 s ago"},
		{"at", "-795960942", ""},
		{"at", "+795960942", ""},
		{"at", "0123456789", ""},
		{"n", "12345", ""},
		{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
			"guess: trace 4bf92f3577b34da6a3ce929d0e0e4736 → https://tempo.example/trace/4bf92f3577b34da6a3ce929d0e0e4736?span=00f067aa0ba902b7; span 00f067aa0ba902b7, sampled"},
		{"Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02",
			"guess: trace 4bf92f3577b34da6a3ce929d0e0e4736 → https://tempo.example/trace/4bf92f3577b34da6a3ce929d0e0e4736?span=00f067aa0ba902b7; span 00f067aa0ba902b7, not sampled"},
		{"traceparent", "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
			"guess: trace 4bf92f3577b34da6a3ce929d0e0e4736 → https://tempo.example/trace/4bf92f3577b34da6a3ce929d0e0e4736?span=00f067aa0ba902b7; span 00f067aa0ba902b7, sampled"},
		{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", "guess: not a valid traceparent"},
		{"traceparent", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "guess: not a valid traceparent"},
		{"traceparent", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "guess: not a valid traceparent"},
		{"traceparent", "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "guess: traceparent with an all-zero id: receivers ignore it"},
		{"traceparent", "javascript:alert(1)", "guess: not a valid traceparent"},
		{"tracestate", "congo=t61rcWkgMzE, rojo=00f067aa0ba902b7", "guess: trace state of congo, rojo"},
		{"b3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90",
			"guess: trace 80f198ee56343ba864fe8b2a57d3eff7 → https://tempo.example/trace/80f198ee56343ba864fe8b2a57d3eff7?span=e457b5a2e4d86bd1; span e457b5a2e4d86bd1, sampled"},
		{"b3", "0", "guess: B3: not sampled"},
		{"b3", "80f198ee56343ba8-e457b5a2e4d86bd1-x", "guess: not a valid b3 header"},
		{"X-B3-TraceId", "463ac35c9f6413ad", "guess: trace 463ac35c9f6413ad → https://tempo.example/trace/463ac35c9f6413ad?span="},
		{"X-B3-SpanId", "a2fb4a1d1a96d312", "guess: B3 span id"},
		{"callback", "https://evil.example/?a=1", ""},
		{"mail", "a@example.org", ""},
		{"raw", "\xff", ""},
		{"none", "", ""},
	} {
		var got []string
		for _, n := range recognise([]byte(tt.name), []byte(tt.text), viewtest.Now, traces) {
			s := n.Text
			if n.Guess {
				s = "guess: " + s
			}
			if n.URL != "" {
				s += " → " + n.URL
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%s: %s\n got  %s\n want %s", tt.name, tt.text, s, tt.want)
		}
	}
	if n := recognise([]byte("traceparent"), []byte("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), time.Time{}, ""); n[0].URL != "" {
		t.Error("a link without an address to lead to")
	}
}

func TestPrettyJSON(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"a":[1,2.50,1e400,12345678901234567890],"b":"\u00e9\/é"}`, "{\n  \"a\": [\n    1,\n    2.50,\n    1e400,\n    12345678901234567890\n  ],\n  \"b\": \"\\u00e9\\/é\"\n}"},
		{` [] `, "[]"},
		{`{"a":1,"a":2}`, "{\n  \"a\": 1,\n  \"a\": 2\n}"},
		{`"text"`, ""},
		{`12`, ""},
		{`{"a":}`, ""},
		{"[\xff]", ""},
		{"", ""},
		{"[1] 2", ""},
		{strings.Repeat("[", 64) + strings.Repeat("]", 64), "yes"},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), ""},
		{`["` + strings.Repeat("[", 99) + `"]`, "yes"},
		{`["\"[[[` + strings.Repeat("[", 99) + `"]`, "yes"},
		{"[" + strings.Repeat(" ", prettyBytes) + "]", ""},
	} {
		got, ok := prettyJSON([]byte(tt.in))
		if ok != (tt.want != "") || tt.want != "yes" && string(got) != tt.want {
			t.Errorf("%.80q: %v %.200q, want %.200q", tt.in, ok, got, tt.want)
		}
	}
	var b strings.Builder
	for _, p := range laidOut([]byte("{\n  \"a\u202e\": 1\n}")) {
		b.WriteString(p.Text)
	}
	if b.String() != "{\n  \"a\\u202e\": 1\n}" {
		t.Errorf("laid out as %q", b.String())
	}
}
