package browsertest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

//go:embed axe/axe-4.14.1.min.js.gz
var axeScript []byte

// AxeScript returns the source of axe-core, see axe/SOURCES.
func AxeScript() (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(axeScript))
	if err != nil {
		return "", err
	}
	source, err := io.ReadAll(r)
	return string(source), err
}

// violation is one rule of axe that a page breaks, and where.
type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// Axe reports everything in the page that breaks a rule of WCAG 2.2, levels A and AA, as errors of
// t. It looks at the page as it is; what names the state in the messages.
func Axe(t testing.TB, ctx context.Context, what string) {
	t.Helper()
	axe(t, ctx, what, `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}`)
}

// AxeColors is Axe by the rules on colours alone: where nothing else is different from a state that
// Axe has looked at.
func AxeColors(t testing.TB, ctx context.Context, what string) {
	t.Helper()
	axe(t, ctx, what, `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`)
}

func axe(t testing.TB, ctx context.Context, what, rules string) {
	t.Helper()
	there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`typeof axe === "object"`))
	if err == nil && !there {
		var source string
		if source, err = AxeScript(); err != nil {
			t.Fatal(err)
		}
		// The debugger's connection is not bound by the page's content security policy.
		err = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](source+";undefined"))
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]violation](`axe.run(document, {
		runOnly: `+rules+`,
		resultTypes: ["violations"],
	}).then(r => r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " | " + n.failureSummary)})))`,
		chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, v := range found {
		t.Errorf("%s: %s: %s\n\t%s", what, v.ID, v.Help, strings.Join(v.Nodes, "\n\t"))
	}
}
