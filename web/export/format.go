// Package export writes messages as files. Its writers know messages and no server: what is
// exported, and to whom, is decided by whoever calls them.
//
// A form of file is a value of type [Format] in a file of its own, and a line of [Formats].
// Addresses, the menu and the documentation are made from, or held against, that list.
package export

import (
	"fmt"
	"io"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// Format is a form that messages leave the explorer in.
type Format struct {
	Extension string // of the file's name and of its address, without a dot
	Type      string // media type
	Label     string // what it is called
	Use       string // what it is good for, in a few words
	// Compressed: compressing a file again would be a waste of time.
	Compressed bool
	// Decodes: the header table of every message is decoded whole.
	Decodes bool
	// Most is how many messages one file holds at most; 0: any number.
	Most int
	// Memory is what writing a file takes, in bytes, and Kept what every message in it adds to
	// that.
	Memory, Kept int64
	// Begin starts a file on w.
	Begin func(w io.Writer, s Selection) (Writer, error)
}

// Formats are all forms, the most useful first.
func Formats() []Format {
	return []Format{
		jsonLines(),
		zipFolders(),
		spreadsheet(),
		wireshark(),
	}
}

// Writer writes one file. Its memory must not grow with the number of messages by more than a few
// bytes each.
type Writer interface {
	Write(m archive.Message) error
	// Close writes what comes last. It does not close what is below it.
	Close() error
}

// Cutter is a Writer of a form that can say of a file that it is not whole.
type Cutter interface {
	// Cut ends a file for which so many messages were evicted before they were written. It takes
	// the place of Close.
	Cut(missing int) error
}

// Selection is what a file is made of: the messages that match a filter, all of them or the newest.
type Selection struct {
	Filter  *query.Filter
	Dialect *fieldtable.Dialect // reads the tables
	// Columns are the values that a table of messages shows of each, Paths what they are called.
	Columns []*query.Operand
	Paths   []string
	// Sourced: the messages are of several sources, each with numbers of its own.
	Sourced bool
	// Last is the largest sequence number of the messages, Count how many there are. Nothing is
	// selected where Count is 0.
	Last  uint64
	Count int
	// More: older ones match too, and were left out because of a limit.
	More bool
	// Alone: it is one message that was asked for by its number, Last.
	Alone bool
}

// String says what a file holds, for those who find it later.
func (s Selection) String() string {
	if s.Alone {
		return fmt.Sprintf("headerglass: message %d", s.Last)
	}
	what := "headerglass: every message that was kept"
	if !s.Filter.MatchesAll() {
		what = "headerglass: messages that match " + s.Filter.String()
	}
	if s.More {
		what += fmt.Sprintf(" (only the newest %d)", s.Count)
	}
	return what
}

// FileName is the name of a file of s. A limit that left something out shows there; nothing that a
// publisher wrote does.
func (f Format) FileName(s Selection) string {
	if s.More {
		return fmt.Sprintf("headerglass-export-newest-%d.%s", s.Count, f.Extension)
	}
	return "headerglass-export." + f.Extension
}
