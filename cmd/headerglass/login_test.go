package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/crypto/bcrypt"

	"github.com/headerglass/headerglass/web/browsertest"
)

// A browser that has logged in shows pages, opens messages and follows the live feed, with what is
// redacted marked.
func TestLoginInBrowser(t *testing.T) {
	tab := browsertest.Start(t)
	ctx, cancel := context.WithTimeout(tab, 2*time.Minute)
	defer cancel()
	hash, err := bcrypt.GenerateFromPassword([]byte("correct-horse"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	users := writeFile(t, filepath.Join(t.TempDir(), "users"), "ann:"+string(hash)+"\n")
	site := demo(t, "--rate", "20", "--auth-file", users, "--redact", "tenant*,x-death,$app_id")
	get(t, site+"/", http.StatusUnauthorized)
	get(t, site+"/healthz", http.StatusOK)

	var complaints browsertest.Complaints
	if err := complaints.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, "open the list", chromedp.Navigate(strings.Replace(site, "http://", "http://ann:correct-horse@", 1)+"/"))
	const newest = `Number(document.querySelector("#rows tr[data-seq]")?.dataset.seq)`
	until(t, ctx, "rows", newest+` > 0`)
	start := eval[int](t, ctx, newest)
	until(t, ctx, "new rows come by themselves", fmt.Sprintf(`%s > %d`, newest, start+20))

	do(t, ctx, "filter for a redacted header", chromedp.Navigate(site+"/?q=x-death"))
	until(t, ctx, "rows are marked", `document.querySelector("#rows tr[data-seq] .marks [title*='redaction']") !== null`)
	do(t, ctx, "open the first", chromedp.Click(`#rows tr[data-seq] a`))
	until(
		t,
		ctx,
		"the inspector says what is gone",
		`document.querySelector("#inspector .tree")?.textContent.includes("removed by redaction")`,
	)
	complaints.Check(t)
}
