//go:build unix

package rabbittest

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// lead makes a process the leader of a new group, follow puts one into that group.
func lead() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
func follow(leader int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: leader}
}

func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// watch is a shell in a group of its own that, when its input ends, kills the leader's group and
// the process whose number is in a file.
func watch(leader int, inside string) *exec.Cmd {
	const script = `read line; kill -9 -"$1"; [ ! -e "$2" ] || kill -9 "$(cat "$2")"`
	cmd := exec.Command("/bin/sh", "-c", script, "sh", strconv.Itoa(leader), inside) // #nosec G204 -- test code
	cmd.SysProcAttr = lead()
	return cmd
}
