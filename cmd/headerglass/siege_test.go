//go:build linux && siege

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"golang.org/x/sys/unix"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/demoserver"
	"github.com/headerglass/headerglass/web/demoserver/traffic"
)

// siege is a headerglass of its own process under load that nobody means well with.
type siege struct {
	site string // host and port
	wg   sync.WaitGroup
}

// Addresses of the two parties: what one does must not be the other's loss.
const (
	hostile = "127.0.0.66"
	person  = "127.0.0.9"
)

// besieged says to the test binary what to besiege: the besiegers are a process of their own, as
// they would be on machines of their own.
const besieged = "HEADERGLASS_BESIEGED"

// TestSiege drives at once what takes most memory to answer, by clients that do not read, for a
// minute. The process stays within --memory, 15 %, 64 MiB and the budget of work in progress. It
// goes on reading, and one well-behaved person at another address gets each page, soon: where the
// machine is so busy with something else that pages take longer before the siege than they do on an
// idle one, by as many times as long, and twice at most. This is of use only where nothing else
// runs, so it is a step of its own of cmd/check.
func TestSiege(t *testing.T) {
	if site := os.Getenv(besieged); site != "" {
		besiege(t, site)
		return
	}
	const (
		memory  = 64 << 20
		budget  = 32 << 20
		rate    = 1000 // messages a second
		alone   = 5 * time.Second
		last    = time.Minute
		arrive  = 0.9 // of the rate without the siege
		soonest = 200 * time.Millisecond
		idle    = 25 * time.Millisecond // for a page without the siege on an idle machine, at the 95th percentile
	)
	broker, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	broker.Declare("q")
	dir := t.TempDir()
	program := filepath.Join(dir, "headerglass")
	// Not the test binary: the race detector takes several times the memory.
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	keyPair(t, cert, key)
	c := startChildWith(t, func(cmd *exec.Cmd) {
		cmd.Path = program
		cmd.Args = []string{
			program, "serve", "--amqp", broker.URL(), "--queue", "q", "--mode", "drain", "--memory", "64MiB",
			"--spool", filepath.Join(dir, "spool"), "--spool-size", "512MiB", "--spool-drop-oldest",
			"--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--log-level", "error",
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	s := &siege{site: strings.TrimPrefix(c.site, "https://")}
	defer s.wg.Wait()
	defer stop()
	s.wg.Go(func() { publish(ctx, broker, rate) })
	client := s.client(person)
	defer client.CloseIdleConnections()
	arrived := func() float64 {
		return metric(t, client, c.site, "headerglass_messages_stored") +
			metric(t, client, c.site, "headerglass_messages_evicted_total")
	}
	for end := time.Now().Add(time.Minute); arrived() < 2*rate; {
		if time.Now().After(end) {
			t.Fatal("no messages")
		}
		<-time.After(50 * time.Millisecond)
	}
	visit := &visits{client: client, site: c.site, failed: map[string]int{}}
	unbesieged := visit.during(alone, arrived)
	calm := visit.percentile(95)

	attackers := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSiege$", "-test.timeout=5m")
	attackers.Env = append(os.Environ(), besieged+"="+s.site)
	hold, err := attackers.StdinPipe() // they end when it is closed
	if err != nil {
		t.Fatal(err)
	}
	if err := attackers.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		hold.Close()
		_ = attackers.Wait()
	}()
	visit.took = nil
	got := visit.during(last, arrived)
	peak := rss(t, c.cmd.Process.Pid, "VmHWM")
	p95 := visit.percentile(95)
	t.Logf("peak RSS %d MiB; %.0f of %.0f messages/s; a page %v at the median, %v at the 95th percentile, %v at most;"+
		" without the siege %v at the 95th",
		peak>>20, got, unbesieged, visit.percentile(50), p95, visit.percentile(100), calm)
	t.Logf("the budget: %s", budgetFigures(t, client, c.site))
	if most := int64(memory*115/100 + 64<<20 + budget); peak > most {
		t.Errorf("the process took %d MiB, want at most %d", peak>>20, most>>20)
	}
	if got < arrive*unbesieged {
		t.Errorf("%.0f messages/s arrived, %.0f without the siege, want 9 of 10", got, unbesieged)
	}
	if most := min(soonest*max(calm, idle)/idle, 2*soonest); p95 > most {
		t.Errorf("a page took %v at the 95th percentile, want at most %v", p95, most)
	}
	for what, count := range visit.failed {
		t.Errorf("%d of %d times %s", count, len(visit.took), what)
	}
}

// visits are the pages that one person looks at, several a second.
type visits struct {
	client *http.Client
	site   string
	took   []time.Duration
	failed map[string]int // by what was wrong
}

// during visits for so long, and returns how many messages arrived in a second.
func (v *visits) during(d time.Duration, arrived func() float64) float64 {
	before, begin := arrived(), time.Now()
	for i := 0; time.Since(begin) < d; i++ {
		v.look([]string{"/", "/?q=tenant", "/m/" + fmt.Sprint(int(before)), "/api/status"}[i%4])
		<-time.After(100 * time.Millisecond)
	}
	took := time.Since(begin).Seconds()
	return (arrived() - before) / took
}

func (v *visits) look(path string) {
	at := time.Now()
	resp, err := v.client.Get(v.site + path)
	if err != nil {
		v.failed[err.Error()]++
		return
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	v.took = append(v.took, time.Since(at))
	if err != nil || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusGone {
		v.failed[fmt.Sprint(path, " ", resp.Status, " ", err)]++
	}
}

func (v *visits) percentile(p int) time.Duration {
	sorted := slices.Sorted(slices.Values(v.took))
	return sorted[max(len(sorted)*p/100-1, 0)]
}

// besiege attacks an explorer until standard input ends.
func besiege(t *testing.T, site string) {
	ctx, stop := context.WithCancel(t.Context())
	s := &siege{site: site}
	defer s.wg.Wait()
	defer stop()
	for _, attack := range []func(context.Context){s.pages, s.streams, s.exports, s.feeds, s.tables, s.diffs, s.idle} {
		attack(ctx)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// publish sends so many messages a second: what the demo sends, among them every half second one of
// 64 KiB with a header "big", every ten seconds a table of four million fields, and every twenty a
// body of 125 MiB, RabbitMQ 3's limit.
func publish(ctx context.Context, broker *demoserver.Server, rate int) {
	g := traffic.New(1)
	table := func(fields []byte) []byte {
		return wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "headers", Raw: fields})
	}
	big := demoserver.Message{Body: bytes.Repeat([]byte{'x'}, 64<<10)}
	big.Header = wire.AppendContentHeaderPayload(nil, uint64(len(big.Body)), wire.Property{
		Name: "headers", Raw: encode.Table(func(e *encode.Encoder) { e.Str("big", "yes") }),
	})
	const octets = 8_000_000
	endless := append([]byte{octets >> 24, octets >> 16 & 0xff, octets >> 8 & 0xff, octets & 0xff},
		bytes.Repeat([]byte{0, 'V'}, octets/2)...)
	huge := demoserver.Message{RoutingKey: "huge", Header: table(endless)}
	large := demoserver.Message{RoutingKey: "large", Body: make([]byte, 125<<20)}
	large.Header = wire.AppendContentHeaderPayload(nil, uint64(len(large.Body)))
	begin := time.Now()
	for i := 0; ; i++ {
		m := g.Next()
		switch {
		case i%(20*rate) == 3*rate:
			m = large
		case i%(10*rate) == rate:
			m = huge
		case i%(rate/2) == 0:
			m = big
		default:
			m.Body = append(m.Body, make([]byte, 1024)...)
			m.Header = bytes.Clone(m.Header)
			for j := range 8 {
				m.Header[4+j] = byte(len(m.Body) >> (56 - 8*j))
			}
		}
		if broker.Publish(ctx, "q", m) != nil {
			return
		}
		due := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if wait := time.Until(due); wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
		}
	}
}

func dialer(addr string) *net.Dialer {
	return &net.Dialer{
		Timeout:   20 * time.Second,
		LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)},
	}
}

// deaf makes a connection take as little as a peer can without reading.
func deaf(d *net.Dialer) *net.Dialer {
	d.Control = func(_, _ string, c syscall.RawConn) error {
		return c.Control(
			func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) },
		)
	}
	return d
}

func (s *siege) client(addr string) *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DialContext:     dialer(addr).DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
}

func (s *siege) dial(ctx context.Context, d *net.Dialer, protos ...string) (*tls.Conn, error) {
	c, err := d.DialContext(ctx, "tcp", s.site)
	if err != nil {
		return nil, err
	}
	tc := tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: protos})
	if err := tc.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return tc, nil
}

// again runs n attackers, each of them until ctx is done: what the explorer ends begins anew.
func (s *siege) again(ctx context.Context, n int, attack func(ctx context.Context, i int)) {
	for i := range n {
		s.wg.Go(func() {
			for ctx.Err() == nil {
				attack(ctx, i)
				select {
				case <-time.After(2 * time.Second):
				case <-ctx.Done():
				}
			}
		})
	}
}

// unread asks for something and reads nothing of the answer, until the explorer hangs up.
func (s *siege) unread(ctx context.Context, target string) {
	c, err := s.dial(ctx, deaf(dialer(hostile)))
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if _, err := io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n"); err != nil {
		return
	}
	raw := c.NetConn().(*net.TCPConn)
	for ctx.Err() == nil {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
		}
		if closed(raw) {
			return
		}
	}
}

// closed reports whether the peer has closed a connection whose data is not read.
func closed(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	var info *unix.TCPInfo
	_ = raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	const established = 1
	return err != nil || info == nil || info.State != established
}

func longFilter() string {
	return "EXISTS(tenant) OR tenant <> '" + strings.Repeat("é", 4900) + "'"
}

func (s *siege) pages(ctx context.Context) {
	target := "/?limit=1000&q=" + url.QueryEscape(longFilter())
	s.again(ctx, 100, func(ctx context.Context, _ int) { s.unread(ctx, target) })
}

// streams are pages on one HTTP/2 connection whose window stays shut.
func (s *siege) streams(ctx context.Context) {
	s.again(ctx, 1, func(ctx context.Context, _ int) {
		c, err := s.dial(ctx, dialer(hostile), "h2")
		if err != nil {
			return
		}
		defer c.Close()
		defer context.AfterFunc(ctx, func() { c.Close() })()
		_, _ = io.WriteString(c, http2.ClientPreface)
		f := http2.NewFramer(c, c)
		_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		var block bytes.Buffer
		enc := hpack.NewEncoder(&block)
		next := uint32(1)
		ask := func() {
			block.Reset()
			for _, h := range [][2]string{
				{":method", "GET"}, {":scheme", "https"}, {":authority", "localhost"},
				{":path", "/?limit=1000&q=" + url.QueryEscape(longFilter())}, {"accept", "text/html"},
			} {
				_ = enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]})
			}
			rest := block.Bytes()
			first := rest[:min(len(rest), 16<<10)]
			rest = rest[len(first):]
			_ = f.WriteHeaders(http2.HeadersFrameParam{
				StreamID: next, BlockFragment: first, EndStream: true, EndHeaders: len(rest) == 0,
			})
			for len(rest) > 0 {
				part := rest[:min(len(rest), 16<<10)]
				rest = rest[len(part):]
				_ = f.WriteContinuation(next, len(rest) == 0, part)
			}
			next += 2
		}
		for range 90 {
			ask()
		}
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					_ = f.WriteSettingsAck()
				}
			case *http2.PingFrame:
				_ = f.WritePing(true, frame.Data)
			case *http2.RSTStreamFrame:
				ask()
			}
		}
	})
}

// exports are read at 50 KB/s, each begun a while after the one before.
func (s *siege) exports(ctx context.Context) {
	client := s.client(hostile)
	client.Timeout = 0
	s.again(ctx, 64, func(ctx context.Context, i int) {
		select {
		case <-time.After(time.Duration(i) * 100 * time.Millisecond):
		case <-ctx.Done():
		}
		path := []string{"/export.jsonl?q=big", "/export.zip?q=big", "/export.pcapng", "/export.csv?cols=big"}[i%4]
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.site+path, nil)
		resp, err := client.Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		for {
			if _, err := io.CopyN(io.Discard, resp.Body, 5<<10); err != nil {
				return
			}
			<-time.After(100 * time.Millisecond)
		}
	})
}

// feeds have a filter of 235 conditions each, no two the same, and count the values of a header.
func (s *siege) feeds(ctx context.Context) {
	d := websocket.Dialer{
		NetDialContext:  dialer(hostile).DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	s.again(ctx, 100, func(ctx context.Context, i int) {
		var filter []string
		for j := range 235 {
			filter = append(filter, fmt.Sprintf("h%d LIKE '%%%d_a%%b%d%%'", j, i, j))
		}
		q := url.Values{"q": {strings.Join(filter, " OR ")}, "facet": {"tenant"}}
		ws, _, err := d.DialContext(ctx, "wss://"+s.site+"/live?"+q.Encode(), http.Header{"Origin": {"https://" + s.site}})
		if err != nil {
			return
		}
		defer ws.Close()
		defer context.AfterFunc(ctx, func() { ws.Close() })()
		for {
			var m struct {
				T  string
				To uint64
			}
			if ws.ReadJSON(&m) != nil {
				return
			}
			if m.T == "rows" && ws.WriteJSON(map[string]uint64{"ack": m.To}) != nil {
				return
			}
		}
	})
}

// huge is the number of the newest message with an endless table.
func (s *siege) huge(ctx context.Context, client *http.Client) string {
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet,
		"https://"+s.site+"/api/messages?limit=1&q=$routing_key%3D'huge'", nil)
	resp, err := client.Do(req)
	if err != nil {
		return "1"
	}
	defer resp.Body.Close()
	var list struct{ Messages []struct{ Seq json.Number } }
	if json.NewDecoder(resp.Body).Decode(&list) != nil || len(list.Messages) == 0 {
		return "1"
	}
	return list.Messages[0].Seq.String()
}

// tables are answered whole to who does not read, and to who does.
func (s *siege) tables(ctx context.Context) {
	client := s.client(hostile)
	s.again(ctx, 8, func(ctx context.Context, i int) {
		seq := s.huge(ctx, client)
		switch i % 4 {
		case 0:
			s.unread(ctx, "/api/messages/"+seq)
		case 1:
			s.unread(ctx, "/m/"+seq)
		case 2:
			s.unread(ctx, "/export.zip?q=%24routing_key%3Dhuge")
		case 3:
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.site+"/api/messages/"+seq, nil)
			if resp, err := client.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
	})
}

func (s *siege) diffs(ctx context.Context) {
	client := s.client(hostile)
	s.again(ctx, 20, func(ctx context.Context, _ int) {
		seq := s.huge(ctx, client)
		s.unread(ctx, "/diff?m="+seq+"&m=1&m=2&m=3")
	})
}

// idle connections ask once and are silent.
func (s *siege) idle(ctx context.Context) {
	s.again(ctx, 3100, func(ctx context.Context, i int) {
		select {
		case <-time.After(time.Duration(i) * 10 * time.Millisecond):
		case <-ctx.Done():
			return
		}
		c, err := dialer(hostile).DialContext(ctx, "tcp", s.site)
		if err != nil {
			return
		}
		defer c.Close()
		defer context.AfterFunc(ctx, func() { c.Close() })()
		tc := tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		if _, err := io.WriteString(tc, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, tc)
		select {
		case <-time.After(20 * time.Second):
		case <-ctx.Done():
		}
	})
}

// rss is a figure of /proc/PID/status in bytes.
func rss(t *testing.T, pid int, name string) int64 {
	t.Helper()
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatalf("no %s of process %d", name, pid)
	return 0
}

func metrics(t *testing.T, client *http.Client, site string) string {
	t.Helper()
	resp, err := client.Get(site + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func metric(t *testing.T, client *http.Client, site, name string) float64 {
	t.Helper()
	for line := range strings.Lines(metrics(t, client, site)) {
		what, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if what, _, _ = strings.Cut(what, "{"); what == name { // there is one source
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func budgetFigures(t *testing.T, client *http.Client, site string) string {
	all := regexp.MustCompile(`(?m)^(headerglass_budget.*|headerglass_archive_pinned_bytes.*)$`)
	return strings.Join(all.FindAllString(metrics(t, client, site), -1), "; ")
}
