package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The releases that the tab of clients speaks of. Those of C, Ruby and PHP come from
// Debian.
var (
	pythonClients = []string{"pika==1.4.4", "amqp==5.4.2", "pamqp==3.3.0"}
	nodeClients   = []string{"amqplib@2.3.1"}
	javaClients   = []string{"com.rabbitmq:amqp-client:5.30.0", "org.slf4j:slf4j-api:1.7.36"}
)

// checkClients feeds tables to the decoders of released clients and compares what they read with
// what the tab of clients says.
func checkClients(ctx context.Context, out io.Writer) error {
	tools := []tool{
		{"python3-venv", []string{"/var/lib/dpkg/info/python3-venv.list"}, "installing Python's clients"},
		{"npm", []string{"npm"}, "installing Node's client"},
		{"maven", []string{"mvn"}, "installing Java's client"},
		{"gcc", []string{"cc"}, "asking rabbitmq-c"},
		{"libc6-dev", []string{"/usr/include/stdio.h"}, "asking rabbitmq-c"},
		{"librabbitmq-dev", []string{"/usr/include/amqp.h"}, "asking rabbitmq-c"},
	}
	if err := installMissing(ctx, out, policyFile, append(testTools(), tools...)); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "headerglass-clients-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	python := filepath.Join(home, "python")
	pip := append([]string{"install", "--quiet", "--disable-pip-version-check"}, pythonClients...)
	npm := append([]string{"install", "--prefix", home, "--no-audit", "--no-fund", "--silent"}, nodeClients...)
	for _, step := range [][]string{
		{"/usr/bin/python3", "-m", "venv", python},
		append([]string{filepath.Join(python, "bin", "pip")}, pip...),
		append([]string{"npm"}, npm...),
		{"cc", "-o", filepath.Join(home, "rabbitmq-c"), "cmd/check/clients/decode.c", "-lrabbitmq", "-lm"},
	} {
		if err := run(ctx, out, nil, step[0], step[1:]...); err != nil {
			return fmt.Errorf("installing clients: %w", err)
		}
	}
	for _, jar := range javaClients {
		args := []string{"-q", "-B", "dependency:copy", "-Dartifact=" + jar, "-DoutputDirectory=" + filepath.Join(home, "java")}
		if err := run(ctx, out, nil, "mvn", args...); err != nil {
			return fmt.Errorf("installing clients: %w", err)
		}
	}
	env := []string{requireEnv, "HEADERGLASS_CLIENTS=" + home}
	args := []string{"-tags", "clients", "-count", "1", "-run", "^TestClients", "-v", "./cmd/check"}
	return goTest(ctx, out, env, args...)
}
