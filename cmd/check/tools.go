package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tool is a program that the tests start.
type tool struct {
	pkg   string   // Debian's package
	paths []string // any of these files, or of these names in PATH, will do
	need  string   // what cannot be tested without it
}

func testTools() []tool {
	return []tool{
		{
			"rabbitmq-server",
			[]string{"/usr/lib/rabbitmq/bin/rabbitmq-server", "rabbitmq-server"},
			"the tests against a real RabbitMQ node",
		},
		{
			"chromium",
			[]string{"/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome"},
			"the browser tests",
		},
		{"tshark", []string{"tshark"}, "the tests that open exports with Wireshark"},
		{"python3", []string{"python3"}, "the tests that read generated Python back"},
		{"nodejs", []string{"node"}, "the tests that read generated JavaScript back"},
		{"nginx", []string{"/usr/sbin/nginx", "nginx"}, "the test that runs the proxy of web/README.md"},
		{"ruby", []string{"ruby"}, "the tests that read generated Ruby back"},
		{"ruby-amq-protocol", []string{"/var/lib/dpkg/info/ruby-amq-protocol.list"}, "the tests that encode as Bunny does"},
		{"php-cli", []string{"php"}, "the tests that read generated PHP back"},
		{"php-amqplib", []string{"/usr/share/php/PhpAmqpLib/autoload.php"}, "the tests that encode as php-amqplib does"},
		{"default-jdk-headless", []string{"java"}, "the tests that read generated Java back"},
	}
}

func (t tool) found() bool {
	for _, p := range t.paths {
		if _, err := exec.LookPath(p); err == nil {
			return true
		}
		if _, err := os.Stat(p); err == nil && filepath.IsAbs(p) { // a library
			return true
		}
	}
	return false
}

// policyFile is Debian's way to keep a package from starting its service while it is installed
// (invoke-rc.d(8)). The tests start nodes of their own; a broker that listens on every interface is
// not what someone asked for who runs a test command.
const policyFile = "/usr/sbin/policy-rc.d"

// toolsStep installs the missing tools where apt-get can, and otherwise says what is missing. all
// adds what the tests against all brokers need.
func toolsStep(all bool) func(context.Context, io.Writer) error {
	return func(ctx context.Context, out io.Writer) error {
		if err := installMissing(ctx, out, policyFile, testTools()); err != nil {
			return err
		}
		if err := installTree(ctx, out); err != nil || !all {
			return err
		}
		return installQpid(ctx, out)
	}
}

// installMissing installs those of the tools that are missing.
func installMissing(ctx context.Context, out io.Writer, policyFile string, tools []tool) (err error) {
	var missing []string
	for _, t := range tools {
		if t.found() {
			fmt.Fprintf(out, "%s: here\n", t.pkg)
			continue
		}
		fmt.Fprintf(out, "%s: missing (%s)\n", t.pkg, t.need)
		missing = append(missing, t.pkg)
	}
	if len(missing) == 0 {
		return nil
	}
	list := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("there is no apt-get here: install %s by hand", list)
	}
	asRoot, err := rootPrefix()
	if err != nil {
		return fmt.Errorf("%w: install %s by hand", err, list)
	}
	root := func(ctx context.Context, args ...string) error {
		args = append(asRoot, args...)
		return run(ctx, out, nil, args[0], args[1:]...)
	}
	if err := root(ctx, "apt-get", "update"); err != nil {
		return err
	}
	if _, err := os.Stat(policyFile); errors.Is(err, os.ErrNotExist) {
		// The file must not stay after Ctrl-C either: it keeps every package from starting its
		// service.
		defer func() { err = errors.Join(err, root(context.WithoutCancel(ctx), "rm", "-f", policyFile)) }()
		if err := root(ctx, "sh", "-c", "printf '#!/bin/sh\\nexit 101\\n' > "+policyFile+" && chmod 755 "+policyFile); err != nil {
			return err
		}
	}
	install := append(
		[]string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends"},
		missing...)
	if err := root(ctx, install...); err != nil {
		return err
	}
	for _, t := range tools {
		if !t.found() {
			return fmt.Errorf("%s was installed and is still not found", t.pkg)
		}
	}
	return nil
}

// rootPrefix returns what a command line must start with to run as root: nothing, or sudo.
func rootPrefix() ([]string, error) {
	if os.Geteuid() == 0 {
		return nil, nil
	}
	if _, err := exec.LookPath("sudo"); err != nil {
		return nil, fmt.Errorf("not root, and there is no sudo")
	}
	return []string{"sudo"}, nil
}
