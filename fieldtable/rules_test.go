package fieldtable_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/headerglass/headerglass"
	client = "github.com/rabbitmq/amqp091-go"
)

// pkg is what go list tells about a package without its tests.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.CommandContext(
		t.Context(),
		"go",
		"list",
		"-e",
		"-deps",
		"-json=ImportPath,Standard,Imports,Deps",
		module+"/...",
	)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	all := map[string]pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

func within(path string, dirs ...string) bool {
	for _, dir := range dirs {
		if path == module+"/"+dir || strings.HasPrefix(path, module+"/"+dir+"/") {
			return true
		}
	}
	return false
}

// The import rules that keep the packages apart.
func TestImportRules(t *testing.T) {
	all := packages(t)
	checked := 0
	for path, p := range all {
		if !strings.HasPrefix(path, module) {
			continue
		}
		checked++
		for _, dep := range p.Deps {
			if within(path, "fieldtable") && !all[dep].Standard && !within(dep, "fieldtable") {
				t.Errorf("%s depends on %s: fieldtable needs the standard library only", path, dep)
			}
			if within(path, "views") && within(dep, "web") {
				t.Errorf("%s depends on %s: views know the format, not how they are served", path, dep)
			}
		}
		for _, imported := range p.Imports {
			if imported == client && !within(path, "web/broker") {
				t.Errorf("%s imports %s: only web/broker does", path, imported)
			}
			// Not among all it depends on: templ's run time has an HTTP handler of its own.
			if within(path, "views") && imported == "net/http" {
				t.Errorf("%s imports %s: views know the format, not how they are served", path, imported)
			}
			if path == module+"/web" && within(imported, "web/broker") {
				t.Errorf("%s imports %s: the pages do not know where messages come from", path, imported)
			}
		}
		checkOrder(t, p)
		checkRoom(t, p)
	}
	if checked < 5 {
		t.Fatalf("only %d packages", checked)
	}
}

// checkOrder keeps fieldtable < wire < archive < query: what comes first imports nothing that comes
// later.
func checkOrder(t *testing.T, p pkg) {
	t.Helper()
	order := []string{"fieldtable", "fieldtable/wire", "fieldtable/archive", "fieldtable/query"}
	for i, dir := range order {
		for _, later := range order[i+1:] {
			for _, dep := range p.Deps {
				if p.ImportPath == module+"/"+dir && dep == module+"/"+later {
					t.Errorf("%s depends on %s", dir, later)
				}
			}
		}
	}
}

// checkRoom holds what these rooms may import of this module: what is listed, and nothing else.
func checkRoom(t *testing.T, p pkg) {
	t.Helper()
	bottom := []string{"fieldtable", "views/kit", "views/address", "views/facts"}
	over := func(rooms ...string) []string { return append(slices.Clone(bottom), rooms...) }
	rooms := map[string][]string{
		"fieldtable/source": {},
		"web/access":        {},
		"web/budget":        {},
		"web/sources":       {"fieldtable", "web/budget"},
		"web/export":        {"fieldtable", "web/capture"},
		"web/capture":       {"fieldtable"},
		"web/spool":         {"fieldtable"},
		"web/broker":        {"fieldtable", "web/spool"},
		"web/live":          {"fieldtable", "web/budget"},
		"web/demoserver":    {"fieldtable"},
		"web/relay":         {"fieldtable", "web/capture"},
		"views/kit":         {"fieldtable"},
		"views/address":     {"fieldtable"},
		"views/facts":       {"fieldtable", "views/address"},
		"views/snippet":     over(),
		"views/shell":       over("static"),
		"views/listing":     over("views/shell"),
		"views/opened":      over("views/snippet"),
		"views/compare":     over("views/shell", "views/opened"),
		"views":             over("views/shell", "views/listing", "views/opened", "views/compare"),
	}
	room := strings.TrimPrefix(p.ImportPath, module+"/")
	allowed, ok := rooms[room]
	if !ok {
		return
	}
	for _, imported := range p.Imports {
		if strings.HasPrefix(imported, module) && !within(imported, allowed...) {
			t.Errorf("%s imports %s; of this module it may import %v", room, imported, allowed)
		}
	}
}
