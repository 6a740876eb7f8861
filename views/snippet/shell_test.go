package snippet

import "testing"

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"orders.dlq": "orders.dlq",
		"":           "''",
		"a b":        "'a b'",
		"it's":       `'it'\''s'`,
		"$(reboot)":  "'$(reboot)'",
		"caf\xe9":    `$'caf\xe9'`,
	} {
		t.Run(in, func(t *testing.T) {
			if got := ShellWord(in); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
