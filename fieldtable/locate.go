package fieldtable

// maxPathLen bounds the paths in errors and hints, in octets: names of 255 octets, nested 32 deep,
// in each of many errors would make a page far greater than the message. A longer path keeps its
// end, after an ellipsis.
const maxPathLen = 1024

// damaged returns the error for the element at p, which could not be read. Its container ends where
// b ends, and b begins with the outermost table.
func damaged(b []byte, w *widths, d *Dialect, p uint64, named bool) *SyntaxError {
	found := w.diagnose(b, p, named)
	e := found.syntaxError(d)
	e.Path = pathTo(b, d, p, found.reason != nameTruncated)
	return &e
}

// flawed returns the error for the outermost table as a whole.
func (c *container) flawed() *SyntaxError {
	found := damage{reason: c.flaw}
	if c.flaw == trailingBytes {
		found.at = uint64(c.end)
	}
	e := found.syntaxError(c.d)
	return &e
}

func (d damage) syntaxError(dialect *Dialect) SyntaxError {
	e := SyntaxError{Offset: int(d.at), Tag: d.tag, HasTag: d.hasTag, Err: d.reason.err()}
	if d.reason == unknownTag {
		e.detail = dialect.notes[d.tag]
	}
	return e
}

// pathTo returns the path from the outermost table to the element whose name, tag or length octets
// begin at or hold target; without own, to the table or array around it. The elements before target
// must be sound; each is passed over at most once.
func pathTo(root []byte, d *Dialect, target uint64, own bool) string {
	var path []byte
	for e := range descend(root, d, 4, target) {
		if !own && target <= e.tagAt+4 {
			break
		}
		if e.named {
			path = AppendStep(path, root[e.start+1:min(e.tagAt, uint64(len(root)))])
		} else {
			path = AppendIndex(path, e.index)
		}
	}
	return string(shorten(path))
}

func shorten(path []byte) []byte {
	if len(path) <= maxPathLen {
		return path
	}
	path = path[len(path)-maxPathLen:]
	for len(path) > 0 && path[0]&0xc0 == 0x80 {
		path = path[1:]
	}
	return append([]byte("…"), path...)
}
