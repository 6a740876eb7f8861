package export

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Whatever stands in the table can be put into an address and a menu, and writes a file.
func TestFormats(t *testing.T) {
	a := archive.New(archive.Config{})
	w := a.Writer()
	w.Begin(
		&wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 0)},
		time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	)
	w.Commit()
	all, err := query.Compile("")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range Formats() {
		t.Run(f.Extension, func(t *testing.T) {
			if f.Extension == "" || f.Type == "" || f.Label == "" || f.Use == "" || seen[f.Extension] {
				t.Errorf("an empty field, or an extension of another form: %+v", f)
			}
			seen[f.Extension] = true
			var b bytes.Buffer
			s := Selection{
				Filter:  all,
				Dialect: fieldtable.Lenient(),
				Last:    1,
				Count:   1,
			}
			file, err := f.Begin(&b, s)
			if err != nil {
				t.Fatal(err)
			}
			for m := range a.Snapshot().Forward(0) {
				if err := file.Write(m); err != nil {
					t.Fatal(err)
				}
			}
			if err := file.Close(); err != nil || b.Len() == 0 {
				t.Errorf("%d bytes, %v", b.Len(), err)
			}
			if _, err := f.Begin(broken{}, s); err == nil {
				file, _ := f.Begin(broken{}, s)
				for m := range a.Snapshot().Forward(0) {
					err = file.Write(m)
				}
				if err == nil {
					err = file.Close()
				}
				if err == nil {
					t.Error("a file that cannot be written is no error")
				}
			}
		})
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestNames(t *testing.T) {
	all, err := query.Compile("")
	if err != nil {
		t.Fatal(err)
	}
	acme, err := query.Compile("tenant = acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name       string
		s          Selection
		file, says string
	}{
		{"everything", Selection{
			Filter: all,
			Count:  3,
		}, "headerglass-export.csv", "headerglass: every message that was kept"},
		{
			"matches", Selection{Filter: acme, Count: 2, More: true},
			"headerglass-export-newest-2.csv", "headerglass: messages that match tenant = acme (only the newest 2)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (Format{Extension: "csv"}).FileName(tt.s); got != tt.file {
				t.Errorf("%s, want %s", got, tt.file)
			}
			if got := tt.s.String(); got != tt.says {
				t.Errorf("%s, want %s", got, tt.says)
			}
		})
	}
}
