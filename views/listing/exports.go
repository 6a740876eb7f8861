package listing

import "github.com/headerglass/headerglass/views/address"

// ExportForm is a form of file that the matches can be had in.
type ExportForm struct {
	Extension string // of the file and of its address, without a dot
	Label     string // what it is called
	Use       string // what it is good for
}

// exportWords says which messages a file holds.
func exportWords(q address.State) string {
	switch ranged := !q.From.IsZero() || !q.To.IsZero(); {
	case q.Q != "" && ranged:
		return "Matching messages of this time"
	case q.Q != "":
		return "Matching messages"
	case ranged:
		return "Messages of this time"
	}
	return "All messages"
}
