package broker

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestManagementFacts(t *testing.T) {
	var answer string
	var status int
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	defer s.Close()
	u, _ := url.Parse(s.URL)
	u.User = url.UserPassword("monitor", "s3cret")
	m, err := newManagement(u.String()+"/prefix/", "amqp-user", "amqp-pass", s.Client())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		status int
		answer string
		want   queueFacts
		words  string
	}{
		{200, `{"type":"classic","arguments":{},"effective_policy_definition":{}}`, queueFacts{
			Type:          "classic",
			DeliveryLimit: -1,
			Managed:       true,
		}, ""},
		{200, `{"type":"quorum","arguments":[],"effective_policy_definition":[]}`, queueFacts{
			Type:          "quorum",
			DeliveryLimit: -1,
			Managed:       true,
		}, ""},
		{200, `{"type":"quorum","policy":"p","arguments":{"x-delivery-limit":9},"effective_policy_definition":{"delivery-limit":20}}`, queueFacts{
			Type:          "quorum",
			Policy:        "p",
			DeliveryLimit: 9,
			Managed:       true,
			Limited:       true,
		}, ""},
		{200, `{"type":"quorum","arguments":{"x-delivery-limit":"many"}}`, queueFacts{
			Type:          "quorum",
			DeliveryLimit: -1,
			Managed:       true,
		}, ""},
		{200, `{"type":"quorum","arguments":{"x-delivery-limit":-1,"x-single-active-consumer":true}}`, queueFacts{
			Type:          "quorum",
			DeliveryLimit: -1,
			Managed:       true,
			Limited:       true,
			SingleActive:  true,
		}, ""},
		{200, `<html>`, queueFacts{}, "did not answer with JSON"},
		{401, `{}`, queueFacts{}, `refused user "monitor"`},
		{404, `{}`, queueFacts{}, `does not know queue "a/b" in vhost "/"`},
		{500, `{}`, queueFacts{}, "answered 500"},
	} {
		status, answer = tc.status, tc.answer
		facts, err := m.queue(t.Context(), "/", "a/b")
		if tc.words == "" && (err != nil || facts != tc.want) {
			t.Errorf("%s: %+v, %v", tc.answer, facts, err)
		}
		if tc.words != "" &&
			(err == nil || !strings.Contains(err.Error(), tc.words) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v", tc.answer, err)
		}
	}
	if user, pass, _ := got.BasicAuth(); user != "monitor" || pass != "s3cret" ||
		got.URL.EscapedPath() != "/prefix/api/queues/%2F/a%2Fb" {
		t.Errorf("asked %s as %s", got.URL.EscapedPath(), user)
	}
	s.Close()
	if _, err := m.queue(t.Context(), "/", "q"); err == nil || strings.Contains(err.Error(), "s3cret") ||
		!strings.Contains(err.Error(), "cannot be reached") {
		t.Error(err)
	}
}
