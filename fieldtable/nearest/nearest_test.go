package nearest

import "testing"

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"queu", "queue", 1},
		{"x-deth", "x-death", 1},
		{"kitten", "sitting", 3},
		{"flaw", "lawn", 2},
	} {
		t.Run(tt.a+" "+tt.b, func(t *testing.T) {
			if got := Distance(tt.a, tt.b); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
			if got := Distance(tt.b, tt.a); got != tt.want {
				t.Errorf("the other way %d, want %d", got, tt.want)
			}
		})
	}
}

func TestTo(t *testing.T) {
	words := []string{"mode", "memory", "queue"}
	for word, want := range map[string]string{"memori": "memory", "queu": "queue", "mod": "mode"} {
		if got := To(word, words); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
	if got := To("a", nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}
