package browsertest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// What is vendored is what axe/SOURCES says it is.
func TestAxeIsAsReleased(t *testing.T) {
	sources, err := os.ReadFile("axe/SOURCES")
	if err != nil {
		t.Fatal(err)
	}
	script, err := AxeScript()
	if err != nil {
		t.Fatal(err)
	}
	licence, err := os.ReadFile("axe/axe-4.14.1.LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"axe-4.14.1.min.js": script, "axe-4.14.1.LICENSE": string(licence)} {
		sum := sha256.Sum256([]byte(content))
		if !strings.Contains(string(sources), hex.EncodeToString(sum[:])) {
			t.Errorf("%s: its SHA-256 is not in axe/SOURCES", name)
		}
	}
}
