package main

import (
	"os"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// The README names every command, and --help says something of every flag.
func TestReadmeNamesTheCommands(t *testing.T) {
	readme := read(t, "../../README.md")
	parser, err := newParser(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		if !strings.Contains(readme, "headerglass "+command.Name) {
			t.Errorf("the README does not name the command %s", command.Name)
		}
		for _, flag := range command.Flags {
			if strings.TrimSpace(flag.Help) == "" {
				t.Errorf("%s --help does not say what --%s is", command.Name, flag.Name)
			}
		}
	}
	if lines := strings.Count(readme, "\n"); lines > 200 {
		t.Errorf("the README is a front door, and has %d lines", lines)
	}
}

// The reference names every dialect and every form of a filter.
func TestReferenceIsComplete(t *testing.T) {
	reference := read(t, "../../fieldtable/README.md")
	for _, d := range fieldtable.Dialects() {
		if !strings.Contains(reference, "`"+d.Name()+"`") {
			t.Errorf("the reference does not name the dialect %s", d.Name())
		}
	}
	for _, e := range query.Help() {
		if !strings.Contains(reference, "`"+e.Example+"`") {
			t.Errorf("the reference does not show the filter %s", e.Example)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
