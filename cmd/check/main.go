// Command check is the project's one test command: it installs what the tests need, runs every
// check and every test, and says at the end what passed, what failed and what could not run. It
// exits 1 unless everything ran and passed.
//
//	go run ./cmd/check               everything, against the RabbitMQ that is installed
//	go run ./cmd/check -brokers all  also against RabbitMQ 4 and Qpid Broker-J, as CI runs it
//	go run ./cmd/check -release      also builds archives, packages and the image, and looks into them
//	go run ./cmd/check -clients      also asks released clients whether the page says right what they read
//	go run ./cmd/check -only test    one step (or several, separated by commas)
//	go run ./cmd/check -list         the names of the steps
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// step is one thing that check does. run writes its findings to out and returns an error when the
// step failed or could not run.
type step struct {
	name  string
	about string
	run   func(ctx context.Context, out io.Writer) error
}

type result struct {
	step
	took time.Duration
	err  error
}

func main() {
	only := flag.String("only", "", "run these steps only, separated by commas")
	list := flag.Bool("list", false, "list the steps")
	fuzzTime := flag.Duration("fuzztime", 5*time.Second, "how long each fuzz target runs")
	soak := flag.Bool("soak", false, "also run the long tests")
	brokers := flag.String("brokers", "", "\"all\": also run the tests of brokers against RabbitMQ 4 and Qpid Broker-J")
	release := flag.Bool("release", false, "also build what people install, as a snapshot, and look into it")
	clients := flag.Bool("clients", false, "also compare what the page says of clients with what their releases read")
	flag.Parse()
	if *brokers != "" && *brokers != allBrokers {
		fmt.Fprintf(os.Stderr, "check: -brokers %q is unknown: it is \"all\" or left out\n", *brokers)
		os.Exit(2)
	}

	steps := []step{
		{"tools", "install RabbitMQ, Chromium and what else the tests need", toolsStep(*brokers == allBrokers)},
		{"format", "gofmt", checkFormat},
		{"widths", "comments of at most 100 columns, code of at most 120", checkWidths},
		{"modules", "go.mod tidy, module sums", checkModules},
		{"generated", "templ output is what is committed", checkGenerated},
		{"vet", "go vet, with all build tags", command("go", "vet", "-tags", "soak,qpid,siege,clients", "./...")},
		{"static", "staticcheck", command("go", "tool", "staticcheck", "./...")},
		{"build", "Linux, macOS and Windows on amd64 and arm64", checkBuilds},
		{"test", "every test, with the race detector", testStep(*soak)},
		{"siege", "limits of memory, arrivals and page times under attack, on an otherwise idle machine", checkSiege},
		{"figures", "the README's ratios against peers, on an otherwise idle machine", checkFigures},
		{"fuzz", "every fuzz target for a short time", fuzzStep(*fuzzTime)},
	}
	if *brokers == allBrokers {
		after := slices.IndexFunc(steps, func(s step) bool { return s.name == "test" }) + 1
		steps = slices.Insert(steps, after,
			step{"brokers", "the tests of brokers, against RabbitMQ 4 and Qpid Broker-J", checkBrokers})
	}
	if *release {
		steps = append(steps, step{"release", "archives, packages and the image, as a snapshot", checkRelease})
	}
	if *clients {
		steps = append(steps, step{"clients", "what the page says of clients, against their releases", checkClients})
	}
	if *list {
		for _, s := range steps {
			fmt.Printf("%-10s %s\n", s.name, s.about)
		}
		return
	}
	if *only != "" {
		names := strings.Split(*only, ",")
		for _, n := range names {
			if !slices.ContainsFunc(steps, func(s step) bool { return s.name == n }) {
				fmt.Fprintf(os.Stderr, "check: there is no step %q; -list names them\n", n)
				os.Exit(2)
			}
		}
		steps = slices.DeleteFunc(steps, func(s step) bool { return !slices.Contains(names, s.name) })
	}
	if err := goToRoot(); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var results []result
	for _, s := range steps {
		fmt.Printf("== %s: %s\n", s.name, s.about)
		start := time.Now()
		err := s.run(ctx, os.Stdout)
		results = append(results, result{s, time.Since(start), err})
		if err != nil {
			fmt.Printf("-- %s failed: %v\n", s.name, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	os.Exit(summarise(os.Stdout, results, len(steps)))
}

// summarise prints a line a step and the closing count, and returns the exit code. planned is the
// number of steps that should have run.
func summarise(out io.Writer, results []result, planned int) int {
	fmt.Fprintln(out, "\n== summary")
	failed := planned - len(results)
	for _, r := range results {
		word := "ok    "
		if r.err != nil {
			word = "FAILED"
			failed++
		}
		fmt.Fprintf(out, "%s %-10s %6.1f s", word, r.name, r.took.Seconds())
		if r.err != nil {
			fmt.Fprintf(out, "  %v", r.err)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", planned-failed, failed)
	if failed > 0 {
		return 1
	}
	return 0
}

// goToRoot changes to the folder that holds go.mod, so that check works from anywhere inside the
// module.
func goToRoot() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return os.Chdir(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return fmt.Errorf("no go.mod in this folder or above it")
		}
		dir = up
	}
}
