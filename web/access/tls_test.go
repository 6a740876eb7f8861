package access

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/web/selfsigned"
)

// shower is a listener that shows a certificate to whoever connects.
type shower struct {
	t         *testing.T
	clock     *clock
	log       *bytes.Buffer
	cert, key string // file names
	addr      string
}

func newShower(t *testing.T) *shower {
	t.Helper()
	dir := t.TempDir()
	f := &shower{
		t:     t,
		clock: newClock(),
		log:   new(bytes.Buffer),
		cert:  filepath.Join(dir, "c.pem"),
		key:   filepath.Join(dir, "k.pem"),
	}
	selfsigned.New(t, 1).Write(t, f.cert, f.key)
	cfg, err := TLSConfig(f.cert, f.key, slog.New(slog.NewTextHandler(f.log, nil)), f.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.addr = l.Addr().String()
	srv := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l)
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
	return f
}

// handshake returns the serial number of the certificate that the server shows.
func (f *shower) handshake() int64 {
	f.t.Helper()
	c, err := tls.Dial("tcp", f.addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestCertificateIsReadAgain(t *testing.T) {
	f := newShower(t)
	if n := f.handshake(); n != 1 {
		t.Fatalf("certificate %d", n)
	}
	selfsigned.New(t, 2).Write(t, f.cert, f.key)
	if n := f.handshake(); n != 1 {
		t.Errorf("certificate %d before a second has passed", n)
	}
	f.clock.forward(reloadInterval)
	if n := f.handshake(); n != 2 {
		t.Errorf("certificate %d, want the new one", n)
	}

	// The certificate of one pair with the key of another, as in the middle of a change.
	old, err := os.ReadFile(f.key)
	if err != nil {
		t.Fatal(err)
	}
	selfsigned.New(t, 3).Write(t, f.cert, f.key)
	fresh, err := os.ReadFile(f.key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.key, string(old))
	for range 3 {
		f.clock.forward(reloadInterval)
		if n := f.handshake(); n != 2 {
			t.Errorf("certificate %d while the new pair does not match", n)
		}
	}
	if n := strings.Count(f.log.String(), "the old one stays"); n != 1 {
		t.Errorf("logged %d times: %s", n, f.log)
	}
	write(t, f.key, string(fresh))
	f.clock.forward(reloadInterval)
	if n := f.handshake(); n != 3 {
		t.Errorf("certificate %d, want the newest", n)
	}
	if strings.Contains(f.log.String(), "PRIVATE") {
		t.Error("the log shows the key")
	}
}

func TestTLSConfigNeedsAPair(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "c"), filepath.Join(dir, "k")
	if _, err := TLSConfig(cert, key, nil, nil); err == nil {
		t.Error("files that do not exist were read")
	}
	selfsigned.New(t, 1).Write(t, cert, key)
	selfsigned.New(t, 2).Write(t, filepath.Join(dir, "c2"), key)
	if _, err := TLSConfig(cert, key, nil, nil); err == nil {
		t.Error("a key that does not fit was taken")
	}
}

func TestTLSVersions(t *testing.T) {
	f := newShower(t)
	for version, want := range map[uint16]bool{
		tls.VersionTLS10: false,
		tls.VersionTLS11: false,
		tls.VersionTLS12: true,
		tls.VersionTLS13: true,
	} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			c, err := tls.Dial("tcp", f.addr, &tls.Config{
				InsecureSkipVerify: true,
				MinVersion:         version,
				MaxVersion:         version,
			})
			if err == nil {
				c.Close()
			}
			if (err == nil) != want {
				t.Errorf("%s: %v", tls.VersionName(version), err)
			}
		})
	}
}
