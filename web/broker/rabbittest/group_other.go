//go:build !unix

package rabbittest

import (
	"os"
	"os/exec"
	"syscall"
)

func lead() *syscall.SysProcAttr      { return nil }
func follow(int) *syscall.SysProcAttr { return nil }
func killGroup(leader *os.Process)    { _ = leader.Kill() }
func watch(int, string) *exec.Cmd     { return nil }
