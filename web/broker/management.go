package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// management asks the HTTP API of RabbitMQ's management plugin.
type management struct {
	base               *url.URL
	username, password string
	client             *http.Client
}

func newManagement(raw, username, password string, client *http.Client) (*management, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// without quoting it: it may hold a password
		return nil, errors.New("the management URL must be http://host:port or https://host:port")
	}
	m := &management{username: username, password: password, client: client}
	if u.User != nil {
		m.username = u.User.Username()
		m.password, _ = u.User.Password()
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	m.base = u
	return m, nil
}

// queue returns the facts about a queue. Its errors are plain sentences without credentials.
func (m *management) queue(ctx context.Context, vhost, name string) (queueFacts, error) {
	u := *m.base
	u.RawPath = strings.TrimSuffix(
		u.EscapedPath(),
		"/",
	) + "/api/queues/" + url.PathEscape(
		vhost,
	) + "/" + url.PathEscape(
		name,
	)
	u.Path, _ = url.PathUnescape(u.RawPath)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return queueFacts{}, errors.New("the management URL cannot be used")
	}
	req.SetBasicAuth(m.username, m.password)
	resp, err := m.client.Do(req)
	if err != nil {
		return queueFacts{}, fmt.Errorf("the management API at %s cannot be reached: %v", m.base.Host, innermost(err))
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return queueFacts{}, fmt.Errorf(
			"the management API at %s refused user %q: it needs the tag management",
			m.base.Host,
			m.username,
		)
	case http.StatusNotFound:
		return queueFacts{}, fmt.Errorf(
			"the management API at %s does not know queue %q in vhost %q",
			m.base.Host,
			name,
			vhost,
		)
	default:
		return queueFacts{}, fmt.Errorf("the management API at %s answered %s", m.base.Host, resp.Status)
	}
	var answer struct {
		Type            string `json:"type"`
		Policy          string `json:"policy"`
		Arguments       object `json:"arguments"`
		EffectivePolicy object `json:"effective_policy_definition"`
	}
	const enough = 1 << 20
	if err := json.NewDecoder(io.LimitReader(resp.Body, enough)).Decode(&answer); err != nil {
		return queueFacts{}, fmt.Errorf("the management API at %s did not answer with JSON", m.base.Host)
	}
	facts := queueFacts{Type: answer.Type, Policy: answer.Policy, DeliveryLimit: noLimit, Managed: true}
	for _, raw := range []json.RawMessage{
		answer.Arguments["x-delivery-limit"],
		answer.EffectivePolicy["delivery-limit"],
	} {
		var n int64
		if raw != nil && json.Unmarshal(raw, &n) == nil {
			facts.Limited = true
			if n >= 0 && (facts.DeliveryLimit == noLimit || n < facts.DeliveryLimit) {
				facts.DeliveryLimit = n // the lower of argument and policy applies
			}
		}
	}
	_ = json.Unmarshal(answer.Arguments["x-single-active-consumer"], &facts.SingleActive) // absent: false
	return facts, nil
}

// object is a JSON object; RabbitMQ writes some empty ones as [].
type object map[string]json.RawMessage

func (o *object) UnmarshalJSON(b []byte) error {
	if string(b) == "[]" {
		return nil
	}
	return json.Unmarshal(b, (*map[string]json.RawMessage)(o))
}
