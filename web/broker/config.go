package broker

import (
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/spool"
)

// Defaults and bounds of [Config].
const (
	DefaultWindow        = 1000
	MaxWindow            = 65535 // prefetch-count is 16 bits wide; 0 would mean no limit
	DefaultHold          = 15 * time.Minute
	DefaultPause         = 10 * time.Second
	DefaultPrefetch      = 1000
	DefaultHeartbeat     = 10 * time.Second
	DefaultDialTimeout   = 10 * time.Second
	DefaultCloseTimeout  = 5 * time.Second
	DefaultCopyMaxLength = 10_000
	DefaultCopyMaxBytes  = 64 << 20
)

// Config says what to read, from where and how. The zero value of a field means its default.
type Config struct {
	// URL is amqp://user:password@host:port/vhost, or amqps:// for TLS. The query parameters
	// cacertfile, certfile, keyfile, server_name_indication, auth_mechanism, heartbeat (s) and
	// connection_timeout (ms) are those of RabbitMQ's clients.
	URL string
	// Username and Password replace those of the URL when not empty.
	Username, Password string
	// SASL is a mechanism: "scram-sha-256", "scram-sha-1", "plain", "cram-md5", "anonymous" or
	// "external". Empty: external with a client certificate and no user name, else the first of the
	// others that the broker offers, anonymous without a user name only.
	SASL string

	// TLS is the base of the TLS configuration of amqps; nil: the system's roots and TLS 1.2 or
	// newer.
	TLS *tls.Config
	// CAFile, CertFile and KeyFile are PEM files, read at every dial so that renewed certificates
	// are picked up.
	CAFile, CertFile, KeyFile string
	// ServerName is the name that the broker's certificate must have; empty: the host of the URL.
	ServerName string

	// Mode is Peek, the default, Drain, Copy or Stream.
	Mode source.Mode
	// Queue is read in every mode but source.Copy.
	Queue string
	// Exchange and Bindings (routing keys) are for source.Copy. No binding: "#", which reaches
	// everything on a fanout, topic or headers exchange and nothing on a direct one.
	Exchange string
	Bindings []string
	// CopyMaxLength and CopyMaxBytes bound the copy's queue on the broker, in messages and body
	// bytes; its oldest messages are dropped.
	CopyMaxLength, CopyMaxBytes int64
	// Offset is where source.Stream starts: first, last, next (default), an offset, an RFC 3339
	// time, or an age such as 15m or 2d.
	Offset string
	// StreamFilters, in source.Stream, are the values of x-stream-filter-value whose messages are
	// read; none: all messages. StreamUnfiltered adds those without a value.
	StreamFilters    []string
	StreamUnfiltered bool

	// Window bounds what peek holds unacknowledged, 1 to 65,535 messages.
	Window int
	// Hold is how long peek keeps a message before it gives all of them back. It must stay below
	// the broker's consumer timeout.
	Hold time.Duration
	// Pause is how long peek leaves the queue alone between giving back and looking again.
	Pause time.Duration
	// Prefetch bounds what is delivered ahead of the acknowledgements in the other modes, 1 to
	// 65,535 messages.
	Prefetch int
	// Spool, in source.Drain and source.Copy, stores messages on disk: they are acknowledged when
	// they are synced there, and then put into the archive. New loads what it holds into the
	// archive. It belongs to the Consumer until Run returns; who opened it closes it.
	Spool *spool.Spool
	// AcceptLoss lets drain remove messages although the archive is in memory and there is no
	// spool.
	AcceptLoss bool
	// AcceptRedeliveryCount lets peek read queues that count deliveries: quorum queues.
	AcceptRedeliveryCount bool

	// ManagementURL is the HTTP API of RabbitMQ's management plugin,
	// http://[user:password@]host:15672; empty: not asked. Without a user name, that of the AMQP
	// login is used.
	ManagementURL string

	// Remedies fill in the sentences that say what can be done about something.
	Remedies Remedies

	Archive *archive.Archive
	// Logger gets one line for each change of state; nil: none.
	Logger *slog.Logger
	// Name is the connection's name on the broker; empty: "headerglass".
	Name string
	// Version is told to the broker.
	Version string

	Heartbeat time.Duration
	// until the broker is ready to serve: TCP, TLS and the AMQP handshake together
	DialTimeout  time.Duration
	CloseTimeout time.Duration // for giving back and closing
	// ExitOnError makes Run return the first error instead of trying again.
	ExitOnError bool
}
