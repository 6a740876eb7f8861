// Package browsertest gives tests a headless Chromium of their own.
package browsertest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Start starts a Chromium with an empty profile and returns the context of its first tab. It ends
// with the test. Where there is no Chromium the test is skipped, or fails if HEADERGLASS_REQUIRE is
// 1; -short skips it too. HEADERGLASS_CHROMIUM names another program.
func Start(t testing.TB) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("drives a browser, which -short leaves out")
	}
	path := ""
	for _, p := range []string{os.Getenv("HEADERGLASS_CHROMIUM"), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"} {
		if _, err := os.Stat(p); p != "" &&
			err == nil { // #nosec G703 -- test code: looks for a browser where the environment says
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("HEADERGLASS_REQUIRE") == "1" {
			t.Fatal("no Chromium found")
		}
		t.Skip("no Chromium found")
	}
	// Not t.TempDir: the browser may still write into its profile while it goes away.
	profile, err := os.MkdirTemp("", "headerglass-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	alloc, cancel := chromedp.NewExecAllocator(
		context.Background(),
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile),
		chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck,
		chromedp.Headless,
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag(
			"disable-sync",
			true,
		),
		chromedp.Flag("disable-quic", true),
		// Without a screen there would be no mouse, so that nothing could be pointed at.
		chromedp.Flag(
			"blink-settings",
			"primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
		),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-dev-shm-usage", true),
	)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		stop()
		cancel()
		_ = os.RemoveAll(profile)
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// Viewport sets the size of the page in CSS pixels and the colour scheme, "light" or "dark",
// without motion.
func Viewport(ctx context.Context, width, height int64, scheme string) error {
	_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width:             width,
		Height:            height,
		DeviceScaleFactor: 1,
	})
	if err != nil {
		return err
	}
	_, err = chromedp.Call(
		ctx,
		emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		}},
	)
	return err
}

// Downloads sends the files that the browser is given to a folder, named by their download's GUID.
// The returned channel gets each finished one.
func Downloads(ctx context.Context, dir string) (<-chan Download, error) {
	finished := make(chan Download, 16)
	names := map[string]string{}
	err := chromedp.ListenBrowser(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *browser.EventDownloadWillBegin:
			names[ev.GUID] = ev.SuggestedFilename
		case *browser.EventDownloadProgress:
			if ev.State == browser.DownloadProgressStateCompleted {
				finished <- Download{Name: names[ev.GUID], GUID: ev.GUID}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	events := true
	_, err = chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: &events,
	})
	return finished, err
}

// Download is a file that the browser has saved. Name is what a person would have been offered.
type Download struct{ Name, GUID string }

// Complaints collects what a page logs as an error: script errors, failed requests, violations of
// the content security policy.
type Complaints struct {
	mu  sync.Mutex
	all []string
}

// Listen begins to collect.
func (c *Complaints) Listen(ctx context.Context) error {
	return chromedp.Listen(ctx, func(ev any) {
		text := ""
		switch ev := ev.(type) {
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.EntryLevelError || ev.Entry.Source == log.EntrySourceSecurity {
				text = ev.Entry.Text + " " + ev.Entry.URL
			}
		case *runtime.EventExceptionThrown:
			text = ev.ExceptionDetails.Text
			if o := ev.ExceptionDetails.Exception; o != nil {
				text += " " + o.Description
			}
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.ConsoleAPICalledTypeError {
				text = "console.error"
				for _, a := range ev.Args {
					text += " " + string(a.Value) + " " + a.Description
				}
			}
		}
		if text != "" {
			c.mu.Lock()
			c.all = append(c.all, text)
			c.mu.Unlock()
		}
	})
}

// Check reports what was collected as errors of t and forgets it.
func (c *Complaints) Check(t testing.TB) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.all {
		t.Errorf("the page complains: %s", text)
	}
	c.all = nil
}
