package fieldtable_test

import (
	"errors"
	"fmt"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

// deadLettered is a header table as RabbitMQ dead-letters it.
func deadLettered() []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Array("x-death", func(e *encode.Encoder) {
			e.Nested("", func(e *encode.Encoder) {
				e.Int64("count", 3)
				e.Str("reason", "rejected")
				e.Str("queue", "orders")
			})
		})
		e.Str("tenant", "t7")
		e.Decimal("total", 2, 314)
	})
}

func ExampleView() {
	table := fieldtable.View([]byte("\x00\x00\x00\x08\x01kI\x00\x00\x00\x07!"), fieldtable.RabbitMQ())
	for f, err := range table.All() {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("%s %c %s, octets %d to %d\n", f.Name, f.Value.Tag(), f.Value.AppendText(nil), f.Offset, f.End)
	}
	// Output:
	// k I 7, octets 4 to 11
	// the name is longer than what is left of the table, at byte 11 (0xb)
}

func ExampleCut() {
	b := append(encode.Table(func(e *encode.Encoder) { e.Bool("ok", true) }), "next property"...)
	table, rest := fieldtable.Cut(b, nil)
	v, _ := table.Get("ok")
	fmt.Printf("%s, then %q\n", v.AppendText(nil), rest)
	// Output: true, then "next property"
}

func ExampleTable_All() {
	for f := range fieldtable.View(deadLettered(), nil).All() {
		fmt.Printf("%3d %c %s\n", f.Offset, f.Value.Tag(), f.Name)
	}
	// Output:
	//   4 A x-death
	//  74 S tenant
	//  88 D total
}

func ExampleTable_Lookup() {
	table := fieldtable.View(deadLettered(), nil)
	v, err := table.Lookup("tenant")
	fmt.Println(string(v.AppendText(nil)), err)
	_, err = table.Lookup("retries")
	fmt.Println(errors.Is(err, fieldtable.ErrAbsent))
	// Output:
	// t7 <nil>
	// true
}

func ExampleTable_Get() {
	if v, ok := fieldtable.View(deadLettered(), nil).Get("total"); ok {
		d, _ := v.Decimal()
		fmt.Println(d, d.Unscaled, d.Scale)
	}
	// Output: 3.14 314 2
}

func ExampleTable_Project() {
	keys := []string{"total", "tenant"}
	var values [2]fieldtable.Value
	found, err := fieldtable.View(deadLettered(), nil).Project(keys, values[:])
	fmt.Println(found, err)
	for i, v := range values {
		fmt.Printf("%s = %s\n", keys[i], v.AppendText(nil))
	}
	// Output:
	// 2 <nil>
	// total = 3.14
	// tenant = t7
}

func ExampleTable_At() {
	v, err := fieldtable.View(deadLettered(), nil).At("x-death[0].reason")
	fmt.Println(string(v.AppendText(nil)), err)
	// Output: rejected <nil>
}

func ExampleTable_Scan() {
	s := fieldtable.View(deadLettered(), nil).Scan()
	s.Skip() // x-death, however great it is
	for s.Next() {
		fmt.Printf("%s\n", s.Name())
	}
	fmt.Println(s.Err())
	// Output:
	// tenant
	// total
	// <nil>
}

func ExampleScanner_Into() {
	var walk func(s *fieldtable.Scanner)
	walk = func(s *fieldtable.Scanner) {
		for s.Next() {
			fmt.Printf("%s\n", s.AppendPath(nil))
			if inner, ok := s.Into(); ok {
				walk(&inner)
			}
		}
	}
	s := fieldtable.View(deadLettered(), nil).Scan()
	walk(&s)
	// Output:
	// x-death
	// x-death[0]
	// x-death[0].count
	// x-death[0].reason
	// x-death[0].queue
	// tenant
	// total
}

func ExampleTable_Valid() {
	table := fieldtable.View(encode.Table(func(e *encode.Encoder) {
		e.Array("list", func(e *encode.Encoder) {
			e.Int32("", 1)
			e.Value("", 'Z', nil)
		})
		e.Str("after", "still readable")
	}), nil)
	err := table.Valid()
	fmt.Println(err)
	if damage, ok := errors.AsType[*fieldtable.SyntaxError](err); ok {
		fmt.Println(damage.Reason(), damage.Offset, damage.Path)
	}
	v, _ := table.Get("after")
	fmt.Println(string(v.AppendText(nil)))
	// Output:
	// unknown type tag 'Z', at byte 19 (0x13), in list[1]
	// unknown_tag 19 list[1]
	// still readable
}

func ExampleMemo() {
	memo := fieldtable.NewMemo(fieldtable.View(deadLettered(), nil))
	for _, key := range []string{"tenant", "retries", "tenant"} {
		v, err := memo.Lookup(key)
		fmt.Printf("%s: %s %v\n", key, v.AppendText(nil), err)
	}
	// Output:
	// tenant: t7 <nil>
	// retries:  no such key
	// tenant: t7 <nil>
}

func ExampleExactDialects() {
	shortString := []byte("\x00\x00\x00\x09\x01ks\x05hello")
	fmt.Println(fieldtable.ExactDialects(shortString)[0].Name())
	// Output: spec-0-9-1
}

func ExampleHints() {
	table := fieldtable.View(encode.Table(func(e *encode.Encoder) { e.Timestamp("sent", 1_700_000_000_123) }), nil)
	for _, h := range fieldtable.Hints(table) {
		fmt.Printf("%s: %s\n", h.Path, h.Text)
	}
	// Output: sent: as milliseconds, which some clients write, 2023-11-14T22:13:20.123Z
}

func ExampleReadings() {
	table := fieldtable.View(encode.Table(func(e *encode.Encoder) { e.Int8("level", -1) }), nil)
	for _, r := range fieldtable.Readings(table) {
		fmt.Printf("%s = %s\n", r.Path, r.Text)
		for _, o := range r.Others {
			fmt.Printf("  %s: %s (%s)\n", o.Client, o.Text, o.Why)
		}
	}
	// Output:
	// level = -1
	//   Ruby (Bunny): 255 (reads 'b' as uint8)
}

func ExampleArray_All() {
	v, _ := fieldtable.View(deadLettered(), nil).Lookup("x-death")
	deaths, _ := v.Array()
	for death, err := range deaths.All() {
		t, _ := death.Table()
		reason, _ := t.Get("reason")
		fmt.Println(string(reason.AppendText(nil)), err)
	}
	// Output: rejected <nil>
}

func ExampleDialectByName() {
	d, err := fieldtable.DialectByName("spec-0-9-1")
	fmt.Println(d.Kind('s'), d.Kind('x'), err)
	// Output: shortstr invalid <nil>
}

func ExampleParsePath() {
	steps, err := fieldtable.ParsePath(`"NServiceBus.Headers"[2].key`)
	fmt.Println(len(steps), steps[0].Name, steps[1].Index, steps[2].Name, err)
	// Output: 3 NServiceBus.Headers 2 key <nil>
}
