package plural

import "testing"

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		n    uint64
		one  string
		want string
	}{
		{0, "octet", "0 octets"},
		{1, "octet", "1 octet"},
		{2, "octet", "2 octets"},
		{1, "guess", "1 guess"},
		{2, "guess", "2 guesses"},
		{0, "match", "0 matches"},
		{1, "match", "1 match"},
		{2, "entry", "2 entries"},
		{2, "key", "2 keys"},
		{2, "rarer name", "2 rarer names"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if got := Of(tt.n, tt.one); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	for n, want := range []string{"were", "was", "were"} {
		if got := Verb(n, "was", "were"); got != want {
			t.Errorf("%d %s, want %s", n, got, want)
		}
	}
}
