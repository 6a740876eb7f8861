package rabbittest

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestNodeStartsKillsAndRestarts(t *testing.T) {
	for _, v := range []Version{Any, Version4} {
		t.Run("version "+string(v), func(t *testing.T) { startKillAndRestart(t, v) })
	}
}

func startKillAndRestart(t *testing.T, v Version) {
	Require(t, v)
	began := time.Now()
	n, err := Start(Options{Version: v})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	t.Logf("RabbitMQ %s started in %s", n.Version(), time.Since(began))
	if v == Version4 && !n.AtLeast(4, 0) {
		t.Errorf("RabbitMQ %s started", n.Version())
	}
	vhost := n.VHost(t)
	var answer struct{ Name string }
	if err := n.API("GET", "vhosts/"+vhost, nil, &answer); err != nil || answer.Name != vhost {
		t.Fatalf("vhost %q: %q, %v", vhost, answer.Name, err)
	}
	if !strings.Contains(n.Log(), "Starting RabbitMQ") {
		t.Errorf("nothing in the log: %s", n.Log())
	}
	if got := strings.TrimSpace(n.Eval(t, "1 + 1.")); got != "2" {
		t.Errorf("eval: %q", got)
	}
	n.Kill()
	if _, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n.epmdPort)), time.Second); err == nil {
		t.Error("an epmd is left")
	}
	if c, err := net.DialTimeout("tcp", n.Addr(), time.Second); err == nil {
		c.Close()
		t.Fatal("a killed node accepts connections")
	}
	began = time.Now()
	if err := n.Restart(); err != nil {
		t.Fatal(err)
	}
	t.Logf("restarted in %s", time.Since(began))
	if err := n.API("GET", "vhosts/"+vhost, nil, &answer); err != nil {
		t.Fatalf("the vhost is gone after a restart: %v", err)
	}
}
