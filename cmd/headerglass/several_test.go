package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// exploreSeveral looks into three queues of a broker, a quorum queue among them, and one that is
// not there: what is missing is a state of that source, the others are shown together, and every
// message is in its queue afterwards.
func exploreSeveral(t *testing.T, p *publishing) {
	queues := []struct {
		name     string
		messages int
		args     amqp.Table
	}{
		{"orders", 5, nil},
		{"orders.retry", 3, nil},
		{"orders.dlq", 4, amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int32(20)}},
	}
	for _, q := range queues {
		if _, err := p.ch.QueueDeclare(q.name, true, false, false, false, q.args); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{
		"--amqp", p.url, "--management", p.management, "--accept-redelivery-count", "--listen", "127.0.0.1:0",
		"--queue", "nowhere",
	}
	for _, q := range queues {
		args = append(args, "--queue", q.name)
		for range q.messages {
			err := p.ch.PublishWithContext(t.Context(), "", q.name, false, false,
				amqp.Publishing{DeliveryMode: amqp.Persistent, Headers: amqp.Table{"in": q.name}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var log bytes.Buffer
	out := &lineWriter{lines: make(chan string, 16)}
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, stdio{strings.NewReader(""), out, &log}) }()
	var site string
	select {
	case line := <-out.lines:
		_, address, _ := strings.Cut(line, "http://")
		site = "http://" + strings.TrimSuffix(strings.TrimSpace(address), "/")
	case code := <-done:
		t.Fatalf("exit code %d: %s", code, log.String())
	}
	type listed struct {
		Sources []struct {
			Name, State, Error string
			Stored             int
		}
	}
	want := "nowhere 0 error; orders 5; orders.retry 3; orders.dlq 4"
	var got string
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(90 * time.Second); got != want; {
		var parts []string
		for _, s := range getJSON[listed](t, site+"/api/sources").Sources {
			part := fmt.Sprint(s.Name, " ", s.Stored)
			if s.Error != "" {
				part += " error"
			}
			parts = append(parts, part)
		}
		got = strings.Join(parts, "; ")
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the sources are %s, want %s", got, want)
		}
	}
	page := getJSON[struct {
		Messages []struct{ Source, Received string }
	}](t, site+"/api/messages?limit=50")
	counts := map[string]int{}
	for i, m := range page.Messages {
		counts[m.Source]++
		if i > 0 && m.Received > page.Messages[i-1].Received {
			t.Errorf("a message of %s stands below an older one", m.Source)
		}
	}
	for _, q := range queues {
		if counts[q.name] != q.messages {
			t.Errorf("%d messages of %s are listed, want %d", counts[q.name], q.name, q.messages)
		}
	}
	stop()
	if code := <-done; code != exitOK {
		t.Errorf("exit code %d: %s", code, log.String())
	}
	for _, q := range queues {
		left := -1
		for deadline := time.After(60 * time.Second); left != q.messages; {
			left = p.waitingIn(t, q.name)
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatalf("%d messages are left in %s, want %d", left, q.name, q.messages)
			}
		}
	}
}
