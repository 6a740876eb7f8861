package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// flagNames returns the names of the flags that a command has, and of all commands for "".
func flagNames(t *testing.T, command string) (names []string) {
	t.Helper()
	parser, err := newParser(&cli{}, kong.DefaultEnvars(envPrefix))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range parser.Model.Children {
		if command == "" || c.Name == command {
			for _, f := range c.Flags {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

func packaged(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("packaging/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestManualPageNamesEveryFlag(t *testing.T) {
	var out bytes.Buffer
	if code := run(t.Context(), []string{"man"}, stdio{nil, &out, &out}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	for _, name := range flagNames(t, "") {
		if !strings.Contains(strings.ReplaceAll(out.String(), `\-`, "-"), "--"+name) {
			t.Errorf("--%s is not in the manual page", name)
		}
	}
}

func TestShellCompletes(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string // among the answers, a line each
	}{
		{"headerglass dec", "decode"},
		{"headerglass serve --qu", "--queue"},
		{"headerglass serve --mode pe", "peek"},
		{"headerglass completion z", "zsh"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			t.Setenv("COMP_LINE", tt.line)
			var out bytes.Buffer
			if code := run(t.Context(), nil, stdio{nil, &out, &out}); code != exitOK {
				t.Fatalf("exit code %d: %s", code, &out)
			}
			if !slices.Contains(strings.Split(out.String(), "\n"), tt.want) {
				t.Errorf("%q", &out)
			}
		})
	}
}

func TestPackagedSettingsAreFlags(t *testing.T) {
	flags := flagNames(t, "serve")
	for _, name := range []string{"headerglass.conf", "kubernetes.yaml"} {
		for _, m := range regexp.MustCompile(envPrefix+`_([A-Z_]+)`).FindAllStringSubmatch(packaged(t, name), -1) {
			flag := strings.ReplaceAll(strings.ToLower(m[1]), "_", "-")
			if !slices.Contains(flags, flag) {
				t.Errorf("%s: %s is no flag's variable", name, m[0])
			}
		}
	}
	args := regexp.MustCompile(`args: \[(.*)\]`).FindStringSubmatch(packaged(t, "kubernetes.yaml"))
	if args == nil {
		t.Fatal("kubernetes.yaml has no args")
	}
	for _, arg := range strings.Split(args[1], ", ") {
		if flag, is := strings.CutPrefix(arg, "--"); is && !slices.Contains(flags, flag) {
			t.Errorf("kubernetes.yaml: --%s is no flag", flag)
		}
	}
}

// The dashboard asks for metrics that the explorer has.
func TestDashboardShowsWhatIsMeasured(t *testing.T) {
	text := packaged(t, "grafana.json")
	if !json.Valid([]byte(text)) {
		t.Fatal("grafana.json is no JSON")
	}
	site := demo(t, "--rate", "1")
	get(t, site+"/healthz", 200) // so that there is a request to count
	metrics := string(get(t, site+"/metrics", 200))
	asked := regexp.MustCompile(`headerglass_[a-z_]+`).FindAllString(text, -1)
	if len(asked) < 10 {
		t.Errorf("only %q", asked)
	}
	for _, name := range asked {
		if !strings.Contains(metrics, "\n# TYPE "+name+" ") {
			t.Errorf("%s is not measured", name)
		}
	}
}
