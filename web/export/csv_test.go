package export

import "testing"

func TestInertCell(t *testing.T) {
	for _, s := range []string{"=1", "+1", "-1", "@A1", "\t=1", "\tx", "\rx", "\nx", " =1", "\u00a0+1", "\u3000@x", "\ufeff=1", "\u200b-1", "＝1", "＋1", "－1", "＠x", "\x00=1", "﹦1", "−1"} {
		if got := inertCell(s); got != "'"+s {
			t.Errorf("%q became %q", s, got)
		}
	}
	for _, s := range []string{"", "a=1", "1-1", "'=1", "x@y", " ", "007", "grün", "\u200b", "(=1)"} {
		if got := inertCell(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
