package main

import (
	"os"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// The README names every flag of every command, every dialect and every form of a filter.
func TestReadmeIsComplete(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(raw)
	parser, err := newParser(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		if !strings.Contains(readme, "headerglass "+command.Name) {
			t.Errorf("the README does not name the command %s", command.Name)
		}
		for _, flag := range command.Flags {
			if flag.Name != "help" && !strings.Contains(readme, "`--"+flag.Name) {
				t.Errorf("the README does not name --%s of %s", flag.Name, command.Name)
			}
		}
	}
	for _, d := range fieldtable.Dialects() {
		if !strings.Contains(readme, "`"+d.Name()+"`") {
			t.Errorf("the README does not name the dialect %s", d.Name())
		}
	}
	for _, e := range query.Help() {
		if !strings.Contains(readme, "`"+e.Example+"`") {
			t.Errorf("the README does not show the filter %s", e.Example)
		}
	}
}
