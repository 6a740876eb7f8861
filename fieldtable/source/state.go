package source

// State is what a source is doing.
type State string

// The states of a source. An empty State counts as Stopped.
const (
	Idle         State = "idle"         // nothing was begun yet
	Connecting   State = "connecting"   // the first attempts
	Consuming    State = "consuming"    // connected and reading
	WindowFull   State = "window full"  // peek holds as many messages as it may
	Paused       State = "paused"       // peek gave everything back and looks again at NextAttempt
	Blocked      State = "blocked"      // connected, and the broker sent connection.blocked
	SpoolFull    State = "spool full"   // the disk store takes no more; looks again at NextAttempt
	SpoolFailed  State = "spool failed" // the disk store cannot be written; likewise
	Reconnecting State = "reconnecting" // lost or refused; tries again at NextAttempt
	Stopped      State = "stopped"      // ended, or reading on would harm the queue
	Replaying    State = "replaying"    // files are being read
	Replayed     State = "replayed"     // files have been read
)

// States returns all of them.
func States() []State {
	return []State{
		Idle, Connecting, Consuming, WindowFull, Paused, Blocked, SpoolFull, SpoolFailed, Reconnecting, Stopped,
		Replaying, Replayed,
	}
}

// String is the word for the state.
func (s State) String() string {
	if s == "" {
		return string(Stopped)
	}
	return string(s)
}

// Ready reports whether messages can arrive, or all have that will.
func (s State) Ready() bool {
	switch s {
	case Consuming, WindowFull, Blocked, Replayed:
		return true
	}
	return false
}
