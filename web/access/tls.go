package access

import (
	"crypto/tls"
	"log/slog"
	"time"
)

// TLSConfig serves TLS 1.2 and later with a certificate (a chain in PEM, the
// leaf first) and its key. When the files change, new connections get the
// new pair within a second; while the new pair cannot be used they get the old
// one, and the log says why. The logger and the clock may be nil.
func TLSConfig(certFile, keyFile string, logger *slog.Logger, now func() time.Time) (*tls.Config, error) {
	read := func() (*tls.Certificate, error) {
		c, err := tls.LoadX509KeyPair(certFile, keyFile)
		return &c, err
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if now == nil {
		now = time.Now
	}
	pair, err := newReloaded("TLS certificate", read, logger, now, certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get(), nil },
	}, nil
}
