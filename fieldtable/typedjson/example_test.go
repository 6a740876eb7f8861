package typedjson_test

import (
	"fmt"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

func ExampleAppendDecode() {
	encoded := encode.Table(func(e *encode.Encoder) {
		e.Int64("big", 9007199254740993)
		e.Str("k", "first")
		e.Str("k", "second")
	})
	fmt.Printf("%s\n", typedjson.AppendDecode(nil, fieldtable.View(encoded, nil)))
	// Output: {"dialect":"lenient","length":38,"fields":[{"key":"big","tag":"l","type":"int64","value":"9007199254740993","offset":4,"end":17},{"key":"k","tag":"S","type":"longstr","value":"first","offset":17,"end":29},{"key":"k","tag":"S","type":"longstr","value":"second","offset":29,"end":42}],"error":null}
}

func ExampleAppendText() {
	encoded := encode.Table(func(e *encode.Encoder) {
		e.Str("tenant", "t7")
		e.Value("bad", 'Z', nil)
	})
	fmt.Printf("%s", typedjson.AppendText(nil, fieldtable.View(encoded, nil)))
	// Output:
	// dialect lenient, length 19
	//       4  S     longstr    tenant = "t7"
	//      22  !     unknown_tag  unknown type tag 'Z', at byte 22 (0x16), in bad
	//      22        unread     0x5a (1 byte)
	//
	// no dialect reads this without damage
}
