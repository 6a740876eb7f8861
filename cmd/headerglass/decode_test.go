package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// runCLI runs the command line with input as standard input.
func runCLI(t *testing.T, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, stdio{strings.NewReader(input), &out, &errs})
	return code, out.String(), errs.String()
}

// vector is one entry of the field-table vectors: bytes, the dialects that it holds for, and either
// what they say or where they break.
type vector struct {
	Name       string
	Dialects   []string
	Hex        string
	Fields     []any
	FirstError map[string]any `json:"first_error"`
	TopFields  []any          `json:"top_fields"`
	TopError   map[string]any `json:"top_error"`
}

func TestDecodeVectors(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "fieldtable", "testdata", "fieldtable.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 100 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		for _, dialect := range v.Dialects {
			t.Run(v.Name+"/"+dialect, func(t *testing.T) {
				code, out, errs := runCLI(
					t,
					v.Hex,
					"decode",
					"--dialect",
					dialect,
					"--format",
					"json",
					"--input",
					"hex",
					"-",
				)
				var got map[string]any
				dec := json.NewDecoder(strings.NewReader(out))
				dec.UseNumber()
				if err := dec.Decode(&got); err != nil {
					t.Fatalf("%v: %s%s", err, out, errs)
				}
				if got["dialect"] != dialect {
					t.Errorf("dialect %v", got["dialect"])
				}
				if v.FirstError == nil {
					if code != exitOK {
						t.Errorf("exit code %d", code)
					}
					if err := contains(got["fields"], v.Fields); err != nil {
						t.Errorf("fields: %v\n%s", err, out)
					}
					return
				}
				if code != exitFailed {
					t.Errorf("exit code %d, want %d", code, exitFailed)
				}
				if err := contains(firstError(got), v.FirstError); err != nil {
					t.Errorf("first error: %v\n%s", err, out)
				}
				if err := contains(got["fields"], v.TopFields); err != nil {
					t.Errorf("fields before the damage: %v\n%s", err, out)
				}
				if v.TopError == nil && got["error"] != nil {
					t.Errorf("top error %v, want none", got["error"])
				} else if v.TopError != nil {
					if err := contains(got["error"], v.TopError); err != nil {
						t.Errorf("top error: %v\n%s", err, out)
					}
				}
			})
		}
	}
}

// contains reports how got differs from want. Objects may have more members than want names; arrays
// must have the same length. A want of {"bits": …} is the bit pattern of the float64 that got
// writes as a number or a word.
func contains(got, want any) error {
	switch want := want.(type) {
	case map[string]any:
		if bits, ok := want["bits"].(string); ok {
			return sameBits(got, bits)
		}
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("got %v, want the object %v", got, want)
		}
		for k, w := range want {
			if err := contains(g[k], w); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			return fmt.Errorf("got %v, want %d elements: %v", got, len(want), want)
		}
		for i, w := range want {
			if err := contains(g[i], w); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
	if got != want {
		return fmt.Errorf("got %#v, want %#v", got, want)
	}
	return nil
}

func sameBits(got any, bits string) error {
	want, err := strconv.ParseUint(bits, 16, 64)
	if err != nil {
		return err
	}
	text := fmt.Sprint(got)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	if math.IsNaN(f) && math.IsNaN(math.Float64frombits(want)) {
		return nil
	}
	switch len(bits) {
	case 8:
		if f32, err := strconv.ParseFloat(text, 32); err != nil || uint64(math.Float32bits(float32(f32))) != want {
			return fmt.Errorf("got %v, want bits %s", got, bits)
		}
	default:
		if math.Float64bits(f) != want {
			return fmt.Errorf("got %v, want bits %s", got, bits)
		}
	}
	return nil
}

// firstError finds the first error of a decoded table in depth-first wire order: nested ones come
// before the one that ends the table.
func firstError(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, list := range []string{"fields", "items"} {
			if err := firstError(v[list]); err != nil {
				return err
			}
		}
		if err := firstError(v["value"]); err != nil {
			return err
		}
		return v["error"]
	case []any:
		for _, e := range v {
			if err := firstError(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// The table that the input tests use: one field, tenant = acme.
const acmeHex = "00000010" + "0674656e616e74" + "53" + "00000004" + "61636d65"

func TestDecodeInput(t *testing.T) {
	binary, err := hex.DecodeString(acmeHex)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "table.bin")
	if err := os.WriteFile(file, binary, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, input string
		args        []string
		code        int
	}{
		{"auto takes hex", acmeHex, nil, exitOK},
		{"hex with white space and capitals", strings.ToUpper(acmeHex[:10]) + " \r\n\t" + acmeHex[10:] + "\n", nil, exitOK},
		{"auto takes binary", string(binary), nil, exitOK},
		{"binary", string(binary), []string{"--input", "binary"}, exitOK},
		{"base64", base64.StdEncoding.EncodeToString(binary) + "\n", []string{"--input", "base64"}, exitOK},
		{"base64 without padding, URL alphabet", base64.RawURLEncoding.EncodeToString(binary), []string{"--input", "base64"}, exitOK},
		{"a file", "", []string{file}, exitOK},
		{"hex that is not", "zz", []string{"--input", "hex"}, exitUsage},
		{"an odd number of digits", "000", nil, exitUsage},
		{"base64 that is not", "!", []string{"--input", "base64"}, exitUsage},
		{"a file that is not there", "", []string{file + ".not"}, exitUsage},
		{"a dialect that is not there", acmeHex, []string{"--dialect", "amqp-1.0"}, exitUsage},
		{"nothing at all", "", nil, exitFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := runCLI(t, tt.input, append([]string{"decode", "--format", "json"}, tt.args...)...)
			if code != tt.code {
				t.Fatalf("exit code %d, want %d\n%s%s", code, tt.code, out, errs)
			}
			if code == exitOK &&
				!strings.Contains(out, `"key":"tenant","tag":"S","type":"longstr","value":"acme","offset":4,"end":20`) {
				t.Errorf("printed %s", out)
			}
			if code == exitUsage && (out != "" || errs == "") {
				t.Errorf("a mistake must be named on standard error alone; got %q and %q", out, errs)
			}
		})
	}
}

// The damage is in the output, and what else would read the table is offered on standard error
// without being used.
func TestDecodeOffersOtherDialects(t *testing.T) {
	const spec = "00000009016b730568656c6c6f" // k = the short string "hello", as the specification writes it
	code, out, errs := runCLI(t, spec, "decode", "--dialect", "rabbitmq", "--format", "json")
	if code != exitFailed || !strings.Contains(out, `"reason":"name_truncated"`) {
		t.Errorf("exit code %d, printed %s", code, out)
	}
	if !strings.Contains(errs, "spec-0-9-1") {
		t.Errorf("spec-0-9-1 is not offered: %q", errs)
	}
	if code, out, _ := runCLI(t, spec, "decode", "--dialect", "rabbitmq"); code != exitFailed ||
		!strings.Contains(out, "0x9") {
		t.Errorf("text: exit code %d, printed %s", code, out)
	}
}

// Nothing of a table reaches a terminal as it is that it would obey: the name U+202E, the value
// U+009B 1m.
func TestDecodeIsSafeToPrint(t *testing.T) {
	const encoded = "0000000d03e280ae5300000004c29b316d"
	for format, want := range map[string]string{
		"json": `"key":"\u202e","tag":"S","type":"longstr","value":"\u009b1m"`,
		"text": `"\u202e" = "\u009b1m"`,
	} {
		code, out, _ := runCLI(t, encoded, "decode", "--format", format)
		if code != exitOK || !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%s: exit code %d, printed %q", format, code, out)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// What could not be written is not taken for damage.
func TestDecodeThatCannotWrite(t *testing.T) {
	var errs bytes.Buffer
	code := run(t.Context(), []string{"decode"}, stdio{strings.NewReader(acmeHex), fullDisk{}, &errs})
	if code != exitOutput || !strings.Contains(errs.String(), "could not be written: no space left") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	if _, help, _ := runCLI(t, "", "decode", "--help"); !strings.Contains(
		strings.Join(strings.Fields(help), " "),
		"3: the output could not be written",
	) {
		t.Errorf("the help does not name the exit code: %s", help)
	}
}
