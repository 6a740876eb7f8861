package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// command returns a step that runs one program and fails as it does.
func command(name string, args ...string) func(context.Context, io.Writer) error {
	return func(ctx context.Context, out io.Writer) error { return run(ctx, out, nil, name, args...) }
}

// run starts one program with env added to this process's environment and copies what it prints to
// out.
func run(ctx context.Context, out io.Writer, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) // #nosec G204 -- runs the project's own tools
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return nil
}

// sourceFiles lists the module's files that people write and whose names end so.
func sourceFiles(endings ...string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case slices.Contains(endings, filepath.Ext(path)) && !strings.HasSuffix(path, "_templ.go"):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

func checkFormat(ctx context.Context, out io.Writer) error {
	files, err := sourceFiles(".go")
	if err != nil {
		return err
	}
	var list bytes.Buffer
	if err := run(ctx, &list, nil, "gofmt", append([]string{"-l"}, files...)...); err != nil {
		_, _ = out.Write(list.Bytes())
		return err
	}
	if list.Len() > 0 {
		_, _ = out.Write(list.Bytes())
		return fmt.Errorf("gofmt would change these files")
	}
	return nil
}

func checkModules(ctx context.Context, out io.Writer) error {
	if err := run(ctx, out, nil, "go", "mod", "tidy", "-diff"); err != nil {
		return err
	}
	return run(ctx, out, nil, "go", "mod", "verify")
}

// checkGenerated runs the generator over a copy of views and compares, so that the working tree
// stays as it is.
func checkGenerated(ctx context.Context, out io.Writer) error {
	tmp, err := os.MkdirTemp("", "headerglass-generated-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(filepath.Join(tmp, "views"), os.DirFS("views")); err != nil {
		return err
	}
	stale := 0
	// templ looks for the module's root to shorten the paths that it writes into the code.
	gomod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "go.mod"), gomod, 0o600); err != nil { // #nosec G703 -- its own folder
		return err
	}
	if err := run(ctx, out, nil, "go", "tool", "templ", "generate", "-path", tmp); err != nil {
		return err
	}
	err = fs.WalkDir(os.DirFS(tmp), "views", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_templ.go") {
			return err
		}
		want, err := os.ReadFile(
			filepath.Join(tmp, filepath.FromSlash(path)),
		) // #nosec G304 -- a file of a temporary folder that check has made
		if err != nil {
			return err
		}
		if got, err := os.ReadFile(filepath.FromSlash(path)); err != nil ||
			!bytes.Equal(got, want) { // #nosec G122 -- compares a file of the project with what was generated
			stale++
			fmt.Fprintf(out, "%s is not what templ generates\n", path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if stale > 0 {
		return fmt.Errorf("run: go tool templ generate")
	}
	return nil
}

func checkBuilds(ctx context.Context, out io.Writer) error {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			fmt.Fprintf(out, "%s/%s\n", goos, arch)
			env := []string{"GOOS=" + goos, "GOARCH=" + arch, "CGO_ENABLED=0"}
			if err := run(ctx, out, env, "go", "build", "./..."); err != nil {
				return fmt.Errorf("%s/%s: %w", goos, arch, err)
			}
		}
	}
	return nil
}
