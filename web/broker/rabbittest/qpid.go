package rabbittest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// QpidVersion is that of the Qpid Broker-J that tests run against.
const QpidVersion = "10.1.0"

// QpidFolder is the folder below the user's cache that holds Qpid's jars. The command check fills
// it.
func QpidFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "headerglass", "qpid-"+QpidVersion), nil
}

// HasQpid reports whether a folder holds Qpid's jars.
func HasQpid(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "qpid-broker-"+QpidVersion+".jar"))
	return err == nil
}

// QpidPort is a port of a Qpid node, named after the way to log in there.
type QpidPort string

// The ports of a Qpid node. QpidPlain offers every way that has a password.
const (
	QpidPlain     QpidPort = "plain"
	QpidCRAM      QpidPort = "cram"
	QpidSCRAM1    QpidPort = "scram1"
	QpidSCRAM256  QpidPort = "scram256"
	QpidAnonymous QpidPort = "anonymous"
	QpidTLS       QpidPort = "tls" // with a client certificate and EXTERNAL
	qpidHTTP      QpidPort = "http"
)

// Qpid is a running Qpid Broker-J. What is durable in it survives Kill.
type Qpid struct {
	CA        *CA // signed the server's certificate, and is trusted to sign those of clients
	dir, jars string
	ports     map[QpidPort]int
	java      *exec.Cmd
	watchdog  *exec.Cmd
	lifeline  io.Closer
	ended     chan struct{}
	client    *http.Client
}

//go:embed qpid.json
var qpidConfig string

// LazyQpid starts a Qpid when the first test asks for it.
type LazyQpid struct {
	once sync.Once
	node *Qpid
	err  error
}

// Node starts the broker, or returns the one that runs. Without Qpid's jars it skips the test, or
// fails it where RequireEnv is 1.
func (l *LazyQpid) Node(tb testing.TB) *Qpid {
	tb.Helper()
	folder, err := QpidFolder()
	if err == nil && !HasQpid(folder) {
		err = fmt.Errorf("Qpid Broker-J is not in %s", folder)
	}
	if err == nil {
		_, err = exec.LookPath("java")
	}
	switch {
	case err == nil:
	case os.Getenv(RequireEnv) == "1":
		tb.Fatalf("required, but: %v", err)
	default:
		tb.Skipf("%v; go run ./cmd/check -brokers all -only tools brings it there", err)
	}
	l.once.Do(func() { l.node, l.err = StartQpid(folder) })
	if l.err != nil {
		tb.Fatal(l.err)
	}
	return l.node
}

// Stop ends the broker if it was started.
func (l *LazyQpid) Stop() {
	l.once.Do(func() {})
	if l.node != nil {
		l.node.Stop()
	}
}

// StartQpid starts a broker from a folder of jars and waits until it serves.
func StartQpid(jars string) (*Qpid, error) {
	dir, err := os.MkdirTemp("", "rabbittest-qpid")
	if err != nil {
		return nil, err
	}
	q := &Qpid{
		dir: dir, jars: jars, ports: map[QpidPort]int{},
		client: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	if err = q.prepare(); err == nil {
		err = q.start()
	}
	if err != nil {
		q.Stop()
		return nil, fmt.Errorf("rabbittest: %w", err)
	}
	return q, nil
}

func (q *Qpid) prepare() error {
	var err error
	if q.CA, err = NewCA(); err != nil {
		return err
	}
	q.CA.File(q.dir)
	if _, _, err := q.CA.IssueRSA(q.dir, "server", "localhost", "localhost", "127.0.0.1"); err != nil {
		return err
	}
	config := strings.ReplaceAll(qpidConfig, "{dir}", q.dir)
	for _, p := range []QpidPort{QpidPlain, QpidCRAM, QpidSCRAM1, QpidSCRAM256, QpidAnonymous, QpidTLS, qpidHTTP} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close()
		q.ports[p] = l.Addr().(*net.TCPAddr).Port
		config = strings.ReplaceAll(config, "{"+string(p)+"}", strconv.Itoa(q.ports[p]))
	}
	return os.WriteFile(filepath.Join(q.dir, "initial.json"), []byte(config), 0o600)
}

func (q *Qpid) start() error {
	out, err := os.OpenFile(filepath.Join(q.dir, "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	java := exec.Command( // #nosec G204 -- test code: the broker that a test starts
		"java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-Dqpid.work_dir="+q.dir,
		"-cp", filepath.Join(q.jars, "*"), "org.apache.qpid.server.Main",
		"-st", "JSON", "-sp", filepath.Join(q.dir, "config.json"), "-icp", filepath.Join(q.dir, "initial.json"),
	)
	java.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + q.dir, "QPID_WORK=" + q.dir}
	java.Dir, java.Stdout, java.Stderr, java.SysProcAttr = q.dir, out, out, lead()
	if err := java.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	q.java, q.ended = java, ended
	go func() {
		_ = java.Wait()
		close(ended)
	}()
	if q.watchdog = watch(java.Process.Pid, ""); q.watchdog != nil {
		if q.lifeline, err = q.watchdog.StdinPipe(); err == nil {
			err = q.watchdog.Start()
		}
		if err != nil {
			return err
		}
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(startTimeout); ; {
		err := q.API(http.MethodGet, "broker", nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("Qpid ended while it started: %s", q.lastWords())
		case <-tick.C:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("Qpid did not start within %s: %w: %s", startTimeout, err, q.lastWords())
		}
	}
}

func (q *Qpid) lastWords() string {
	b, _ := os.ReadFile(filepath.Join(q.dir, "output"))
	return string(bytes.ToValidUTF8(b[max(0, len(b)-2000):], []byte("?")))
}

// Kill ends the broker at once, as kill -9 does. Restart starts it again on the same data and
// ports.
func (q *Qpid) Kill() {
	if q.java == nil {
		return
	}
	killGroup(q.java.Process)
	<-q.ended
	q.java = nil
	if q.lifeline != nil {
		if q.watchdog.Process != nil {
			_ = q.watchdog.Process.Kill() // before its input ends: the number may be another's by then
			_ = q.watchdog.Wait()
		}
		_ = q.lifeline.Close()
	}
}

// Restart starts a killed broker again and waits until it serves.
func (q *Qpid) Restart() error {
	if q.java != nil {
		return errors.New("rabbittest: Qpid runs")
	}
	return q.start()
}

// Stop ends the broker and removes its data.
func (q *Qpid) Stop() {
	q.Kill()
	_ = os.RemoveAll(q.dir)
}

// URL is the AMQP URL of a virtual host for the administrator.
func (q *Qpid) URL(port QpidPort, vhost string) string {
	u := url.URL{
		Scheme: "amqp", User: url.UserPassword(Username, Password), Path: "/" + vhost,
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(q.ports[port])),
	}
	if port == QpidTLS {
		u.Scheme, u.User = "amqps", nil
	}
	return u.String()
}

// API calls the HTTP API as the administrator: path is below /api/latest/, request and answer are
// JSON and may be nil.
func (q *Qpid) API(method, path string, request, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var body io.Reader
	if request != nil {
		b, err := json.Marshal(request)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	address := fmt.Sprintf("http://127.0.0.1:%d/api/latest/%s", q.ports[qpidHTTP], path)
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	req.SetBasicAuth(Username, Password)
	req.Header.Set("Content-Type", "application/json")
	resp, err := q.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("rabbittest: %s %s: %s: %s", method, path, resp.Status, strings.TrimSpace(string(b)))
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(b, answer)
}

// Do is API for tests: it fails the test when the call fails.
func (q *Qpid) Do(tb testing.TB, method, path string, request any) {
	tb.Helper()
	if err := q.API(method, path, request, nil); err != nil {
		tb.Fatal(err)
	}
}

// VHost creates a virtual host for the test, which keeps its messages on disk, and deletes it
// afterwards.
func (q *Qpid) VHost(tb testing.TB) string {
	tb.Helper()
	name := "test-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, tb.Name())
	q.Do(tb, http.MethodPut, "virtualhostnode/"+name, map[string]string{
		"type": "JSON", "virtualHostInitialConfiguration": `{"type":"DERBY"}`,
	})
	tb.Cleanup(func() {
		if q.java != nil {
			_ = q.API(http.MethodDelete, "virtualhostnode/"+name, nil, nil)
		}
	})
	return name
}

// Queue creates a durable queue with attributes of Qpid's own.
func (q *Qpid) Queue(tb testing.TB, vhost, name string, attributes map[string]any) {
	tb.Helper()
	if attributes == nil {
		attributes = map[string]any{}
	}
	attributes["durable"] = true
	q.Do(tb, http.MethodPut, "queue/"+vhost+"/"+vhost+"/"+name, attributes)
}
