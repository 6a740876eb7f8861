package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints one line: the version, the commit where the build knows it, the Go release and the
// platform.
func (versionCmd) Run(std stdio) error {
	_, err := fmt.Fprintln(
		std.out,
		"headerglass",
		buildVersion(debug.ReadBuildInfo()),
		runtime.Version(),
		runtime.GOOS+"/"+runtime.GOARCH,
	)
	return err
}

// buildVersion says which source was built, as far as the Go tool recorded it.
func buildVersion(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "unknown version"
	}
	version, revision, dirty := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", modified"
		}
	}
	if version == "" {
		version = "(devel)"
	}
	if revision == "" {
		return version
	}
	return fmt.Sprintf("%s (commit %s%s)", version, revision[:min(12, len(revision))], dirty)
}
