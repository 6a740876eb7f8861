package typedjson

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// The method that a message came with is written, unless it is basic.deliver, and read back.
func TestMethodIsWrittenAndRead(t *testing.T) {
	for _, method := range wire.Methods() {
		t.Run(method.String(), func(t *testing.T) {
			a := archive.New(archive.Config{})
			w := a.Writer()
			w.Begin(&wire.Delivery{Method: method, Header: wire.AppendContentHeaderPayload(nil, 0)}, time.Unix(1, 0))
			seq := w.Commit()
			m, err := a.Snapshot().Get(seq)
			if err != nil {
				t.Fatal(err)
			}
			text := AppendWhole(nil, m, fieldtable.Lenient())
			if written := strings.Contains(string(text), `"method":`); written != (method != wire.Deliver) {
				t.Errorf("the method is written: %t", written)
			}
			var back Message
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			if got := back.Delivery().Method; got != method || m.Method() != method {
				t.Errorf("it is read back as %s, and kept as %s", got, m.Method())
			}
		})
	}
}
