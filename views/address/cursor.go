package address

import "strconv"

// Key names a message. Sequence numbers are a source's own. Source is empty where there is one
// source only.
type Key struct {
	Source string
	Seq    uint64
}

// String is the key as parameters have it: "5", or "orders:5".
func (k Key) String() string {
	seq := strconv.FormatUint(k.Seq, 10)
	if k.Source == "" {
		return seq
	}
	return k.Source + ":" + seq
}

// Cursor is a place in a list, as addresses have it: the sequence number of a message, or what
// stands for a place among the messages of several sources, which means something to the server
// only. "": there is none.
type Cursor string

// At is the cursor at a sequence number; of 0 there is none.
func At(seq uint64) Cursor { return Cursor(number(seq)) }

// Seq is the sequence number that c is; 0 where it is none.
func (c Cursor) Seq() uint64 {
	seq, err := strconv.ParseUint(string(c), 10, 63)
	if err != nil {
		return 0
	}
	return seq
}

// maxCursor bounds a cursor, in bytes: 64 sources with long numbers take less.
const maxCursor = 1 << 10

// readCursor takes what can be one, and 0 for none.
func readCursor(c *Cursor, v string) bool {
	if v == "0" {
		return true
	}
	if _, err := strconv.ParseUint(v, 10, 63); err != nil && v[0] != '~' && !named(v) || len(v) > maxCursor {
		return false
	}
	*c = Cursor(v)
	return true
}

// named reports whether v is the name of a message of one of several sources.
func named(v string) bool {
	for i := range len(v) {
		if v[i] == ':' {
			_, err := strconv.ParseUint(v[i+1:], 10, 63)
			return i > 0 && err == nil
		}
	}
	return false
}
