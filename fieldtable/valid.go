package fieldtable

// valid looks for damage in c and everything nested in it.
func (c *container) valid(named bool) error {
	b, _, first := c.bounds()
	if e := c.walk(b, first, c.depth, named); e != nil {
		return e
	}
	if c.flaw != sound {
		return c.flawed()
	}
	return nil
}

// walk reads everything in b from p on; b ends where the container at that depth ends. Its
// recursion is bounded by MaxDepth.
func (c *container) walk(b []byte, p uint64, depth uint8, named bool) *SyntaxError {
	if p >= uint64(len(b)) {
		return nil
	}
	w := c.d.widthsAt(depth)
	for p < uint64(len(b)) {
		tagAt := p
		if named {
			tagAt = p + 1 + uint64(b[p])
			if tagAt >= uint64(len(b)) {
				return damaged(b, w, c.d, p, named)
			}
		}
		end := w.extent(b, tagAt)
		if end > uint64(len(b)) {
			if end = w.exactExtent(b, tagAt); end > uint64(len(b)) {
				return damaged(b, w, c.d, p, named)
			}
		}
		if code := w[b[tagAt]]; code&(inTable|inArray) != 0 {
			if e := c.walk(b[:end], tagAt+5, depth+1, code&inTable != 0); e != nil {
				return e
			}
		}
		p = end
	}
	return nil
}
