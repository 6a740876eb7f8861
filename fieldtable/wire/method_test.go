package wire

import "testing"

func TestMethodsHaveNames(t *testing.T) {
	for _, m := range Methods() {
		if MethodByName(m.String()) != m {
			t.Errorf("%d is named %q, which is another's name", m, m)
		}
	}
	if MethodByName("") != Deliver {
		t.Error("no name is another method than basic.deliver")
	}
}
