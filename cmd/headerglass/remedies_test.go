package main

import (
	"reflect"
	"regexp"
	"testing"
)

// TestRemediesNameFlags: what a sentence of the consumer advises can be done.
func TestRemediesNameFlags(t *testing.T) {
	parser, err := newParser(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{}
	for _, command := range parser.Model.Children {
		if command.Name == "serve" {
			for _, flag := range command.Flags {
				flags["--"+flag.Name] = true
			}
		}
	}
	remedies := reflect.ValueOf(brokerRemedies())
	for i := range remedies.NumField() {
		name, remedy := remedies.Type().Field(i).Name, remedies.Field(i).String()
		named := regexp.MustCompile(`--[a-z-]+`).FindAllString(remedy, -1)
		if len(named) == 0 {
			t.Errorf("%s names no flag: %q", name, remedy)
		}
		for _, flag := range named {
			if !flags[flag] {
				t.Errorf("%s: serve has no flag %s", name, flag)
			}
		}
	}
}
