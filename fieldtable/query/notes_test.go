package query

import (
	"reflect"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

func TestNotes(t *testing.T) {
	seen := []archive.KeyCount{
		{
			Key: "tenant",
		},
		{Key: "x-death"},
		{Key: "content_type"},
		{Key: "z"},
		{Key: "a.b c"},
		{Key: "weight"},
		{Key: "total"},
		{Key: "n"},
		{Key: "m"},
	}
	const noHeader = "No message that is kept has a header "
	const spaces = " Names may hold - and /: arithmetic needs spaces around them."
	alsoName := func(word string) string { return word + " is compared as text here, and is also the name of a header." }
	noNumber := func(text string) string { return text + " is no number: what is calculated with it is unknown." }
	for _, tt := range []struct {
		filter string
		want   []Note
	}{
		{"tenant", nil},
		{"tenant = acme AND $size > 5", nil},
		{"retries", []Note{{noHeader + "retries.", []string{"anywhere('retries')"}}}},
		{"tennant", []Note{{noHeader + "tennant.", []string{"tenant", "anywhere('tennant')"}}}},
		{"Tenant = 'acme'", []Note{{noHeader + "Tenant.", []string{"tenant = 'acme'"}}}},
		{"content-type", []Note{{noHeader + "content-type.", []string{"content_type", "anywhere('content-type')"}}}},
		{"xdeath[0].reason", []Note{{noHeader + "xdeath.", []string{"x-death[0].reason"}}}},
		{`"abc" LIKE 'a%'`, []Note{{noHeader + "abc.", []string{`"a.b c" LIKE 'a%'`}}}},
		{"tenant AND NOT xdeath", []Note{{noHeader + "xdeath.", []string{"tenant AND NOT x-death"}}}},
		{"tennant = 1 OR tennant > 5", []Note{{noHeader + "tennant.", []string{"tenant = 1 OR tenant > 5"}}}},
		{"n > m", []Note{{alsoName("m"), []string{"n > (m)"}}}},
		{"n IN (m, 5)", []Note{{alsoName("m"), []string{"n = (m) OR n = 5"}}}},
		{"n BETWEEN 1 AND m", []Note{{alsoName("m"), []string{"n >= 1 AND n <= (m)"}}}},
		{"n > 'm' AND n > (m)", nil},
		{"n = TRUE", nil},
		{"weight-1 = 4", []Note{{noHeader + "weight-1." + spaces, []string{"weight - 1 = 4", "weight = 4"}}}},
		{"-n = -5", nil},
		{"tenant:acme", []Note{{noHeader + "tenant:acme.", []string{"tenant = acme", "anywhere('tenant:acme')"}}}},
		{"x-deth", []Note{{noHeader + "x-deth.", []string{"x-death", "anywhere('x-deth')"}}}},
		{"n + 'a' > 5 OR +'5' = n AND -'b' IS NULL", []Note{{noNumber("'a'"), nil}, {noNumber("'b'"), nil}}},
		{"retries + 1 LIKE '5'", []Note{{noHeader + "retries.", nil}}},
		{"(retries = 1) IS NULL", []Note{{noHeader + "retries.", nil}}},
		{"17/4=4", []Note{{noHeader + "17/4." + spaces, []string{"17 / 4 = 4"}}}},
		{"total/n > 2", []Note{{noHeader + "total/n." + spaces, []string{"total / n > 2", "total > 2"}}}},
		{"JMSType = 'car' AND h.priority > 5", nil},
		{"a.tenant = 'acme'", nil},
		{"a.nobody = 'acme'", []Note{{noHeader + `"a.nobody".`, nil}}},
		{"n + missing > 5", []Note{{noHeader + "missing.", nil}}},
	} {
		runCase(t, tt.filter, func(t *testing.T) {
			got := compile(t, tt.filter).Notes(seen)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			for _, note := range got {
				for _, reading := range note.Readings {
					if canonical := compile(t, reading).String(); canonical != reading {
						t.Errorf("the reading %s is written %s", reading, canonical)
					}
				}
			}
		})
	}
}
