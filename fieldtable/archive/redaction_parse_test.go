package archive

import (
	"strings"
	"testing"
)

// TestPatternsThatCannotMatch: who asks for redaction is told when nothing would be removed.
func TestPatternsThatCannotMatch(t *testing.T) {
	for _, tc := range []struct{ list, want string }{
		{`"$user_id"`, `write \$user_id`},
		{`token,"x-api-key"`, "no quotes"},
		{`x-"*`, "no quotes"},
		{`\\"x"`, "no quotes"},
		{strings.Repeat("n", 256), "255 octets"},
		{strings.Repeat("é", 128) + "*", "255 octets"},
	} {
		t.Run(tc.list[:min(len(tc.list), 20)], func(t *testing.T) {
			if _, err := ParseRedaction(tc.list); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v", err)
			}
		})
	}
	for list, name := range map[string]string{
		`\$user_id`: "$user_id", `\"x\"`: `"x"`, strings.Repeat("n", 255): strings.Repeat("N", 255), `a\\b`: `a\b`,
	} {
		t.Run(list, func(t *testing.T) {
			r, err := ParseRedaction(list)
			if err != nil || !r.header([]byte(name)) || len(r.properties) > 0 {
				t.Errorf("%s does not remove %s: %v", list, name, err)
			}
		})
	}
}
