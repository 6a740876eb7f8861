package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/headerglass/headerglass/web/broker/rabbittest"
)

// allBrokers is the value of -brokers that adds to the installed RabbitMQ those that check brings
// itself.
const allBrokers = "all"

//go:embed qpid.xml
var qpidProject string

// installQpid brings Qpid Broker-J into its folder below the user's cache, with Maven.
func installQpid(ctx context.Context, out io.Writer) error {
	folder, err := rabbittest.QpidFolder()
	if err != nil {
		return err
	}
	if rabbittest.HasQpid(folder) {
		fmt.Fprintln(out, "Qpid Broker-J: here")
		return nil
	}
	fmt.Fprintln(out, "Qpid Broker-J: missing (the tests against it); it goes to", folder)
	maven := tool{"maven", []string{"mvn"}, "bringing Qpid Broker-J"}
	if err := installMissing(ctx, out, policyFile, []tool{maven}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	half, err := os.MkdirTemp(filepath.Dir(folder), "qpid-half-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(half)
	project := filepath.Join(half, "pom.xml")
	text := strings.ReplaceAll(qpidProject, "VERSION", rabbittest.QpidVersion)
	if err := os.WriteFile(project, []byte(text), 0o600); err != nil {
		return err
	}
	jars := filepath.Join(half, "jars")
	var log bytes.Buffer
	if err := run(ctx, &log, nil, "mvn", "-q", "-B", "-f", project, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+jars); err != nil {
		_, _ = out.Write(log.Bytes())
		return fmt.Errorf("bringing Qpid Broker-J: %w", err)
	}
	return os.Rename(jars, folder)
}

// brokersTimeout is for each run of the broker tests, which take about five minutes. A test that
// hangs shows its goroutines then.
const brokersTimeout = "10m"

// checkBrokers runs the tests of the package that reads brokers again, once with RabbitMQ 4 in
// place of the installed RabbitMQ, and those against Qpid Broker-J.
func checkBrokers(ctx context.Context, out io.Writer) error {
	if rabbittest.InstalledMajor("/") < 4 {
		fmt.Fprintln(out, "RabbitMQ 4")
		env := []string{requireEnv, rabbittest.BrokerEnv + "=" + string(rabbittest.Version4)}
		if err := goTest(ctx, out, env, "-timeout", brokersTimeout, "./web/broker/..."); err != nil {
			return fmt.Errorf("against RabbitMQ 4: %w", err)
		}
	}
	fmt.Fprintln(out, "Qpid Broker-J")
	args := []string{"-timeout", brokersTimeout, "-tags", "qpid", "-run", "^TestQpid", "./web/broker/..."}
	if err := goTest(ctx, out, []string{requireEnv}, args...); err != nil {
		return fmt.Errorf("against Qpid Broker-J: %w", err)
	}
	return nil
}
