package query

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

func TestNearest(t *testing.T) {
	seen := []archive.KeyCount{{Key: "tenant"}, {Key: "x-death"}, {Key: "content_type"}, {Key: "z"}, {Key: "a.b c"}}
	for _, tt := range []struct{ filter, want string }{
		{"tennant", "tenant"},
		{"Tenant = 'acme'", "tenant = 'acme'"},
		{"content-type", "content_type"},
		{"xdeath[0].reason", "x-death[0].reason"},
		{"tenant", ""},
		{"retries", ""},
		{`"abc" LIKE 'a%'`, `"a.b c" LIKE 'a%'`},
		{"tennant = 1 OR tennant = tennant", "tenant = 1 OR tenant = tennant"},
		{"tenant AND NOT xdeath", "tenant AND NOT x-death"},
		{"tennant AND xdeath", "tennant AND x-death; tenant AND xdeath"},
	} {
		t.Run(tt.filter, func(t *testing.T) {
			if got := strings.Join(compile(t, tt.filter).Nearest(seen), "; "); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
