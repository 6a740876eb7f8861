//go:build clients

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/demoserver"
)

// askGo has amqp091-go take each table off a connection, since it decodes none otherwise, and
// answers as the programs of the other clients do.
func askGo(t *testing.T, all []vector) []byte {
	server, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Declare("q")
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`amqp091-go v(\S+)`).FindSubmatch(module)
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"version\":%q}\n", version[1])
	var conn *amqp.Connection
	var ch *amqp.Channel
	for _, v := range all {
		header := wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "headers", Raw: v.table})
		if err := server.Publish(t.Context(), "q", demoserver.Message{Header: header}); err != nil {
			t.Fatal(err)
		}
		if conn == nil || conn.IsClosed() {
			if conn, err = amqp.Dial(server.URL()); err != nil {
				t.Fatal(err)
			}
			if ch, err = conn.Channel(); err != nil {
				t.Fatal(err)
			}
		}
		got, ok, err := ch.Get("q", true)
		answer := any(map[string]string{"error": fmt.Sprint(err)})
		if err == nil && ok {
			answer = goPlain(got.Headers)
		} else {
			_ = conn.Close()
		}
		line, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	_ = conn.Close()
	return out.Bytes()
}

func goPlain(v any) any {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("b:%t", v)
	case string:
		return fmt.Sprintf("s:%x", v)
	case []byte:
		return fmt.Sprintf("s:%x", v)
	case time.Time:
		return fmt.Sprintf("t:%d", v.Unix())
	case float32:
		return goPlain(float64(v))
	case float64:
		switch {
		case math.IsNaN(v):
			return "n:nan"
		case math.IsInf(v, 0):
			return fmt.Sprintf("n:%sinf", map[bool]string{true: "-"}[v < 0])
		}
		return "n:" + strconv.FormatFloat(v, 'e', -1, 64)
	case amqp.Decimal:
		return map[string]any{"decimal": []any{v.Value, v.Scale}}
	case []any:
		items := []any{}
		for _, item := range v {
			items = append(items, goPlain(item))
		}
		return map[string]any{"array": items}
	case amqp.Table:
		fields := []any{}
		for name, value := range v {
			fields = append(fields, []any{fmt.Sprintf("%x", name), goPlain(value)})
		}
		return map[string]any{"table": fields}
	}
	return fmt.Sprintf("n:%d", v)
}
