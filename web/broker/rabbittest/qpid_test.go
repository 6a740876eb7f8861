//go:build qpid

package rabbittest

import (
	"net/http"
	"testing"
	"time"
)

func TestQpidStartsKillsAndRestarts(t *testing.T) {
	var lazy LazyQpid
	defer lazy.Stop()
	began := time.Now()
	q := lazy.Node(t)
	t.Logf("started in %s", time.Since(began))
	vhost := q.VHost(t)
	q.Queue(t, vhost, "q", nil)
	q.Kill()
	if err := q.API(http.MethodGet, "broker", nil, nil); err == nil {
		t.Fatal("a killed broker answers")
	}
	if err := q.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := q.API(http.MethodGet, "queue/"+vhost+"/"+vhost+"/q", nil, nil); err != nil {
		t.Fatalf("the queue is gone after a restart: %v", err)
	}
}
