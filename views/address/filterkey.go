package address

import (
	"crypto/sha256"
	"encoding/base64"
)

// maxInLinks is how many bytes of a filter stand in every link of a page. Of a longer one links
// have its key.
const maxInLinks = 256

// IsLong reports whether links have a filter's key in its place.
func IsLong(filter string) bool { return len(filter) > maxInLinks }

// FilterKey stands for a filter in the links of a page. Whoever serves the page knows which it is;
// see [State.Key]. It is the same in every process.
func FilterKey(filter string) string {
	sum := sha256.Sum256([]byte(filter))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

func short(filter string) string {
	if IsLong(filter) {
		return ""
	}
	return filter
}

// keyOfFilter is the key of the filter where that is long.
func (s *State) keyOfFilter() string {
	switch {
	case !IsLong(s.Q):
		return ""
	case s.known.filter == s.Q: // one text, most often, which is quickly found equal to itself
		return s.known.key
	}
	return FilterKey(s.Q)
}
