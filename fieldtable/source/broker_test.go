package source

import (
	"strings"
	"testing"
)

func TestFactsFollowTheVersion(t *testing.T) {
	const (
		verbatim = "as they were published"
		anew     = "sorted by name"
		maybe    = "message_containers"
		twenty   = "dead-lettered after 20"
		noLimit  = "no delivery limit"
		acquired = "x-acquired-count"
		lost     = "loses arrays"
	)
	words := []string{verbatim, anew, maybe, twenty, noLimit, acquired, lost}
	for _, tt := range []struct {
		product, version, queue string
		want                    []string
	}{
		{RabbitMQ, "3.10.8", "classic", []string{verbatim}},
		{RabbitMQ, "3.12.14", "classic", []string{verbatim}},
		{RabbitMQ, "3.12.14", "quorum", []string{noLimit}},
		{RabbitMQ, "3.10.8", "stream", []string{lost}},
		{RabbitMQ, "3.10.8", "", []string{verbatim, noLimit, lost}},
		{RabbitMQ, "3.13.7", "classic", []string{anew, maybe}},
		{RabbitMQ, "3.13.7", "quorum", []string{anew, maybe, noLimit}},
		{RabbitMQ, "4.0.5", "classic", []string{anew}},
		{RabbitMQ, "4.2.1", "quorum", []string{anew, twenty}},
		{RabbitMQ, "4.3.0-rc.1", "quorum", []string{anew, acquired}},
		{RabbitMQ, "4.0.5", "stream", []string{anew, lost}},
		{RabbitMQ, "", "classic", nil},
		{RabbitMQ, "unknown", "classic", nil},
		{BrokerJ, "10.1.0", "", []string{verbatim}},
		{LavinMQ, "2.4.1", "", nil},
		{"another", "3.10.8", "classic", nil},
		{"", "", "", nil},
	} {
		t.Run(tt.product+" "+tt.version+" "+tt.queue, func(t *testing.T) {
			all := strings.Join(Broker{tt.product, tt.version}.Facts(tt.queue), "\n")
			for _, w := range words {
				want := false
				for _, x := range tt.want {
					want = want || x == w
				}
				if strings.Contains(all, w) != want {
					t.Errorf("%q is said %t:\n%s", w, !want, all)
				}
			}
		})
	}
	if len(Broker{LavinMQ, "2.4.1"}.Facts("classic")) != 1 {
		t.Error("nothing about LavinMQ")
	}
}

func TestKeeps(t *testing.T) {
	for _, tt := range []struct {
		broker Broker
		queue  string
		want   bool
	}{
		{Broker{RabbitMQ, "3.10.8"}, "classic", true},
		{Broker{RabbitMQ, "3.10.8"}, "quorum", false},
		{Broker{RabbitMQ, "3.10.8"}, "", false},
		{Broker{RabbitMQ, "3.13.0"}, "classic", false},
		{Broker{RabbitMQ, ""}, "classic", false},
		{Broker{BrokerJ, "10.1.0"}, "", true},
		{Broker{}, "classic", false},
	} {
		t.Run(tt.broker.Product+" "+tt.broker.Version+" "+tt.queue, func(t *testing.T) {
			if got := tt.broker.Keeps(tt.queue); got != tt.want {
				t.Error(got)
			}
		})
	}
}
