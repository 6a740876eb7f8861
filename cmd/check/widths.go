package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The widths that lines may have, in columns; a tab counts tabWidth.
const (
	proseWidth = 100
	codeWidth  = 120
	tabWidth   = 4
)

// checkWidths holds the widths of comments and code in the files that people write.
func checkWidths(_ context.Context, out io.Writer) error {
	files, err := sourceFiles(".go", ".templ")
	if err != nil {
		return err
	}
	wide := 0
	for _, name := range files {
		b, err := os.ReadFile(name) // #nosec G304 -- a file of the project
		if err != nil {
			return err
		}
		for _, complaint := range tooWide(string(b)) {
			fmt.Fprintf(out, "%s:%s\n", name, complaint)
			wide++
		}
	}
	if wide > 0 {
		return fmt.Errorf("%d lines are too wide", wide)
	}
	return nil
}

// tooWide returns a complaint for each line that is wider than it may be. What is not broken to
// make a line shorter does not count: what stands in a string, a comment of one word such as an
// address, a figure in a comment, a case of a table, which stands on one line, and a line of
// markup, where a break would be white space on the page.
func tooWide(text string) (complaints []string) {
	raw := false // inside a raw string
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(line, "\n")
		began := raw
		code := strings.TrimSpace(line)
		prose := !raw && strings.HasPrefix(code, "//") && !strings.HasPrefix(code, "//go:")
		if !prose && strings.Count(line, "`")%2 == 1 {
			raw = !raw
		}
		if began || raw {
			continue
		}
		width := utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t")
		switch {
		case prose && width > proseWidth && strings.Contains(strings.TrimPrefix(code, "// "), " ") &&
			!strings.HasPrefix(code, "//\t") && !strings.HasPrefix(code, "// Output:"):
			complaints = append(complaints, fmt.Sprintf("%d: a comment of %d columns, most %d", n, width, proseWidth))
		case !prose && width-inStrings(code) > codeWidth && !oneLine(code):
			complaints = append(complaints, fmt.Sprintf("%d: code of %d columns, most %d", n, width, codeWidth))
		}
	}
	return complaints
}

// oneLine reports whether a line of code is a case of a table or markup.
func oneLine(code string) bool {
	inCase := strings.HasPrefix(code, "{") || strings.HasPrefix(code, `"`)
	return inCase && strings.HasSuffix(code, ",") || strings.HasPrefix(code, "<") || strings.HasSuffix(code, ">")
}

// inStrings returns how many columns of a line stand in strings.
func inStrings(code string) (n int) {
	for _, s := range stringLiteral().FindAllString(code, -1) {
		n += utf8.RuneCountInString(s) - len(`""`)
	}
	return n
}

func stringLiteral() *regexp.Regexp { return regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`") }
