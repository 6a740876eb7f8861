package main

import "github.com/headerglass/headerglass/web/broker"

// connectionFlags say where the broker is, and as whom to log in.
type connectionFlags struct {
	Amqp         secret `default:"amqp://guest:guest@localhost:5672/" placeholder:"URL"      help:"The broker, amqp:// or amqps://user:password@host:port/vhost, or @FILE with it. HEADERGLASS_AMQP keeps it out of the process list."`
	AmqpUser     string `                                             placeholder:"NAME"     help:"The user name, in place of the URL's."`
	AmqpPassword secret `                                             placeholder:"PASSWORD" help:"The password, in place of the URL's, or @FILE with it."`
	CaFile       string `                                             placeholder:"PEM"      help:"Certificates to trust for amqps, in place of the system's."                                                                         type:"existingfile"`
	CertFile     string `                                             placeholder:"PEM"      help:"Client certificate for amqps."                                                                                                      type:"existingfile"`
	KeyFile      string `                                             placeholder:"PEM"      help:"Its private key."                                                                                                                   type:"existingfile"`
	ServerName   string `                                             placeholder:"NAME"     help:"The name that the broker's certificate must have, in place of the URL's host."`
}

// connect puts the flags into cfg.
func (f *connectionFlags) connect(cfg *broker.Config) {
	cfg.URL = f.Amqp.value
	cfg.Username, cfg.Password = f.AmqpUser, f.AmqpPassword.value
	cfg.CAFile, cfg.CertFile, cfg.KeyFile = f.CaFile, f.CertFile, f.KeyFile
	cfg.ServerName = f.ServerName
}
