package listing

import "github.com/headerglass/headerglass/views/address"

// exportForm is a form of file that the matches can be had in.
type exportForm struct{ extension, name, use string }

func exportForms() []exportForm {
	return []exportForm{
		{"jsonl", "JSON Lines", "typed and lossless, a message a line; headerglass replay opens it"},
		{"zip", "ZIP", "each message's bytes as delivered, and its JSON; headerglass replay opens it"},
		{"csv", "CSV", "the columns shown, for a spreadsheet"},
		{"pcapng", "pcapng", "for Wireshark"},
	}
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
