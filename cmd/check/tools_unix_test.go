//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInterruptedInstallLeavesNothingBehind: Ctrl-C during the installation takes away what keeps
// services from starting.
func TestInterruptedInstallLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sh", "rm", "chmod"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range map[string]string{
		"apt-get": "exit 0",
		"sudo":    `exec "$@"`,
		"env":     "[ -x " + dir + "/policy ] && echo installing\nexec /bin/sleep 60",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir) // neither python3 nor node is there
	policy := filepath.Join(dir, "policy")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, out := io.Pipe()
	go func() {
		for b := make([]byte, 1000); ; {
			n, err := in.Read(b)
			if strings.Contains(string(b[:n]), "installing") {
				cancel()
			}
			if err != nil {
				return
			}
		}
	}()
	if err := installMissing(ctx, out, policy, testTools()); err == nil || !strings.Contains(err.Error(), "apt-get install") ||
		ctx.Err() == nil {
		t.Error(err)
	}
	out.Close()
	if _, err := os.Stat(policy); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}
