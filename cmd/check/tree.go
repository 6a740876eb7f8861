package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headerglass/headerglass/web/broker/rabbittest"
)

//go:embed tree.sh
var treeScript string

// installTree makes the tree that RabbitMQ 4 runs from, where the installed RabbitMQ is older. It
// takes about a minute, the first time only.
func installTree(ctx context.Context, out io.Writer) error {
	if rabbittest.InstalledMajor("/") >= 4 {
		return nil
	}
	tree, err := rabbittest.Tree()
	if err != nil {
		return err
	}
	if rabbittest.InstalledMajor(tree) >= 4 {
		fmt.Fprintln(out, "RabbitMQ 4: here")
		return nil
	}
	fmt.Fprintln(out, "RabbitMQ 4: missing (the tests of what RabbitMQ 4 does); it goes to", tree)
	source, err := debianSource(os.DirFS("/"))
	if err != nil {
		return err
	}
	debootstrap := tool{"debootstrap", []string{"/usr/sbin/debootstrap", "debootstrap"}, "the tree for RabbitMQ 4"}
	if err := installMissing(ctx, out, policyFile, []tool{debootstrap}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(tree), 0o700); err != nil {
		return err
	}
	asRoot, err := rootPrefix()
	if err != nil {
		return fmt.Errorf("%w: RabbitMQ 4 cannot be brought into %s", err, tree)
	}
	line := append(asRoot, "unshare", "--mount", "sh", "-eu", "-c", treeScript, "sh", tree, source)
	var log bytes.Buffer
	if err := run(ctx, &log, nil, line[0], line[1:]...); err != nil {
		_, _ = out.Write(log.Bytes())
		return fmt.Errorf("RabbitMQ 4 was not brought into %s: %w", tree, err)
	}
	if rabbittest.InstalledMajor(tree) < 4 {
		return fmt.Errorf("RabbitMQ 4 was brought into %s and is still not found", tree)
	}
	return nil
}

// debianSource is the address that this machine gets Debian's main component of its own release
// from, as sources.list(5) says. root is the file system.
func debianSource(root fs.FS) (string, error) {
	release, err := codename(root)
	if err != nil {
		return "", err
	}
	lists, err := fs.Glob(root, "etc/apt/sources.list.d/*.list")
	if err != nil {
		return "", err
	}
	for _, name := range append([]string{"etc/apt/sources.list"}, lists...) {
		b, err := fs.ReadFile(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(b)) {
			if address, ok := lineSource(line, release); ok {
				return mirror(root, address)
			}
		}
	}
	stanzas, err := fs.Glob(root, "etc/apt/sources.list.d/*.sources")
	if err != nil {
		return "", err
	}
	for _, name := range stanzas {
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return "", err
		}
		for stanza := range strings.SplitSeq(string(b), "\n\n") {
			if address, ok := stanzaSource(stanza, release); ok {
				return mirror(root, address)
			}
		}
	}
	return "", fmt.Errorf("/etc/apt names no source of Debian %s", release)
}

// codename is that of the machine's Debian, such as bookworm.
func codename(root fs.FS) (string, error) {
	b, err := fs.ReadFile(root, "etc/os-release")
	if err != nil {
		return "", err
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		fields[key] = strings.Trim(value, `"'`)
	}
	if fields["ID"] != "debian" {
		return "", fmt.Errorf("this is %q, not Debian: RabbitMQ 4 must be installed by hand", fields["PRETTY_NAME"])
	}
	return fields["VERSION_CODENAME"], nil
}

// lineSource reads a line such as "deb [arch=amd64] ADDRESS bookworm main".
func lineSource(line, release string) (address string, ok bool) {
	line, ok = strings.CutPrefix(strings.TrimSpace(line), "deb ")
	if !ok {
		return "", false
	}
	if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") {
		_, line, _ = strings.Cut(line, "]")
	}
	words := strings.Fields(line)
	if len(words) < 3 || words[1] != release || !slices.Contains(words[2:], "main") {
		return "", false
	}
	return words[0], true
}

// stanzaSource reads a stanza of a .sources file.
func stanzaSource(stanza, release string) (address string, ok bool) {
	words := map[string][]string{}
	key := ""
	scan := bufio.NewScanner(strings.NewReader(stanza))
	for scan.Scan() {
		line := scan.Text()
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"): // the field before goes on
		default:
			key, line, _ = strings.Cut(line, ":")
			key = strings.ToLower(key)
		}
		words[key] = append(words[key], strings.Fields(line)...)
	}
	if slices.Contains(words["enabled"], "no") || !slices.Contains(words["types"], "deb") ||
		!slices.Contains(words["suites"], release) || !slices.Contains(words["components"], "main") ||
		len(words["uris"]) == 0 {
		return "", false
	}
	return words["uris"][0], true
}

// mirror follows an address of the form mirror+file:PATH to the first that the file names.
func mirror(root fs.FS, address string) (string, error) {
	path, ok := strings.CutPrefix(address, "mirror+file:")
	if !ok {
		return address, nil
	}
	b, err := fs.ReadFile(root, strings.TrimLeft(path, "/"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			return words[0], nil
		}
	}
	return "", fmt.Errorf("%s names no mirror", path)
}
