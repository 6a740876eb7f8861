package capture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

// tshark runs Wireshark's command line on a capture. Where there is none the test is skipped,
// unless HEADERGLASS_REQUIRE is 1.
func tshark(t *testing.T, file []byte, args ...string) []byte {
	t.Helper()
	program, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("HEADERGLASS_REQUIRE") == "1" {
			t.Fatal("tshark is required and not here")
		}
		t.Skip("there is no tshark here to open captures with")
	}
	name := filepath.Join(t.TempDir(), "test.pcapng")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(
		t.Context(),
		program,
		append([]string{"-n", "-r", name, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v: %s", err, errs.String())
	}
	return out
}

// pdml is the part that matters of what tshark -T pdml prints.
type pdml struct {
	Packets []struct {
		Protos []struct {
			Name   string      `xml:"name,attr"`
			Fields []pdmlField `xml:"field"`
		} `xml:"proto"`
	} `xml:"packet"`
}

type pdmlField struct {
	Name   string      `xml:"name,attr"`
	Text   string      `xml:"showname,attr"`
	Show   string      `xml:"show,attr"`
	Fields []pdmlField `xml:"field"`
}

func (f pdmlField) find(name string) (found []pdmlField) {
	if f.Name == name {
		return []pdmlField{f}
	}
	for _, g := range f.Fields {
		found = append(found, g.find(name)...)
	}
	return found
}

// since44 reports whether a field is laid out as Wireshark 4.4 does it: its name, type and value
// stand below it, once more.
func (f pdmlField) since44() bool { return len(f.find("amqp.field.name")) > 0 }

// wiresharkTypes are the tags that Wireshark knows, with its words for them.
func wiresharkTypes() map[byte]string {
	return map[byte]string{
		't': "boolean",
		'b': "byte",
		'B': "unsigned byte",
		's': "short int",
		'I': "integer",
		'l': "long int",
		'f': "float",
		'd': "double",
		'D': "decimal",
		'S': "string",
		'A': "array",
		'T': "timestamp",
		'F': "field table",
		'V': "void",
		'x': "byte array",
	}
}

// wiresharkLines is a table as Wireshark shows it: a line for each field, those of nested tables
// after the one that has them. The values of types that it writes in a form of its own, and of
// texts that it escapes or cuts, are left out, and from 4.4 on an array's elements, which it does
// not show any more. ok is false where a tag or a name is of a kind that it shows otherwise.
func wiresharkLines(t fieldtable.Table, since44 bool) (lines []string, ok bool) {
	for f, err := range t.All() {
		if err != nil || !plain(f.Name) {
			return nil, false
		}
		if lines, ok = appendWireshark(lines, string(f.Name), f.Value, since44); !ok {
			return nil, false
		}
	}
	return lines, true
}

func appendWireshark(lines []string, name string, v fieldtable.Value, since44 bool) ([]string, bool) {
	kind, ok := wiresharkTypes()[v.Tag()]
	if !ok {
		return nil, false
	}
	line := fmt.Sprintf("%s (%s)", name, kind)
	switch v.Kind() {
	case fieldtable.KindBool:
		text := string(v.AppendText(nil))
		if since44 {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		line += ": " + text
	case fieldtable.KindInt8, fieldtable.KindUint8, fieldtable.KindInt16, fieldtable.KindInt32, fieldtable.KindInt64:
		line += ": " + string(v.AppendText(nil))
	case fieldtable.KindLongStr:
		if text, _ := v.Text(); plain(text) && len(text) < 100 {
			line += ": " + string(text)
		}
	}
	lines = append(lines, line)
	if table, ok := v.Table(); ok {
		inner, ok := wiresharkLines(table, since44)
		return append(lines, inner...), ok
	}
	if array, ok := v.Array(); ok && !since44 {
		i := 0
		for e, err := range array.All() {
			if err != nil {
				return nil, false
			}
			if lines, ok = appendWireshark(lines, "["+strconv.Itoa(i)+"]", e, since44); !ok {
				return nil, false
			}
			i++
		}
	}
	return lines, true
}

func plain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' || c == '\\' || c == '"' {
			return false
		}
	}
	return len(b) > 0
}

// lines are the fields that Wireshark shows below a field.
func (f pdmlField) lines() (lines []string) {
	for _, g := range f.Fields {
		if g.Name == "amqp.field" || g.Name == "amqp.field.timestamp" && !strings.HasPrefix(g.Text, "Value: ") {
			lines = append(append(lines, g.Text), g.lines()...)
		}
	}
	return lines
}

// Wireshark opens a written capture without a complaint about TCP, and shows the messages' tables
// as they are.
func TestWiresharkShowsTheSameTables(t *testing.T) {
	file := writeAll(t, specimenArchive())
	var shown pdml
	// tshark writes some octets of hostile tables as they are.
	d := xml.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(tshark(t, file, "-T", "pdml", "-Y", "amqp"), []byte("?"))))
	d.Strict = false
	if err := d.Decode(&shown); err != nil {
		t.Fatal(err)
	}
	tables := make(map[string]pdmlField)
	bodies := make(map[string]string)
	for _, p := range shown.Packets {
		var key string
		for _, proto := range p.Protos {
			if proto.Name != "amqp" {
				continue
			}
			all := pdmlField{Fields: proto.Fields}
			for _, f := range all.find("amqp.method.arguments.routing_key") {
				key = f.Show
			}
			for _, f := range all.find("amqp.method.properties.headers") {
				tables[key] = f
			}
			for _, f := range all.find("amqp.payload") {
				bodies[key] = strings.ReplaceAll(f.Show, ":", "")
			}
		}
	}
	since44 := tables["small"].since44()
	compared := 0
	for _, s := range specimens.Specimens() {
		if s.Damage == "" && bodies[s.Name] != fmt.Sprintf("%x", s.Note) {
			t.Errorf("%s: the body is shown as %s", s.Name, bodies[s.Name])
		}
		want, ok := wiresharkLines(fieldtable.View(s.Encoded, fieldtable.Lenient()), since44)
		if !ok || s.Name == "deepest" || s.Name == "bomb" { // deeper than Wireshark shows
			continue
		}
		got := tables[s.Name].lines()
		if len(got) != len(want) {
			t.Errorf("%s: Wireshark shows %d fields, want %d:\n%q", s.Name, len(got), len(want), got)
			continue
		}
		for i := range want {
			line, cut := strings.CutPrefix(got[i], " [truncated]")
			if !cut { // as 4.4 says it
				line, cut = strings.CutPrefix(strings.TrimPrefix(line, " "), "[…] ")
			}
			if !strings.HasPrefix(line, want[i]) && !(cut && strings.HasPrefix(want[i], line)) {
				t.Errorf("%s: field %d is shown as %q, want %q", s.Name, i, got[i], want[i])
			}
		}
		compared++
	}
	if compared < 20 {
		t.Errorf("only %d tables were compared", compared)
	}
}

func TestWiresharkFindsTheTCPSound(t *testing.T) {
	big := archive.New(archive.Config{BodyLimit: 1 << 20, MaxBytes: 64 << 20})
	for _, a := range []*archive.Archive{specimenArchive(), big} {
		file := writeAll(t, a)
		if bad := tshark(t, file, "-Y", "tcp.analysis.flags or tcp.checksum.status==0 or ip.checksum.status==0 or tcp.analysis.lost_segment"); len(
			bad,
		) > 0 {
			t.Errorf("Wireshark complains:\n%s", bad)
		}
	}
	comments := strings.Split(
		strings.TrimSpace(
			string(tshark(t, writeAll(t, specimenArchive()), "-T", "fields", "-e", "frame.comment", "-Y", "frame.comment")),
		),
		"\n",
	)
	if !slices.Contains(comments, "headerglass message 2") ||
		!slices.ContainsFunc(
			comments,
			func(c string) bool { return strings.Contains(c, "only the first 65536 of 200000 octets") },
		) {
		t.Errorf("comments: %q", comments)
	}
}
