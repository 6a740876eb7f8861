//go:build unix

package rabbittest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// lead makes a process the leader of a new group, follow puts one into that group.
func lead() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
func follow(leader int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: leader}
}

func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// watch is a shell in a group of its own that kills the leader's group when its input ends.
func watch(leader int) *exec.Cmd {
	cmd := exec.Command(
		"/bin/sh",
		"-c",
		fmt.Sprintf("read line; kill -9 -%d", leader),
	) // #nosec G204 -- test code: the node that a test starts
	cmd.SysProcAttr = lead()
	return cmd
}
