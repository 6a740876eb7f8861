package shell

import "strings"

// Shortcut is one row of the keyboard table. Do names the action for the script, which reads the
// table out of the help dialog, so a key that is not here does nothing.
type Shortcut struct {
	Keys    []string // as KeyboardEvent.key names them; "g g" is a sequence
	Do      string
	Meaning string
}

// Keymap is the keyboard table.
func Keymap() []Shortcut {
	return []Shortcut{
		{[]string{"j"}, "next", "next row"},
		{[]string{"k"}, "previous", "previous row"},
		{[]string{"Enter"}, "open", "open the message"},
		{[]string{"o"}, "full", "full page and back"},
		{[]string{"Escape"}, "back", "back to the list"},
		{[]string{"g g"}, "first", "first row"},
		{[]string{"G"}, "last", "last row"},
		{[]string{"/"}, "query", "edit the filter"},
		{[]string{"f"}, "filter", "filter by the header in focus"},
		{[]string{"F"}, "exclude", "exclude its value"},
		{[]string{"c"}, "column", "show it as a column"},
		{[]string{"y"}, "copy", "copy its value"},
		{[]string{"Y"}, "copy-path", "copy its path"},
		{[]string{"d"}, "download", "download the raw headers"},
		{[]string{"h"}, "hex", "go to the bytes"},
		{[]string{" "}, "pause", "pause or resume the live feed"},
		{[]string{"u"}, "show-new", "show what is new"},
		{[]string{"x"}, "mark", "mark the message for comparison"},
		{[]string{"="}, "diff", "compare what is marked"},
		{[]string{"t"}, "zone", "times in UTC or local"},
		{[]string{"["}, "denser", "denser rows"},
		{[]string{"]"}, "roomier", "roomier rows"},
		{[]string{"?"}, "help", "this panel"},
	}
}

func (s Shortcut) keys() string { return strings.Join(s.Keys, "\n") }

func keyWords(key string) string {
	switch key {
	case " ":
		return "space"
	case "Escape":
		return "Esc"
	default:
		return key
	}
}
