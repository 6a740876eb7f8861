package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"

	"github.com/headerglass/headerglass/fieldtable/nearest"
	"github.com/headerglass/headerglass/web/sources"
)

// configFile is the name of a TOML file: [[source]] tables with the flags of a source as keys, and
// flags of the command at the top.
type configFile string

// config is what such a file holds.
type config struct {
	top     map[string]any
	sources []map[string]any
}

func (f configFile) read() (config, error) {
	b, err := os.ReadFile(string(f))
	if err != nil {
		return config{}, usageError{"--config: " + err.Error()}
	}
	c := config{top: make(map[string]any)}
	if err := toml.Unmarshal(b, &c.top); err != nil {
		return config{}, f.wrong(err.Error())
	}
	if tables, ok := c.top["source"]; ok {
		if c.sources, ok = tables.([]map[string]any); !ok {
			return config{}, f.wrong("a source is a table: write [[source]] above its keys")
		}
		delete(c.top, "source")
	}
	return c, nil
}

func (f configFile) wrong(why string) error {
	return usageError{fmt.Sprintf("--config %s: %s", f, why)}
}

// BeforeResolve gives the flags of the command the values at the top of the file. Flags on the
// command line and in the environment win.
func (f configFile) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	f, _ = ctx.FlagValue(trace.Flag).(configFile)
	c, err := f.read()
	if err != nil {
		return err
	}
	var names []string
	for _, p := range ctx.Path {
		for _, flag := range p.Flags {
			names = append(names, flag.Name)
		}
	}
	if err := f.known("", c.top, names); err != nil {
		return err
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, name := range flag.Envs {
			if os.Getenv(name) != "" {
				return nil, nil
			}
		}
		value, ok := c.top[flag.Name]
		if !ok {
			return nil, nil
		}
		return value, nil
	}))
	return nil
}

// known refuses keys that are no flags, and names the nearest that is.
func (f configFile) known(where string, table map[string]any, names []string) error {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(names, key) {
			return f.wrong(fmt.Sprintf("%sthere is no key %q; the nearest is %q", where, key, nearest.To(key, names)))
		}
	}
	return nil
}

// readings are the sources of the file. What the top of the file says of sources holds for each,
// and so do the flags of the command line, which win.
func (f configFile) readings(kctx *kong.Context) (list []reading, err error) {
	c, err := f.read()
	if err != nil {
		return nil, err
	}
	for i, table := range c.sources {
		where := fmt.Sprintf("source %d: ", i+1)
		name, _ := table["name"].(string)
		if name != "" {
			where = fmt.Sprintf("source %q: ", name)
		}
		some, err := f.reading(where, name, table, c.top, kctx)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

func (f configFile) reading(
	where, name string, table, top map[string]any, kctx *kong.Context,
) ([]reading, error) {
	var flags struct{ sourceFlags }
	parser, err := newParser(&flags, kong.DefaultEnvars(envPrefix))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, flag := range parser.Model.Flags {
		names = append(names, flag.Name)
	}
	if err := f.known(where, table, append(names, "name")); err != nil {
		return nil, err
	}
	what := []string{"queue", "stream", "exchange"}
	var args []string
	for _, key := range names {
		value, ok := table[key]
		if !ok && !slices.Contains(what, key) {
			value, ok = top[key]
		}
		if ok {
			args = append(args, asFlags(key, value)...)
		}
	}
	if _, err := parser.Parse(args); err != nil {
		return nil, f.wrong(where + err.Error())
	}
	for _, given := range kctx.Path {
		if given.Flag == nil || given.Resolved || slices.Contains(what, given.Flag.Name) {
			continue
		}
		for _, flag := range parser.Model.Flags {
			if flag.Name == given.Flag.Name && flag.Name != "help" {
				flag.Target.Set(given.Flag.Target)
			}
		}
	}
	if err := flags.check(); err != nil {
		return nil, f.wrong(where + err.Error())
	}
	list := flags.completed()
	if name == "" {
		return list, nil
	}
	if len(list) != 1 {
		return nil, f.wrong(fmt.Sprintf("%sa name is for one source, and this table names %d", where, len(list)))
	}
	if list[0].origin.Source = name; name != sources.Name(name) {
		return nil, f.wrong(where + "a name holds letters, digits and -._ only")
	}
	return list, nil
}

// asFlags is a key with its value as on the command line.
func asFlags(key string, value any) (args []string) {
	if all, ok := value.([]any); ok {
		for _, one := range all {
			args = append(args, asFlags(key, one)...)
		}
		return args
	}
	return []string{fmt.Sprintf("--%s=%v", key, value)}
}
