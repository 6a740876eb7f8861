package main

import (
	"fmt"
	"os"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"
	"github.com/willabides/kongplete"
)

// completionCmd prints what a shell reads so that the tab key completes commands and flags. The
// program itself then answers: see [complete].
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a script for a shell's start-up file or its folder of completions.
func (c *completionCmd) Run(std stdio) error {
	script := map[string]string{
		"bash": "complete -C headerglass headerglass\n",
		"zsh": "#compdef headerglass\nautoload -U +X bashcompinit && bashcompinit\n" +
			"complete -o nospace -C headerglass headerglass\n",
		"fish": "complete -c headerglass -f -a " +
			"'(env COMP_LINE=(commandline -cp) COMP_POINT=(string length (commandline -cp)) headerglass)'\n",
	}[c.Shell]
	_, err := fmt.Fprint(std.out, script)
	return err
}

// complete answers a shell that asks how a command line may go on, and reports whether one did: it
// says so with COMP_LINE, as bash's "complete -C" does.
func complete(parser *kong.Kong) bool {
	if os.Getenv("COMP_LINE") == "" {
		return false
	}
	kongplete.Complete(parser, kongplete.WithExitFunc(func(int) {}))
	return true
}

// manCmd prints the manual page, written from the flags.
type manCmd struct{}

// Run prints it as roff.
func (manCmd) Run(std stdio) error {
	parser, err := newParser(&cli{}, kong.Description(about+"\n"+aboutLong), kong.DefaultEnvars(envPrefix))
	if err != nil {
		return err
	}
	page := mangokong.NewManPage(1, parser.Model)
	_, err = fmt.Fprintln(std.out, page.Build(roff.NewDocument()))
	return err
}
