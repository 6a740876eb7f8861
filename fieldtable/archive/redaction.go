package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Redaction says which values are removed from messages before they are stored: those of headers by
// name, at every level of nesting, and those of basic properties. It is immutable.
//
// A value is removed by overwriting its octets in the stored copy: texts, and names inside a
// removed table, with '*', everything else with zeros. Types and lengths stay, so the table keeps
// its structure and every offset. Where damage makes the rest of a table, or of the content header,
// unreadable, no name in it can be told, so that rest is removed too. Bodies, routing keys and the
// names of headers are not touched.
type Redaction struct {
	headers    []glob
	properties []string
	text       string
}

// ParseRedaction reads a comma-separated list of patterns. In a pattern * stands for any characters
// and ? for one, letters match in either case, and \ makes the next character plain. A pattern that
// begins with $ is for basic properties, such as $user_id; any other is for headers, \$user_id for
// one that is called so. A list without patterns gives nil. A pattern that matches no header is an
// error: who asks for redaction must not go without it.
func ParseRedaction(list string) (*Redaction, error) {
	if !utf8.ValidString(list) {
		return nil, errors.New("a pattern is not UTF-8")
	}
	r := &Redaction{text: list}
	for rest := list; rest != ""; {
		rest = strings.TrimLeft(rest, " ")
		property := strings.HasPrefix(rest, "$")
		g, after, err := cutGlob(rest)
		if err == nil {
			err = canMatch(g, strings.TrimSuffix(rest[:len(rest)-len(after)], ","))
		}
		switch {
		case err != nil:
			return nil, err
		case len(g) == 0:
		case property:
			names := propertiesLike(g[1:])
			if len(names) == 0 {
				text := strings.TrimRight(strings.TrimSuffix(rest[:len(rest)-len(after)], ","), " ")
				return nil, fmt.Errorf(
					"%s is no property: there are $%s; for all headers write *",
					text,
					strings.Join(propertiesLike(glob{anyNumber}), ", $"),
				)
			}
			r.properties = append(r.properties, names...)
		default:
			r.headers = append(r.headers, g)
		}
		rest = after
	}
	if len(r.headers) == 0 && len(r.properties) == 0 {
		return nil, nil
	}
	return r, nil
}

// canMatch reports why a pattern, as it is written in text, matches nothing that it is meant for.
func canMatch(g glob, text string) error {
	const most = 255 // octets of a name
	plain := 0
	for _, r := range g {
		if r >= 0 {
			plain += utf8.RuneLen(r)
		}
	}
	text = strings.TrimSpace(text)
	switch {
	case strings.Contains(strings.NewReplacer(`\\`, "", `\"`, "").Replace(text), `"`):
		return fmt.Errorf(`%s: a pattern has no quotes around it; write \$user_id for a header of that name, and \" for a quote`, text)
	case plain > most:
		return fmt.Errorf("a pattern is longer than the %d octets that a name has", most)
	}
	return nil
}

// String returns the list that r was read from.
func (r *Redaction) String() string {
	if r == nil {
		return ""
	}
	return r.text
}

// header reports whether the values of headers of that name are removed.
func (r *Redaction) header(name []byte) bool {
	for _, g := range r.headers {
		if g.match(name) {
			return true
		}
	}
	return false
}

// propertiesLike returns the names of the properties that g matches. The headers property is none
// of them: what is in it has names of its own.
func propertiesLike(g glob) []string {
	return slices.DeleteFunc(wire.PropertyNames(), func(name string) bool {
		return name == "headers" || !g.match([]byte(name))
	})
}
