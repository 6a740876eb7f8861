package broker

// Remedies are what whoever runs the explorer can do about what a sentence says, in the words of
// the program: its flags. An empty one is left out.
type Remedies struct {
	Loss     string // drain would keep what it removes in memory only
	NotSpool string // a spool is given where the broker keeps the messages
	Counted  string // peek would have a queue count deliveries
	Limit    string // of such a queue it is not known after how many it drops a message
	Few      string // of such a queue that are too few for peek
	Stream   string // peek or drain finds a stream
	NoStream string // a stream is asked for, and the queue is none
	Offset   string // the broker cannot deliver a message of a stream
	Binding  string // nor one that was copied

	SpoolFull string
	SpoolSize string // a message is larger than the whole spool; a sentence
}

// remedied adds what can be done to what is wrong.
func remedied(wrong, remedy string) string {
	if remedy == "" {
		return wrong
	}
	return wrong + "; " + remedy
}
