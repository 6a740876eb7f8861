package main

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/headerglass/headerglass/web/demoserver"
	"github.com/headerglass/headerglass/web/selfsigned"
)

// TestChild is headerglass itself when the test binary is started as a child by TestSecrets, and
// nothing otherwise.
func TestChild(t *testing.T) {
	if os.Getenv("TEST_CHILD") == "" {
		return
	}
	ctx, stop := untilSignal()
	defer stop()
	os.Exit(run(ctx, flag.Args(), stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// child is a headerglass in a process of its own.
type child struct {
	cmd      *exec.Cmd
	log      bytes.Buffer // standard error, complete after end
	out      *lineWriter
	lines    []string
	site     string
	insecure *http.Client
}

func startChild(t *testing.T, env []string, args ...string) *child {
	t.Helper()
	return startChildWith(t, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, env...) }, args...)
}

// startChildWith starts one after its command was changed.
func startChildWith(t *testing.T, change func(*exec.Cmd), args ...string) *child {
	t.Helper()
	c := &child{out: &lineWriter{lines: make(chan string, 64)}}
	c.cmd = exec.Command(os.Args[0], append([]string{"-test.run=^TestChild$", "--"}, args...)...)
	c.cmd.Env = append(os.Environ(), "TEST_CHILD=1")
	c.cmd.Stdout, c.cmd.Stderr = c.out, &c.log
	change(c.cmd)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.insecure = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(func() {
		c.insecure.CloseIdleConnections()
		c.end(t)
	})
	select {
	case line := <-c.out.lines:
		c.lines = append(c.lines, line)
		_, site, found := strings.Cut(line, "headerglass: ")
		if !found {
			t.Fatalf("printed %q", line)
		}
		c.site = strings.TrimSuffix(site, "/")
	case <-time.After(20 * time.Second):
		c.end(t)
		t.Fatalf("no address: %s", c.log.String())
	}
	return c
}

// end stops the process and waits for it. It may be called again.
func (c *child) end(t *testing.T) {
	t.Helper()
	if c.cmd.ProcessState != nil {
		return
	}
	if runtime.GOOS == "windows" {
		c.cmd.Process.Kill()
		c.cmd.Wait()
		return
	}
	c.cmd.Process.Signal(syscall.SIGTERM)
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("ended with %v: %s", err, c.log.String())
	}
}

// keyPair writes a new self-signed pair and returns the key's Base64 text.
func keyPair(t *testing.T, certFile, keyFile string) string {
	t.Helper()
	pair := selfsigned.New(t, 1)
	pair.Write(t, certFile, keyFile)
	private, _ := pem.Decode(pair.Key)
	return base64.StdEncoding.EncodeToString(private.Bytes)[:40]
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// No secret that headerglass is given comes out of it again: not in logs, pages, the API, metrics
// or errors, nor, given as @FILE or in the environment, in the process list. The brokers fail in
// different ways, one quoting the password.
func TestSecrets(t *testing.T) {
	const (
		urlPassword  = "q7marked/url+password"
		password     = "q7marked-amqp-password"
		management   = "q7marked-management-password"
		token        = "q7marked-token-0123456789abcdef"
		userPassword = "q7marked-user-password"
	)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	hash, err := bcrypt.GenerateFromPassword([]byte(userPassword), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, at("tokens"), token+"\n")
	writeFile(t, at("users"), "ann:"+string(hash)+"\n")
	clientKey := keyPair(t, at("client.pem"), at("client.key"))
	serverKey := keyPair(t, at("server.pem"), at("server.key"))
	secrets := []string{
		urlPassword,
		url.QueryEscape(urlPassword),
		url.PathEscape(urlPassword),
		password,
		management,
		token,
		userPassword,
		string(hash),
		clientKey,
		serverKey,
		"q7marked",
	}

	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing.Close()
	login, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{Username: "ann", Password: "other"})
	if err != nil {
		t.Fatal(err)
	}
	defer login.Close()
	quoting, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer quoting.Close()
	quoting.Declare("q")

	for _, broker := range []struct{ name, scheme, addr string }{
		{"refuses", "amqp", refusing.Addr().String()},
		{"refuses the login", "amqp", login.Addr().String()},
		{"quotes the password", "amqp", quoting.Addr().String()},
		{"speaks no TLS", "amqps", quoting.Addr().String()},
	} {
		amqpURL := broker.scheme + "://ann:" + url.QueryEscape(urlPassword) + "@" + broker.addr + "/"
		managementURL := "http://ann:" + management + "@" + refusing.Addr().String()
		common := []string{
			"serve",
			"--listen",
			"127.0.0.1:0",
			"--queue",
			"q",
			"--log-level",
			"debug",
			"--token-file",
			at("tokens"),
			"--auth-file",
			at("users"),
			"--tls-cert",
			at("server.pem"),
			"--tls-key",
			at("server.key"),
		}
		if broker.scheme == "amqps" {
			common = append(common, "--cert-file", at("client.pem"), "--key-file", at("client.key"))
		}
		for _, given := range []struct {
			name string
			env  []string
			args []string
		}{
			{"in files", nil, []string{"--log-format", "json", "--amqp", "@" + writeFile(t, at("url"), amqpURL+"\n"), "--management", "@" + writeFile(t, at("management"), managementURL)}},
			{"in the environment", []string{"HEADERGLASS_AMQP=" + amqpURL, "HEADERGLASS_AMQP_USER=ann", "HEADERGLASS_AMQP_PASSWORD=" + password,
				"HEADERGLASS_MANAGEMENT=" + managementURL}, nil},
		} {
			t.Run(broker.name+", secrets "+given.name, func(t *testing.T) {
				quoted := "no access for ann with " + urlPassword
				if given.env != nil {
					quoted += " or " + password
				}
				quoting.SetFaults(demoserver.Faults{Consume: demoserver.Reply{Code: 403, Text: quoted}})
				c := startChild(t, given.env, append(append([]string(nil), common...), given.args...)...)
				shown := map[string]string{}
				c.awaitFailure(t, token)
				for _, path := range []string{"/", "/?q=(", "/m/1", "/api/status", "/api/messages", "/api/keys", "/metrics", "/readyz", "/healthz", "/nowhere", "/debug/pprof/cmdline", "/export.jsonl", "/live"} {
					for _, accept := range []string{"text/html", "*/*"} {
						for _, authorization := range []string{"Bearer " + token,
							"Basic " + base64.StdEncoding.EncodeToString([]byte("ann:"+userPassword)),
							"Bearer wrong-" + token, ""} {
							shown[path+" "+accept] += c.fetch(t, path, accept, authorization)
						}
					}
				}
				if runtime.GOOS == "linux" {
					line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", c.cmd.Process.Pid))
					if err != nil {
						t.Fatal(err)
					}
					shown["the process list"] = string(line)
				}
				c.end(t)
				shown["the log"] = c.log.String()
				shown["standard output"] = strings.Join(c.lines, "\n") + string(c.out.part)
				if !strings.Contains(shown["the log"], "127.0.0.1") {
					t.Errorf("the log says nothing of the broker: %s", shown["the log"])
				}
				for where, text := range shown {
					for _, secret := range secrets {
						if i := strings.Index(text, secret); i >= 0 {
							t.Errorf("%s shows %q: …%s…", where, secret, text[max(i-100, 0):min(i+100, len(text))])
						}
					}
				}
			})
		}
	}
}

// awaitFailure waits until the status tells why the broker cannot be read.
func (c *child) awaitFailure(t *testing.T, token string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		var s struct{ Broker struct{ Error *string } }
		_, body, _ := strings.Cut(c.fetch(t, "/api/status", "application/json", "Bearer "+token), "\r\n\r\n")
		if json.Unmarshal([]byte(body), &s); s.Broker.Error != nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the status tells no error")
		}
	}
}

// fetch returns the response as it came, headers included.
func (c *child) fetch(t *testing.T, path, accept, authorization string) string {
	t.Helper()
	r, err := http.NewRequest("GET", c.site+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	resp, err := c.insecure.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	resp.Header.Write(&b)
	b.WriteString("\r\n")
	io.Copy(&b, resp.Body)
	return b.String()
}
