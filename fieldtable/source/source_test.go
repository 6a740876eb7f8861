package source

import "testing"

func TestReady(t *testing.T) {
	ready := map[State]bool{Consuming: true, WindowFull: true, Blocked: true, Replayed: true}
	seen := map[State]bool{}
	for _, s := range States() {
		if s == "" || seen[s] {
			t.Errorf("%q is there twice, or empty", s)
		}
		seen[s] = true
		if s.Ready() != ready[s] || s.String() != string(s) {
			t.Errorf("%s: ready %t", s, s.Ready())
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d states", len(seen))
	}
	if s := State(""); s.String() != "stopped" || s.Ready() {
		t.Errorf("no state: %s, ready %t", s, s.Ready())
	}
}

func TestModes(t *testing.T) {
	for _, tt := range []struct {
		mode             Mode
		atBroker, shared bool
	}{
		{Peek, true, true},
		{Drain, true, true},
		{Copy, true, false},
		{Stream, true, false},
		{Replay, false, false},
		{Demo, false, false},
		{Relayed, false, false},
		{"", false, false},
	} {
		t.Run(string(tt.mode), func(t *testing.T) {
			if tt.mode.AtBroker() != tt.atBroker || tt.mode.Shared() != tt.shared {
				t.Errorf("at a broker %t, shared %t", tt.mode.AtBroker(), tt.mode.Shared())
			}
		})
	}
	if n := len(Modes()); n != 7 {
		t.Errorf("%d modes", n)
	}
}
