package main

import (
	"testing"
	"testing/fstest"
)

func TestDebianSource(t *testing.T) {
	const bookworm = "ID=debian\nVERSION_CODENAME=bookworm\n"
	const (
		list    = "etc/apt/sources.list"
		more    = "etc/apt/sources.list.d/more.list"
		sources = "etc/apt/sources.list.d/debian.sources"
	)
	for _, tt := range []struct{ name, file, text, want string }{
		{"a line", list, "deb http://a.example/debian bookworm main contrib", "http://a.example/debian"},
		{"options", more, "deb [arch=amd64 trusted=yes] https://b.example/d bookworm main", "https://b.example/d"},
		{"sources of source code", list, "deb-src http://a.example/debian bookworm main", ""},
		{"another release", list, "deb http://a.example/debian bookworm-updates main", ""},
		{"another vendor", more, "deb https://c.example/rabbit bookworm rabbit", ""},
		{"a comment", list, "# deb http://a.example/debian bookworm main", ""},
		{"a stanza", sources, "Types: deb\nURIs: http://d.example/\nSuites: bookworm\nComponents: main", "http://d.example/"},
		{"a later stanza", sources, "Types: deb\nURIs: http://s.example\nSuites: bookworm-security\nComponents: main\n\n" +
			"Types: deb deb-src\n# why\nURIs:\n http://d.example\n http://e.example\nSuites: bookworm bookworm-updates\n" +
			"Components: main\n", "http://d.example"},
		{"switched off", sources, "Enabled: no\nTypes: deb\nURIs: http://d.example\nSuites: bookworm\nComponents: main", ""},
		{"a list of mirrors", list, "deb mirror+file:///etc/mirrors bookworm main", "http://m.example/debian"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := debianSource(fstest.MapFS{
				"etc/os-release": {Data: []byte(bookworm)},
				"etc/mirrors":    {Data: []byte("# ours\nhttp://m.example/debian\tpriority:1\n")},
				tt.file:          {Data: []byte(tt.text)},
			})
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if _, err := debianSource(fstest.MapFS{"etc/os-release": {Data: []byte("ID=fedora\n")}}); err == nil {
		t.Error("no error on another system")
	}
}
