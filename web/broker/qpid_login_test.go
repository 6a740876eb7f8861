//go:build qpid

package broker

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
)

// TestQpidLogin: each way to log in that Qpid offers is taken.
func TestQpidLogin(t *testing.T) {
	c := dialQpid(t)
	c.declare(t, "q", nil)
	c.publish(t, "", "q", 0, 3)
	for _, tc := range []struct {
		name string
		port rabbittest.QpidPort
		sasl string
	}{
		{"what fits", rabbittest.QpidPlain, ""},
		{"PLAIN", rabbittest.QpidPlain, "plain"},
		{"SCRAM-SHA-256", rabbittest.QpidSCRAM256, ""},
		{"SCRAM-SHA-256 chosen", rabbittest.QpidPlain, "scram-sha-256"},
		{"SCRAM-SHA-1", rabbittest.QpidSCRAM1, ""},
		{"SCRAM-SHA-1 chosen", rabbittest.QpidPlain, "scram-sha-1"},
		{"CRAM-MD5", rabbittest.QpidCRAM, ""},
		{"CRAM-MD5 chosen", rabbittest.QpidPlain, "cram-md5"},
		{"ANONYMOUS", rabbittest.QpidAnonymous, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url := c.qpid.URL(tc.port, c.vhost)
			if tc.port == rabbittest.QpidAnonymous {
				url = strings.Replace(url, "guest:guest@", "", 1)
			}
			r := run(t, Config{URL: url, SASL: tc.sasl, Queue: "q"})
			r.untilStored(t, 3)
		})
	}
}

// TestQpidClientCertificate: EXTERNAL takes the user's name from it, and without one there is a
// sentence.
func TestQpidClientCertificate(t *testing.T) {
	c := dialQpid(t)
	c.declare(t, "q", nil)
	c.publish(t, "", "q", 0, 3)
	dir := t.TempDir()
	cfg := Config{URL: c.qpid.URL(rabbittest.QpidTLS, c.vhost), CAFile: c.qpid.CA.File(dir), Queue: "q"}
	bare := run(t, cfg)
	until(t, "it has failed", func() bool { return bare.Status().Error != "" })
	if st := bare.Status(); st.Kind != KindTLS || !strings.Contains(st.Error, "asks for a client certificate") {
		t.Errorf("%s: %s", st.Kind, st.Error)
	}
	var err error
	if cfg.CertFile, cfg.KeyFile, err = c.qpid.CA.Issue(dir, "client", "robot"); err != nil {
		t.Fatal(err)
	}
	r := run(t, cfg)
	r.untilStored(t, 3)
	if st := r.Status(); !strings.HasPrefix(st.URL, "amqps://127.0.0.1:") {
		t.Errorf("it names a user: %s", st.URL)
	}
}

// TestQpidErrorsInWords: each failure has words and a kind of its own.
func TestQpidErrorsInWords(t *testing.T) {
	c := dialQpid(t)
	c.declare(t, "q", nil)
	c.declare(t, "solo", nil)
	if _, err := c.Consume("solo", "", false, true, false, false, nil); err != nil {
		t.Fatal(err)
	}
	at := func(p rabbittest.QpidPort) string { return c.qpid.URL(p, c.vhost) }
	const secret = "s3cr3t/word"
	for _, tc := range []struct {
		name  string
		cfg   Config
		kind  source.ErrorKind
		words string
	}{
		{"password", Config{
			URL:      c.url(),
			Password: secret,
			Queue:    "q",
		}, KindLogin, `refused the login of user "guest"`},
		{"password, PLAIN", Config{
			URL:      c.url(),
			Password: secret,
			SASL:     "plain",
			Queue:    "q",
		}, KindLogin, `wrong user name or password (530)`},
		{"password, CRAM-MD5", Config{
			URL:      at(rabbittest.QpidCRAM),
			Password: secret,
			Queue:    "q",
		}, KindLogin, `refused the login of user "guest"`},
		{"user", Config{
			URL:      c.url(),
			Username: "nobody",
			Password: secret,
			Queue:    "q",
		}, KindLogin, `refused the login of user "nobody"`},
		{"no mechanism fits", Config{
			URL:   at(rabbittest.QpidCRAM),
			SASL:  "plain",
			Queue: "q",
		}, KindLogin, `offers the login mechanisms CRAM-MD5, and none of them fits: tried PLAIN`},
		{"vhost", Config{
			URL:   c.qpid.URL(rabbittest.QpidPlain, "nowhere"),
			Queue: "q",
		}, KindVHost, `vhost "nowhere" does not exist`},
		{"queue", Config{URL: c.url(), Queue: "nothing"}, KindNotFound, `queue "nothing" does not exist`},
		{"exclusive consumer", Config{URL: c.url(), Queue: "solo"}, KindLocked, "has an exclusive consumer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := run(t, tc.cfg)
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%+v", r.Status())
				}
			})
			st := r.untilKind(t, tc.kind)
			if !strings.Contains(st.Error, tc.words) || strings.Contains(st.Error, "s3cr3t") {
				t.Errorf("says %q", st.Error)
			}
		})
	}
}
