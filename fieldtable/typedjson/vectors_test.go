package typedjson_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

// vector is one case of testdata/fieldtable.json. A whole table has Fields; a damaged one the first
// error in depth-first wire order, and what can be read of the outermost table.
type vector struct {
	Name       string           `json:"name"`
	Dialects   []string         `json:"dialects"`
	Hex        string           `json:"hex"`
	Fields     []map[string]any `json:"fields"`
	FirstError map[string]any   `json:"first_error"`
	TopFields  []map[string]any `json:"top_fields"`
	TopError   map[string]any   `json:"top_error"`
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	file, err := os.ReadFile("../testdata/fieldtable.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := unmarshal(file, &vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// unmarshal keeps numbers as they are written.
func unmarshal(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(v)
}

func TestVectors(t *testing.T) {
	for _, vec := range readVectors(t) {
		for _, name := range vec.Dialects {
			t.Run(vec.Name+"/"+name, func(t *testing.T) {
				encoded, err := hex.DecodeString(vec.Hex)
				if err != nil {
					t.Fatal(err)
				}
				dialect, err := fieldtable.DialectByName(name)
				if err != nil {
					t.Fatal(err)
				}
				table := fieldtable.View(encoded, dialect)
				var got struct {
					Fields []map[string]any `json:"fields"`
					Error  map[string]any   `json:"error"`
				}
				out := typedjson.AppendDecode(nil, table)
				if err := unmarshal(out, &got); err != nil {
					t.Fatalf("%v in %s", err, out)
				}
				valid := table.Valid()
				if vec.FirstError == nil {
					if valid != nil || got.Error != nil {
						t.Fatalf("Valid: %v, JSON error: %v, want none", valid, got.Error)
					}
					includes(t, "fields", got.Fields, vec.Fields)
					return
				}
				first, ok := errors.AsType[*fieldtable.SyntaxError](valid)
				if !ok {
					t.Fatalf("Valid: %v, want a SyntaxError", valid)
				}
				if at := fmt.Sprintf("%s at %d", first.Reason(), first.Offset); at != errorAt(vec.FirstError) {
					t.Errorf("Valid: %s, want %s", at, errorAt(vec.FirstError))
				}
				if errorAt(got.Error) != errorAt(vec.TopError) {
					t.Errorf("error of the outermost table: %s, want %s", errorAt(got.Error), errorAt(vec.TopError))
				}
				includes(t, "fields", got.Fields, vec.TopFields)
			})
		}
	}
}

func errorAt(e map[string]any) string {
	if e == nil {
		return "none"
	}
	return fmt.Sprintf("%v at %v", e["reason"], e["offset"])
}

// includes checks that got holds everything that want says, in lists of the same length.
func includes(t *testing.T, path string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case []map[string]any:
		got := got.([]map[string]any)
		if len(got) != len(want) {
			t.Errorf("%s: %d, want %d", path, len(got), len(want))
			return
		}
		for i := range want {
			includes(t, fmt.Sprintf("%s[%d]", path, i), got[i], want[i])
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			t.Errorf("%s: %v, want %v", path, got, want)
			return
		}
		for i := range want {
			includes(t, fmt.Sprintf("%s[%d]", path, i), got[i], want[i])
		}
	case map[string]any:
		if bits, ok := want["bits"].(string); ok {
			if got := floatBits(got); got != bits {
				t.Errorf("%s: float bits %s, want %s", path, got, bits)
			}
			return
		}
		got, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s: %v, want %v", path, got, want)
			return
		}
		for key := range want {
			includes(t, path+"."+key, got[key], want[key])
		}
	default:
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, want %#v", path, got, want)
		}
	}
}

func floatBits(got any) string {
	var f float64
	switch got := got.(type) {
	case json.Number:
		f, _ = got.Float64()
	case string:
		f = map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)}[got]
		if math.IsNaN(f) {
			return "7ff8000000000000"
		}
	}
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, math.Float64bits(f)))
}
