package archive

// filter tells which of many hashes are certainly not in a set: a Bloom filter that sets all bits
// of a hash within one line of the processor's cache, so that a look waits for memory once. About
// one absent hash in 300 is taken for one of the set.
type filter [][filterWords]uint64

const (
	filterWords = 8  // a line of 64 octets
	filterBits  = 12 // a hash of the set
	filterProbe = 6  // bits that are set for each
)

func newFilter(hashes []uint64) filter {
	f := make(filter, 1+len(hashes)*filterBits/(filterWords*64))
	for _, h := range hashes {
		line := f.line(h)
		for i := range filterProbe {
			word, bit := probe(h, i)
			line[word] |= bit
		}
	}
	return f
}

func (f filter) has(h uint64) bool {
	line := f.line(h)
	for i := range filterProbe {
		if word, bit := probe(h, i); line[word]&bit == 0 {
			return false
		}
	}
	return true
}

// line is chosen by the upper half of the hash.
func (f filter) line(h uint64) *[filterWords]uint64 {
	return &f[(h>>32)*uint64(len(f))>>32]
}

// probe is bit i of a hash within its line, of which nine bits of the product choose one.
func probe(h uint64, i int) (word, bit uint64) {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio spreads the lower half
	at := h * odd >> (i * 9)
	return at >> 6 & (filterWords - 1), 1 << (at & 63)
}

func (f filter) bytes() int64 { return int64(len(f)) * filterWords * 8 }
