package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// parseServe parses a command line and returns the sources that it names, each in a few words.
func parseServe(args ...string) (c cli, list []string, err error) {
	parser, err := newParser(&c, kong.DefaultEnvars(envPrefix))
	if err != nil {
		return c, nil, err
	}
	kctx, err := parser.Parse(args)
	if err != nil {
		return c, nil, err
	}
	all, err := c.Serve.all(kctx)
	if err == nil {
		err = distinct(all)
	}
	for _, one := range all {
		list = append(list, fmt.Sprintf("%s: %s %s%s of %s window %d", one.origin.Source, one.cfg.Mode,
			one.cfg.Queue, one.cfg.Exchange, one.cfg.URL, one.cfg.Window))
	}
	return c, list, err
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "estate.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// What stands at the top of the file holds for every source, what stands in its table for that one,
// and flags win over both.
func TestConfig(t *testing.T) {
	name := writeConfig(t, `
amqp = "amqp://a"
window = 50
memory = "64MiB"

[[source]]
name = "dead"
queue = "orders.dlq"

[[source]]
queue = ["a/b", "c"]
amqp = "amqp://b"
mode = "drain"
accept-loss = true

[[source]]
exchange = "audit"
binding = ["#"]
`)
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"the file", nil, "dead: peek orders.dlq of amqp://a window 50; a-b: drain a/b of amqp://b window 50; " +
			"c: drain c of amqp://b window 50; audit: copy audit of amqp://a window 50"},
		{"a flag", []string{"--window", "7"}, "dead: peek orders.dlq of amqp://a window 7; " +
			"a-b: drain a/b of amqp://b window 7; c: drain c of amqp://b window 7; audit: copy audit of amqp://a window 7"},
		{"one more", []string{"--queue", "q"}, "dead: peek orders.dlq of amqp://a window 50; " +
			"a-b: drain a/b of amqp://b window 50; c: drain c of amqp://b window 50; " +
			"audit: copy audit of amqp://a window 50; q: peek q of amqp://a window 50"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, list, err := parseServe(append([]string{"--config", name}, tt.args...)...)
			if got := strings.Join(list, "; "); err != nil || got != tt.want {
				t.Errorf("%s, %v, want %s", got, err, tt.want)
			}
			if c.Serve.Memory != 64<<20 {
				t.Errorf("memory %v", c.Serve.Memory)
			}
		})
	}
}

// What a file says wrongly is told in a sentence.
func TestWrongConfig(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"an unknown key", "memori = '1MiB'", `there is no key "memori"; the nearest is "memory"`},
		{"an unknown key of a source", "[[source]]\nqueu = 'q'", `source 1: there is no key "queu"; the nearest is "queue"`},
		{"a flag that is no source's", "[[source]]\nname='a'\nqueue='q'\nmemory='1MiB'", `source "a": there is no key "memory"`},
		{"two of one name", "[[source]]\nqueue='q'\n[[source]]\nname='q'\nqueue='r'", `two sources of one name, q`},
		{"one name for two", "[[source]]\nname='a'\nqueue=['q','r']", "a name is for one source, and this table names 2"},
		{"an unfit name", "[[source]]\nname='a/b'\nqueue='q'", "letters, digits and -._ only"},
		{"nothing to read", "[[source]]\nname='a'", `source "a": say what to read`},
		{"a value that is none", "[[source]]\nqueue='q'\nwindow='many'", "source 1: --window"},
		{"no TOML", "source = [", "--config "},
		{"a source that is no table", "source = 'q'", "write [[source]]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := parseServe("--config", writeConfig(t, tt.text)); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}
