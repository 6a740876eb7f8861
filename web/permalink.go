package web

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/go-chi/chi/v5"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/address"
)

// aPrint is what a link carries of the content of its message, see [archive.Message.Print].
var aPrint = regexp.MustCompile(`^[0-9a-f]{8}$`)

// linked is the message that r asks for: the one with the number in its path or, where the link has
// a print, the one with that print. If that has another number, the answer redirects to it, and ok
// is false. A link that is from an earlier run of the explorer never shows another message.
func (s *Server) linked(
	w http.ResponseWriter, r *http.Request, req request,
) (m archive.Message, ok bool, err error) {
	m, err = s.message(req.view, r)
	want := r.URL.Query().Get("f")
	switch {
	case want == "":
		return m, err == nil, err
	case !aPrint.MatchString(want):
		return m, false, &paramError{"f", "A link has the print of its message as eight hexadecimal digits."}
	case err != nil && !errors.Is(err, archive.ErrEvicted) && !errors.Is(err, archive.ErrNotYet):
		return m, false, err
	case err == nil && printed(m) == want:
		return m, true, nil
	}
	source := chi.URLParam(r, "source")
	found, in := req.view.Printed(r.Context(), source, func(m archive.Message) bool { return printed(m) == want })
	switch {
	case !in && errors.Is(err, archive.ErrEvicted):
		return m, false, err // which may be why
	case !in:
		return m, false, errEarlierRun
	}
	http.Redirect(w, r, s.links(&req).Printed(address.Key(req.view.Key(found)), want), http.StatusFound)
	return found, false, nil
}

// printed is the print of a message as links have it.
func printed(m archive.Message) string { return fmt.Sprintf("%08x", m.Print()) }
