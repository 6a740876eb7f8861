package query

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.Intn(len(of))] }

// randomTable writes few names and many coincidences, and now and then damage.
func randomTable(r *rand.Rand) []byte {
	table := encode.Table(func(e *encode.Encoder) {
		for range r.Intn(6) {
			randomField(r, e, 0)
		}
		if r.Intn(4) == 0 {
			e.Value(pick(r, "a", "z"), 'Z', nil)
			randomField(r, e, 0)
		}
	})
	switch r.Intn(12) {
	case 0:
		return table[:r.Intn(len(table)+1)]
	case 1:
		return append(table, 1)
	}
	return table
}

func randomField(r *rand.Rand, e *encode.Encoder, depth int) {
	name := pick(r, "a", "b", "c", "a.b", "d e", "and")
	switch r.Intn(20) {
	case 0:
		e.Bool(name, r.Intn(2) == 0)
	case 1:
		e.Int8(name, int8(r.Intn(8)-4))
	case 2:
		e.Uint8(name, pick[uint8](r, 0, 5, 255))
	case 3:
		e.Int32(name, pick[int32](r, -5, 0, 5, math.MaxInt32))
	case 4:
		e.Int64(name, pick[int64](r, math.MinInt64, -1, 5, 1<<53, 1<<53+1, math.MaxInt64))
	case 5:
		e.Float32(name, pick[float32](r, 0.1, 5, float32(math.NaN())))
	case 6:
		e.Float64(
			name,
			pick(
				r,
				0.1,
				5,
				-0.5,
				1<<53,
				math.Copysign(0, -1),
				math.Inf(1),
				math.Inf(-1),
				math.NaN(),
				math.MaxFloat64,
				5e-324,
			),
		)
	case 7:
		e.Decimal(name, pick[uint8](r, 0, 1, 2, 20, 255), pick[int32](r, -5, 0, 5, 50, 500, math.MaxInt32))
	case 8, 9, 10:
		e.Str(
			name,
			pick(r, "", "acme", "5", "5.0", "0.1", "a_b", "a%b", "abab", "TRUE", "void", "2023-11-14", "\xff\xe9", "é"),
		)
	case 11:
		e.Bytes(name, pick(r, []byte{0x5}, []byte("acme"), nil))
	case 12:
		e.Char8(name, 'a')
	case 13:
		e.Timestamp(name, pick[int64](r, 5, 1700000000, -1, math.MaxInt64))
	case 14:
		e.Void(name)
	case 15, 16, 17:
		if depth < 3 {
			e.Nested(name, func(e *encode.Encoder) { randomInside(r, e, depth) })
		}
	default:
		if depth < 3 {
			e.Array(name, func(e *encode.Encoder) { randomInside(r, e, depth) })
		}
	}
}

func randomInside(r *rand.Rand, e *encode.Encoder, depth int) {
	for range r.Intn(4) {
		randomField(r, e, depth+1)
	}
	if r.Intn(6) == 0 {
		e.Value("a", 'Z', nil)
	}
}

func randomFilter(r *rand.Rand, depth int) string {
	if depth > 0 && r.Intn(3) > 0 {
		switch r.Intn(3) {
		case 0:
			return "NOT (" + randomFilter(r, depth-1) + ")"
		case 1:
			return "(" + randomFilter(r, depth-1) + " AND " + randomFilter(r, depth-1) + ")"
		default:
			return "(" + randomFilter(r, depth-1) + " OR " + randomFilter(r, depth-1) + ")"
		}
	}
	path := pick(r, "a", "b", "c", "a.b", `"d e"`, `"and"`)
	for r.Intn(3) == 0 {
		path += pick(r, "[0]", "[1]", "[*]", "[*]")
		if r.Intn(2) == 0 {
			path += pick(r, ".a", ".b", `."a.b"`)
		}
	}
	literal := func() string {
		return pick(
			r,
			"5",
			"5.0",
			"-5",
			"0",
			"0.1",
			"1e400",
			"-1e400",
			"1e-400",
			"9007199254740993",
			"9223372036854775808",
			"-9223372036854775808.5",
			"acme",
			"'acme'",
			`"5"`,
			"'5'",
			"true",
			"FALSE",
			"'TRUE'",
			"void",
			"NaN",
			`"+Inf"`,
			"table",
			"2023-11-14",
			"'2023-11-14T22:13:20Z'",
			`"\xff\xe9"`,
			"é",
			"''",
			`""`,
			"5L",
			"61",
			"61636d65",
		)
	}
	maybeNot := pick(r, "", "NOT ")
	switch r.Intn(19) {
	case 16:
		return path + " " + maybeNot + "CONTAINS " + pick(r, "a", "'a_'", "5", `"%"`, "'!%'")
	case 17:
		return randomExpression(r, 1) + pick(r, " + 1 ", " * 2 ", " / 4 ") + pick(
			r,
			"IS NULL",
			"IS NOT NULL",
			maybeNot+`LIKE "%5%"`,
			maybeNot+`MATCHES "^[0-9]+$"`,
			maybeNot+"CONTAINS 2",
		)
	case 18:
		return pick(
			r,
			"("+randomFilter(r, 0)+" AND TRUE) IS "+maybeNot+"NULL",
			"a "+maybeNot+"IN (b, "+literal()+", b + 1)",
			"'acme' "+maybeNot+"LIKE 'a%'",
		)
	case 12:
		side := func() string { // a property alone takes no text
			e := randomExpression(r, 2)
			if e[0] == '$' {
				e += " + 0"
			}
			return e
		}
		return side() + " " + pick(r, "=", "<>", "<", "<=", ">", ">=") + " " + side()
	case 13:
		return "(" + randomExpression(r, 1) + ") + 1 " + maybeNot + pick(r, "BETWEEN -1 AND b", "IN (5, b, 'x')")
	case 14:
		return path + " " + maybeNot + "MATCHES " + pick(r, "'^a'", `"5"`, "'(?i)TRUE|b$'", `"^[0-9]+$"`)
	case 15:
		return pick(r, "TRUE", "false", "5 < a", "'acme' = b", "TRUE = c", "a.b BETWEEN 1 AND c + 1", "EXISTS("+path+")", "JMSType = x", "a.d")
	case 0:
		return path
	case 1:
		return path + " IS " + maybeNot + "NULL"
	case 2:
		return path + " " + maybeNot + "IN (" + literal() + ", " + literal() + ")"
	case 3:
		return path + " " + maybeNot + "BETWEEN " + literal() + " AND " + literal()
	case 4:
		return path + " " + maybeNot + "LIKE " + pick(
			r,
			"'a%'",
			`"%5%"`,
			"'_'",
			`"__"`,
			"'%a_%'",
			"'a!_b' ESCAPE '!'",
			"'a!%%' ESCAPE '!'",
			"'%'",
			`"\xff_"`,
			"'%b'",
			"'é'",
		)
	case 5:
		return "type(" + path + ") " + pick(r, "=", "<>") + " " + pick(r, "S", "I", "int8", "array", "void", "'T'")
	case 6:
		return "duplicate(" + pick(r, "a", "b", `"d e"`, "") + ")"
	case 7:
		return pick(
			r,
			"malformed()",
			"$size = 0",
			"$redelivered",
			"$message_id IS NULL",
			"$message_id = x",
			"$header_count > 2",
			"anywhere('ac')",
			"anywhere(5)",
			`anywhere("\xff")`,
			"anywhere('É')",
			"anywhere('B')",
		)
	default:
		return path + " " + pick(r, "=", "<>", "<", "<=", ">", ">=") + " " + literal()
	}
}

func randomExpression(r *rand.Rand, depth int) string {
	if depth > 0 && r.Intn(3) > 0 {
		left, right := randomExpression(r, depth-1), randomExpression(r, depth-1)
		switch r.Intn(7) {
		case 0:
			return "(" + left + " " + pick(r, "+", "-", "*", "/", "%") + " " + right + ")"
		case 1:
			return "- (" + left + ")"
		default:
			return left + " " + pick(r, "+", "-", "*", "/", "%") + " " + right
		}
	}
	return pick(r, "a", "b", "c", "[d e]", `"and"`, "a[0]", "b[1].a", "$size", "$priority", "5", "0", "-0.5", "1e2", "2L", "1.5f", "0xFF", "'5'", "'x'", "9007199254740993")
}

// oracle is what the naive evaluator says.
func oracle(q *Filter, m archive.Message, d *fieldtable.Dialect) Verdict {
	var table *naiveValue
	if encoded, ok := m.HeaderTable(); ok {
		v := naiveTable(fieldtable.View(encoded, d))
		table = &v
	} else if m.Header().Flags()&wire.FlagHeaders != 0 {
		table = &naiveValue{damaged: true}
	}
	return naiveEval(q.root, table, m).verdict()
}

func noMatch(v Verdict) bool { return v == No || v == Unknown }

// disagreement compares every way to match m with the naive evaluator.
func disagreement(q *Filter, s archive.Snapshot, m archive.Message, x *Matcher, scratch *Scratch) string {
	d := fieldtable.Lenient()
	want := oracle(q, m, d)
	if got := q.Match(m, d, scratch); got != want {
		return fmt.Sprintf("Match: %v, want %v", got, want)
	}
	if got := x.Match(s, m); got != want && !(noMatch(got) && noMatch(want)) {
		return fmt.Sprintf("by shape: %v, want %v", got, want)
	}
	if encoded, ok := m.HeaderTable(); ok {
		memo := fieldtable.NewMemo(fieldtable.View(encoded, d))
		if got := x.MatchMemo(s, m, memo); got != want && !(noMatch(got) && noMatch(want)) {
			return fmt.Sprintf("by memo: %v, want %v", got, want)
		}
	}
	return ""
}

func TestMatchAgreesWithNaiveEvaluation(t *testing.T) {
	verdicts := map[Verdict]int{}
	for seed := range int64(6) {
		agreesWithNaiveEvaluation(t, seed, verdicts)
	}
	for v := No; v <= Damaged; v++ {
		if verdicts[v] < 3000 {
			t.Errorf("only %d matches were %v: %v", verdicts[v], v, verdicts)
		}
	}
}

func agreesWithNaiveEvaluation(t *testing.T, seed int64, verdicts map[Verdict]int) {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	var messages []testMessage
	for range 1500 {
		m := testMessage{redelivered: r.Intn(2) == 0}
		if r.Intn(20) > 0 {
			m.table = randomTable(r)
		}
		messages = append(messages, m)
	}
	s := archived(archive.Config{MaxBytes: 16 << 20}, messages...)
	var scratch Scratch
	for range 400 {
		src := randomFilter(r, r.Intn(4))
		q := compile(t, src)
		x := q.Matcher(nil, nil)
		for range 60 {
			m, err := s.Get(1 + uint64(r.Intn(len(messages))))
			if err != nil {
				t.Fatal(err)
			}
			if problem := disagreement(q, s, m, x, &scratch); problem != "" {
				encoded, _ := m.HeaderTable()
				t.Fatalf("%s on %x: %s", q, encoded, problem)
			}
			verdicts[q.Match(m, nil, &scratch)]++
		}
	}
}

func TestLaws(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	var scratch Scratch
	var messages []archive.Message
	for range 200 {
		messages = append(messages, one(t, randomTable(r)))
	}
	for range 300 {
		a, b := randomFilter(r, 2), randomFilter(r, 2)
		for _, law := range [][2]string{
			{a, "NOT NOT (" + a + ")"},
			{"NOT (" + a + " AND " + b + ")", "NOT (" + a + ") OR NOT (" + b + ")"},
			{"NOT (" + a + " OR " + b + ")", "NOT (" + a + ") AND NOT (" + b + ")"},
			{a + " AND " + b, b + " AND " + a},
			{a + " OR " + b, b + " OR " + a},
			{a, compile(t, a).String()},
			swapped(r),
		} {
			left, right := compile(t, law[0]), compile(t, law[1])
			for _, m := range messages[:20] {
				if x, y := left.Match(m, nil, &scratch), right.Match(m, nil, &scratch); x != y {
					t.Fatalf("%s is %v, but %s is %v", left, x, right, y)
				}
			}
		}
		r.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
	}
}

// swapped compares two expressions from either side.
func swapped(r *rand.Rand) [2]string {
	left, right := randomExpression(r, 2)+" + 0", randomExpression(r, 2)+" + 0"
	op := pick(r, "=", "<>", "<", "<=", ">", ">=")
	return [2]string{left + " " + op + " " + right, right + " " + mirrored(op) + " " + left}
}

// A value on the left is the same as on the right, turned round.
func TestSidesSwapped(t *testing.T) {
	for _, filter := range []string{"NOW() > (n)", "UTC() <= (n)", "1 + 1 < (n)", "n > UTC()", "n + 0 >= NOW()"} {
		if got := compile(t, filter).String(); got != filter {
			t.Errorf("%s is %s: what is calculated keeps its side", filter, got)
		}
	}
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
		for _, value := range []string{"5", "-0.1", "'acme'", "TRUE", "1.5f", "0xFF"} {
			for _, name := range []string{"n", `"a b"`, "x[0].y", "JMSType"} {
				src := value + " " + op + " " + name
				want := name + " " + mirrored(op) + " " + value
				if got := compile(t, src).String(); got != want {
					t.Errorf("%s is %s, want %s", src, got, want)
				}
			}
		}
	}
}

func TestComparisonLaws(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	var scratch Scratch
	for range 2000 {
		m := one(t, encode.Table(func(e *encode.Encoder) { randomField(r, e, 3) }))
		path := pick(r, "a", "b", "c", "a.b", `"d e"`, `"and"`)
		literal := strings.Fields(`5 0.1 acme 'acme' true 2023-11-14 1e400 void`)[r.Intn(8)]
		for _, law := range [][2]string{
			{"= ", "NOT %s <> "}, {"< ", "NOT %s >= "}, {"> ", "NOT %s <= "},
		} {
			left := compile(t, path+" "+law[0]+literal)
			right := compile(t, fmt.Sprintf(law[1], path)+literal)
			if x, y := left.Match(m, nil, &scratch), right.Match(m, nil, &scratch); x != y {
				t.Fatalf("%s is %v, but %s is %v", left, x, right, y)
			}
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, src := range []string{
		"", "x-death", "tenant = acme", `NOT ("a b"[*].c."d.e" NOT LIKE 'x!%' ESCAPE '!' OR $size BETWEEN 1 AND 5)`,
		"a IN (1, 'b', c) AND type(a[0]) <> int32", "duplicate() OR duplicate(k) OR malformed()", "a IS NOT NULL AND exists($redelivered)",
		`"\xff\"\\" = -1.5e-7`, "$received >= 2026-11-29T10:00:00Z", "a b", "a = 'x", "((((", "a[9", "\xff",
	} {
		f.Add(src)
	}
	r := rand.New(rand.NewSource(4))
	var messages []archive.Message
	for range 20 {
		messages = append(messages, one(f, randomTable(r)))
	}
	f.Fuzz(func(t *testing.T, src string) {
		q, err := Compile(src)
		if err != nil {
			e := err.(*Error)
			if e.Offset < 0 || e.Offset > e.End || e.End > len(src) || e.Msg == "" {
				t.Fatalf("%q: %+v", src, e)
			}
			return
		}
		again, err := Compile(q.String())
		if err != nil || again.String() != q.String() {
			t.Fatalf("%q: %q compiles to %v, %v", src, q, again, err)
		}
		var scratch Scratch
		for _, m := range messages {
			if x, y := q.Match(m, nil, &scratch), again.Match(m, nil, &scratch); x != y {
				t.Fatalf("%q is %v, %q is %v", src, x, q, y)
			}
		}
	})
}

func FuzzMatch(f *testing.F) {
	r := rand.New(rand.NewSource(5))
	for range 50 {
		f.Add(randomFilter(r, 2), randomTable(r))
	}
	for _, s := range specimens.Specimens() {
		f.Add("malformed() OR a[*] = 1", s.Encoded)
	}
	f.Add("'' = 5f", []byte("'5' = 5"))
	damaged := []byte{0xff, 0xff, 0xff, 0xff, 1, 'a'}
	for _, src := range []string{
		"1e400 * 1e400 * 1e400 > a", "NOW() >= a", "$received > UTC()", "$exchange + 1 <> 1", "$header_bytes * 2 > 1",
		"a = 0x05", ".5 = a + 0", "a + 0 = .1",
	} {
		f.Add(src, randomTable(r))
		f.Add(src, damaged)
	}
	f.Fuzz(func(t *testing.T, src string, table []byte) {
		q, err := Compile(src)
		if err != nil || len(src) > 500 || len(table) > 4000 {
			return
		}
		s := archived(archive.Config{MaxBytes: 1 << 20}, testMessage{table: table})
		m, err := s.Get(1)
		if err != nil {
			t.Fatal(err)
		}
		var scratch Scratch
		if problem := disagreement(q, s, m, q.Matcher(nil, nil), &scratch); problem != "" {
			t.Fatalf("%s on %x: %s", q, table, problem)
		}
	})
}
