package query

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestSortTimesOfReceipt(t *testing.T) {
	second := time.Date(2026, 11, 29, 10, 0, 5, 0, time.UTC)
	var messages []testMessage
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 250 * time.Millisecond, time.Second} {
		messages = append(messages, testMessage{received: second.Add(after)})
	}
	s := archived(archive.Config{}, messages...)
	stored := slices.Collect(s.Forward(0))
	if got := seqs(Sort(stored, operand(t, "$received"), false, nil)); !slices.Equal(got, []uint64{1, 2, 3, 4}) {
		t.Errorf("rising: %d", got)
	}
	if got := seqs(Sort(stored, operand(t, "$received"), true, nil)); !slices.Equal(got, []uint64{4, 3, 2, 1}) {
		t.Errorf("falling: %d", got)
	}
}

// Sort agrees with <: where a filter finds one value less than another, it comes first. This holds
// for every type of a header and every property, in every dialect. Text that reads as a number is
// compared with numbers by <, but stands after all of them.
func TestSortAgreesWithLess(t *testing.T) {
	r := rand.New(rand.NewSource(21))
	var stored []testMessage
	for range 300 {
		stored = append(stored, testMessage{
			received:    testTime.Add(time.Duration(r.Intn(4000)) * 125 * time.Millisecond),
			exchange:    pick(r, "", "a", "b", "10", "9"),
			redelivered: r.Intn(2) == 0,
			props:       randomProperties(r, randomTable(r)),
		})
	}
	for _, s := range specimens.Specimens() {
		stored = append(stored, testMessage{table: s.Encoded})
	}
	snap := archived(archive.Config{MaxBytes: 64 << 20}, stored...)
	messages := slices.Collect(snap.Forward(0))
	operands := []string{"a", "b", "c", `"a.b"`, "a[0]", "a[*]", `"a".b`, "x-death[0].count", "x-death[0].time"}
	for _, p := range properties() {
		operands = append(operands, "$"+p.name)
	}
	for _, d := range fieldtable.Dialects() {
		less := 0
		for _, src := range operands {
			less += agreesWithLess(t, r, messages, src, d)
		}
		if less < 1000 {
			t.Errorf("%s: only %d values were less than another", d.Name(), less)
		}
	}
}

func agreesWithLess(t *testing.T, r *rand.Rand, messages []archive.Message, src string, d *fieldtable.Dialect) (n int) {
	o := operand(t, src)
	sorted := Sort(messages, o, false, d)
	rising, falling := places(sorted), places(Sort(sorted, o, true, d))
	var scratch Scratch
	for range 200 {
		b := messages[r.Intn(len(messages))]
		literal, isText := writtenValue(o, b, d, &scratch)
		if literal == "" {
			continue
		}
		less, err := Compile(src + " < " + literal)
		if err != nil {
			continue // a type without an order
		}
		for range 10 {
			a := messages[r.Intn(len(messages))]
			if less.Match(a, d, &scratch) != Yes {
				continue
			}
			if _, alsoText := writtenValue(o, a, d, &scratch); alsoText != isText || strings.Contains(src, "[*]") {
				continue
			}
			n++
			if rising[a.Seq()] > rising[b.Seq()] {
				t.Errorf(
					"%s: message %d has less than %s, message %d's, and comes after it",
					src,
					a.Seq(),
					literal,
					b.Seq(),
				)
			}
			if falling[a.Seq()] < falling[b.Seq()] {
				t.Errorf("%s falling: message %d has less than %s and comes first", src, a.Seq(), literal)
			}
		}
	}
	return n
}

func places(messages []archive.Message) map[uint64]int {
	at := make(map[uint64]int, len(messages))
	for i, m := range messages {
		at[m.Seq()] = i
	}
	return at
}

// writtenValue is the right side of the condition that m has the value it has; "": none is written.
func writtenValue(o *Operand, m archive.Message, d *fieldtable.Dialect, s *Scratch) (literal string, isText bool) {
	c := o.Cell(m, d, s)
	if !c.Set {
		return "", false
	}
	v := FacetValue{Text: string(c.Text), unit: d.TimestampUnit()}
	if c.IsHeader() {
		v.Kind, v.Tag = c.Value.Kind(), c.Value.Tag()
		isText = v.Kind == fieldtable.KindLongStr || v.Kind == fieldtable.KindShortStr
	}
	if p, ok := propertyByName(strings.TrimPrefix(o.String(), "$")); ok && o.String()[0] == '$' {
		isText = p.kind == propertyText
	}
	_, literal, _ = strings.Cut(v.Filter(o.String()), " = ")
	return literal, isText
}

func randomProperties(r *rand.Rand, table []byte) []wire.Property {
	text := func(name string) wire.Property {
		return wire.Property{Name: name, Raw: []byte(pick(r, "", "a", "b", "10", "9", "9.5", "é"))}
	}
	all := []wire.Property{
		text("content_type"),
		text("content_encoding"),
		{Name: "headers", Raw: table},
		{Name: "delivery_mode", Raw: []byte{byte(1 + r.Intn(2))}},
		{Name: "priority", Raw: []byte{byte(r.Intn(256))}},
		text("correlation_id"),
		text("reply_to"),
		text("expiration"),
		text("message_id"),
		{Name: "timestamp", Raw: fmt.Appendf(nil, "%08b", r.Intn(256))},
		text("type"),
		text("user_id"),
		text("app_id"),
		text("cluster_id"),
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:r.Intn(len(all)+1)]
}

// Top finds what comes first when everything is sorted, whatever is matched, damaged or evicted.
func TestTopIsTheFirstOfAllSorted(t *testing.T) {
	r := rand.New(rand.NewSource(22))
	a := archive.New(archive.Config{MaxBytes: 512 << 10, SegmentBytes: 32 << 10})
	for i := range 3000 {
		m := columnMessage(r, i)
		appendMessage(a.Writer(), &m)
	}
	s := a.Snapshot()
	for range 40 {
		q := compile(t, columnFilter(r, 1, 3000))
		by := operand(t, pick(r, "u", "a", "$message_id", "$timestamp", "$received", "$seq", "$size", "a[*]", `"t".u`))
		req := PageRequest{Limit: 1 + r.Intn(50), IncludeDamaged: r.Intn(2) == 0, Budget: time.Hour}
		descending := r.Intn(2) == 0
		all := req
		all.Limit = 5000
		page, err := q.Page(t.Context(), s, all) // newest first
		if err != nil {
			t.Fatal(err)
		}
		want := seqs(Sort(page.Messages, by, descending, nil))
		want = want[:min(len(want), req.Limit)]
		got, err := q.Top(t.Context(), s, req, by, descending)
		if err != nil || !slices.Equal(seqs(got.Messages), want) || got.Next != 0 {
			t.Fatalf("%s by %s, falling %v: %d, want %d; %v", q, by, descending, seqs(got.Messages), want, err)
		}
		if by.String() != "$seq" && (got.Matched != page.Matched || got.Damaged != page.Damaged || !got.Complete) {
			t.Fatalf("%s by %s: %d matched, %d damaged, complete %v", q, by, got.Matched, got.Damaged, got.Complete)
		}
	}
}
