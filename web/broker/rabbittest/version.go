package rabbittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// RequireEnv is set to 1 where a test that cannot run must fail instead of being skipped.
const RequireEnv = "HEADERGLASS_REQUIRE"

// BrokerEnv names the broker that tests run against which ask for none: a Version.
const BrokerEnv = "HEADERGLASS_BROKER"

// Version is the RabbitMQ that a node runs.
type Version string

const (
	// Any is what BrokerEnv names, and without it the RabbitMQ that this machine has installed.
	Any Version = ""
	// Version4 is RabbitMQ 4: the installed one, or else that of Debian 13 in Tree.
	Version4 Version = "rabbitmq-4"
)

// Tree is the folder below the user's cache that holds a Debian 13 with RabbitMQ 4, on an older
// Debian. The command check makes it.
func Tree() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "headerglass", "debian13"), nil
}

// InstalledMajor is the first number of the version of the RabbitMQ below root, a tree or /; 0
// without one.
func InstalledMajor(root string) int {
	major := 0
	folders, _ := filepath.Glob(filepath.Join(root, scripts, "../lib/rabbitmq_server-*"))
	for _, folder := range folders {
		_, version, _ := strings.Cut(filepath.Base(folder), "-")
		first, _, _ := strings.Cut(version, ".")
		n, _ := strconv.Atoi(first)
		major = max(major, n)
	}
	return major
}

const (
	scripts     = "/usr/lib/rabbitmq/bin" // where RabbitMQ's start script is and rabbitmqctl
	startScript = "rabbitmq-server"
)

// installation is a RabbitMQ: that of this machine, or that of a tree.
type installation struct {
	root string // of the tree; "" for this machine's own
}

// find looks for the RabbitMQ of a version.
func find(v Version) (installation, error) {
	if v == Any {
		v = Version(os.Getenv(BrokerEnv))
	}
	if _, err := exec.LookPath("epmd"); err != nil {
		return installation{}, fmt.Errorf("RabbitMQ is not installed: %w", err)
	}
	installed := InstalledMajor("/")
	switch {
	case v == Any && installed > 0:
		return installation{}, nil
	case v == Any:
		return installation{}, fmt.Errorf("RabbitMQ is not installed")
	case v != Version4:
		return installation{}, fmt.Errorf("there is no broker %q", v)
	case installed >= 4:
		return installation{}, nil
	}
	tree, err := Tree()
	if err != nil {
		return installation{}, err
	}
	if InstalledMajor(tree) < 4 {
		return installation{}, fmt.Errorf("RabbitMQ 4 is neither installed nor in %s", tree)
	}
	return installation{tree}, nil
}

// Require skips the test where the RabbitMQ of that version is missing, or fails it where
// RequireEnv is 1.
func Require(tb testing.TB, v Version) {
	tb.Helper()
	_, err := find(v)
	switch {
	case err == nil:
	case os.Getenv(RequireEnv) == "1":
		tb.Fatalf("required, but: %v", err)
	default:
		tb.Skipf("%v; go run ./cmd/check -only tools installs it", err)
	}
}

// enterTree is a script that runs a program in a tree: $1 is the tree, $2 the folder that both
// sides share, $3 user:group, $4 a file, the rest the program's environment and command line. Its
// mounts end with the program, for they are in a namespace of their own. The process keeps its
// number and writes it to the file: what sudo starts may be in another process group.
const enterTree = `mkdir -p "$1$2"
mount --rbind /proc "$1/proc"
mount --rbind /dev "$1/dev"
mount --bind "$2" "$1$2"
tree=$1 user=$3
echo $$ >"$4"
shift 4
exec chroot --userspec="$user" "$tree" /usr/bin/env -i "$@"`

// command returns one that runs a program of RabbitMQ in dir, which is below os.TempDir.
func (i installation) command(dir string, env []string, program string, args ...string) *exec.Cmd {
	path := filepath.Join(scripts, program)
	if i.root == "" {
		cmd := exec.Command(path, args...) // #nosec G204 -- test code: RabbitMQ's own programs
		cmd.Env, cmd.Dir = env, dir
		return cmd
	}
	line := []string{
		"unshare", "--mount", "/bin/sh", "-eu", "-c", enterTree, "sh", i.root, filepath.Clean(os.TempDir()),
		fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), insideFile(dir, program), "--chdir=" + dir,
	}
	if os.Geteuid() != 0 {
		line = append([]string{"sudo", "-n"}, line...)
	}
	line = append(line, env...)
	line = append(line, "PATH=/usr/sbin:/usr/bin:/sbin:/bin", path)
	line = append(line, args...)
	return exec.Command(line[0], line[1:]...) // #nosec G204 -- test code: RabbitMQ's own programs
}

// insideFile is where the number of a program's process in a tree is written.
func insideFile(dir, program string) string { return filepath.Join(dir, program+".inside") }
