package broker

import (
	"bytes"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/demoserver"
	"github.com/headerglass/headerglass/web/spool"
)

// TestNodeKilledAndRestarted: every message of a peek and of drains is shown once although the
// broker dies under them.
func TestNodeKilledAndRestarted(t *testing.T) {
	c := dial(t)
	const n = 3000
	readers := []struct {
		queue string
		args  amqp.Table
		cfg   Config
		left  int
		*running
		want []string
	}{
		{queue: "peeked", cfg: Config{Window: 5000}, left: n + 1},
		{queue: "drained", cfg: Config{Mode: source.Drain, AcceptLoss: true, Prefetch: 100}},
		{
			queue: "quorum",
			args:  amqp.Table{"x-queue-type": "quorum"},
			cfg:   Config{Mode: source.Drain, AcceptLoss: true, Prefetch: 100},
		},
	}
	for i := range readers {
		r := &readers[i]
		c.declare(t, r.queue, r.args)
		r.want = c.publish(t, "", r.queue, 0, n)
	}
	// A quorum queue younger than half a second may not survive kill -9: Ra has not written down
	// yet that it exists.
	c.node.Eval(t, "[dets:sync(T) || T <- dets:all()].")
	for i := range readers {
		r := &readers[i]
		r.cfg.URL, r.cfg.Queue = c.url(), r.queue
		r.running = run(t, r.cfg)
		r.untilStored(t, n/10)
	}
	c.node.Kill()
	for _, r := range readers {
		if st := r.untilState(t, source.Reconnecting); st.Error == "" || st.NextAttempt.IsZero() {
			t.Errorf("%+v", st)
		}
	}
	if err := c.node.Restart(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.connect(t)
	for i := range readers {
		r := &readers[i]
		r.untilState(t, source.Consuming)
		r.want = append(r.want, c.publish(t, "", r.queue, n, 1)...)
	}
	t.Logf("reading again %s after the node served", time.Since(began).Round(time.Millisecond))
	for _, r := range readers {
		r.untilStored(t, n+1)
		got := r.bodies()
		slices.Sort(got)
		slices.Sort(r.want)
		if !slices.Equal(got, r.want) {
			t.Errorf("%s: %d messages shown of %d", r.queue, len(got), len(r.want))
		}
		if err := r.stop(t); err != nil {
			t.Fatal(err)
		}
		c.ready(t, r.queue, r.left)
	}
}

// TestNodeErrorsInWords: each failure has words and a kind of its own.
func TestNodeErrorsInWords(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	n := c.node
	n.Do(t, http.MethodPut, "users/blind", map[string]string{"password": "s3cr3t/word", "tags": ""})
	n.Do(t, http.MethodPut, "permissions/"+c.vhost+"/blind", map[string]string{
		"configure": "^$",
		"write":     "^$",
		"read":      "^$",
	})
	n.Do(t, http.MethodPut, "users/stranger", map[string]string{"password": "s3cr3t/word", "tags": ""})
	mine, err := amqp.Dial(c.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mine.Close() })
	ch, err := mine.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare("locked", false, true, true, false, nil); err != nil {
		t.Fatal(err)
	}
	c.declare(t, "solo", nil)
	if _, err := ch.Consume("solo", "", false, true, false, false, nil); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		cfg   Config
		kind  source.ErrorKind
		words string
	}{
		{"password", Config{
			URL:      n.URL(c.vhost),
			Password: "s3cr3t/word",
			Queue:    "q",
		}, KindLogin, `refused the login of user "guest"`},
		{"vhost", Config{URL: n.URL("nowhere"), Queue: "q"}, KindVHost, `vhost "nowhere" does not exist`},
		{"vhost not open", Config{
			URL:      n.URL(c.vhost),
			Username: "stranger",
			Password: "s3cr3t/word",
			Queue:    "q",
		}, KindVHost, `user "stranger" has no access to vhost`},
		{"queue", Config{URL: n.URL(c.vhost), Queue: "nothing"}, KindNotFound, `queue "nothing" does not exist`},
		{"exchange", Config{
			URL:      n.URL(c.vhost),
			Mode:     source.Copy,
			Exchange: "nothing",
		}, KindNotFound, `exchange "nothing" does not exist`},
		{"permission", Config{
			URL:      n.URL(c.vhost),
			Username: "blind",
			Password: "s3cr3t/word",
			Queue:    "q",
		}, KindAccess, `user "blind" has no permission`},
		{"exclusive queue", Config{
			URL:   n.URL(c.vhost),
			Queue: "locked",
		}, KindLocked, "belongs exclusively to another connection"},
		{"exclusive consumer", Config{URL: n.URL(c.vhost), Queue: "solo"}, KindLocked, "has an exclusive consumer"},
		{"TLS to the plain port", Config{
			URL:   "amqps://guest:s3cr3tword@" + n.Addr() + "/",
			Queue: "q",
		}, KindTLS, "does not speak TLS"},
		{"plain to the TLS port", Config{
			URL:   strings.Replace(n.TLSURL("127.0.0.1", "/"), "amqps:", "amqp:", 1),
			Queue: "q",
		}, KindProtocol, "amqps://"},
		{"host", Config{
			URL:   "amqp://guest:s3cr3tword@no-such-host.invalid/",
			Queue: "q",
		}, KindDNS, `host name "no-such-host.invalid"`},
		{"port", Config{
			URL:   "amqp://guest:s3cr3tword@" + closedPort(t) + "/",
			Queue: "q",
		}, KindUnreachable, "connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			tc.cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			began := time.Now()
			r := run(t, tc.cfg)
			st := r.untilKind(t, tc.kind)
			if !strings.Contains(st.Error, tc.words) {
				t.Errorf("says %q", st.Error)
			}
			if strings.ContainsAny(st.Error, "\r\n") || strings.HasSuffix(st.Error, ".") {
				t.Errorf("not one plain sentence: %q", st.Error)
			}
			if wait := st.NextAttempt.Sub(began); wait < minWait {
				t.Errorf("next attempt after %s", wait)
			}
			if err := r.stop(t); err != nil {
				t.Fatal(err)
			}
			if text := log.String(); strings.Contains(text, "s3cr3t") || strings.Count(text, "level=WARN") != 1 {
				t.Errorf("logged: %s", text)
			}
		})
	}
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestNodeTLS(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	c.publish(t, "", "q", 0, 5)
	n := c.node
	dir := t.TempDir()
	ca := n.CA.File(dir)
	n.Do(t, http.MethodPut, "users/robot", map[string]string{"password": "unused-here", "tags": ""})
	n.Do(t, http.MethodPut, "permissions/"+c.vhost+"/robot", map[string]string{
		"configure": "^$",
		"write":     "^$",
		"read":      ".*",
	})
	cert, key, err := n.CA.Issue(dir, "client", "robot")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("own authority", func(t *testing.T) {
		r := run(t, Config{URL: n.TLSURL("localhost", c.vhost), CAFile: ca, Queue: "q"})
		r.untilStored(t, 5)
	})
	t.Run("client certificate and EXTERNAL", func(t *testing.T) {
		r := run(t, Config{
			URL:      strings.Replace(n.TLSURL("localhost", c.vhost), "guest:guest@", "", 1),
			CAFile:   ca,
			CertFile: cert,
			KeyFile:  key,
			Queue:    "q",
		})
		r.untilStored(t, 5)
	})
	t.Run("server name", func(t *testing.T) {
		r := run(t, Config{URL: n.TLSURL("localhost", c.vhost), CAFile: ca, ServerName: "mq.example.com", Queue: "q"})
		if st := r.untilKind(t, KindTLSName); !strings.Contains(
			st.Error,
			`is for ["localhost" "127.0.0.1"], not for "mq.example.com"`,
		) {
			t.Error(st.Error)
		}
	})
	t.Run("unknown authority", func(t *testing.T) {
		r := run(t, Config{URL: n.TLSURL("localhost", c.vhost), Queue: "q"})
		if st := r.untilKind(t, KindTLS); !strings.Contains(st.Error, "not trusted here") {
			t.Error(st.Error)
		}
	})
}

func TestNodeQueueDeleted(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	c.publish(t, "", "q", 0, 5)
	r := run(t, Config{URL: c.url(), Queue: "q"})
	r.untilStored(t, 5)
	if _, err := c.QueueDelete("q", false, false, false); err != nil {
		t.Fatal(err)
	}
	if st := r.untilKind(t, KindCancelled); !strings.Contains(st.Error, "deleted") {
		t.Error(st.Error)
	}
	if st := r.untilKind(t, KindNotFound); st.State != source.Reconnecting {
		t.Errorf("%+v", st)
	}
	c.declare(t, "q", nil)
	c.publish(t, "", "q", 50, 1)
	r.untilStored(t, 6)
}

func TestHalfOpenConnectionIsNoticedWithinTwoHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{product: "other", version: "1", heartbeat: 2} // it never sends one
		c, stop := s.start(t, Config{Heartbeat: 2 * time.Second})
		defer stop()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if st := c.Status(); st.State != source.Consuming {
			t.Errorf("after one heartbeat: %+v", st)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if st := c.Status(); st.Kind != KindLost || !strings.Contains(st.Error, "is dead: nothing arrived in time") {
			t.Errorf("after two: %+v", st)
		}
	})
}

func TestHalfOpenConnection(t *testing.T) {
	s := listen(t, demoserver.Config{})
	publish(t, s, "q", 5)
	p, through := via(t, s.URL())
	r := run(t, Config{URL: through, Queue: "q", Heartbeat: 2 * time.Second})
	r.untilStored(t, 5)
	p.freeze()
	if st := r.untilKind(t, KindLost); !strings.Contains(st.Error, "dead") {
		t.Error(st.Error)
	}
	p.thaw()
	p.cut()
	r.untilState(t, source.Consuming)
	if n := r.archive.Snapshot().Last(); n != 5 {
		t.Errorf("%d messages stored of 5", n)
	}
}

func TestStopWhileTheBrokerIsSilent(t *testing.T) {
	s := listen(t, demoserver.Config{Heartbeat: -1}) // nothing but CloseTimeout ends it
	publish(t, s, "q", 5)
	p, through := via(t, s.URL())
	r := run(t, Config{URL: through, Queue: "q", Heartbeat: time.Hour, CloseTimeout: 200 * time.Millisecond})
	r.untilStored(t, 5)
	p.freeze()
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
}

func TestBlockedAndUnblocked(t *testing.T) {
	s := listen(t, demoserver.Config{})
	s.Declare("q")
	r := run(t, Config{URL: s.URL(), Queue: "q"})
	r.untilState(t, source.Consuming)
	s.SetBlocked("low on memory")
	if st := r.untilState(t, source.Blocked); st.Blocked != "low on memory" {
		t.Errorf("%+v", st)
	}
	s.SetBlocked("")
	r.untilState(t, source.Consuming)
}

func TestExitOnError(t *testing.T) {
	s := listen(t, demoserver.Config{Username: "u", Password: "right-one"})
	r := run(t, Config{URL: s.URL(), Password: "wrong-one", Queue: "q", ExitOnError: true})
	err := <-r.done
	r.done <- err
	if err == nil || !strings.Contains(err.Error(), "login") || strings.Contains(err.Error(), "wrong-one") {
		t.Error(err)
	}
	if st := r.Status(); st.State != source.Stopped || st.Kind != KindLogin {
		t.Errorf("%+v", st)
	}
}

func TestBrokerThatAcceptsAndSaysNothing(t *testing.T) {
	for _, tc := range []struct {
		faults demoserver.Faults
		words  string
	}{
		{demoserver.Faults{Stall: true}, "did not complete the AMQP handshake"},
		{demoserver.Faults{NoConsumeOk: true}, `does not answer about queue "q"`},
	} {
		s := listen(t, demoserver.Config{})
		publish(t, s, "q", 5)
		s.SetFaults(tc.faults)
		r := run(t, Config{
			URL:         s.URL(),
			Queue:       "q",
			Mode:        source.Drain,
			AcceptLoss:  true,
			DialTimeout: 300 * time.Millisecond,
		})
		if st := r.untilKind(t, KindLost); !strings.Contains(st.Error, tc.words) {
			t.Error(st.Error)
		}
		s.SetFaults(demoserver.Faults{})
		r.untilStored(t, 5)
	}
}

func TestStopWhileTheBrokerDoesNotAnswer(t *testing.T) {
	s := listen(t, demoserver.Config{})
	publish(t, s, "q", 5)
	s.SetFaults(demoserver.Faults{NoConsumeOk: true})
	r := run(t, Config{
		URL:          s.URL(),
		Queue:        "q",
		Mode:         source.Drain,
		AcceptLoss:   true,
		DialTimeout:  time.Hour, // nothing but CloseTimeout ends it
		CloseTimeout: 100 * time.Millisecond,
	})
	until(t, "the consumer is there", func() bool { q, _ := s.Queue("q"); return q.Consumers == 1 })
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	queueIs(t, s, "q", demoserver.QueueInfo{Ready: 5})
}

// TestBrokerThatIsSlowToTakeBack: that is no breach of the protocol, and peek looks again soon.
func TestBrokerThatIsSlowToTakeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{product: "other", version: "1", waiting: 5}
		s.consume = func(c *scriptConn, tag string, prefetch uint16, _ []byte) {
			for range min(prefetch, 6-uint16(c.next)) {
				c.deliver(tag, s.dialled.Load() > 1, nil)
			}
		}
		const opens = 1 // the first basic.cancel is that of the subscription for one message
		cancels := 0
		s.cancel = func(string) bool { cancels++; return cancels <= opens || s.dialled.Load() > 1 }
		c, stop := s.start(t, Config{Hold: time.Second, CloseTimeout: 100 * time.Millisecond})
		defer stop()
		time.Sleep(1200 * time.Millisecond)
		synctest.Wait()
		st := c.Status()
		if st.Stored != 5 || st.State != source.Reconnecting || st.Kind != KindLost ||
			!strings.Contains(st.Error, `did not answer within 100ms when the messages of queue "q" were given back`) ||
			time.Until(st.NextAttempt) > 2*time.Second {
			t.Errorf("%+v", st)
		}
		time.Sleep(time.Until(st.NextAttempt) + 500*time.Millisecond)
		synctest.Wait()
		if st := c.Status(); st.State != source.Consuming || st.Stored != 5 || st.Held != 5 {
			t.Errorf("%+v", st)
		}
	})
}

// TestSystemErrorsInWords: their numbers are the system's.
func TestSystemErrorsInWords(t *testing.T) {
	in := func(call string, errno syscall.Errno) error {
		return &net.OpError{Op: call, Net: "tcp", Err: os.NewSyscallError(call, errno)}
	}
	check := func(wantKind source.ErrorKind, want string, kind source.ErrorKind, sentence string) {
		t.Helper()
		if kind != wantKind || !strings.Contains(sentence, want) {
			t.Errorf("%s: %s", kind, sentence)
		}
	}
	for _, errno := range refusedErrors() {
		kind, words := dialSentence("h:1", "h", in("connect", errno), time.Second)
		check(KindUnreachable, "connection refused: nothing listens on h:1", kind, words)
	}
	for _, errno := range noRouteErrors() {
		kind, words := dialSentence("h:1", "h", in("connect", errno), time.Second)
		check(KindUnreachable, "there is no route to h:1", kind, words)
	}
	c, err := New(Config{URL: "amqp://h:1/", Queue: "q", Archive: archive.New(archive.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	for _, errno := range resetErrors() {
		kind, words := tlsSentence("h:1", "h", in("read", errno))
		check(KindTLS, "closed the connection during the TLS handshake", kind, words)
		kind, words = c.lostSentence(amqp.ErrClosed, in("read", errno))
		check(KindLost, "was reset", kind, words)
	}
	c.cfg.Spool = openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{})
	for _, errno := range diskFullErrors() {
		e := c.spoolError(&fs.PathError{Op: "write", Path: "00000000000000000001.log", Err: errno})
		check(KindSpool, "is full", e.Kind, e.Msg)
	}
}
