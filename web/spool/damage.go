package spool

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// Damage is a place of the log that cannot be read.
type Damage struct {
	File   string // its name in the folder
	Offset int64  // where in the file, octets from its beginning
	Bytes  int64  // how many cannot be read; 0: they are not there
	// Lost is how many messages were there, from the number First on; 0: none, or it is not known.
	First, Lost uint64
	// Cut says that nothing sound follows in the newest file: a write that the end of the process
	// cut off, which was never acknowledged, or later damage.
	Cut bool
	// Whole says that there is no file of the log at all.
	Whole bool
}

// String is a sentence without the full stop.
func (d Damage) String() string {
	where := fmt.Sprintf("%s at offset %d, %s", d.File, d.Offset, humanize.IBytes(uint64(max(d.Bytes, 0))))
	switch {
	case d.Whole:
		return "no file of the log is in the folder: what the spool had kept is lost"
	case d.Cut:
		return where + " at the end are no whole message: a write that was cut off before it was acknowledged, or damage"
	case d.Bytes == 0:
		return fmt.Sprintf("%s goes no further than offset %d, or a file behind it is missing: %s", d.File, d.Offset, d.lost())
	case d.Lost == 0:
		return where + " are damaged: no message is lost"
	}
	return where + " are damaged: " + d.lost()
}

func (d Damage) lost() string {
	if d.Lost == 1 {
		return fmt.Sprintf("message %d is lost", d.First)
	}
	return fmt.Sprintf("%d messages, %d to %d, are lost", d.Lost, d.First, d.First+d.Lost-1)
}

// maxDamage bounds how many places are remembered one by one; the lost messages are counted beyond
// it.
const maxDamage = 100
