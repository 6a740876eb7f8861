package archive

// Origin is where the messages of an archive come from.
type Origin struct {
	// Source is the name of the place that is read, as addresses and exports have it; "": it has
	// none.
	Source string
	// Queue is the queue or stream that is read; "": it is not read from one that has a name of its
	// own.
	Queue string
}

// Origin is where the messages come from. It is the same pointer for as long as the archive lives,
// so that messages of two archives can be told apart by it.
func (a *Archive) Origin() *Origin { return &a.cfg.Origin }

// Origin is that of the archive which the message was stored in; nil for the zero Message.
func (m Message) Origin() *Origin { return m.origin }
