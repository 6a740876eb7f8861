package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// What no header can be called is refused with the reason.
func TestNamesThatAreTooLong(t *testing.T) {
	f := newFixture(t)
	for param, most := range map[string]string{"facet": "520", "cols": "1024"} {
		t.Run(param, func(t *testing.T) {
			r := f.get("/?"+url.Values{param: {strings.Repeat("é", 4900)}}.Encode(), "Accept", "text/plain").
				want(http.StatusBadRequest)
			if want := "has more than " + most + " bytes"; !strings.Contains(string(r.body), want) {
				t.Errorf("%s, want %q", r.body, want)
			}
		})
	}
}
