package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/relay"
)

type relayCmd struct {
	ListenAmqp string `default:"127.0.0.1:5673"         placeholder:"HOST:PORT" help:"Where clients connect in place of the broker (${default})."`
	AmqpCert   string `                                 placeholder:"PEM"       help:"Certificate chain for clients that connect with amqps; read again when it changes." type:"existingfile"`
	AmqpKey    string `                                 placeholder:"PEM"       help:"Its private key." type:"existingfile"`
	Amqp       string `default:"amqp://localhost:5672" placeholder:"URL"       help:"The broker, amqp:// or amqps://host:port (${default}). Clients log in themselves."`
	CaFile     string `                                 placeholder:"PEM"       help:"Certificates to trust for amqps, in place of the system's." type:"existingfile"`
	CertFile   string `                                 placeholder:"PEM"       help:"Client certificate for amqps." type:"existingfile"`
	KeyFile    string `                                 placeholder:"PEM"       help:"Its private key." type:"existingfile"`
	ServerName string `                                 placeholder:"NAME"      help:"The name that the broker's certificate must have, in place of the URL's host."`

	explorerFlags
}

// Help is what relay --help says beyond its flags.
func (c *relayCmd) Help() string {
	return "Clients connect to the relay in place of the broker. Bytes pass untouched in both directions, also " +
		"when nothing reads them; what was published stands beside what was delivered."
}

// ledgerShare is the part of --memory that the facts beside the messages may take.
const ledgerShare = 16

// Run forwards and shows until a signal arrives.
func (c *relayCmd) Run(ctx context.Context, std stdio) error {
	address, useTLS, host, err := c.broker()
	if err != nil {
		return err
	}
	cfg := relay.Config{Address: address, LedgerBytes: int64(c.Memory) / ledgerShare, Logger: c.logger(std.err)}
	if useTLS {
		if cfg.TLS, err = c.toBroker(host); err != nil {
			return err
		}
	}
	listener, err := c.listen(cfg.Logger)
	if err != nil {
		return err
	}
	defer listener.Close()
	archives, err := c.newArchives([]archive.Origin{{Source: "relay"}})
	if err != nil {
		return err
	}
	cfg.Archive = archives[0]
	r, err := relay.New(cfg)
	if err != nil {
		return usageError{err.Error()}
	}
	fmt.Fprintf(std.out, "headerglass: %s relays to %s\n", listener.Addr(), address)
	return c.show(ctx, std, cfg.Logger, []feed{{
		archive: cfg.Archive,
		run:     func(ctx context.Context) error { return r.Serve(ctx, listener) },
		status:  r.Status,
		passage: r.Passage,
		only:    true,
	}})
}

// broker reads --amqp.
func (c *relayCmd) broker() (address string, useTLS bool, host string, err error) {
	wrong := func(why string) (string, bool, string, error) {
		return "", false, "", usageError{"--amqp: " + why + "; write for example amqp://broker:5672"}
	}
	u, err := url.Parse(c.Amqp)
	if err != nil {
		return wrong("this is no URL") // the error quotes it, and it may hold a password
	}
	port := map[string]string{"amqp": "5672", "amqps": "5671"}[u.Scheme]
	switch {
	case port == "":
		return wrong("the scheme is amqp or amqps")
	case u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "":
		return wrong("clients log in themselves and name their vhost, so the relay takes no more than a host and a port")
	case u.Hostname() == "":
		return wrong("it names no host")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return net.JoinHostPort(u.Hostname(), port), u.Scheme == "amqps", u.Hostname(), nil
}

// toBroker is how the broker is checked, and what it is shown.
func (c *relayCmd) toBroker(host string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if c.ServerName != "" {
		cfg.ServerName = c.ServerName
	}
	if c.CaFile != "" {
		raw, err := os.ReadFile(c.CaFile)
		if err != nil {
			return nil, usageError{err.Error()}
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(raw) {
			return nil, usageError{"--ca-file: there is no certificate in it"}
		}
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		return nil, usageError{"--cert-file and --key-file go together"}
	}
	if c.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, usageError{"--cert-file and --key-file: " + err.Error()}
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// listen opens the address that clients connect to.
func (c *relayCmd) listen(log *slog.Logger) (net.Listener, error) {
	host, _, err := net.SplitHostPort(c.ListenAmqp)
	switch {
	case err != nil:
		return nil, usageError{fmt.Sprintf("--listen-amqp %q is no address; write for example 127.0.0.1:5673", c.ListenAmqp)}
	case (c.AmqpCert == "") != (c.AmqpKey == ""):
		return nil, usageError{"--amqp-cert and --amqp-key go together"}
	}
	var cfg *tls.Config
	if c.AmqpCert != "" {
		if cfg, err = access.TLSConfig(c.AmqpCert, c.AmqpKey, log, nil); err != nil {
			return nil, usageError{"--amqp-cert and --amqp-key: " + err.Error()}
		}
		cfg.NextProtos = nil // AMQP names none
	} else if !isLoopback(host) {
		log.Warn("passwords and messages of clients cross the network unencrypted; --amqp-cert and --amqp-key encrypt them")
	}
	l, err := net.Listen("tcp", c.ListenAmqp)
	if err != nil {
		return nil, errors.Join(errors.New("the relay cannot listen; --listen-amqp chooses another address"), err)
	}
	if cfg != nil {
		l = tls.NewListener(l, cfg)
	}
	return l, nil
}
