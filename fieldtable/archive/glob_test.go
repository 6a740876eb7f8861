package archive

import (
	"strings"
	"testing"
	"time"
)

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{
			"authorization",
			[]string{"authorization", "Authorization", "AUTHORIZATION"},
			[]string{"", "authorization2", "x-authorization", "authorizatio"},
		},
		{"x-api-*", []string{"x-api-", "X-Api-Key", "x-api-\xff\xfe"}, []string{"x-api", "my-x-api-key"}},
		{"*token*", []string{"token", "x-token-id", "TOKENS"}, []string{"toke", "to-ken"}},
		{"*", []string{"", "anything", "\xff"}, nil},
		{"?", []string{"a", "é", "\xff"}, []string{"", "ab", "\xff\xff"}},
		{"a*b*c", []string{"abc", "aXbXc", "abbbcc", "abcbc"}, []string{"ab", "abcd", "acb"}},
		{"*ab", []string{"ab", "aab", "abab"}, []string{"aba"}},
		{"*a?c", []string{"abc", "xabcaxc"}, []string{"ac"}},
		{`\*`, []string{"*"}, []string{"", "x"}},
		{`a\,b`, []string{"a,b"}, []string{"a"}},
		{`\$user`, []string{"$user"}, []string{"user"}},
		{"a b", []string{"a b"}, []string{"ab"}},
		{"ÜBER", []string{"über", "Über"}, []string{"uber"}},
		{"\ufffd", []string{"\ufffd"}, []string{"\xff"}},
		{"key", []string{"\u212aey"}, nil}, // the Kelvin sign is a K
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			g, rest, err := cutGlob(tt.pattern)
			if err != nil || rest != "" {
				t.Fatalf("%s: %q, %v", tt.pattern, rest, err)
			}
			for _, name := range tt.yes {
				if !g.match([]byte(name)) {
					t.Errorf("%s does not match %q", tt.pattern, name)
				}
			}
			for _, name := range tt.no {
				if g.match([]byte(name)) {
					t.Errorf("%s matches %q", tt.pattern, name)
				}
			}
		})
	}
}

// Many stars cost no more than one after the other.
func TestGlobDoesNotBacktrackFar(t *testing.T) {
	g, _, err := cutGlob(strings.Repeat("*a", 500) + "b")
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if g.match([]byte(strings.Repeat("a", 255))) {
		t.Error("it matches")
	}
	if d := time.Since(begin); d > time.Second {
		t.Errorf("took %v", d)
	}
}

func TestParseRedaction(t *testing.T) {
	for _, tt := range []struct {
		list    string
		headers int
		props   string
	}{
		{"", 0, ""},
		{" , ,", 0, ""},
		{"authorization", 1, ""},
		{" authorization , x-api-* ,", 2, ""},
		{`a\,b`, 1, ""},
		{"$user_id", 0, "user_id"},
		{"$USER_ID, token", 1, "user_id"},
		{"$*_id", 0, "correlation_id message_id user_id app_id cluster_id"},
		{"$*", 0, "content_type content_encoding delivery_mode priority correlation_id reply_to expiration message_id timestamp type user_id app_id cluster_id"},
		{`\$user_id`, 1, ""},
	} {
		t.Run(tt.list, func(t *testing.T) {
			r, err := ParseRedaction(tt.list)
			if err != nil {
				t.Errorf("%q: %v", tt.list, err)
				return
			}
			if (r == nil) != (tt.headers == 0 && tt.props == "") {
				t.Errorf("%q: %v", tt.list, r)
				return
			}
			if r == nil {
				return
			}
			if len(r.headers) != tt.headers || strings.Join(r.properties, " ") != tt.props || r.String() != tt.list {
				t.Errorf("%q: %d patterns for headers, properties %v, %q", tt.list, len(r.headers), r.properties, r)
			}
		})
	}
	for list, want := range map[string]string{
		"$userid":              "$userid is no property: there are $content_type",
		"a, $headers , b":      "$headers is no property",
		"$routing_key":         "$routing_key is no property",
		"$":                    "$ is no property",
		`authorization,token\`: "ends with",
		"\xff":                 "UTF-8",
	} {
		t.Run(list, func(t *testing.T) {
			if _, err := ParseRedaction(list); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", list, err, want)
			}
		})
	}
}
