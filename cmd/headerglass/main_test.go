package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestUsageErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string // in what is printed
	}{
		{"nothing to read", nil, "--queue NAME"},
		{"serve with nothing to read", []string{"serve"}, "--exchange NAME"},
		{"a flag that does not exist", []string{"demo", "--fast"}, "--fast"},
		{"a command that does not exist", []string{"explode"}, "explode"},
		{"two sources of one name", []string{"--queue", "q", "--exchange", "q"}, `two sources of one name, q: queue "q" and exchange "q"`},
		{"a queue twice", []string{"--queue", "a/b", "--queue", "a b"}, "two sources of one name, a-b"},
		{"memory for some", []string{"--queue", "a", "--queue", "b", "--memory", "1MiB"}, "too little for 2 sources"},
		{"a binding without an exchange", []string{"--queue", "q", "--binding", "k"}, "--binding needs --exchange"},
		{"draining a copy", []string{"--exchange", "e", "--mode", "drain"}, "--mode"},
		{"draining a stream", []string{"--queue", "q", "--offset", "first", "--mode", "drain"}, "--offset"},
		{"drain without a durable store", []string{"--queue", "q", "--mode", "drain"}, "loss"},
		{"a spool for what stays in the queue", []string{"--queue", "q", "--spool", filepath.Join(t.TempDir(), "s")}, "--mode drain"},
		{"a spool of no size", []string{"--queue", "q", "--mode", "drain", "--spool", filepath.Join(t.TempDir(), "s"), "--spool-size", "1MiB"}, "64MiB"},
		{"a mode that does not exist", []string{"--queue", "q", "--mode", "browse"}, "browse"},
		{"a window of nothing", []string{"--queue", "q", "--window", "0"}, "window"},
		{"a window over 16 bits", []string{"--queue", "q", "--window", "65536"}, "window"},
		{"an offset that is none", []string{"--queue", "q", "--offset", "yesterday"}, "yesterday"},
		{"open to the network", []string{"demo", "--listen", "0.0.0.0:0"}, "--allow-anonymous"},
		{"open to the network by name", []string{"demo", "--listen", "db.example:0"}, "--allow-anonymous"},
		{"open to the network on every address", []string{"demo", "--listen", ":8080"}, "--allow-anonymous"},
		{"open to the network with a login", []string{"demo", "--listen", "0.0.0.0:0"}, "--auth-file"},
		{"a login for anyone", []string{"demo", "--auth-file", "main_test.go", "--allow-anonymous"}, "--allow-anonymous"},
		{"a list of users that is none", []string{"demo", "--listen", "127.0.0.1:0", "--auth-file", "main_test.go"}, "line 1"},
		{"a certificate without its key", []string{"demo", "--tls-cert", "main_test.go"}, "--tls-key"},
		{"a certificate that is none", []string{"demo", "--tls-cert", "main_test.go", "--tls-key", "main_test.go"}, "--tls-cert"},
		{"a property that does not exist", []string{"demo", "--redact", "token,$userid"}, "$user_id"},
		{"an address that is none", []string{"demo", "--listen", "8080"}, "127.0.0.1:8080"},
		{"a port that is too large", []string{"demo", "--listen", "localhost:99999"}, "0 to 65535"},
		{"a port below zero", []string{"demo", "--listen", "127.0.0.1:-1"}, "0 to 65535"},
		{"a port that is a word", []string{"demo", "--listen", "127.0.0.1:x"}, "0 to 65535"},
		{"exports of less than nothing", []string{"demo", "--export-limit=-5"}, "--export-limit"},
		{"exports of nothing", []string{"demo", "--export-limit", "0"}, "--no-exports"},
		{"no time to look", []string{"demo", "--query-budget", "0s"}, "--query-budget"},
		{"a base path that is none", []string{"demo", "--base-path", "glass"}, `headerglass: --base-path "glass": `},
		{"a trace URL that is none", []string{"demo", "--trace-url", "https://traces.example"}, `headerglass: --trace-url "https://traces.example": `},
		{"redaction of nothing", []string{"demo", "--redact", ""}, "--redact"},
		{"redaction of nothing but commas", []string{"demo", "--redact", " ,"}, "leave the flag out"},
		{"a size that is none", []string{"demo", "--memory", "lots"}, "256MiB"},
		{"no memory", []string{"demo", "--memory", "1"}, "1MiB"},
		{"a rate below zero", []string{"demo", "--rate=-1"}, "--rate"},
		{"a file that is not there", []string{"--queue", "q", "--ca-file", "nowhere.pem"}, "nowhere.pem"},
		{"a queue that is not UTF-8", []string{"--queue", "caf\xe9"}, "argument 2 is not UTF-8"},
		{"an exchange that is not UTF-8", []string{"--exchange=caf\xe9"}, "--exchange is not UTF-8"},
		{"a file whose name turns the line around", []string{"decode", "\u202egpj.\u009b31m"}, `headerglass: open \u202egpj.\u009b31m: no such`},
		{"a flag that turns the line around", []string{"--\u2066x\u009b"}, `--\u2066x\u009b`},
		{"a file that is not UTF-8", []string{"replay", "caf\xe9"}, "argument 2 is not UTF-8"},
		{"a vhost that is not UTF-8", []string{"--queue", "q", "--amqp", "amqp://h/caf%e9"}, "not UTF-8"},
		{"two brokers", []string{"--queue", "q", "--amqp", "amqp://g:hunter1@h/v,amqp://g:hunter2@h2/v"}, "not one address"},
		{"a broker URL of another scheme", []string{"--queue", "q", "--amqp", "http://u:hunter2@h/"}, "amqp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := runCLI(t, "", tt.args...)
			if code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			if !strings.Contains(errs, tt.want) {
				t.Errorf("%q is not in: %s", tt.want, errs)
			}
			if strings.Contains(out+errs, "hunter2") {
				t.Errorf("the password is shown: %s%s", out, errs)
			}
		})
	}
}

// The port of the demo is often taken already: the message says what to do about it.
func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	code, _, errs := runCLI(t, "", "demo", "--listen", taken.Addr().String())
	if code != exitFailed || !strings.Contains(errs, "--listen") {
		t.Errorf("exit code %d, printed %s", code, errs)
	}
}

func TestHelpNamesFlagsAndHidesSecrets(t *testing.T) {
	t.Setenv("HEADERGLASS_AMQP", "amqp://u:hunter2@h/")
	t.Setenv("HEADERGLASS_AMQP_PASSWORD", "hunter2")
	code, out, errs := runCLI(t, "", "serve", "--help")
	if code != exitOK {
		t.Errorf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{"--amqp", "--queue", "--mode", "--exchange", "--binding", "--offset", "--window", "--memory", "--listen", "$HEADERGLASS_QUEUE"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in the help", want)
		}
	}
	if strings.Contains(out+errs, "hunter2") {
		t.Error("the help shows the password")
	}
}

// An empty variable, as container files leave it, is as if it were not set.
func TestEmptyEnvironment(t *testing.T) {
	for _, name := range []string{"DIALECT", "REDACT", "FORMAT", "INPUT", "MEMORY", "EXPORT_LIMIT", "NO_EXPORTS", "AUTH_FILE", "ALLOW_HOST", "LOG_LEVEL", "QUERY_BUDGET"} {
		t.Setenv("HEADERGLASS_"+name, "")
	}
	if code, out, errs := runCLI(t, acmeHex, "decode"); code != exitOK || !strings.HasPrefix(out, "dialect lenient,") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, _, errs := runCLI(t, "", "demo", "--rate=-1"); code != exitUsage || !strings.Contains(errs, "--rate") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	t.Setenv("HEADERGLASS_REDACT", ",") // not empty, and names nothing
	if code, _, errs := runCLI(t, "", "demo", "--rate=-1"); code != exitUsage ||
		!strings.Contains(errs, "HEADERGLASS_REDACT") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("p@ss word\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{"plain", "plain"},
		{"", ""},
		{"@" + file, "p@ss word"},
	} {
		var s secret
		if err := s.UnmarshalText([]byte(tt.text)); err != nil {
			t.Fatal(err)
		}
		if s.value != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, s.value, tt.want)
		}
		if tt.want != "" && strings.Contains(s.String(), tt.want) {
			t.Errorf("%q is shown", tt.want)
		}
	}
	var s secret
	if err := s.UnmarshalText([]byte("@" + file + ".not")); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"256MiB":  256 << 20,
		"64kB":    64_000,
		"1048576": 1 << 20,
		"1 GiB":   1 << 30,
	} {
		var b byteSize
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s: got %d, %v, want %d", text, b, err, want)
		}
	}
}

func TestVersion(t *testing.T) {
	code, out, _ := runCLI(t, "", "version")
	if code != exitOK || !strings.HasPrefix(out, "headerglass ") ||
		!strings.Contains(out, runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("exit code %d, printed %q", code, out)
	}
	info := &debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef"},
			{Key: "vcs.modified", Value: "true"},
		},
	}
	if got, want := buildVersion(info, true), "v1.2.3 (commit 0123456789ab, modified)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
