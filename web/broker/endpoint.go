package broker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	amqp "github.com/rabbitmq/amqp091-go"
)

// endpoint is where and as whom to connect. It prints without its password.
type endpoint struct {
	secure             bool
	host               string
	port               int
	vhost              string
	username, password string
	urlPassword        string      // not used where another one was given, but as secret
	mechanisms         []mechanism // to log in with, the best first
	caFile             string
	certFile, keyFile  string
	serverName         string
	heartbeat          time.Duration
	dialTimeout        time.Duration
	base               *tls.Config
}

// newEndpoint reads the URL and what the configuration adds to it. Its errors never quote the URL,
// which may hold a password.
func newEndpoint(cfg Config) (*endpoint, error) {
	if strings.TrimSpace(cfg.URL) == "" {
		return nil, errors.New("no AMQP URL is given")
	}
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errors.New(
			"the AMQP URL cannot be read; in user name and password the characters : / ? # @ % must be percent-encoded",
		)
	}
	if u.Scheme != "amqp" && u.Scheme != "amqps" {
		return nil, errors.New("the AMQP URL must begin with amqp:// or amqps://")
	}
	if err := oneAddress(u); err != nil {
		return nil, err
	}
	// The library's reading of the URL is the one RabbitMQ documents; its error texts may quote the
	// URL.
	uri, err := amqp.ParseURI(cfg.URL)
	if err != nil {
		return nil, errors.New("the AMQP URL cannot be read: check the port, the vhost and the query parameters")
	}
	e := &endpoint{
		secure:      uri.Scheme == "amqps",
		host:        uri.Host,
		port:        uri.Port,
		vhost:       uri.Vhost,
		username:    uri.Username,
		password:    uri.Password,
		urlPassword: uri.Password,
		caFile:      first(cfg.CAFile, uri.CACertFile),
		certFile:    first(cfg.CertFile, uri.CertFile),
		keyFile:     first(cfg.KeyFile, uri.KeyFile),
		serverName:  first(cfg.ServerName, uri.ServerName, uri.Host),
		heartbeat:   cfg.Heartbeat,
		dialTimeout: cfg.DialTimeout,
		base:        cfg.TLS,
	}
	if cfg.Username != "" {
		e.username = cfg.Username
		if u.User == nil {
			e.password = ""
		}
	}
	if cfg.Password != "" {
		e.password = cfg.Password
	}
	if s := u.Query().Get("heartbeat"); s != "" && cfg.Heartbeat == 0 {
		seconds, _ := strconv.Atoi(s) // ParseURI has checked it
		e.heartbeat = time.Duration(seconds) * time.Second
	}
	if cfg.DialTimeout == 0 && uri.ConnectionTimeout > 0 {
		e.dialTimeout = time.Duration(uri.ConnectionTimeout) * time.Millisecond
	}
	if e.heartbeat == 0 {
		e.heartbeat = DefaultHeartbeat
	}
	if e.dialTimeout <= 0 {
		e.dialTimeout = DefaultDialTimeout
	}
	mechanism := strings.ToLower(cfg.SASL)
	if mechanism == "" && len(uri.AuthMechanism) > 0 {
		mechanism = strings.ToLower(uri.AuthMechanism[0])
	}
	named := u.User != nil || cfg.Username != ""
	if e.mechanisms, err = chooseMechanisms(mechanism, e.secure && e.certFile != "", named); err != nil {
		return nil, err
	}
	if (e.certFile == "") != (e.keyFile == "") {
		return nil, errors.New("a client certificate needs both its certificate file and its key file")
	}
	if !e.secure && (cfg.TLS != nil || cfg.CAFile != "" || cfg.CertFile != "" || cfg.ServerName != "") {
		return nil, errors.New("TLS settings are given but the URL is amqp://: use amqps://")
	}
	if e.secure {
		if _, err := e.tlsConfig(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// oneAddress refuses a URL that holds several addresses, and one whose parts do not begin where its
// writer meant: what is read as the host or the vhost may then be a password.
func oneAddress(u *url.URL) error {
	rest := u.EscapedPath() + "#" + u.EscapedFragment()
	if u.User == nil {
		rest += u.RawQuery
	}
	switch {
	case u.Fragment != "" || strings.Contains(rest, "@"):
		return errors.New("the AMQP URL is not one address: in user name, password and vhost the characters " +
			": / ? # @ % must be percent-encoded, and a second address must not follow")
	case strings.Contains(u.Host, ","):
		return errors.New("the AMQP URL names several hosts: give one")
	case !utf8.ValidString(u.Path) || !utf8.ValidString(u.User.String()) || !utf8.ValidString(u.User.Username()):
		return errors.New("the AMQP URL has a user name or vhost that is not UTF-8")
	}
	return nil
}

func first(values ...string) string {
	i := slices.IndexFunc(values, func(s string) bool { return s != "" })
	if i < 0 {
		return ""
	}
	return values[i]
}

// String is the URL without the password, even if the password is also in another part of it.
func (e *endpoint) String() string {
	forms := secretForms(e.username, e.password, e.urlPassword)
	return masked(e.written(), forms)
}

func (e *endpoint) written() string {
	u := url.URL{Scheme: "amqp", Host: e.address(), Path: "/" + e.vhost, RawPath: "/" + url.PathEscape(e.vhost)}
	if e.secure {
		u.Scheme = "amqps"
	}
	if !e.nameless() {
		u.User = url.User(e.username)
	}
	return u.String()
}

// GoString keeps the password out of %#v too.
func (e *endpoint) GoString() string { return e.String() }

func (e *endpoint) address() string { return net.JoinHostPort(e.host, strconv.Itoa(e.port)) }

// tlsConfig reads the files anew, so that a renewed certificate is used from the next connection
// on.
func (e *endpoint) tlsConfig() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.base != nil {
		t = e.base.Clone()
	}
	if t.ServerName == "" || e.serverName != e.host {
		t.ServerName = e.serverName
	}
	if e.caFile != "" {
		pem, err := os.ReadFile(e.caFile)
		if err != nil {
			return nil, fmt.Errorf("the CA file cannot be read: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the CA file %s holds no PEM certificate", e.caFile)
		}
	}
	if e.certFile != "" {
		pair, err := tls.LoadX509KeyPair(e.certFile, e.keyFile)
		if err != nil {
			return nil, fmt.Errorf("the client certificate cannot be used: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// nameless reports whether the login names no user.
func (e *endpoint) nameless() bool {
	return len(e.mechanisms) == 1 && (e.mechanisms[0] == saslExternal || e.mechanisms[0] == saslAnonymous)
}
