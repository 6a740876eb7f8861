package snippet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/viewtest"
)

func codeOf(t testing.TB, lang string, m facts.Message, at int) string {
	t.Helper()
	m.BodySize = max(m.BodySize, uint64(len(m.Body)))
	links := address.Links{State: address.State{Tab: address.TabCode, Lang: lang, At: at}}
	code := Build(m, fieldtable.View(m.Headers, fieldtable.Lenient()), links)
	if code.TooBig {
		t.Fatal("too big")
	}
	for i, c := range []byte(code.Text) {
		if c != '\n' && c != '\t' && (c < ' ' || c >= 0x7f) {
			t.Fatalf("%s: byte %d is 0x%02x:\n%s", lang, i, c, code.Text)
		}
	}
	return code.Text
}

// typedTable has one header of each kind of value, small enough to be checked by hand.
func typedTable() []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Bool("t", true)
		e.Int8("b", -128)
		e.Uint8("B", 255)
		e.Int16("s", -2)
		e.Value("U", 'U', []byte{0xff, 0xfd})
		e.Uint16("u", 65535)
		e.Int32("I", -2147483648)
		e.Uint32("i", 4294967295)
		e.Int64("l", -9223372036854775808)
		e.Int64L("L", 5)
		e.Float32("f", 0.1)
		e.Float64("d", 5)
		e.Decimal("D", 2, -31410)
		e.Str("S", "a\"'\\\n$é😀")
		e.Str("bad", "\xff")
		e.Bytes("x", []byte{0, 0xff, 'a'})
		e.Timestamp("T", 1795960942)
		e.Void("V")
		e.Array("A", func(e *encode.Encoder) { e.Int32("", 1); e.Void("") })
		e.Nested("F", func(e *encode.Encoder) { e.Str("k", "v") })
		e.Str("S", "again")
		e.Nested("none", func(*encode.Encoder) {})
	})
}

func TestCodeGoldens(t *testing.T) {
	m := facts.Message{
		Seq:        7,
		Exchange:   []byte("ex'\"$x"),
		RoutingKey: []byte("a b"),
		HasHeaders: true,
		Headers:    typedTable(),
		Body:       []byte("it's\n"),
		Properties: []wire.Property{
			{Name: "content_type", Raw: []byte("text/plain")},
			{Name: "headers"},
			{Name: "delivery_mode", Raw: []byte{2}},
			{Name: "timestamp", Raw: []byte{0, 0, 0, 0, 0x67, 0x48, 0x57, 0}},
			{Name: "cluster_id", Raw: []byte("c")},
		},
	}
	for _, w := range writers() {
		l := newCoder(w)
		t.Run(l.name, func(t *testing.T) {
			viewtest.Golden(t, "code."+l.name+".txt", codeOf(t, l.name, m, 0))
		})
	}
}

// The line that publishes a message again holds for any message: nothing of its table is written.
func TestPublishAgain(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    facts.Message
		want string
	}{
		{"plain", facts.Message{Seq: 7, RoutingKey: []byte("orders.dlq")},
			"headerglass publish --amqp amqp://guest:guest@localhost/ --exchange '' --routing-key orders.dlq headerglass-7-message.zip\n"},
		{"of a source", facts.Message{Seq: 7, Source: "dead", Exchange: []byte("e'x"), RoutingKey: []byte("$(id)\xff")},
			`headerglass publish --amqp amqp://guest:guest@localhost/ --exchange 'e'\''x' --routing-key $'$(id)\xff' headerglass-dead-7-message.zip` + "\n"},
		{"too big for code", facts.Message{Seq: 8, HasHeaders: true, Headers: make([]byte, codeTableBytes+1)},
			"headerglass publish --amqp amqp://guest:guest@localhost/ --exchange '' --routing-key '' headerglass-8-message.zip\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := codeOf(t, again, tt.m, 0)
			lines := strings.SplitAfter(got, "\n")
			if line := lines[len(lines)-2]; line != tt.want {
				t.Errorf("got  %swant %s", line, tt.want)
			}
		})
	}
	// What is pasted is in no file that the page offers.
	code := Build(facts.Message{}, fieldtable.View(nil, fieldtable.Lenient()), address.Links{})
	for _, l := range code.Languages {
		if l.Name == again {
			t.Error("offered for pasted bytes")
		}
	}
}

// What becomes of a table as a whole is said where it happens.
func TestLossesAreSaid(t *testing.T) {
	one := encode.Table(func(e *encode.Encoder) { e.Str("a", "x") })
	two := encode.Table(func(e *encode.Encoder) { e.Str("a", "x"); e.Str("b", "x") })
	none := encode.Table(func(*encode.Encoder) {})
	for _, tt := range []struct {
		lang    string
		headers []byte // nil: there is no table
		want    string
	}{
		{"java", two, "its fields are written in another order"},
		{"java", one, ""},
		{"spring", two, "fields are written in another order"},
		{"spring", nil, "sends an empty table where there is none"},
		{"go", two, "written in no fixed order"},
		{"go", none, "sends no table where it is empty"},
		{"node", nil, "sends an empty table where there is none"},
		{"node", none, ""},
		{"rust", two, "sorts fields by their names"},
		{"rabbitmqadmin", two, "in an order of its own"},
		{"python", two, ""},
	} {
		t.Run(fmt.Sprintf("%s/%x", tt.lang, tt.headers), func(t *testing.T) {
			code := codeOf(t, tt.lang, facts.Message{HasHeaders: tt.headers != nil, Headers: tt.headers}, 0)
			first, _, _ := strings.Cut(code, "\n")
			if said := strings.HasPrefix(first, "//") || strings.HasPrefix(first, "#"); said != (tt.want != "") {
				t.Errorf("it begins with %q", first)
			}
			if !strings.Contains(first, tt.want) {
				t.Errorf("%q does not say %q", first, tt.want)
			}
		})
	}
}

// hostileTable tries to leave every kind of literal and comment.
func hostileTable() []byte {
	texts := []string{
		`"); panic("x"); ("`, `'); import os; os._exit(3) #`, "`id`", "$(touch /tmp/x)", "${HOME}", `\u000a System.exit(3); //`, `\u0022+x+\u0022`, "*/ /* // # --", "'\\''", `\`, `\\`, `"`, `'`,
		"\u2028\u2029\u0085", "\r\n", "\x00\x01\x7f", "</script><pre>", "\u202eabc", "é", "😀", "__proto__", "constructor", "1", "-1", "", "!", "%s %d {{.}}", "\\N{DIGIT ONE}", "b'x'", "\"\"\"", "'''", "\\x41", "!!", "~",
	}
	return encode.Table(func(e *encode.Encoder) {
		for i, s := range texts {
			e.Str(s, texts[len(texts)-1-i])
		}
		e.Str("bad\xff", "x\xfe")
		e.Bytes("bytes", []byte(strings.Join(texts, "\xff")))
		e.Nested("nested", func(e *encode.Encoder) {
			for _, s := range texts {
				if s != "!" {
					e.Str(s, s)
				}
			}
		})
		e.Nested("trap", func(e *encode.Encoder) { e.Str("!", "int8"); e.Str("value", "x") })
		e.Array("array", func(e *encode.Encoder) {
			for _, s := range texts {
				e.Str("", s)
			}
		})
		e.Float64("nan", math.NaN())
		e.Float64("inf", math.Inf(-1))
		e.Float64("zero", math.Copysign(0, -1))
		e.Float32("small", math.SmallestNonzeroFloat32)
		e.Float64("big", math.MaxFloat64)
		e.Decimal("deep", 255, 1)
		e.Value("cut", 'S', []byte{0, 0, 0, 99})
	})
}

// program is where a program is. Where it is not, the test is skipped, or fails if
// HEADERGLASS_REQUIRE is 1.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("HEADERGLASS_REQUIRE") == "1":
		t.Fatal(err)
	default:
		t.Skip(name + " is not on this machine; the goldens cover the writing")
	}
	return path
}

// Code, evaluated by the language itself, gives back what can be written of the table: whatever a
// publisher chose stayed data.
func TestCodeReadsBack(t *testing.T) {
	run := func(t *testing.T, stdin string, name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), program(t, name), args...)
		cmd.Stdin = strings.NewReader(stdin)
		var out, problems bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problems
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s\n%s", err, problems.String(), stdin)
		}
		return strings.TrimSpace(out.String())
	}
	message := func(headers []byte) facts.Message {
		return facts.Message{
			Seq:        7,
			Exchange:   []byte("e'\"$(id)\\"),
			RoutingKey: []byte("k\n`id`é"),
			Body:       []byte("b'\"\\\x00\xff"),
			HasHeaders: true,
			Headers:    headers,
		}
	}
	evaluators := map[string]func(t *testing.T, m facts.Message) string{
		"go": func(t *testing.T, m facts.Message) string { return evaluateGo(t, codeOf(t, "go", m, 0)) },
		"python": func(t *testing.T, m facts.Message) string {
			return run(t, codeOf(t, "python", m, 0), "python3", "-c", pythonReader)
		},
		"node": func(t *testing.T, m facts.Message) string {
			return run(t, codeOf(t, "node", m, 0), "node", "-e", nodeReader)
		},
		"rabbitmqadmin": func(t *testing.T, m facts.Message) string {
			program(t, "python3")
			return run(
				t,
				"rabbitmqadmin() { python3 -c '"+adminReader+"' \"$@\"; }\n"+codeOf(t, "rabbitmqadmin", m, 0),
				"bash",
			)
		},
		"java": func(t *testing.T, m facts.Message) string {
			c := newCoder(javaWriter{})
			code := c.alone(c.tableCode(fieldtable.View(m.Headers, fieldtable.Lenient()).Scan(), 0))
			statement, method, _ := strings.Cut(code, "\nstatic ")
			file := filepath.Join(t.TempDir(), "Reader.java")
			source := strings.NewReplacer("/*headers*/", statement, "/*table*/", "static "+method).Replace(javaReader)
			if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			return run(t, "", "java", file)
		},
	}
	evaluators["celery"] = func(t *testing.T, m facts.Message) string {
		return run(t, codeOf(t, "celery", m, 0), "python3", "-c", pythonReader)
	}
	for _, w := range writers() {
		l := newCoder(w)
		switch l.name {
		case "ruby", "php": // as TestCodeEncodes has them
			continue
		case "csharp", "rust": // no Debian package brings them
			continue
		case "spring": // writes its table as Java does
			continue
		}
		for name, table := range map[string][]byte{
			"rich":    viewtest.RichTable(),
			"typed":   typedTable(),
			"hostile": hostileTable(),
			"empty":   encode.Table(func(*encode.Encoder) {}),
		} {
			if l.name == "java" && (name == "rich" || name == "empty") {
				continue // each takes seconds to compile; the other two have every kind of value
			}
			t.Run(l.name+"/"+name, func(t *testing.T) {
				if l.name == "java" && testing.Short() {
					t.Skip("takes seconds to compile")
				}
				m := message(table)
				want := fmt.Sprintf(
					"e=%x k=%x b=%x %s",
					m.Exchange,
					m.RoutingKey,
					m.Body,
					canonicalTable(l, fieldtable.View(table, fieldtable.Lenient()).Scan()),
				)
				got := evaluators[l.name](t, m)
				if l.name == "java" {
					_, got, _ = strings.Cut(got, "{")
					_, want, _ = strings.Cut(want, "{")
				}
				if got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// canonicalTable writes what of a table a client can write, in a form that each evaluator writes
// too.
func canonicalTable(l coder, s fieldtable.Scanner) string {
	var fields []string
	seen := map[string]bool{}
	for s.Next() {
		f := s.Field()
		if seen[string(f.Name)] {
			continue
		}
		seen[string(f.Name)] = true
		if !utf8.Valid(f.Name) && l.name != "go" && l.name != "python" && l.name != "celery" {
			continue
		}
		if v, ok := canonical(l, f.Value); ok {
			fields = append(fields, fmt.Sprintf("%x=%s", f.Name, v))
		}
	}
	slices.Sort(fields) // JavaScript puts numbers first
	return "{" + strings.Join(fields, ";") + "}"
}

func canonical(l coder, v fieldtable.Value) (string, bool) {
	if t, ok := v.Table(); ok {
		if l.nested(t.Scan()) != "" {
			return "", false
		}
		return canonicalTable(l, t.Scan()), true
	}
	if a, ok := v.Array(); ok {
		var items []string
		for s := a.Scan(); s.Next(); {
			if item, ok := canonical(l, s.Field().Value); ok {
				items = append(items, item)
			}
		}
		return "[" + strings.Join(items, ";") + "]", true
	}
	if l.scalar(v).code == "" {
		return "", false
	}
	text := string(v.AppendText(nil))
	switch v.Kind() {
	case fieldtable.KindBool:
		return "t:" + text, true
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		n, _ := strconv.ParseFloat(text, 64)
		if v.Kind() == fieldtable.KindFloat32 {
			n = float64(float32(n))
		}
		if math.IsNaN(n) {
			return "d:NaN", true
		}
		return fmt.Sprintf("d:%016x", math.Float64bits(n)), true
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		return fmt.Sprintf("D:%d/%d", d.Unscaled, d.Scale), true
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		if !utf8.Valid(s) && l.name != "go" {
			return fmt.Sprintf("x:%x", s), true
		}
		return fmt.Sprintf("S:%x", s), true
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return fmt.Sprintf("x:%x", s), true
	case fieldtable.KindTimestamp:
		return fmt.Sprintf("T:%d", int64(binary.BigEndian.Uint64(v.Raw()))), true
	case fieldtable.KindVoid:
		return "V", true
	}
	return "n:" + text, true
}

// evaluateGo reads the code with Go's own parser; only the forms that are meant to be there are
// understood.
func evaluateGo(t *testing.T, code string) string {
	file, err := parser.ParseFile(
		token.NewFileSet(),
		"",
		"package p\nfunc f() {\n"+code+"\n}",
		parser.SkipObjectResolution,
	)
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	body := file.Decls[0].(*ast.FuncDecl).Body.List
	if len(file.Decls) != 1 || len(body) != 1 {
		t.Fatalf("%d statements in\n%s", len(body), code)
	}
	call := body[0].(*ast.AssignStmt).Rhs[0].(*ast.CallExpr)
	var headers, content string
	for _, e := range call.Args[5].(*ast.CompositeLit).Elts {
		switch kv := e.(*ast.KeyValueExpr); kv.Key.(*ast.Ident).Name {
		case "Headers":
			headers = goValue(t, kv.Value)
		case "Body":
			content = strings.TrimPrefix(goValue(t, kv.Value), "x:")
		}
	}
	return fmt.Sprintf("e=%x k=%x b=%s %s", goString(t, call.Args[1]), goString(t, call.Args[2]), content, headers)
}

func goString(t *testing.T, e ast.Expr) string {
	s, err := strconv.Unquote(e.(*ast.BasicLit).Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func goSource(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return goSource(e.X) + "." + e.Sel.Name
	case *ast.ArrayType:
		return "[]" + goSource(e.Elt)
	case *ast.BasicLit:
		return e.Value
	case *ast.UnaryExpr:
		return e.Op.String() + goSource(e.X)
	}
	return fmt.Sprintf("%T", e)
}

func goValue(t *testing.T, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return fmt.Sprintf("S:%x", goString(t, e))
	case *ast.Ident:
		switch e.Name {
		case "nil":
			return "V"
		case "true", "false":
			return "t:" + e.Name
		}
	case *ast.CompositeLit:
		var items []string
		switch goSource(e.Type) {
		case "amqp.Table":
			for _, kv := range e.Elts {
				kv := kv.(*ast.KeyValueExpr)
				items = append(items, fmt.Sprintf("%x=%s", goString(t, kv.Key), goValue(t, kv.Value)))
			}
			slices.Sort(items)
			return "{" + strings.Join(items, ";") + "}"
		case "[]any":
			for _, item := range e.Elts {
				items = append(items, goValue(t, item))
			}
			return "[" + strings.Join(items, ";") + "]"
		case "amqp.Decimal":
			return "D:" + goSource(e.Elts[1].(*ast.KeyValueExpr).Value) + "/" +
				goSource(e.Elts[0].(*ast.KeyValueExpr).Value)
		}
	case *ast.CallExpr:
		switch f := goSource(e.Fun); f {
		case "int8", "byte", "int16", "uint16", "int32", "uint32", "int64":
			return "n:" + goSource(e.Args[0])
		case "[]byte":
			return fmt.Sprintf("x:%x", goString(t, e.Args[0]))
		case "time.Unix":
			return "T:" + goSource(e.Args[0])
		case "float32", "float64":
			if inner, ok := e.Args[0].(*ast.CallExpr); ok {
				args := ""
				for _, a := range inner.Args {
					args += goSource(a)
				}
				switch goSource(inner.Fun) + args {
				case "math.NaN":
					return "d:NaN"
				case "math.Inf1":
					return fmt.Sprintf("d:%016x", math.Float64bits(math.Inf(1)))
				case "math.Inf-1":
					return fmt.Sprintf("d:%016x", math.Float64bits(math.Inf(-1)))
				case "math.Copysign0-1":
					return fmt.Sprintf("d:%016x", math.Float64bits(math.Copysign(0, -1)))
				}
			} else if n, err := strconv.ParseFloat(goSource(e.Args[0]), 64); err == nil {
				if f == "float32" {
					n = float64(float32(n))
				}
				return fmt.Sprintf("d:%016x", math.Float64bits(n))
			}
		}
	}
	t.Fatalf("an expression that is not meant to be there: %s", goSource(e))
	return ""
}

const pythonReader = `
import sys, types, struct, decimal, datetime
class Properties:
    def __init__(self, **kw): self.kw = kw
pika = types.ModuleType("pika")
pika.BasicProperties = Properties
pika.compat = types.SimpleNamespace(long=int)
sys.modules["pika"] = pika
amqp = types.ModuleType("amqp")
class Message:
    def __init__(self, body, application_headers): self.body, self.headers = body, application_headers
amqp.Message = Message
sys.modules["amqp"] = amqp
def name(k): return (k if isinstance(k, bytes) else k.encode()).hex()
def canon(v):
    if v is None: return "V"
    if v is True or v is False: return "t:true" if v else "t:false"
    if isinstance(v, int): return "n:%d" % v
    if isinstance(v, float): return "d:NaN" if v != v else "d:" + struct.pack(">d", v).hex()
    if isinstance(v, str): return "S:" + v.encode().hex()
    if isinstance(v, bytes): return "x:" + v.hex()
    if isinstance(v, decimal.Decimal):
        t = v.as_tuple()
        n = int("".join(map(str, t.digits)))
        return "D:%d/%d" % (-n if t.sign else n, -t.exponent)
    if isinstance(v, datetime.datetime): return "T:%d" % v.timestamp()
    if isinstance(v, dict): return "{" + ";".join(sorted(name(k) + "=" + canon(x) for k, x in v.items())) + "}"
    if isinstance(v, list): return "[" + ";".join(map(canon, v)) + "]"
    raise TypeError(v)
class Channel:
    def basic_publish(self, exchange, routing_key, body, properties):
        print("e=%s k=%s b=%s %s" % (name(exchange), name(routing_key), body.hex(), canon(properties.kw["headers"])))
class Connection:
    def __enter__(self): self.default_channel = self; return self
    def __exit__(self, *a): pass
    def basic_publish(self, m, exchange, routing_key):
        Channel().basic_publish(exchange, routing_key, m.body, Properties(headers=m.headers))
app = types.SimpleNamespace(connection_for_write=Connection)
exec(sys.stdin.read(), {"channel": Channel(), "app": app})
`

const nodeReader = `

const bits = (n) => { if (Number.isNaN(n)) return "d:NaN"; const b = Buffer.alloc(8); b.writeDoubleBE(n); return "d:" + b.toString("hex"); };

const hex = (s) => Buffer.from(s).toString("hex");

const canon = (v) => {
  if (v === null) return "V";
  if (typeof v === "boolean") return "t:" + v;
  if (typeof v === "string") return "S:" + hex(v);
  if (Buffer.isBuffer(v)) return "x:" + v.toString("hex");
  if (Array.isArray(v)) return "[" + v.map(canon).join(";") + "]";
  if (Object.hasOwn(v, "!")) {
    const n = v.value;
    switch (v["!"]) {
      case "float": return bits(Math.fround(n));
      case "double": return bits(n);
      case "decimal": return "D:" + (n.digits | 0) + "/" + n.places;
      case "timestamp": return "T:" + n;
      default: return "n:" + n;
    }
  }
  return table(v);
};

const table = (v) => "{" + Object.entries(v).map(([k, x]) => hex(k) + "=" + canon(x)).sort().join(";") + "}";

const channel = { publish: (e, k, b, o) => {
  if (Object.getPrototypeOf(o.headers) !== Object.prototype) throw new Error("the prototype was set");
  console.log("e=" + hex(e) + " k=" + hex(k) + " b=" + b.toString("hex") + " " + table(o.headers));
} };
new Function("channel", require("fs").readFileSync(0, "utf8"))(channel);
`

// adminReader stands between single quotes, so it holds none.
const adminReader = `
import sys, json, base64, struct
args = dict(a.encode("utf-8", "surrogateescape").split(b"=", 1) for a in sys.argv[2:])
def canon(v):
    if v is True or v is False: return "t:true" if v else "t:false"
    if isinstance(v, int): return "n:%d" % v
    if isinstance(v, float): return "d:" + struct.pack(">d", v).hex()
    if isinstance(v, str): return "S:" + v.encode().hex()
    if isinstance(v, list): return "[" + ";".join(map(canon, v)) + "]"
    return "{" + ";".join(sorted(k.encode().hex() + "=" + canon(x) for k, x in v.items())) + "}"
body = args[b"payload"]
if args.get(b"payload_encoding") == b"base64": body = base64.b64decode(body)
print("e=%s k=%s b=%s %s" % (args[b"exchange"].hex(), args[b"routing_key"].hex(), body.hex(), canon(json.loads(args[b"properties"])["headers"])))
`

const javaReader = `
import java.math.*;
import java.nio.charset.*;
import java.util.*;
public class Reader {
  static class LongStringHelper { static Object asLongString(byte[] b) { return b; } }
  static String hex(byte[] b) { return HexFormat.of().formatHex(b); }
  static String bits(double d) { return Double.isNaN(d) ? "d:NaN" : String.format("d:%016x", Double.doubleToRawLongBits(d)); }
  static String canon(Object v) {
    if (v == null) return "V";
    if (v instanceof Boolean) return "t:" + v;
    if (v instanceof Float || v instanceof Double) return bits(((Number) v).doubleValue());
    if (v instanceof BigDecimal d) return "D:" + d.unscaledValue() + "/" + d.scale();
    if (v instanceof Number) return "n:" + v;
    if (v instanceof String s) return "S:" + hex(s.getBytes(StandardCharsets.UTF_8));
    if (v instanceof byte[] b) return "x:" + hex(b);
    if (v instanceof Date d) return "T:" + d.getTime() / 1000;
    if (v instanceof List<?> l) { List<String> o = new ArrayList<>(); for (Object x : l) o.add(canon(x)); return "[" + String.join(";", o) + "]"; }
    List<String> o = new ArrayList<>();
    for (Map.Entry<?, ?> e : ((Map<?, ?>) v).entrySet()) o.add(hex(((String) e.getKey()).getBytes(StandardCharsets.UTF_8)) + "=" + canon(e.getValue()));
    Collections.sort(o);
    return "{" + String.join(";", o) + "}";
  }
  /*table*/
  public static void main(String[] args) {
    /*headers*/
    System.out.println(canon(headers));
  }
}
`
