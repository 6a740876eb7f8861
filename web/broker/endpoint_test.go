package broker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
)

func TestEndpointFromURL(t *testing.T) {
	for _, tc := range []struct {
		cfg                             Config
		address, vhost, user, pass, str string
	}{
		{Config{URL: "amqp://"}, "localhost:5672", "/", "guest", "guest", "amqp://guest@localhost:5672/%2F"},
		{Config{URL: "amqps://mq.example.com"}, "mq.example.com:5671", "/", "guest", "guest", "amqps://guest@mq.example.com:5671/%2F"},
		{Config{URL: "amqp://u:p%40ss@h:1/a%2Fb"}, "h:1", "a/b", "u", "p@ss", "amqp://u@h:1/a%2Fb"},
		{Config{URL: "amqp://u:p@[::1]:1/v"}, "[::1]:1", "v", "u", "p", "amqp://u@[::1]:1/v"},
		{Config{
			URL:      "amqp://u:p@h/v",
			Username: "other",
			Password: "word",
		}, "h:5672", "v", "other", "word", "amqp://other@h:5672/v"},
		{Config{URL: "amqp://h/v", Username: "other"}, "h:5672", "v", "other", "", "amqp://other@h:5672/v"},
	} {
		e, err := newEndpoint(tc.cfg)
		if err != nil {
			t.Errorf("%s: %v", tc.cfg.URL, err)
			continue
		}
		if e.address() != tc.address || e.vhost != tc.vhost || e.username != tc.user || e.password != tc.pass ||
			e.String() != tc.str {
			t.Errorf("%s: %s %s %s %s %s", tc.cfg.URL, e.address(), e.vhost, e.username, e.password, e)
		}
	}
}

func TestEndpointTimes(t *testing.T) {
	e, err := newEndpoint(Config{URL: "amqp://h?heartbeat=3&connection_timeout=1500"})
	if err != nil || e.heartbeat != 3*time.Second || e.dialTimeout != 1500*time.Millisecond {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err = newEndpoint(Config{
		URL:       "amqp://h?heartbeat=3",
		Heartbeat: time.Minute,
	}); err != nil || e.heartbeat != time.Minute || e.dialTimeout != DefaultDialTimeout {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestNewNeverQuotesThePassword: whatever is wrong with the configuration, the password stays out
// of the words.
func TestNewNeverQuotesThePassword(t *testing.T) {
	const word = "tops3cret"
	a := archive.New(archive.Config{})
	for _, cfg := range []Config{
		{URL: "http://u:" + word + "@h/"},
		{URL: "amqp://u:" + word + "/x@h/"},
		{URL: "amqp://u:1/" + word + "@h/"},
		{URL: "amqp://u:1?" + word + "@h/v"},
		{URL: "amqp://u:1#" + word + "@h/v"},
		{URL: "amqp://u:p@h/v#" + word},
		{URL: "amqp://u:p@h/v,amqp://u:" + word + "@h2/v"},
		{URL: "amqp://u:p@h,amqp://u:" + word + "@h2/v"},
		{URL: "amqp://u:p@h:1,amqp://u:" + word + "@h2/v"},
		{URL: "amqp://u:p@h:1,h2:2/" + word},
		{URL: "amqp://u:p@h/v;amqp://u:" + word + "@h2"},
		{URL: "amqp://u:p@h/v amqp://u:" + word + "@h2"},
		{URL: "amqp://u:" + word + "@h/caf%e9"},
		{URL: "amqp://u\xe9:" + word + "@h/"},
		{URL: "amqp://u:" + word + "%zz@h/"},
		{URL: "amqp://u:" + word + "@h:port/"},
		{URL: "amqp://u:" + word + " @h/"},
		{URL: "amqp://u:" + word + "@h/?heartbeat=x"},
		{URL: "amqp://u:" + word + "@h/?auth_mechanism=magic"},
		{URL: "amqp://u:" + word + "@h/", CAFile: "/nothing"},
		{URL: "amqps://u:" + word + "@h/", CAFile: "/nothing"},
		{URL: "amqps://u:" + word + "@h/", CertFile: "/nothing", KeyFile: "/nothing"},
		{URL: "amqps://u:" + word + "@h/", CertFile: "/nothing"},
		{URL: "amqp://u:" + word + "@h/"},
		{URL: "amqp://u:" + word + "@h/", Queue: "q", Window: 65536},
		{URL: "amqp://u:" + word + "@h/", Queue: "q", Window: -1},
		{URL: "amqp://u:" + word + "@h/", Queue: "q", Mode: source.Drain},
		{URL: "amqp://u:" + word + "@h/", Queue: "q", Mode: source.Stream, Offset: "yesterday"},
		{URL: "amqp://u:" + word + "@h/", Mode: source.Copy},
		{URL: "amqp://u:" + word + "@h/", Queue: "q", ManagementURL: "ftp://u:" + word + "@h"},
		{URL: "amqp://u:" + word + "@h/", Queue: "q", ManagementURL: "http://u:" + word + "%zz@h"},
		{URL: "amqp://u:" + word + "@h/", Queue: strings.Repeat("q", 256)},
	} {
		cfg.Archive = a
		_, err := New(cfg)
		if err == nil {
			t.Errorf("accepted: %+v", cfg)
			continue
		}
		if strings.Contains(err.Error(), word) {
			t.Errorf("the password is in %q", err)
		}
	}
	c, err := New(Config{URL: "amqp://u:" + word + "@h/", Queue: "q", Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, c.endpoint); strings.Contains(text, word) {
			t.Errorf("%s prints the password", verb)
		}
	}
	if st := fmt.Sprintf("%+v", c.Status()); strings.Contains(st, word) || !strings.Contains(st, "amqp://u@h:5672") {
		t.Errorf("status: %s", st)
	}
}

func TestRedactKnowsTheFormsOfAPassword(t *testing.T) {
	c := &Consumer{secrets: secretForms("u", "p@ss/wörd")}
	if got := c.withoutSecrets("p@ss/wörd p%40ss%2Fw%C3%B6rd p@ss%2Fw%C3%B6rd"); got != "*** *** ***" {
		t.Error(got)
	}
	if forms := secretForms("guest", "guest", "abc"); forms != nil {
		t.Error(forms)
	}
}

// TestOwnWordsAreNotMasked: a password that is an ordinary word is taken out of what the broker
// says, and of the URL, and leaves the explorer's sentences whole.
func TestOwnWordsAreNotMasked(t *testing.T) {
	for _, word := range []string{"wrong", "user", "password", "queue"} {
		c, err := New(Config{
			URL:     "amqp://ann:" + word + "@h/" + word + "5",
			Queue:   "q",
			Archive: archive.New(archive.Config{}),
		})
		if err != nil {
			t.Fatal(err)
		}
		e := c.explain(phaseDeclare, &amqp.Error{
			Server: true,
			Code:   403,
			Reason: "ACCESS_REFUSED - " + word + " is no good",
		}, evidence{})
		if !strings.Contains(e.Msg, "*** is no good") || !strings.HasPrefix(e.Msg, `user "ann" has no permission for this on queue "q" (403): `) {
			t.Errorf("%s: %s", word, e.Msg)
		}
		e = c.explain(phaseHandshake, &amqp.Error{Server: true, Code: 403, Reason: "no"}, evidence{})
		if want := `the broker refused the login of user "ann": wrong user name or password (403)`; e.Msg != want {
			t.Errorf("%s: %s", word, e.Msg)
		}
		if got := c.endpoint.String(); got != "amqp://ann@h:5672/***5" {
			t.Errorf("%s: %s", word, got)
		}
	}
}
