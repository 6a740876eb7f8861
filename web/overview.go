package web

import "github.com/headerglass/headerglass/views/listing"

// overview is a line for each of several sources; none where there is only one.
func (s *Server) overview() []listing.Source {
	if !s.sources.Several() {
		return nil
	}
	var list []listing.Source
	for _, l := range s.sources.Overview() {
		list = append(list, listing.Source(l))
	}
	return list
}
