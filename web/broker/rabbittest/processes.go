package rabbittest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// processes are a node's: its own epmd, RabbitMQ, and a watchdog. On Unix the first two are a
// process group, and the watchdog kills it when its standard input ends, which it does with the
// test process, however that ends.
type processes struct {
	epmd, node, watchdog *exec.Cmd
	lifeline             io.Closer
	ended                chan struct{} // closed when RabbitMQ has ended
	gone                 chan struct{} // closed when epmd has ended
}

func launch(dir string, env []string, epmdPort int) (*processes, error) {
	out, err := os.OpenFile(
		filepath.Join(dir, "output"),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o600,
	) // #nosec G304 -- test code: files of the node that a test starts
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &processes{ended: make(chan struct{}), gone: make(chan struct{})}
	p.epmd = exec.Command(
		"epmd",
		"-port",
		strconv.Itoa(epmdPort),
		"-address",
		"127.0.0.1",
	) // #nosec G204 -- test code: the node that a test starts
	p.epmd.Env, p.epmd.Dir = env, dir
	p.epmd.SysProcAttr = lead()
	if err := p.epmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.epmd.Wait()
		close(p.gone)
	}()
	p.watchdog = watch(p.epmd.Process.Pid)
	if p.watchdog != nil {
		if p.lifeline, err = p.watchdog.StdinPipe(); err == nil {
			err = p.watchdog.Start()
		}
	}
	if err == nil {
		p.node = exec.Command(startScript)
		p.node.Env, p.node.Dir, p.node.Stdout, p.node.Stderr = env, dir, out, out
		p.node.SysProcAttr = follow(p.epmd.Process.Pid)
		err = p.node.Start()
	}
	if err != nil {
		close(p.ended)
		p.kill()
		return nil, err
	}
	go func() {
		_ = p.node.Wait()
		close(p.ended)
	}()
	return p, nil
}

// kill ends everything and waits for it.
func (p *processes) kill() {
	killGroup(p.epmd.Process)
	if p.node != nil && p.node.Process != nil {
		_ = p.node.Process.Kill()
	}
	<-p.ended
	<-p.gone
	if p.lifeline != nil {
		if p.watchdog.Process != nil {
			// before its input ends: the group's number may be another's by then
			_ = p.watchdog.Process.Kill()
			_ = p.watchdog.Wait()
		}
		_ = p.lifeline.Close()
	}
}
