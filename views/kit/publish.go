package kit

import "strings"

// PublishCommand is the line that publishes the messages of a file that the page offers.
func PublishCommand(arguments ...string) string {
	return strings.Join(append([]string{"headerglass publish --amqp amqp://guest:guest@localhost/"}, arguments...), " ")
}
