package snippet

import (
	"fmt"
	"strings"

	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

// again is the language of headerglass publish, which encodes nothing and so is always exact.
const again = "headerglass"

// publishAgain is how headerglass publishes a message again.
func publishAgain(m facts.Message) string {
	const zeros = "# no argument of a command can hold the zero bytes of the exchange or routing key: they are left out\n"
	var b strings.Builder
	b.WriteString("# Byte for byte: the table is not encoded anew. It says first what is sent and where.\n")
	b.WriteString("# The file is message.zip as this page offers it for download.\n")
	if strings.Contains(string(m.Exchange)+string(m.RoutingKey), "\x00") {
		b.WriteString(zeros)
	}
	if len(m.Removed) > 0 {
		b.WriteString("# What was removed before the message was stored is sent as the bytes that stand in its place.\n")
	}
	name := ""
	if m.Source != "" {
		name = m.Source + "-"
	}
	b.WriteString(kit.PublishCommand("--exchange", ShellWord(string(m.Exchange)),
		"--routing-key", ShellWord(string(m.RoutingKey)),
		ShellWord(fmt.Sprintf("headerglass-%s%d-message.zip", name, m.Seq))))
	return b.String() + "\n"
}
