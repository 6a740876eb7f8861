package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The programs that build a release, run from their modules.
const (
	goreleaser = "github.com/goreleaser/goreleaser/v2@v2.15.1"
	cyclonedx  = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
)

// releaseTools are what looks into a release.
func releaseTools() []tool {
	return []tool{
		{"buildah", []string{"buildah"}, "the image"},
		{"systemd", []string{"systemd-analyze"}, "the unit"},
		{"rpm", []string{"rpm"}, "the rpm"},
	}
}

// checkRelease builds everything that people install as a snapshot, publishes nothing, and looks
// into it: all platforms are there, the packages hold what they should, the unit is fenced in, and
// the image runs as nobody on a root that nothing can write to.
func checkRelease(ctx context.Context, out io.Writer) error {
	if err := installMissing(ctx, out, policyFile, releaseTools()); err != nil {
		return err
	}
	bin, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(bin) }()
	env := []string{"GOBIN=" + bin, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	if err := run(ctx, out, env, "go", "install", cyclonedx); err != nil {
		return err
	}
	if err := run(ctx, out, env, "go", "run", goreleaser, "check"); err != nil {
		return err
	}
	// The image is built below, without a daemon.
	if err := run(ctx, out, env, "go", "run", goreleaser, "release", "--snapshot", "--clean", "--skip=docker"); err != nil {
		return err
	}
	return errors.Join(
		checkArchives(),
		checkPackages(ctx),
		run(ctx, out, nil, "systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=15",
			"cmd/headerglass/packaging/headerglass.service"),
		checkImage(ctx, out),
	)
}

// checkArchives holds that there are an archive and a list of its parts for each platform.
func checkArchives() error {
	sums, err := os.ReadFile("dist/checksums.txt")
	if err != nil {
		return err
	}
	var missing []string
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, goarch := range []string{"amd64", "arm64"} {
			ending := map[bool]string{true: ".zip", false: ".tar.gz"}[goos == "windows"]
			for _, name := range []string{goos + "_" + goarch + ending, goos + "-" + goarch + ".cdx.json"} {
				if !strings.Contains(string(sums), name+"\n") {
					missing = append(missing, name)
				}
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("not in dist/checksums.txt: %s", strings.Join(missing, ", "))
	}
	return nil
}

// checkPackages holds that the deb and the rpm bring the same files.
func checkPackages(ctx context.Context) error {
	want := []string{
		"/usr/bin/headerglass",
		"/usr/lib/systemd/system/headerglass.service",
		"/etc/headerglass/headerglass.conf",
		"/usr/share/man/man1/headerglass.1",
		"/usr/share/bash-completion/completions/headerglass",
		"/usr/share/zsh/vendor-completions/_headerglass",
		"/usr/share/fish/vendor_completions.d/headerglass.fish",
	}
	for ending, list := range map[string][]string{".deb": {"dpkg-deb", "--contents"}, ".rpm": {"rpm", "-qlp"}} {
		packages, err := filepath.Glob("dist/*" + ending)
		if err != nil || len(packages) != 2 {
			return fmt.Errorf("%d packages that end in %s, not 2: %w", len(packages), ending, err)
		}
		for _, name := range packages {
			files, err := exec.CommandContext(ctx, list[0], append(list[1:], name)...).Output() // #nosec G204
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for _, file := range want {
				if !strings.Contains(string(files), file+"\n") {
					return fmt.Errorf("%s has no %s", name, file)
				}
			}
		}
	}
	return nil
}

// checkImage builds the image for this platform and starts the program in it.
func checkImage(ctx context.Context, out io.Writer) error {
	built, err := filepath.Glob("dist/headerglass_linux_" + runtime.GOARCH + "*")
	if err != nil || len(built) != 1 {
		return fmt.Errorf("%q are built for this platform: %w", built, err)
	}
	root, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	// The program stands where a build for several platforms has it.
	platform := "linux/" + runtime.GOARCH
	files := filepath.Join(root, "files", platform)
	program := filepath.Join(built[0], "headerglass")
	if err := os.MkdirAll(files, 0o755); err != nil { // #nosec G301 -- an image's files
		return err
	}
	if err := copyFile(filepath.Join(files, "headerglass"), program); err != nil {
		return err
	}
	buildah := func(out io.Writer, args ...string) error {
		return run(ctx, out, nil, "buildah", append([]string{
			"--storage-driver", "vfs", "--root", root + "/root", "--runroot", root + "/run"}, args...)...)
	}
	const image = "headerglass-check"
	if err := buildah(out, "bud", "--isolation", "chroot", "--platform", platform, "-t", image,
		"-f", "cmd/headerglass/packaging/Dockerfile", filepath.Join(root, "files")); err != nil {
		return err
	}
	var text strings.Builder
	if err := buildah(&text, "inspect", "--type", "image", image); err != nil {
		return err
	}
	var says struct {
		OCIv1 struct {
			Config struct{ User, WorkingDir string }
		}
	}
	if err := json.Unmarshal([]byte(text.String()), &says); err != nil {
		return err
	}
	if user, _, _ := strings.Cut(says.OCIv1.Config.User, ":"); slices.Contains([]string{"", "0", "root"}, user) {
		return fmt.Errorf("the image runs as %q", user)
	}
	name := image + "-run"
	if err := buildah(out, "from", "--name", name, image); err != nil {
		return err
	}
	text.Reset()
	if err := buildah(&text, "run", "--isolation", "chroot", name, "/headerglass", "version"); err != nil {
		return fmt.Errorf("%w: %s", err, text.String())
	}
	if !strings.HasPrefix(text.String(), "headerglass ") {
		return fmt.Errorf("in the image, headerglass version says %q", text.String())
	}
	return nil
}

// copyFile writes a copy of a program.
func copyFile(to, from string) error {
	b, err := os.ReadFile(from) // #nosec G304 -- what was just built
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755) // #nosec G306 -- a program
}
