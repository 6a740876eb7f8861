// Command headerglass shows the headers of AMQP 0-9-1 messages in a browser, byte for byte as they
// were delivered.
//
//	headerglass demo      a built-in broker endpoint with realistic traffic: nothing else is needed
//	headerglass serve     read a queue, an exchange or a stream of a real broker (the default command)
//	headerglass replay    the messages in exports and in captures of AMQP traffic, without a broker
//	headerglass relay     stands between clients and their broker, and shows what passes
//	headerglass publish   messages of an export, byte for byte, on an exchange
//	headerglass decode    one field table from a file or standard input, as text or JSON
//	headerglass version   what was built
//	headerglass completion, headerglass man    for a shell's tab key, and the manual page
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	_ "time/tzdata" // time zones are asked for by name, also where the system has no list of them
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web"
	"github.com/headerglass/headerglass/web/broker"
	"github.com/headerglass/headerglass/web/live"
	"github.com/headerglass/headerglass/web/spool"
)

// Exit codes. Scripts depend on them.
const (
	exitOK     = 0
	exitFailed = 1 // the work failed, or decode found damage
	exitUsage  = 2 // wrong flags, or input that could not be read as asked
	exitOutput = 3 // decode could not write what it has read
)

// envPrefix begins the environment variables that stand for flags.
const envPrefix = "HEADERGLASS"

// cli is the command line. Every flag can also be set as envPrefix, _ and its name in capitals,
// with _ for -.
type cli struct {
	Serve   serveCmd   `cmd:"" default:"withargs" help:"Show a queue, an exchange or a stream of a broker (the default command)."`
	Demo    demoCmd    `cmd:""                    help:"Show realistic traffic from a built-in endpoint; no broker is needed."`
	Replay  replayCmd  `cmd:""                    help:"Show the messages in files: exports of the explorer, and captures of AMQP traffic; no broker is needed."`
	Relay   relayCmd   `cmd:""                    help:"Stand between clients and their broker, and show what passes."`
	Publish publishCmd `cmd:""                    help:"Put messages of an export on an exchange, byte for byte."`
	Decode  decodeCmd  `cmd:""                    help:"Decode one field table, given with its 4-byte length."`
	Version versionCmd `cmd:""                    help:"Say what was built."`

	Completion completionCmd `cmd:"" help:"Print what a shell needs to complete commands and flags."`
	Man        manCmd        `cmd:"" help:"Print the manual page." hidden:""`
}

// What help and the manual page say first.
const (
	about     = "A web explorer for AMQP 0-9-1 message headers."
	aboutLong = "It reads a queue, an exchange or a stream and shows each message's header table in a browser, " +
		"byte for byte as it was delivered. Every flag can also be set in the environment: " + envPrefix +
		"_QUEUE is --queue."
)

// stdio is what a command reads and writes, so that a test can stand in for a terminal.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// usageError is a wrong flag or input that is not what it was said to be: exit code 2.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

// exitCode is returned by a command that has already said everything it has to say.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

func main() {
	ctx, stop := untilSignal()
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// untilSignal returns a context that ends with the signals that ask for an end in good order:
// messages are given back then. A closed terminal is one, unless the process was started to outlive
// it, as nohup does.
func untilSignal() (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), signals...)
}

// run is main without the process: it parses args, runs the command and returns the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	dropEmptyEnv()
	if err := onlyText(args); err != nil {
		fmt.Fprintln(std.err, "headerglass:", seen(err))
		return exitUsage
	}
	var c cli
	helped := false
	parser, err := newParser(&c,
		kong.Description(about),
		kong.DefaultEnvars(envPrefix),
		kong.Writers(std.out, std.err),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(std.err, "headerglass:", seen(err))
		return exitUsage
	}
	if complete(parser) {
		return exitOK
	}
	kctx, err := parser.Parse(args)
	if helped {
		return exitOK
	}
	if err == nil {
		kctx.BindTo(ctx, (*context.Context)(nil))
		err = kctx.Run(std)
	}
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(std.err, "headerglass:", seen(err))
	if _, wrong := errors.AsType[*kong.ParseError](err); wrong {
		fmt.Fprintln(std.err, "headerglass: --help shows the flags")
		return exitUsage
	}
	if _, wrong := errors.AsType[usageError](err); wrong {
		return exitUsage
	}
	return exitFailed
}

// seen is what err says, with what a terminal would obey or not show written as escapes: it may
// quote a file's name, a flag's value or a broker.
func seen(err error) string {
	var b strings.Builder
	for _, r := range err.Error() { // octets that are no text become U+FFFD
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// newParser returns a parser of the commands and flags of c, a pointer to a struct.
func newParser(c any, options ...kong.Option) (*kong.Kong, error) {
	var dialects []string
	for _, d := range fieldtable.Dialects() {
		dialects = append(dialects, d.Name())
	}
	vars := kong.Vars{
		"dialects": strings.Join(dialects, ","),
		// Defaults stand where they apply; the flags read them there.
		"dialect":              autoDialect,
		"memory":               byteSize(archive.DefaultMaxBytes).String(),
		"body_limit":           byteSize(archive.DefaultBodyLimit).String(),
		"max_live":             strconv.Itoa(live.DefaultConns),
		"max_live_per_address": strconv.Itoa(live.DefaultConnsPerAddr),
		"max_queries":          strconv.Itoa(web.DefaultQueries),
		"query_budget":         query.DefaultBudget.String(),
		"export_limit":         strconv.Itoa(web.DefaultExportLimit),
		"window":               strconv.Itoa(broker.DefaultWindow),
		"hold":                 strings.TrimSuffix(broker.DefaultHold.String(), "0s"),
		"prefetch":             strconv.Itoa(broker.DefaultPrefetch),
		"spool_size":           byteSize(spool.DefaultMaxBytes).String(),
	}
	return kong.New(c, append(options, kong.Name("headerglass"), vars)...)
}

// onlyText refuses arguments and variables that are not UTF-8: taken as text they would name
// something else, such as another queue. It does not quote them.
func onlyText(args []string) error {
	for i, arg := range args {
		if !utf8.ValidString(arg) {
			name, _, found := strings.Cut(arg, "=")
			if !found || !utf8.ValidString(name) {
				name = fmt.Sprint("argument ", i+1)
			}
			return fmt.Errorf("%s is not UTF-8", name)
		}
	}
	for _, e := range os.Environ() {
		if name, value, _ := strings.Cut(e, "="); strings.HasPrefix(name, envPrefix+"_") && !utf8.ValidString(value) {
			return fmt.Errorf("%s in the environment is not UTF-8", name)
		}
	}
	return nil
}

// dropEmptyEnv unsets variables that are set but empty, as files for containers leave them: they
// give no flag a value.
func dropEmptyEnv() {
	for _, e := range os.Environ() {
		if name, value, _ := strings.Cut(e, "="); value == "" && strings.HasPrefix(name, envPrefix+"_") {
			_ = os.Unsetenv(name)
		}
	}
}
