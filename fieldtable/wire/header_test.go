package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// everyProperty is a payload with all 14 properties, written out by hand: offset 14 is the first
// octet of the property list.
const everyProperty = "003c" + "0000" + "0000000000000102" + "fffc" +
	"0161" + // content_type        14
	"026263" + // content_encoding  16
	"00000005016b740102" + // headers  19
	"02" + // delivery_mode         28
	"09" + // priority              29
	"0163" + // correlation_id      30
	"0172" + // reply_to            32
	"023130" + // expiration        34
	"016d" + // message_id          37
	"000000006553f100" + // timestamp  39
	"0174" + // type                47
	"0175" + // user_id             49
	"00" + // app_id                51
	"0178" // cluster_id            52

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// list prints what All yields.
func list(h ContentHeader) string {
	var b strings.Builder
	for p, err := range h.All() {
		if err != nil {
			fmt.Fprintf(&b, "! %v\n", err)
			continue
		}
		fmt.Fprintf(&b, "%s %d-%d %x\n", p.Name, p.Offset, p.End, p.Raw)
	}
	return b.String()
}

func TestContentHeaderEveryProperty(t *testing.T) {
	h := ViewContentHeader(unhex(t, everyProperty))
	if h.ClassID() != 60 || h.BodySize() != 0x102 || h.Flags() != 0xfffc {
		t.Errorf("class %d, body size %d, flags %x", h.ClassID(), h.BodySize(), h.Flags())
	}
	want := strings.Join([]string{
		"content_type 14-16 61", "content_encoding 16-19 6263", "headers 19-28 00000005016b740102",
		"delivery_mode 28-29 02", "priority 29-30 09", "correlation_id 30-32 63", "reply_to 32-34 72",
		"expiration 34-37 3130", "message_id 37-39 6d", "timestamp 39-47 000000006553f100", "type 47-49 74",
		"user_id 49-51 75", "app_id 51-52 ", "cluster_id 52-54 78", "",
	}, "\n")
	if got := list(h); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if table, ok := h.HeaderTable(); !ok || hex.EncodeToString(table) != "00000005016b740102" ||
		h.HeaderTableOffset() != 19 {
		t.Errorf("header table %x, %t at %d", table, ok, h.HeaderTableOffset())
	}
	if p, ok := h.Property("timestamp"); !ok {
		t.Error("no timestamp")
	} else if sec, ok := p.Timestamp(); !ok || sec != 1700000000 {
		t.Errorf("timestamp %d, %t", sec, ok)
	}
	if p, ok := h.Property("priority"); !ok {
		t.Error("no priority")
	} else if v, ok := p.Uint8(); !ok || v != 9 {
		t.Errorf("priority %d, %t", v, ok)
	}
	if p, ok := h.Property("expiration"); !ok {
		t.Error("no expiration")
	} else if v, ok := p.Text(); !ok || string(v) != "10" {
		t.Errorf("expiration %q, %t", v, ok)
	}
	if p, _ := h.Property("headers"); len(p.Raw) != 9 {
		t.Errorf("headers %x", p.Raw)
	} else if _, ok := p.Text(); ok {
		t.Error("a table is no text")
	}
	if _, ok := h.Property("no_such"); ok {
		t.Error("found no_such")
	}
}

// TestContentHeaderTruncated cuts the payload at every octet: what lies before the cut stays
// readable and the error names the property that the cut goes through.
func TestContentHeaderTruncated(t *testing.T) {
	whole := unhex(t, everyProperty)
	var props []Property
	for p, err := range ViewContentHeader(whole).All() {
		if err != nil {
			t.Fatal(err)
		}
		props = append(props, p)
	}
	for n := range len(whole) {
		var got []string
		var damage *PropertyError
		for p, err := range ViewContentHeader(whole[:n:n]).All() {
			if err == nil {
				got = append(got, p.Name)
				continue
			}
			if damage != nil || !errors.As(err, &damage) {
				t.Fatalf("%d octets: error %v after %v", n, err, damage)
			}
		}
		var want []string
		wantDamage := PropertyError{Offset: n, Err: ErrPayloadTruncated}
		if n >= 14 {
			for _, p := range props {
				if p.End > n {
					wantDamage = PropertyError{Offset: p.Offset, Name: p.Name, Err: ErrPropertyTruncated}
					if p.Name == "headers" && n > p.Offset {
						want = append(want, p.Name)
					}
					break
				}
				want = append(want, p.Name)
			}
		}
		if !slices.Equal(got, want) || damage == nil || *damage != wantDamage {
			t.Errorf("%d octets: %v, %+v; want %v, %+v", n, got, damage, want, wantDamage)
		}
		table, ok := ViewContentHeader(whole[:n:n]).HeaderTable()
		if wantOK := n > 19; ok != wantOK || !bytes.Equal(table, whole[min(19, n):min(28, n)]) {
			t.Errorf("%d octets: header table %x, %t", n, table, ok)
		}
	}
}

func TestContentHeaderFlags(t *testing.T) {
	const fixed = "003c" + "0000" + "0000000000000000"
	tests := []struct{ name, payload, want string }{
		{"none set", fixed + "0000", ""},
		{"continued, nothing set", fixed + "1001" + "0000" + "02", "delivery_mode 16-17 02\n"},
		{"continued twice", fixed + "1001" + "0001" + "0000" + "02", "delivery_mode 18-19 02\n"},
		{
			"continued, end missing",
			fixed + "1001" + "00",
			"! content header at offset 14 (0xe): the content header ends inside its fixed part\n",
		},
		{
			"continued without end",
			fixed + "0001" + strings.Repeat("0001", 9),
			"! content header at offset 32 (0x20): the content header ends inside its fixed part\n",
		},
		{
			"bit 1",
			fixed + "1002" + "02" + "0141",
			"delivery_mode 14-15 02\n! content header at offset 15 (0xf): a property flag is set that class basic does not define\n",
		},
		{
			"set in second word",
			fixed + "1001" + "8000" + "02",
			"delivery_mode 16-17 02\n! content header at offset 17 (0x11): a property flag is set that class basic does not define\n",
		},
		{
			"trailing",
			fixed + "1000" + "02" + "ff",
			"delivery_mode 14-15 02\n! content header at offset 15 (0xf): octets follow the last property\n",
		},
		{
			"table overruns",
			fixed + "3000" + "000000ff" + "016b",
			"headers 14-20 000000ff016b\n! property headers at offset 14 (0xe): the content header ends inside this property\n",
		},
		{
			"table length 0xffffffff",
			fixed + "2000" + "ffffffff",
			"headers 14-18 ffffffff\n! property headers at offset 14 (0xe): the content header ends inside this property\n",
		},
		{"empty table", fixed + "2000" + "00000000", "headers 14-18 00000000\n"},
		{
			"short string overruns",
			fixed + "c000" + "0141" + "ff42",
			"content_type 14-16 41\n! property content_encoding at offset 16 (0x10): the content header ends inside this property\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := list(ViewContentHeader(unhex(t, test.payload))); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestHeaderTableBehindDamage(t *testing.T) {
	const fixed = "003c" + "0000" + "0000000000000000"
	for _, payload := range []string{
		fixed + "c000" + "0141" + "0142", // not set
		fixed + "a000" + "ff41",          // content_type overruns
		fixed + "a000" + "0141",          // ends before it
		fixed + "2001" + "00",            // flags end
		fixed[:20],                       // fixed part ends
		// content_type overruns behind two words of flags
		fixed + "a001" + "0000" + "0a41000000000000",
	} {
		if table, ok := ViewContentHeader(unhex(t, payload)).HeaderTable(); ok {
			t.Errorf("%s: header table %x", payload, table)
		}
	}
	if table, ok := ViewContentHeader(unhex(t, fixed+"e001"+"0000"+"0141"+"0142"+"00000001"+"00"+"ff")).HeaderTable(); !ok ||
		hex.EncodeToString(table) != "0000000100" {
		t.Errorf("header table %x, %t", table, ok)
	}
}

func TestAppendContentHeaderPayload(t *testing.T) {
	raw := func(s string) []byte { return unhex(t, s) }
	// In any order.
	got := AppendContentHeaderPayload(nil, 0x102,
		Property{Name: "cluster_id", Raw: []byte("x")}, Property{Name: "content_type", Raw: []byte("a")},
		Property{
			Name: "headers",
			Raw:  raw("00000005016b740102"),
		}, Property{
			Name: "content_encoding",
			Raw:  []byte("bc"),
		},
		Property{Name: "delivery_mode", Raw: raw("02")}, Property{Name: "priority", Raw: raw("09")},
		Property{Name: "correlation_id", Raw: []byte("c")}, Property{Name: "reply_to", Raw: []byte("r")},
		Property{Name: "expiration", Raw: []byte("10")}, Property{Name: "message_id", Raw: []byte("m")},
		Property{Name: "timestamp", Raw: raw("000000006553f100")}, Property{Name: "type", Raw: []byte("t")},
		Property{
			Name: "user_id",
			Raw:  []byte("u"),
		}, Property{Name: "app_id"}, Property{
			Name: "no_such",
			Raw:  []byte("z"),
		})
	if hex.EncodeToString(got) != everyProperty {
		t.Errorf("got  %x\nwant %s", got, everyProperty)
	}
}

func TestContentHeaderDoesNotAllocate(t *testing.T) {
	h := ViewContentHeader(unhex(t, everyProperty))
	if n := testing.AllocsPerRun(100, func() {
		h.HeaderTable()
		h.Property("cluster_id")
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Valid says what All says last, and Property what it says of one, whatever the payload.
func TestValidAgreesWithAll(t *testing.T) {
	whole := unhex(t, everyProperty)
	r := rand.New(rand.NewPCG(1, 2))
	verdicts := map[bool]int{}
	for range 20_000 {
		payload := bytes.Clone(whole)
		for range r.IntN(3) {
			payload[r.IntN(len(payload))] = byte(r.IntN(256))
		}
		payload = payload[:len(payload)-r.IntN(3)*r.IntN(len(payload))/2]
		verdicts[checkValid(t, payload)]++
	}
	if verdicts[true] < 1000 || verdicts[false] < 1000 {
		t.Errorf("sound or not: %v", verdicts)
	}
}

func checkValid(t testing.TB, payload []byte) (sound bool) {
	t.Helper()
	h := ViewContentHeader(payload)
	var damage error
	read := map[string]Property{}
	for p, err := range h.All() {
		if damage = err; err == nil {
			read[p.Name] = p
		}
	}
	for _, name := range PropertyNames() {
		got, ok := h.Property(name)
		if want, there := read[name]; ok != there || ok && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%x: %s is %v, %v, want %v, %v", payload, name, got, ok, want, there)
		}
	}
	if got := h.Valid(); fmt.Sprint(got) != fmt.Sprint(damage) {
		t.Fatalf("%x: %v, want %v", payload, got, damage)
	}
	return damage == nil
}

func FuzzContentHeader(f *testing.F) {
	f.Add(unhex(f, everyProperty))
	for n := range 30 {
		f.Add(unhex(f, everyProperty)[:n])
	}
	f.Add(unhex(f, "003c000000000000000000001001000002"))
	f.Add(unhex(f, "003c00000000000000000000ffff8000016100"))
	f.Add(unhex(f, "003c000000000000000000002000ffffffff"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		checkValid(t, payload)
		h := ViewContentHeader(payload)
		table, ok := h.HeaderTable()
		var props []Property
		at, ended := 14, false
		for p, err := range h.All() {
			if ended {
				t.Fatal("something follows the error")
			}
			if err != nil {
				damage, isProperty := err.(*PropertyError)
				if !isProperty || damage.Offset < 0 || damage.Offset > len(payload) {
					t.Fatalf("error %#v", err)
				}
				ended = true
				continue
			}
			if len(props) == 0 {
				if p.Offset < at || (p.Offset-at)%2 != 0 {
					t.Fatalf("the first property begins at %d", p.Offset)
				}
			} else if p.Offset != at {
				t.Fatalf("%s begins at %d, the one before it ends at %d", p.Name, p.Offset, at)
			}
			if !bytes.HasSuffix(payload[p.Offset:p.End], p.Raw) {
				t.Fatalf("%s: %x is not in %x", p.Name, p.Raw, payload[p.Offset:p.End])
			}
			if p.Name == "headers" && (!ok || !bytes.Equal(table, p.Raw) || h.HeaderTableOffset() != p.Offset) {
				t.Fatalf("HeaderTable %x, %t at %d; All %x at %d", table, ok, h.HeaderTableOffset(), p.Raw, p.Offset)
			}
			props = append(props, p)
			at = p.End
		}
		if ok && !slices.ContainsFunc(props, func(p Property) bool { return p.Name == "headers" }) {
			t.Fatalf("HeaderTable %x, which All does not have", table)
		}
		// What was read whole and in one word of flags is written again the same.
		if !ended && h.ClassID() == 60 && bytes.Equal(payload[2:4], []byte{0, 0}) && h.Flags()&1 == 0 {
			if again := AppendContentHeaderPayload(nil, h.BodySize(), props...); !bytes.Equal(again, payload) {
				t.Fatalf("written again: %x\nwas:           %x", again, payload)
			}
		}
	})
}

// Survey answers in one pass what HeaderTable, HeaderTableOffset and Valid answer each by itself.
func TestSurveyAgrees(t *testing.T) {
	whole := AppendContentHeaderPayload(nil, 7,
		Property{Name: "content_type", Raw: []byte("text/plain")},
		Property{Name: "headers", Raw: []byte{0, 0, 0, 3, 1, 'a', 'V'}},
		Property{Name: "priority", Raw: []byte{1}},
		Property{Name: "message_id", Raw: []byte("m")},
		Property{Name: "timestamp", Raw: make([]byte, 8)},
	)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		payload := slices.Clone(whole[:random.IntN(len(whole)+1)])
		for range random.IntN(3) {
			if len(payload) > 0 {
				payload[random.IntN(len(payload))] = byte(random.Uint32())
			}
		}
		h := ViewContentHeader(payload)
		table, at, sound := h.Survey()
		want, ok := h.HeaderTable()
		if at != h.HeaderTableOffset() || ok != (at >= 0) || !bytes.Equal(table, want) || sound != (h.Valid() == nil) {
			t.Fatalf("%x: table %x at %d, sound %t; want %x at %d, %v",
				payload, table, at, sound, want, h.HeaderTableOffset(), h.Valid())
		}
		var damage error
		for _, err := range h.All() {
			damage = err
		}
		if sound != (damage == nil) {
			t.Fatalf("%x: sound %t, and %v", payload, sound, damage)
		}
	}
}
