package main

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/web/demoserver"
	"github.com/headerglass/headerglass/web/eventually"
)

// relaying runs `headerglass relay` in front of a built-in broker until the test ends.
func relaying(t *testing.T) (site string, through string) {
	t.Helper()
	broker, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{Username: "app", Password: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { broker.Close() })
	broker.Declare("orders")
	ctx, stop := context.WithCancel(context.Background())
	out := &lineWriter{lines: make(chan string, 16)}
	var log bytes.Buffer
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{
			"relay", "--listen", "127.0.0.1:0", "--listen-amqp", "127.0.0.1:0", "--amqp", "amqp://" + broker.Addr().String(),
		}, stdio{strings.NewReader(""), out, &log})
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 || strings.Contains(log.String(), "s3cret") {
			t.Errorf("exit code %d: %s", code, log.String())
		}
	})
	line := func() string {
		select {
		case line := <-out.lines:
			return line
		case <-time.After(60 * time.Second):
			t.Fatal("relay prints no address")
			return ""
		}
	}
	_, first, _ := strings.Cut(line(), "headerglass: ")
	address, target, _ := strings.Cut(first, " relays to ")
	if target != broker.Addr().String() {
		t.Fatalf("it relays to %q", target)
	}
	_, site, _ = strings.Cut(line(), "headerglass: ")
	u := url.URL{Scheme: "amqp", User: url.UserPassword("app", "s3cret"), Host: address, Path: "/"}
	return strings.TrimSuffix(site, "/"), u.String()
}

// A message that a client publishes and fetches through the relay is shown both ways, with who sent
// it and what came of it.
func TestRelayShowsBothWays(t *testing.T) {
	site, through := relaying(t)
	conn, err := amqp.DialConfig(through, amqp.Config{Properties: amqp.Table{"product": "shop", "version": "7"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	sent, err := ch.PublishWithDeferredConfirmWithContext(t.Context(), "", "orders", true, false, amqp.Publishing{
		MessageId: "m-1", Headers: amqp.Table{"tenant": "acme"}, Body: []byte("hello"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !sent.Wait() {
		t.Fatal("not confirmed")
	}
	if d, ok, err := ch.Get("orders", true); err != nil || !ok || string(d.Body) != "hello" {
		t.Fatalf("fetched %q, %t, %v", d.Body, ok, err)
	}
	awaitStored(t, site, 2)
	var page string
	eventually.True(t, 60*time.Second, "the confirm is shown", func() bool {
		page = string(get(t, site+"/m/1", http.StatusOK))
		return strings.Contains(page, "confirmed by the broker")
	})
	for _, want := range []string{
		"Published</h2>", "mandatory", "shop 7", ">app<", "orders", "Delivered as", "nothing was changed",
		`href="/diff?m=1&amp;m=2"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the publish does not say %q", want)
		}
	}
	fetched := string(get(t, site+"/m/2", http.StatusOK))
	for _, want := range []string{"Fetched with basic.get</h2>", "needs no acknowledgement", "Published as"} {
		if !strings.Contains(fetched, want) {
			t.Errorf("the page of the delivery does not say %q", want)
		}
	}
	list := string(get(t, site+"/?q="+url.QueryEscape("$method = publish"), http.StatusOK))
	if !strings.Contains(list, ">publish</b>") || strings.Contains(list, ">get-ok</b>") {
		t.Error("the list does not tell published from fetched")
	}
	compared := string(get(t, site+"/diff?m=1&m=2", http.StatusOK))
	if !strings.Contains(compared, "Published as 1, delivered as 2:") {
		t.Error("the comparison does not say what became of it")
	}
	status := string(get(t, site+"/api/status", http.StatusOK))
	if !strings.Contains(status, `"mode":"relay"`) || !strings.Contains(status, `"state":"consuming"`) {
		t.Error(status)
	}
	for _, shown := range []string{page, fetched, compared, status} {
		if strings.Contains(shown, "s3cret") {
			t.Error("a page shows the password")
		}
	}
}

// What is wrong with the flags is said, and no URL is quoted.
func TestRelayFlags(t *testing.T) {
	for _, tt := range []struct {
		name, flags, says string
	}{
		{"a login", "--amqp amqp://app:s3cret@localhost", "clients log in themselves"},
		{"a vhost", "--amqp amqp://localhost/shop", "clients log in themselves"},
		{"a scheme", "--amqp http://localhost", "the scheme is amqp or amqps"},
		{"no host", "--amqp amqp://:5672", "it names no host"},
		{"no URL", "--amqp amqp://app:s3cret@%zz", "this is no URL"},
		{"no address", "--listen-amqp 5673", "is no address"},
		{"a key is missing", "--amqp-cert relay_test.go", "--amqp-cert and --amqp-key go together"},
		{"no certificate", "--amqp amqps://localhost --ca-file relay_test.go", "there is no certificate in it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said bytes.Buffer
			args := append([]string{"relay", "--listen", "127.0.0.1:0"}, strings.Fields(tt.flags)...)
			code := run(t.Context(), args, stdio{strings.NewReader(""), &said, &said})
			if code != exitUsage || !strings.Contains(said.String(), tt.says) || strings.Contains(said.String(), "s3cret") {
				t.Errorf("exit code %d: %s", code, said.String())
			}
		})
	}
}
