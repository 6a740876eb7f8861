package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

// maxDecodeInput bounds what decode reads into memory, in bytes. A field table lives in one frame,
// and the largest frame that any broker is known to send is far below this.
const maxDecodeInput = 64 << 20

type decodeCmd struct {
	Dialect string `default:"lenient" help:"How to read the tags: ${enum}."                                                                            enum:"${dialects}"`
	Format  string `default:"text"    help:"text or json."                                                                                             enum:"text,json"`
	Input   string `default:"auto"    help:"How the bytes are written; auto takes only hex digits and white space as hex and anything else as binary." enum:"auto,hex,base64,binary"`
	File    string `default:"-"       help:"The file to read, or - for standard input."                                                                                                                                                                              arg:"" optional:""`
}

// Help is what decode --help says beyond its flags.
func (c *decodeCmd) Help() string {
	return "Exit codes: 0: the whole table could be read; 1: a part of it is damaged; 2: the input is not what it was said to be; 3: the output could not be written."
}

// Run prints the table and returns exit code 1 if any part of it is damaged.
func (c *decodeCmd) Run(std stdio) error {
	d, err := fieldtable.DialectByName(c.Dialect)
	if err != nil {
		return usageError{err.Error()}
	}
	raw, err := readInput(c.File, std.in)
	if err != nil {
		return usageError{err.Error()}
	}
	encoded, err := parseInput(raw, c.Input)
	if err != nil {
		return usageError{err.Error()}
	}
	t := fieldtable.View(encoded, d)
	var dst []byte
	if c.Format == "json" {
		dst = append(typedjson.AppendDecode(nil, t), '\n')
	} else {
		dst = typedjson.AppendText(nil, t)
	}
	if _, err := std.out.Write(dst); err != nil {
		fmt.Fprintln(std.err, "headerglass: the output could not be written:", seen(err))
		return exitCode(exitOutput)
	}
	if t.Valid() != nil {
		c.offerOthers(std.err, encoded)
		return exitCode(exitFailed)
	}
	return nil
}

// offerOthers names the dialects under which a table that the chosen one could not read makes
// sense.
func (c *decodeCmd) offerOthers(w io.Writer, encoded []byte) {
	var names []string
	for _, d := range fieldtable.ExactDialects(encoded) {
		names = append(names, d.Name())
	}
	if len(names) > 0 {
		fmt.Fprintf(
			w,
			"headerglass: %s cannot read all of this table; it reads whole as: %s\n",
			c.Dialect,
			strings.Join(names, ", "),
		)
	}
}

func readInput(file string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file) // #nosec G304 -- the file that the command line names
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxDecodeInput+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if len(raw) > maxDecodeInput {
		return nil, fmt.Errorf("the input is larger than %d bytes: that is no field table", maxDecodeInput)
	}
	return raw, nil
}

// parseInput turns what was given into the bytes of the table.
func parseInput(raw []byte, form string) ([]byte, error) {
	if form == "auto" {
		form = "binary"
		if isHex(raw) {
			form = "hex"
		}
	}
	switch form {
	case "hex":
		packed := withoutSpace(raw)
		out := make([]byte, hex.DecodedLen(len(packed)))
		if _, err := hex.Decode(out, packed); err != nil {
			return nil, fmt.Errorf("the input is not hex: %w", err)
		}
		return out, nil
	case "base64":
		packed := bytes.TrimRight(withoutSpace(raw), "=")
		enc := base64.RawStdEncoding
		if bytes.ContainsAny(packed, "-_") {
			enc = base64.RawURLEncoding
		}
		out := make([]byte, enc.DecodedLen(len(packed)))
		n, err := enc.Decode(out, packed)
		if err != nil {
			return nil, fmt.Errorf("the input is not base64: %w", err)
		}
		return out[:n], nil
	}
	return raw, nil
}

func isHex(raw []byte) bool {
	for _, b := range raw {
		switch {
		case '0' <= b && b <= '9', 'a' <= b && b <= 'f', 'A' <= b && b <= 'F', asciiSpace(b):
		default:
			return false
		}
	}
	return true
}

func asciiSpace(b byte) bool { return b < 0x80 && unicode.IsSpace(rune(b)) }

func withoutSpace(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for _, b := range raw {
		if !asciiSpace(b) {
			out = append(out, b)
		}
	}
	return out
}
