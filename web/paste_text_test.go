package web

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// What tools write of bytes is read as these bytes, also where characters look like bytes.
func TestFromText(t *testing.T) {
	const all = "000000100674656e616e74530000000461636d65"
	for _, tt := range []struct{ name, text, want, how string }{
		{"hex", all, all, readHex},
		{"hex in groups", "0x00000010 0674\n656e 616e 7453", "000000100674656e616e7453", readHex},
		{"xxd", "00000000: 0000 0010 0674 656e 616e 7453 0000 0004  .....tenantS....\n00000010: 6163 6d65                                acme\n", all, readDump},
		{"xxd, one line", "00000000: 6162 6364  abcd\n", "61626364", readDump},
		{"xxd, a last line that reads as hex", "00000000: 0000 0010 0674 656e 616e 7453 0000 0004  .....tenantS....\n00000010: abcd  ab\n",
			"000000100674656e616e745300000004abcd", readDump},
		{"hexdump -C", "00000000  00 00 00 10 06 74 65 6e  61 6e 74 53 00 00 00 04  |.....tenantS....|\n00000010  61 63 6d 65                                       |acme|\n00000014\n", all, readDump},
		{"Wireshark", "0000   00 00 00 10 06 74 65 6e 61 6e 74 53 00 00 00 04   .....tenantS....\n0010   61 63 6d 65                                       acme\n", all, readDump},
		{"base64", "AAAAEAZ0ZW5hbnRTAAAABGFjbWU=", all, readBase64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, how, err := fromText(tt.text)
			if got := hex.EncodeToString(b); err != nil || got != tt.want || how != tt.how {
				t.Errorf("%s as %q, %v, want %s as %q", got, how, err, tt.want, tt.how)
			}
		})
	}
	for _, tt := range []struct{ name, text, want string }{
		{"odd", "abc", "3 hex digits, an odd number"},
		{"neither", "not <bytes>", "neither hex nor base64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, _, err := fromText(tt.text)
			if err == nil || !strings.Contains(newFixture(t).failureOf(err).Msg, tt.want) {
				t.Errorf("%x, %v", b, err)
			}
		})
	}
}

// The explorer reads what it exports, or says why it cannot; a table needs no length.
func TestInspectReadsOwnExports(t *testing.T) {
	f := newFixture(t)
	f.add(message{exchange: "orders", key: "k", headers: table("tenant", "acme")})
	for _, tt := range []struct{ extension, want string }{
		{"jsonl", "1 message in this export"},
		{"zip", "1 message in this export"},
		{"pcapng", "1 message in this capture"},
	} {
		t.Run(tt.extension, func(t *testing.T) {
			f := f.in(t)
			f.upload(string(f.get("/export."+tt.extension).body)).want(http.StatusOK).wantText(tt.want, "orders")
		})
	}
	lines := string(f.get("/export.jsonl").body)
	pasted := f.send(nil, "bytes", lines).want(http.StatusSeeOther).Header.Get("Location")
	f.get(pasted).want(http.StatusOK).wantText("1 message in this export")
	f.upload(string(f.get("/export.csv").body)).want(http.StatusBadRequest).wantText("which has values and no bytes")
	f.get("/inspect?hex="+hex.EncodeToString(table("tenant", "acme")[4:])).want(http.StatusOK).
		wantText("field table without its length", "acme")
	f.get("/").want(http.StatusOK).wantText(`href="/inspect"`)
}
