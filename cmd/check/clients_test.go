//go:build clients

package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

// What the tab of clients says of a table is what the clients' releases make of it.
// HEADERGLASS_CLIENTS names the folder that the step clients has installed them in.
func TestClientsReadAsTheTabSays(t *testing.T) {
	home := os.Getenv("HEADERGLASS_CLIENTS")
	here, err := filepath.Abs("clients")
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(home, "python", "bin", "python")
	for _, client := range []struct {
		name    string
		command []string
		pinned  bool // else it is as Debian has it
	}{
		{"Python (pika)", []string{python, filepath.Join(here, "decode.py"), "pika"}, true},
		{"Python (py-amqp)", []string{python, filepath.Join(here, "decode.py"), "py-amqp"}, true},
		{"Python (pamqp: aio-pika)", []string{python, filepath.Join(here, "decode.py"), "pamqp"}, true},
		{"Node (amqplib)", []string{"node", filepath.Join(here, "decode.js")}, true},
		{"Java", []string{"java", "-cp", filepath.Join(home, "java", "*"), filepath.Join(here, "Decode.java")}, true},
		{"C (rabbitmq-c)", []string{filepath.Join(home, "rabbitmq-c")}, false},
		{"Go (amqp091-go)", nil, true},
		{"Ruby (Bunny)", []string{"ruby", filepath.Join(here, "decode.rb")}, false},
		{"PHP (php-amqplib)", []string{"php", filepath.Join(here, "decode.php")}, false},
	} {
		t.Run(client.name, func(t *testing.T) {
			i := slices.IndexFunc(fieldtable.Clients(), func(c fieldtable.Client) bool { return c.Name == client.name })
			all := vectors(t)
			var out []byte
			if client.command == nil {
				out = askGo(t, all)
			} else {
				out = ask(t, home, client.command, all)
			}
			answers := bufio.NewScanner(bytes.NewReader(out))
			answers.Buffer(nil, 1<<24)
			answers.Scan()
			var about struct{ Version string }
			if err := json.Unmarshal(answers.Bytes(), &about); err != nil {
				t.Fatal(err)
			}
			t.Logf("version %s", about.Version)
			if said := fieldtable.Clients()[i].Version; !strings.HasPrefix(about.Version, said) {
				t.Logf("the tab speaks of version %s", said)
				if client.pinned {
					t.Fail()
				}
			}
			for _, v := range all {
				if !answers.Scan() {
					t.Fatalf("no answer to %s", v.name)
				}
				got := read(t, answers.Bytes())
				want, ok := said(client.name, fieldtable.View(v.table, fieldtable.Lenient()))
				if !ok { // the tab says only whether it gives up
					got, want = fmt.Sprint(got == refused), fmt.Sprint(want == refused)
				}
				if got != want && !v.deep {
					t.Errorf("%s (%x):\nit reads %s\nsaid is  %s", v.name, v.table[:min(len(v.table), 100)], got, want)
				}
			}
		})
	}
}

// ask gives the tables to a program that reads them with a client.
func ask(t *testing.T, home string, command []string, all []vector) []byte {
	var lines bytes.Buffer
	for _, v := range all {
		fmt.Fprintln(&lines, hex.EncodeToString(v.table))
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin, cmd.Stderr, cmd.Dir = &lines, os.Stderr, home
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// vector is a table that clients are asked to read.
type vector struct {
	name  string
	table []byte
	deep  bool // nested deeper than the explorer reads: the tab says nothing of what lies there
}

func vectors(t *testing.T) (all []vector) {
	b, err := os.ReadFile(filepath.Join("..", "..", "fieldtable", "testdata", "fieldtable.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file []struct{ Name, Hex string }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	for _, v := range file {
		table, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vector{v.Name, table, deep(table)})
	}
	for _, s := range specimens.Specimens() {
		all = append(all, vector{s.Name, s.Encoded, deep(s.Encoded)})
	}
	return append(all,
		vector{name: "d 1.5", table: encode.Table(func(e *encode.Encoder) { e.Float64("k", 1.5) })},
		vector{name: "d NaN", table: encode.Table(func(e *encode.Encoder) { e.Float64("k", math.NaN()) })},
		vector{name: "d Inf", table: encode.Table(func(e *encode.Encoder) { e.Float64("k", math.Inf(1)) })},
		vector{name: "names that are numbers", table: encode.Table(func(e *encode.Encoder) { e.Str("b", "x"); e.Str("1", "y") })},
		vector{name: "8,193 elements", table: encode.Table(func(e *encode.Encoder) {
			for i := range 8193 {
				e.Void(fmt.Sprintf("k%d", i))
			}
		})},
		vector{name: "empty name", table: encode.Table(func(e *encode.Encoder) { e.Str("", "x") })},
		vector{name: "long name", table: encode.Table(func(e *encode.Encoder) { e.Str(strings.Repeat("n", 200), "x") })},
	)
}

func deep(table []byte) bool {
	for _, r := range fieldtable.Readings(fieldtable.View(table, fieldtable.Lenient())) {
		if strings.HasPrefix(r.Text, "nested more than") {
			return true
		}
	}
	return false
}

const refused = "refused"

// said is what the tab says that a client reads. ok is false where it does not say what exactly.
func said(client string, t fieldtable.Table) (text string, ok bool) {
	at := make(map[int][]fieldtable.Other)
	ok = true
	for _, r := range fieldtable.Readings(t) {
		for _, o := range r.Others {
			if o.Client != client {
				continue
			}
			if o.Fatal {
				return refused, true
			}
			if strings.Contains(o.Why, "what follows reads as other fields") {
				ok = false
			}
			at[r.Offset] = append(at[r.Offset], o)
		}
	}
	s := t.Scan()
	text, whole := saidOf(at, &s, true)
	return text, ok && whole
}

// saidOf is what is said of one table or array. whole is false where there is damage.
func saidOf(at map[int][]fieldtable.Other, s *fieldtable.Scanner, named bool) (text string, whole bool) {
	var all []string
	whole = true
	for s.Next() {
		f := s.Field()
		name, value, kept := string(f.Name), "", true
		if inner, ok := s.Into(); ok {
			value, ok = saidOf(at, &inner, f.Value.Kind() == fieldtable.KindTable)
			whole = whole && ok
		} else {
			value = plain(f.Value, "")
		}
		for _, o := range at[f.Offset] {
			if strings.Contains(o.Why, "of the name") {
				name = strings.ToValidUTF8(name, "\uFFFD")
			}
			if o.Text == "" && (strings.Contains(o.Why, "keeps only") || strings.Contains(o.Why, "loses")) {
				kept = false
			} else if o.Text != "" || o.Why == "takes none for null" {
				value = plain(f.Value, o.Text)
			}
		}
		if kept && named {
			value = fmt.Sprintf("%x=%s", name, value)
		}
		if kept {
			all = append(all, value)
		}
	}
	whole = whole && s.Err() == nil
	if named {
		slices.Sort(all)
		return "{" + strings.Join(all, " ") + "}", whole
	}
	return "[" + strings.Join(all, " ") + "]", whole
}

// plain is a value that is no table and no array; text is what is said of it, "": its own.
func plain(v fieldtable.Value, text string) string {
	own := text == ""
	if own {
		text = string(v.AppendText(nil))
	}
	if text == "null" {
		return "null"
	}
	switch v.Kind() {
	case fieldtable.KindVoid:
		return "null"
	case fieldtable.KindBool:
		return "b:" + text
	case fieldtable.KindLongStr, fieldtable.KindShortStr, fieldtable.KindBytes, fieldtable.KindChar8:
		if own {
			text = string(v.Raw())
		}
		return fmt.Sprintf("s:%x", text)
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		n, _, _ := strings.Cut(text, " ")
		if own {
			n = strconv.FormatInt(ts.Value, 10)
		}
		if ms, err := strconv.ParseInt(n, 10, 64); err == nil && strings.HasPrefix(text, n+" ms") {
			n = strconv.FormatInt(ms/1000, 10)
		}
		return "t:" + n
	case fieldtable.KindFloat32:
		if f, err := strconv.ParseFloat(text, 32); err == nil {
			return "n:" + number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	}
	return "n:" + number(text)
}

// number writes numbers that are equal in the same way.
func number(text string) string {
	text = strings.Replace(strings.TrimPrefix(strings.ToLower(text), "+"), "infinity", "inf", 1)
	if r, ok := new(big.Rat).SetString(text); ok {
		return r.RatString()
	}
	return text
}

// read is a client's answer in the form that said has.
func read(t *testing.T, line []byte) string {
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	var write func(v any) string
	write = func(v any) string {
		switch v := v.(type) {
		case string:
			if n, ok := strings.CutPrefix(v, "n:"); ok {
				if f, err := strconv.ParseFloat(n, 64); err == nil && strings.ContainsAny(n, ".e") {
					return "n:" + number(strconv.FormatFloat(f, 'g', -1, 64))
				}
				return "n:" + number(n)
			}
			return v
		case map[string]any:
			var all []string
			if fields, ok := v["table"].([]any); ok {
				for _, f := range fields {
					all = append(all, f.([]any)[0].(string)+"="+write(f.([]any)[1]))
				}
				slices.Sort(all)
				return "{" + strings.Join(all, " ") + "}"
			}
			if items, ok := v["array"].([]any); ok {
				for _, item := range items {
					all = append(all, write(item))
				}
				return "[" + strings.Join(all, " ") + "]"
			}
			if d, ok := v["decimal"].([]any); ok {
				scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d[1].(float64))), nil)
				return "n:" + new(big.Rat).SetFrac(big.NewInt(int64(d[0].(float64))), scale).RatString()
			}
		}
		return refused
	}
	return write(v)
}
