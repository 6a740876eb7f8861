package rabbittest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// Cluster is several nodes that know each other. They register with an epmd of the cluster's own,
// so that one node's end is no other's.
type Cluster struct {
	Nodes []*Node

	epmd, watchdog *exec.Cmd
	lifeline       io.Closer
}

// StartCluster starts a cluster of n nodes: the first alone, and then the others, which join it.
func StartCluster(n int, o Options) (*Cluster, error) {
	c := &Cluster{}
	if err := c.start(n, o); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(n int, o Options) (err error) {
	if o.registry, err = c.startRegistry(); err != nil {
		return fmt.Errorf("rabbittest: %w", err)
	}
	o.cookie = rand.Text()
	first, err := Start(o)
	if err != nil {
		return err
	}
	c.Nodes = append(c.Nodes, first)
	o.Config += fmt.Sprintf(`
cluster_formation.peer_discovery_backend = classic_config
cluster_formation.classic_config.nodes.1 = %s
`, first.name())
	nodes, errs := make([]*Node, n-1), make([]error, n-1)
	var starting sync.WaitGroup
	for i := range nodes {
		starting.Go(func() { nodes[i], errs[i] = Start(o) })
	}
	starting.Wait()
	for _, node := range nodes {
		if node != nil {
			c.Nodes = append(c.Nodes, node)
		}
	}
	return errors.Join(errs...)
}

// startRegistry starts the epmd and returns its port.
func (c *Cluster) startRegistry() (port int, err error) {
	if port, _, _, _, _, err = freePorts(); err != nil {
		return 0, err
	}
	c.epmd = exec.Command("epmd", "-port", strconv.Itoa(port), "-address", "127.0.0.1") // #nosec G204 -- test code
	c.epmd.SysProcAttr = lead()
	if err := c.epmd.Start(); err != nil {
		return 0, err
	}
	if c.watchdog = watch(c.epmd.Process.Pid, os.DevNull+"/none"); c.watchdog == nil {
		return port, nil
	}
	if c.lifeline, err = c.watchdog.StdinPipe(); err == nil {
		err = c.watchdog.Start()
	}
	return port, err
}

// Stop ends all nodes and removes their data.
func (c *Cluster) Stop() {
	for _, n := range c.Nodes {
		n.Stop()
	}
	if c.epmd != nil && c.epmd.Process != nil {
		killGroup(c.epmd.Process)
		_ = c.epmd.Wait()
	}
	if c.lifeline != nil {
		if c.watchdog.Process != nil {
			_ = c.watchdog.Process.Kill()
			_ = c.watchdog.Wait()
		}
		_ = c.lifeline.Close()
	}
}

// Named is the node of this name; nil: there is none.
func (c *Cluster) Named(name string) *Node {
	for _, n := range c.Nodes {
		if n.name() == name {
			return n
		}
	}
	return nil
}

// Runs reports whether the node was not killed.
func (n *Node) Runs() bool { return n.processes != nil }
