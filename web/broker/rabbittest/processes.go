package rabbittest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// processes are a node's: its own epmd, RabbitMQ, and a watchdog. On Unix the first two are a
// process group, and the watchdog kills it when its standard input ends, which it does with the
// test process, however that ends.
type processes struct {
	epmd, node, watchdog *exec.Cmd
	lifeline             io.Closer
	ended                chan struct{} // closed when RabbitMQ has ended
	gone                 chan struct{} // closed when epmd has ended
	inside               string        // file with the number of a node in a tree
}

func launch(n *Node) (*processes, error) {
	env := n.environment()
	out, err := os.OpenFile(filepath.Join(n.dir, "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &processes{
		ended: make(chan struct{}), gone: make(chan struct{}), inside: insideFile(n.dir, startScript),
	}
	p.epmd = exec.Command("epmd", "-port", strconv.Itoa(n.epmdPort), "-address", "127.0.0.1") // #nosec G204 -- test code
	p.epmd.Env, p.epmd.Dir = env, n.dir
	p.epmd.SysProcAttr = lead()
	if err := p.epmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.epmd.Wait()
		close(p.gone)
	}()
	p.watchdog = watch(p.epmd.Process.Pid, p.inside)
	if p.watchdog != nil {
		if p.lifeline, err = p.watchdog.StdinPipe(); err == nil {
			err = p.watchdog.Start()
		}
	}
	if err == nil {
		p.node = n.installation.command(n.dir, env, startScript)
		p.node.Stdout, p.node.Stderr = out, out
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
	p.killInside()
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

// killInside ends a node in a tree and waits for the end of any node. What sudo starts may be in
// another group, and belongs to root until it has changed to the tree.
func (p *processes) killInside() {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.ended:
			_ = os.Remove(p.inside)
			return
		case <-tick.C:
		}
		b, _ := os.ReadFile(p.inside)
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(b))); err == nil {
			if process, err := os.FindProcess(pid); err == nil {
				_ = process.Kill()
			}
		}
	}
}
