// Package rabbittest runs RabbitMQ nodes for tests: each has its own name, ports, cookie and data
// in a temporary folder, listens on the loopback interface only, and ends with the test process,
// however that ends.
//
// It needs Debian's package rabbitmq-server, whose start script runs as the caller. On a Debian
// that is older than 13, RabbitMQ 4 runs from a tree, and that needs root or a sudo without a
// password.
package rabbittest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Username and Password are an administrator's on every node.
const (
	Username = "guest"
	Password = "guest"
)

const (
	startTimeout = 2 * time.Minute
	pollEvery    = 50 * time.Millisecond
)

// Options of a node.
type Options struct {
	// Version is the RabbitMQ that it runs.
	Version Version
	// Config is appended to rabbitmq.conf.
	Config string
	// Advanced, if not empty, is advanced.config.
	Advanced string

	registry int    // port of the epmd that it registers with; 0: its own
	cookie   string // that nodes of a cluster share; empty: it makes its own
}

// Node is a running RabbitMQ node.
type Node struct {
	CA *CA // signs the node's certificate, which is for localhost and 127.0.0.1

	installation                                installation
	version                                     string
	dir                                         string
	registry                                    int // port of the epmd that it registers with
	port, tlsPort, httpPort, distPort, epmdPort int
	processes                                   *processes
	client                                      *http.Client
}

// Lazy starts a node when the first test asks for it.
type Lazy struct {
	options Options
	once    sync.Once
	node    *Node
	err     error
}

// NewLazy returns a Lazy. Stop it in TestMain.
func NewLazy(o Options) *Lazy { return &Lazy{options: o} }

// Node starts the node, or returns the one that runs. Without RabbitMQ it skips the test, or fails
// it where RequireEnv is 1.
func (l *Lazy) Node(tb testing.TB) *Node {
	tb.Helper()
	Require(tb, l.options.Version)
	l.once.Do(func() { l.node, l.err = Start(l.options) })
	if l.err != nil {
		tb.Fatal(l.err)
	}
	return l.node
}

// Stop ends the node if it was started.
func (l *Lazy) Stop() {
	l.once.Do(func() {})
	if l.node != nil {
		l.node.Stop()
	}
}

// Start starts a node and waits until it serves AMQP and its HTTP API.
func Start(o Options) (*Node, error) {
	found, err := find(o.Version)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rabbittest")
	if err != nil {
		return nil, err
	}
	n := &Node{
		installation: found, dir: dir,
		client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	if err = n.prepare(o); err == nil {
		err = n.start()
	}
	if err != nil {
		n.Stop()
		return nil, fmt.Errorf("rabbittest: %w", err)
	}
	return n, nil
}

func (n *Node) prepare(o Options) error {
	var err error
	if n.CA, err = NewCA(); err != nil {
		return err
	}
	if n.port, n.tlsPort, n.httpPort, n.distPort, n.epmdPort, err = freePorts(); err != nil {
		return err
	}
	n.registry = cmp.Or(o.registry, n.epmdPort)
	if o.cookie != "" {
		if err := os.WriteFile(filepath.Join(n.dir, ".erlang.cookie"), []byte(o.cookie), 0o400); err != nil {
			return err
		}
	}
	certFile, keyFile, err := n.CA.Issue(n.dir, "server", "localhost", "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	// The largest message is that of RabbitMQ 3, on RabbitMQ 4 too.
	config := fmt.Sprintf(`listeners.tcp.1 = 127.0.0.1:%d
listeners.ssl.1 = 127.0.0.1:%d
ssl_options.cacertfile = %s
ssl_options.certfile = %s
ssl_options.keyfile = %s
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = false
ssl_cert_login_from = common_name
auth_mechanisms.1 = PLAIN
auth_mechanisms.2 = EXTERNAL
management.tcp.ip = 127.0.0.1
management.tcp.port = %d
collect_statistics_interval = 1000
disk_free_limit.absolute = 1MB
max_message_size = 134217728
log.console = false
log.file = rabbit.log
log.file.level = info
%s
`, n.port, n.tlsPort, n.CA.File(n.dir), certFile, keyFile, n.httpPort, o.Config)
	files := map[string]string{
		"rabbitmq.conf":   config,
		"enabled_plugins": "[rabbitmq_management,rabbitmq_auth_mechanism_ssl,rabbitmq_jms_topic_exchange].\n",
		"env.conf":        "",
	}
	if o.Advanced != "" {
		files["advanced.config"] = o.Advanced
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Ports of nodes. They lie below those that systems give to connections, so that nobody has taken
// one when a node comes back.
const firstPort, lastPort = 20_000, 32_000

// freePorts finds ports that nothing listens on now.
func freePorts() (a, b, c, d, e int, err error) {
	var ports [5]int
	for i := range ports {
		l, err := listenBelow()
		if err != nil {
			return 0, 0, 0, 0, 0, err
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports[0], ports[1], ports[2], ports[3], ports[4], nil
}

func listenBelow() (l net.Listener, err error) {
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort) // #nosec G404 -- any will do
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return l, nil
		}
	}
	return nil, err
}

func (n *Node) environment() []string {
	file := func(name string) string { return filepath.Join(n.dir, name) }
	return []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + n.dir,
		"ERL_EPMD_PORT=" + strconv.Itoa(n.registry), "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_NODENAME=" + n.name(), "RABBITMQ_DIST_PORT=" + strconv.Itoa(n.distPort),
		"RABBITMQ_CONF_ENV_FILE=" + file("env.conf"), "RABBITMQ_CONFIG_FILE=" + file("rabbitmq.conf"),
		"RABBITMQ_ADVANCED_CONFIG_FILE=" + file("advanced.config"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + file("enabled_plugins"),
		"RABBITMQ_MNESIA_BASE=" + file("data"), "RABBITMQ_LOG_BASE=" + file("log"), "RABBITMQ_PID_FILE=" + file("pid"),
		// The start script then becomes the node instead of its parent, so that the end of one is
		// the end of the other.
		"RUNNING_UNDER_SYSTEMD=1",
		// Neither the node nor rabbitmqctl starts an epmd, which would outlive them.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}",
		"RABBITMQ_CTL_ERL_ARGS=-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}",
	}
}

func (n *Node) name() string { return fmt.Sprintf("headerglass-%d@localhost", n.port) }

func (n *Node) start() error {
	var err error
	if n.processes, err = launch(n); err != nil {
		return err
	}
	deadline := time.Now().Add(startTimeout)
	if err := n.await(deadline, n.Serves); err != nil {
		return err
	}
	return n.await(deadline, func() error {
		var overview struct {
			Version string `json:"rabbitmq_version"`
		}
		err := n.API(http.MethodGet, "overview", nil, &overview)
		n.version = overview.Version
		return err
	})
}

// Version is what the node says of itself, such as 3.10.8.
func (n *Node) Version() string { return n.version }

// AtLeast reports whether the node's version is major.minor or a later one.
func (n *Node) AtLeast(major, minor int) bool {
	parts := strings.SplitN(n.version, ".", 3)
	first, _ := strconv.Atoi(parts[0])
	second := 0
	if len(parts) > 1 {
		second, _ = strconv.Atoi(parts[1])
	}
	return first > major || first == major && second >= minor
}

// await asks until ready is content.
func (n *Node) await(deadline time.Time, ready func() error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-n.processes.ended:
			return fmt.Errorf("the node ended while it started: %s", n.lastWords())
		case <-tick.C:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the node did not start within %s: %w: %s", startTimeout, err, n.lastWords())
		}
	}
}

// Serves reports whether the node answers a protocol header with connection.start.
func (n *Node) Serves() error {
	c, err := net.DialTimeout("tcp", n.Addr(), time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	var head [1]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	if head[0] != 1 {
		return errors.New("no method frame")
	}
	return nil
}

func (n *Node) lastWords() string {
	var all []byte
	for _, name := range []string{"output", "log/rabbit.log"} {
		b, _ := os.ReadFile(
			filepath.Join(n.dir, name),
		) // #nosec G304 -- test code: files of the node that a test starts
		all = append(all, b[max(0, len(b)-2000):]...)
	}
	return string(bytes.ToValidUTF8(all, []byte("?")))
}

// Log is what the node has logged.
func (n *Node) Log() string {
	b, _ := os.ReadFile(filepath.Join(n.dir, "log", "rabbit.log"))
	return string(b)
}

// Stop ends the node and removes its data.
func (n *Node) Stop() {
	n.Kill()
	_ = os.RemoveAll(n.dir)
}

// Kill ends the node at once, as kill -9 does. Restart starts it again on the same data and ports.
func (n *Node) Kill() {
	if n.processes != nil {
		n.processes.kill()
		n.processes = nil
	}
}

// Terminate asks the node to end in good order, as SIGTERM does, and waits until it has. Restart
// starts it again.
func (n *Node) Terminate() error {
	if n.processes == nil {
		return nil
	}
	if err := n.processes.node.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-n.processes.ended:
	case <-time.After(startTimeout):
	}
	n.Kill()
	return nil
}

// Restart starts a killed node again and waits until it serves.
func (n *Node) Restart() error {
	if n.processes != nil {
		return errors.New("rabbittest: the node runs")
	}
	return n.start()
}

// Dir is the node's folder; tests may keep files there.
func (n *Node) Dir() string { return n.dir }

// Addr is host:port of the AMQP listener.
func (n *Node) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.port)) }

// URL is the AMQP URL of a virtual host for the administrator.
func (n *Node) URL(vhost string) string { return n.amqpURL("amqp", "127.0.0.1", n.port, vhost) }

// TLSURL is the same over TLS, for this host name.
func (n *Node) TLSURL(host, vhost string) string { return n.amqpURL("amqps", host, n.tlsPort, vhost) }

func (n *Node) amqpURL(scheme, host string, port int, vhost string) string {
	u := url.URL{
		Scheme:  scheme,
		User:    url.UserPassword(Username, Password),
		Host:    net.JoinHostPort(host, strconv.Itoa(port)),
		Path:    "/" + vhost,
		RawPath: "/" + url.PathEscape(vhost),
	}
	return u.String()
}

// ManagementURL is that of the HTTP API, without credentials.
func (n *Node) ManagementURL() string { return fmt.Sprintf("http://127.0.0.1:%d", n.httpPort) }

// API calls the HTTP API as the administrator: path is below /api/, request and answer are JSON and
// may be nil.
func (n *Node) API(method, path string, request, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var body io.Reader
	if request != nil {
		b, err := json.Marshal(request)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, n.ManagementURL()+"/api/"+path, body)
	if err != nil {
		return err
	}
	req.SetBasicAuth(Username, Password)
	resp, err := n.client.Do(req)
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
func (n *Node) Do(tb testing.TB, method, path string, request any) {
	tb.Helper()
	if err := n.API(method, path, request, nil); err != nil {
		tb.Fatal(err)
	}
}

// VHost creates a virtual host for the test, open to the administrator, and deletes it afterwards.
func (n *Node) VHost(tb testing.TB) string {
	tb.Helper()
	name := "test-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, tb.Name())
	n.Do(tb, http.MethodPut, "vhosts/"+name, struct{}{})
	n.Do(tb, http.MethodPut, "permissions/"+name+"/"+Username, map[string]string{
		"configure": ".*",
		"write":     ".*",
		"read":      ".*",
	})
	tb.Cleanup(func() {
		if n.processes != nil {
			_ = n.API(http.MethodDelete, "vhosts/"+name, nil, nil)
		}
	})
	return name
}

// Eval evaluates an Erlang expression on the node with rabbitmqctl. It takes a second or two.
func (n *Node) Eval(tb testing.TB, expression string) string {
	tb.Helper()
	cmd := n.installation.command(n.dir, n.environment(), "rabbitmqctl", "--node", n.name(), "eval", expression)
	cmd.SysProcAttr = follow(n.processes.epmd.Process.Pid)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("rabbittest: eval %s: %v: %s", expression, err, out)
	}
	return string(out)
}
