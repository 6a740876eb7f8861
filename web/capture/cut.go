package capture

import (
	"fmt"

	"github.com/headerglass/headerglass/fieldtable/plural"
)

// CutMember is the member of a line of an export.jsonl that is no message, but says how many
// messages the file lacks.
const CutMember = "missing"

// CutOff says of an export that it is not whole. A comment of a zip begins with it.
func CutOff(missing int) string {
	return fmt.Sprintf(cutOff, missing) + plural.Verb(missing, "message was evicted before it was written",
		"messages were evicted before they were written")
}

const cutOff = "headerglass: cut off: %d "

// cut is how many messages a comment says are missing.
func cut(comment string) (missing uint64) {
	if _, err := fmt.Sscanf(comment, cutOff, &missing); err != nil {
		return 0
	}
	return missing
}
