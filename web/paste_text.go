package web

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/web/capture"
)

// How bytes were given, as the page says it and the parameter read of its address.
const (
	readHex     = "hex"
	readDump    = "hexdump"
	readBase64  = "base64"
	readExport  = "export" // and captures, which are no text
	readPerhaps = ""       // the bytes themselves, or an address that does not say
)

// fromText reads a hexdump, hex or base64, in this order, and says which it was. Hex of an odd
// number of digits is a mistake, and never base64.
func fromText(text string) (data []byte, how string, err error) {
	if isCapture([]byte(strings.TrimSpace(text))) {
		return []byte(strings.TrimSpace(text)), readExport, nil
	}
	if b, ok := fromDump(text); ok {
		return b, readDump, nil
	}
	if digits, ok := hexDigits(text); ok {
		b, err := fromHex(digits)
		return b, readHex, err
	}
	if b, err := fromBase64(text); err == nil {
		return b, readBase64, nil
	}
	return nil, "", badPaste("These characters are neither hex nor base64.")
}

// hexDigits is what text is without white space and a leading 0x; ok is false where anything else
// stands in it.
func hexDigits(text string) (digits string, ok bool) {
	digits = strings.TrimPrefix(strings.Join(strings.Fields(text), ""), "0x")
	return digits, digits != "" && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
}

func fromHex(text string) ([]byte, error) {
	digits, ok := hexDigits(text)
	if !ok {
		return nil, badPaste("These characters are not hex.")
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, badPaste("These are " + strconv.Itoa(len(digits)) +
			" hex digits, an odd number: one is missing, or one too many.")
	}
	return b, nil
}

func fromBase64(text string) ([]byte, error) {
	packed := strings.NewReplacer("-", "+", "_", "/").
		Replace(strings.TrimRight(strings.Join(strings.Fields(text), ""), "="))
	b, err := base64.RawStdEncoding.DecodeString(packed)
	if err != nil {
		return nil, badPaste("These characters are not base64.")
	}
	return b, nil
}

// fromFile takes a file that holds hex or a hexdump as its bytes, and any other as it is.
func fromFile(b []byte) (data []byte, how string) {
	if isCapture(b) {
		return b, readExport
	}
	if decoded, ok := fromDump(string(b)); ok {
		return decoded, readDump
	}
	if decoded, err := fromHex(string(b)); err == nil {
		return decoded, readHex
	}
	return b, readPerhaps
}

// dumpLine is an offset of four hex digits or more, and what follows it: bytes, and perhaps the
// same as characters.
var dumpLine = regexp.MustCompile(`^\s*([0-9a-fA-F]{4,16})(?::|\s|$)\s*(.*)$`)

// fromDump reads what xxd, hexdump -C and Wireshark write. Of a line the offsets say how many bytes
// it has, so that characters which look like bytes are not taken for them; of the last one the
// bytes end at the column in which those of the line before end. ok is false for any other text.
func fromDump(text string) (data []byte, ok bool) {
	var offsets, at []int
	var rests []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		m := dumpLine.FindStringSubmatchIndex(line)
		if m == nil {
			return nil, false
		}
		offset, err := strconv.ParseUint(line[m[2]:m[3]], 16, 31)
		if err != nil {
			return nil, false
		}
		if rest := line[m[4]:m[5]]; rest != "" || len(offsets) > 0 { // hexdump -C ends with an offset alone
			offsets, rests, at = append(offsets, int(offset)), append(rests, rest), append(at, m[4])
		}
	}
	const most = 32
	width := 16
	end := -1 // the column where the bytes of a full line end
	for i, rest := range rests {
		if offsets[i]-offsets[0] != len(data) {
			return nil, false
		}
		n := width
		last := i+1 == len(rests)
		if !last {
			n = offsets[i+1] - offsets[i]
		}
		if n < 0 || n > most {
			return nil, false
		}
		width = n
		if last && end >= 0 {
			rest = rest[:max(0, min(len(rest), end-at[i]))]
		}
		b, used := dumpBytes(rest, n, last)
		if !last && len(b) != n {
			return nil, false
		}
		end = at[i] + used
		data = append(data, b...)
	}
	// One number alone is hex, with or without an offset.
	return data, len(data) > 0 && (len(rests) > 1 || strings.Contains(text, ":") || strings.Contains(text, "  "))
}

// dumpBytes reads at most n bytes of a line, and says how many characters they take. Of a line
// whose length is not known they end where a group is none of whole bytes, or before the
// characters.
func dumpBytes(rest string, n int, unknown bool) (b []byte, used int) {
	for used < len(rest) && len(b) < n {
		gap := len(rest[used:]) - len(strings.TrimLeft(rest[used:], " \t"))
		group, _, _ := strings.Cut(rest[used+gap:], " ")
		one, err := hex.DecodeString(group)
		// Between halves of a line there are two spaces; xxd has two before the characters.
		if err != nil || len(one) == 0 || len(b)+len(one) > n || unknown && gap > 1 && len(b) > 0 && len(b) != n/2 {
			break
		}
		b = append(b, one...)
		used += gap + len(group)
	}
	return b, used
}

// isCSV reports whether data begins as the explorer's own spreadsheet does.
func isCSV(data []byte) bool {
	return strings.HasPrefix(string(data[:min(len(data), 64)]), "seq,received,exchange,")
}

// kindOf names a file of messages in words.
func kindOf(f capture.Format) string {
	switch f {
	case capture.JSONL, capture.Zip:
		return "export"
	}
	return "capture"
}
