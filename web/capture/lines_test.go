package capture

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// line is a line of an export with a content header of that body size.
func line(bodySize uint64, rest string) string {
	h := base64.StdEncoding.EncodeToString(wire.AppendContentHeaderPayload(nil, bodySize))
	return `{"seq":9,"received":"2026-03-01T12:00:00.123456789Z","content_header_base64":"` + h + `"` + rest + `}`
}

func TestLines(t *testing.T) {
	text := "\ufeff" + line(
		3,
		`,"delivery_tag":18446744073709551615,"redelivered":true,"consumer_tag":"c","exchange":{"hex":"ff00"},"routing_key":"grün","body_base64":"YWJj","body_bytes":3,"headers":{"fields":[]},"unknown":[1]`,
	) +
		"\r\n\n" + line(
		9,
		`,"exchange":"","routing_key":"","body_base64":"YWI=","body_bytes":9`,
	) + "\n" + line(
		0,
		"",
	)
	got, report := readWhole(t, []byte(text))
	if len(got) != 3 {
		t.Fatalf("%d messages", len(got))
	}
	m := got[0]
	if m.DeliveryTag() != 1<<64-1 || !m.Redelivered() || string(m.ConsumerTag()) != "c" ||
		string(m.Exchange()) != "\xff\x00" ||
		string(m.RoutingKey()) != "grün" ||
		string(m.Body()) != "abc" {
		t.Errorf(
			"got tag %d, %v, %q, %q, %q, %q",
			m.DeliveryTag(),
			m.Redelivered(),
			m.ConsumerTag(),
			m.Exchange(),
			m.RoutingKey(),
			m.Body(),
		)
	}
	if want := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC); !m.Received().Equal(want) {
		t.Errorf("received %v, want %v", m.Received(), want)
	}
	if m := got[1]; string(m.Body()) != "ab" || m.BodySize() != 9 {
		t.Errorf("a body kept in part has %q of %d", m.Body(), m.BodySize())
	}
	if report.Packets != 0 || report.String() != "3 messages" || report.Notes() != nil {
		t.Errorf("%+v, %v", report, report.Notes())
	}
}

func TestLinesThatCannotBeRead(t *testing.T) {
	for name, tt := range map[string]struct{ line, want string }{
		"cut off":           {line(0, "")[:50], "line 3: unexpected end of JSON input"},
		"no JSON":           {"hello", "line 3: invalid character 'h'"},
		"another object":    {`{"messages":[]}`, "line 3: content_header_base64 is missing"},
		"a time of nothing": {strings.Replace(line(0, ""), "2026-03-01", "0001-01-01", 1), "line 3: received is missing, or in a year"},
		"no base64":         {line(0, `,"body_base64":"*"`), "line 3: illegal base64 data"},
		"no hex":            {line(0, `,"exchange":{"hex":"zz"}`), "line 3: encoding/hex"},
		"a wrong type":      {line(0, `,"redelivered":"yes"`), "line 3: json: cannot unmarshal string"},
	} {
		got, _, err := read(t, []byte(line(0, "")+"\n\n"+tt.line+"\n"+line(0, "")))
		if len(got) != 1 {
			t.Errorf("%s: %d messages, want the one before the damage", name, len(got))
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Line != 3 || !strings.Contains(err.Error(), "test: "+tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// endless is a line without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	if e.read == 0 {
		p[0] = '{'
	}
	e.read += len(p)
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	in := &endless{}
	s := newStreams()
	err := readLines(t.Context(), in, &s)
	if !errors.Is(err, errLineLength) {
		t.Errorf("got %v", err)
	}
	if in.read > maxLine+2*readBuffer {
		t.Errorf("%d bytes were read", in.read)
	}
}

func TestReadingEndsWithTheContext(t *testing.T) {
	f, err := fromBytes("test", []byte(fmt.Sprintf("%s\n%s\n", line(0, ""), line(0, ""))))
	if err != nil {
		t.Fatal(err)
	}
	ctx := &countdown{Context: t.Context(), left: 1}
	report, err := f.Read(ctx, Config{Archive: newArchive()})
	if !errors.Is(err, errCountdown) || report.Messages != 1 {
		t.Errorf("%d messages, %v", report.Messages, err)
	}
}
