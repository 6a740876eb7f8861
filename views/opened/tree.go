package opened

import (
	"bytes"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

const (
	pageNodes    = 500 // children of the outermost table, or of one shown alone
	nestedNodes  = 100 // children of a nested table or array
	maxNodes     = 2000
	sortNodes    = 5000   // a table with more fields keeps its wire order
	countedNames = 10_000 // of a table; what repeats a later one stands field by field

	valuesBytes = 512 << 10 // text behind "show all" on one page
	restBytes   = 256       // of what damage leaves unread
)

// Tree is a header table, or one value of it, as rows in depth-first order.
type Tree struct {
	Nodes []Node
	// Crumbs lead from the whole table to the value shown alone; nil when the table is shown whole.
	Crumbs []Crumb
	Lost   bool // no value begins at the offset asked for, so the table is shown whole
	Fields int  // of the outermost table, before any damage
	// From and To are the children shown of the outermost or the lone table, out of Count.
	From, To, Count  int
	PrevURL, NextURL string
	Unsorted         bool // too many fields to sort
	Repeats          bool // some line stands for many fields
}

// Crumb is one step of the way to a value.
type Crumb struct {
	Parts []kit.Part
	URL   string
}

// NodeKind tells the rows of a tree apart.
type NodeKind uint8

const (
	NodeField   NodeKind = iota
	NodeElement          // of an array
	NodeMore             // stands for children that are not shown
	NodeDamage           // stands where the table cannot be read on
	NodePack             // heads the fields of one pack: Pack, and in Children how many there are
)

// Node is one row of a tree.
type Node struct {
	Kind  NodeKind
	Level int // 1 = outermost
	// Offset is the node's first byte and identifies it: a field's name-length octet, an element's
	// tag. End is one past its last. Bytes from the first octet of the outermost table's length.
	Offset, End int
	Name        []kit.Part // of a field; of an element, its index
	NameNote    string     // why the name breaks the specification's rule; "" = it does not
	NameCommon  bool       // it breaks it as most names do: by a hyphen, a dot, a colon or a slash
	Duplicate   string     // which of several fields of this name it is, in words; "" = the only one
	// Repeated is how many fields of this name the line stands for, of which the first is shown; 0
	// = one.
	Repeated int
	EachURL  string // shows every one of them
	RepeatIs string // the condition "has several fields of this name", outermost fields only
	Bytes    int    // octets of the field, or of all that the line stands for; 0 = of an element
	Share    string // of the table, in words
	// TooLarge says that the field alone is more than a frame can carry to this broker.
	TooLarge  bool
	Path      string // as filters and copies write it
	Value     Value
	Children  int  // of a table or array, before any damage
	Container bool // a table or array
	Open      bool // its children follow
	Damaged   bool // itself or somewhere inside
	Damage    *facts.Damage
	Rest      []kit.DumpRow // of a NodeDamage: the bytes left unread, or the first of them
	RestMore  bool
	Hidden    int // of a NodeMore: how many children it stands for
	URL       string
	Hint      string
	Pack      Pack
	CodeURL   string // where the field alone is written as code; "" = nowhere
	Filter    string // the condition "has this name", outermost fields only
	Is, Not   string // the conditions "has this value", "has another"; "" where there are none
}

// TreeOptions say what part of a table is drawn.
type TreeOptions struct {
	Links address.Links // with At, Skip and Sorted of the request
	Key   address.Key
	Now   time.Time
	// TraceURL is where traces are shown, with {trace} and {span} in it; "" = nowhere.
	TraceURL string
	// FrameMax is the largest frame that the broker takes, in octets; 0 = not known.
	FrameMax int
	// Removed are the bytes of the table that the message was stored without.
	Removed []archive.Span
}

type treeBuilder struct {
	TreeOptions
	encoded []byte
	nodes   []Node
	values  valueBudget
	hints   map[int]string // by the offset of the value's node or tag
}

// BuildTree walks a table. encoded is what the table is a view of, with any bytes that follow it.
func BuildTree(encoded []byte, t fieldtable.Table, hints []fieldtable.Hint, o TreeOptions) Tree {
	b := &treeBuilder{TreeOptions: o, encoded: encoded, values: valueBudget{valuesBytes}, hints: map[int]string{}}
	for _, h := range hints {
		if _, ok := b.hints[h.Offset]; !ok {
			b.hints[h.Offset] = h.Text
		}
	}
	root := facts.Container{Scan: t.Scan(), End: len(encoded)}
	var tree Tree
	for s := root.Scan; s.Skip(); {
		tree.Fields++
	}
	if at := o.Links.State.At; at != 0 {
		if way, ok := t.Descend(at); ok {
			tree.Crumbs = b.crumbs(way)
			last := way[len(way)-1]
			b.alone(&tree, last.Field, facts.PathOf(way), last.InArray)
			return tree
		}
		tree.Lost = true
	}
	skip := o.Links.State.Skip
	if tree.Lost {
		skip = 0
	}
	b.page(&tree, root, "", 1, skip)
	tree.Nodes = b.nodes
	tree.Repeats = slices.ContainsFunc(b.nodes, func(n Node) bool { return n.Repeated > 0 })
	return tree
}

// page draws one page of a container's children, with links to its neighbours.
func (b *treeBuilder) page(tree *Tree, c facts.Container, path string, level, skip int) {
	shown := b.children(c, path, level, skip, pageNodes)
	tree.From, tree.To, tree.Count, tree.Unsorted = shown.from, shown.to, shown.count, shown.unsorted
	if shown.from > 0 {
		tree.PrevURL = b.at(b.Links.State.At, max(shown.from-pageNodes, 0))
	}
	if shown.to < shown.count {
		tree.NextURL = b.at(b.Links.State.At, shown.to)
	}
}

func (b *treeBuilder) at(offset, skip int) string {
	return b.Links.Opened(b.Key, func(q *address.State) { q.At, q.Skip = offset, skip })
}

func (b *treeBuilder) crumbs(way []fieldtable.Stage) []Crumb {
	crumbs := []Crumb{{Parts: []kit.Part{{Text: "All headers"}}, URL: b.at(0, 0)}}
	for _, s := range way {
		parts := kit.Parts(kit.Clip(s.Name, 60))
		if s.InArray {
			parts = []kit.Part{{Text: "[" + strconv.Itoa(s.Index) + "]"}}
		} else if len(s.Name) == 0 {
			parts = []kit.Part{{Text: `""`}}
		}
		crumbs = append(crumbs, Crumb{Parts: parts, URL: b.at(s.Offset, 0)})
	}
	return crumbs
}

// alone draws one value: a page of a container's children, or a page of a long text.
func (b *treeBuilder) alone(tree *Tree, f fieldtable.Field, path string, array bool) {
	if c, ok := facts.ContainerOf(f.Value); ok {
		b.page(tree, c, path, 1, b.Links.State.Skip)
		tree.Nodes = b.nodes
		return
	}
	n := b.node(f, 0, array, path, 1)
	if array {
		n.Name = tree.Crumbs[len(tree.Crumbs)-1].Parts
	}
	if !n.Value.Removed {
		n.Value = newValue(f.Value, b.Now, &b.values, true, b.Links.State.Skip)
		b.recognised(&n.Value, f)
	}
	at := b.Links.State.At
	if n.Value.From > 0 {
		n.Value.PrevURL = b.at(at, max(n.Value.From-pageBytes, 0))
	}
	if n.Value.To < n.Value.Size && n.Value.To > 0 {
		n.Value.NextURL = b.at(at, n.Value.To)
	}
	tree.Nodes = []Node{n}
}

type shown struct {
	from, to, count int
	unsorted        bool
	damaged         bool
}

// children appends the children [skip, skip+limit) of a container, each followed by its own, and
// then what stands for the rest: a link to more, or the damage.
func (b *treeBuilder) children(c facts.Container, path string, level, skip, limit int) shown {
	var out shown
	whole := c.Scan // a copy: counting does not move c.scan
	for whole.Skip() {
		out.count++
	}
	err := whole.Err()
	var repeated map[string]*repeat
	if !c.Array && !b.Links.State.Each && out.count > facts.Repeated {
		if repeated = repeats(c.Scan); len(repeated) > 0 {
			out.count = 0
			for range lines(c.Scan, repeated) {
				out.count++
			}
		}
	}
	out.from = min(skip, out.count)
	out.to = min(out.from+limit, out.count)

	fields := make([]fieldtable.Field, 0, out.to-out.from)
	var pack []Pack // of each of fields; nil unless they stand by pack
	var inPack [packs]int
	grouped := b.Links.State.Packs && b.Links.State.At == 0 && level == 1 && !c.Array
	bySize := b.Links.State.BySize && !c.Array
	sorted := b.Links.State.Sorted && !c.Array || bySize || grouped
	if sorted && out.count <= sortNodes {
		all := slices.AppendSeq(make([]fieldtable.Field, 0, out.count), lines(c.Scan, repeated))
		switch {
		case grouped:
			pack, inPack = byPack(c.Scan, all)
			pack = pack[out.from:out.to]
		case bySize:
			slices.SortStableFunc(
				all,
				func(x, y fieldtable.Field) int { return octets(y, repeated) - octets(x, repeated) },
			)
		default:
			slices.SortStableFunc(all, func(x, y fieldtable.Field) int { return bytes.Compare(x.Name, y.Name) })
		}
		fields = append(fields, all[out.from:out.to]...)
	} else {
		out.unsorted = sorted
		n := 0
		for f := range lines(c.Scan, repeated) {
			if n == out.to {
				break
			}
			if n >= out.from {
				fields = append(fields, f)
			}
			n++
		}
	}
	var names map[string]*occurrence
	if !c.Array {
		names = occurrences(c.Scan, fields)
	}

	for i, f := range fields {
		if len(b.nodes) >= maxNodes {
			out.to = out.from + i
			break
		}
		var p string
		if c.Array {
			p = query.ElementPath(path, out.from+i)
		} else {
			p = query.FieldPath(path, f.Name)
		}
		if pack != nil && (i == 0 || pack[i] != pack[i-1]) {
			b.nodes = append(b.nodes, Node{
				Kind:     NodePack,
				Level:    level,
				Pack:     pack[i],
				Children: inPack[pack[i]],
				Offset:   facts.Start(f, false),
			})
		}
		n := b.node(f, out.from+i, c.Array, p, level)
		if o := names[string(f.Name)]; o != nil {
			n.Duplicate = o.words(f.Offset)
		}
		if !c.Array {
			b.measure(&n, f, repeated[string(f.Name)], level)
		}
		at := len(b.nodes)
		b.nodes = append(b.nodes, n)
		if inner, ok := facts.ContainerOf(f.Value); ok {
			got := b.children(inner, p, level+1, 0, nestedNodes)
			b.nodes[at].Children, b.nodes[at].Damaged = got.count, got.damaged
			b.nodes[at].Open = len(b.nodes) > at+1
			out.damaged = out.damaged || got.damaged
			if got.to < got.count {
				hidden := got.count - got.to
				b.nodes = append(b.nodes, Node{
					Kind: NodeMore, Level: level + 1, Offset: n.Offset, End: n.End, Hidden: hidden,
					URL: b.at(n.Offset, got.to),
				})
				b.nodes[at].Open = true
			}
		}
	}
	if err != nil {
		out.damaged = true
		// The damage stands behind the last field that can be read.
		if out.to == out.count {
			n := b.damage(err, whole.Offset(), c.End, level)
			if c.Array {
				n.Name = []kit.Part{{Text: "[" + strconv.Itoa(out.count) + "]"}}
			} else {
				n.Name = b.nameBefore(n)
			}
			b.nodes = append(b.nodes, n)
		}
	}
	return out
}

// measure adds how large a field is, or all of those that its line stands for.
func (b *treeBuilder) measure(n *Node, f fieldtable.Field, r *repeat, level int) {
	n.Bytes = f.End - f.Offset
	n.TooLarge = b.FrameMax > 0 && n.Bytes > b.FrameMax-wire.FrameOverhead-wire.ContentHeaderFixed
	if r != nil {
		n.Bytes, n.Repeated, n.Duplicate = r.bytes, r.count, ""
		n.EachURL = b.Links.Opened(b.Key, func(q *address.State) { q.Each, q.Skip = true, 0 })
		if level == 1 && b.Links.State.At == 0 {
			n.RepeatIs = "duplicate(" + n.Path + ")"
		}
	}
	n.Share = share(n.Bytes, len(b.encoded))
}

func (b *treeBuilder) node(f fieldtable.Field, index int, array bool, path string, level int) Node {
	n := Node{
		Kind: NodeField, Level: level, Offset: facts.Start(f, array), End: f.Value.End(), Path: path,
		Value: newValue(f.Value, b.Now, &b.values, false, 0),
	}
	_, n.Container = facts.ContainerOf(f.Value)
	if array {
		n.Kind = NodeElement
		n.Name = []kit.Part{{Text: "[" + strconv.Itoa(index) + "]"}}
	} else {
		n.Name = kit.Parts(f.Name)
		if len(f.Name) == 0 {
			n.Name = []kit.Part{{Text: `""`}}
		}
		n.NameNote, n.NameCommon = nameNote(f.Name)
	}
	if n.Value.Clipped && n.Value.All == nil && n.Value.AllDump == nil {
		n.Value.MoreURL = b.at(n.Offset, 0)
	}
	n.Hint = b.hints[n.Offset]
	if n.Hint == "" {
		n.Hint = b.hints[f.Value.Offset()]
	}
	if !array && level == 1 && b.Links.State.At == 0 {
		n.Filter = query.PresenceCondition(path, f.Value.Kind())
	}
	if facts.Without(b.Removed, f.Value) {
		n.Value = Value{Class: n.Value.Class, Kind: n.Value.Kind, Tag: n.Value.Tag, Removed: true}
		n.Hint = ""
		return n
	}
	n.Is, n.Not = query.ValueConditions(path, f.Value)
	if !array {
		n.CodeURL = b.Links.Opened(b.Key, func(q *address.State) { q.Tab, q.At, q.Skip = address.TabCode, n.Offset, 0 })
	}
	b.recognised(&n.Value, f)
	return n
}

// recognised adds what a text looks like.
func (b *treeBuilder) recognised(v *Value, f fieldtable.Field) {
	text, ok := f.Value.Text()
	if !ok {
		return
	}
	v.Notes = append(v.Notes, recognise(f.Name, text, b.Now, b.TraceURL)...)
	if pretty, ok := prettyJSON(text); ok && b.values.take(len(pretty)) {
		v.JSON = laidOut(pretty)
	}
}

// damage is the row that says where and why a container cannot be read on.
func (b *treeBuilder) damage(err error, at, end, level int) Node {
	n := Node{
		Kind:    NodeDamage,
		Level:   level,
		Offset:  at,
		End:     end,
		Damaged: true,
		Damage:  facts.NewDamage(err, at, end),
	}
	if rest := n.Damage.Rest; rest.From < rest.To && rest.To <= len(b.encoded) {
		s := b.encoded[rest.From:rest.To]
		if facts.Touched(b.Removed, rest.From, rest.To) {
			n.Value.Removed = true
			return n
		}
		n.RestMore = len(s) > restBytes
		n.Rest = kit.Dump(s[:min(len(s), restBytes)], rest.From, kit.CellRowBytes)
	}
	return n
}

// nameBefore is the name of a field whose value is damaged; nil where the name is.
func (b *treeBuilder) nameBefore(n Node) []kit.Part {
	if n.Offset >= n.Damage.Offset || n.Damage.Offset > len(b.encoded) {
		return nil
	}
	name := b.encoded[n.Offset+1 : n.Damage.Offset]
	return kit.Parts(name[:min(int(b.encoded[n.Offset]), len(name))])
}

// occurrence counts the fields of one name in a table.
type occurrence struct {
	offsets []int // of the first and of those on the page
	count   int
	last    int
}

// occurrences counts, over a whole table, the names that are on the page.
func occurrences(s fieldtable.Scanner, page []fieldtable.Field) map[string]*occurrence {
	names := make(map[string]*occurrence, len(page))
	for _, f := range page {
		names[string(f.Name)] = &occurrence{}
	}
	for s.Next() {
		f := s.Field()
		if o := names[string(f.Name)]; o != nil {
			o.count++
			o.last = f.Offset
			if len(o.offsets) < maxNodes {
				o.offsets = append(o.offsets, f.Offset)
			}
		}
	}
	return names
}

func (o *occurrence) words(offset int) string {
	i := slices.Index(o.offsets, offset) + 1
	switch {
	case o.count < 2:
		return ""
	case i == 1:
		return "first of " + strconv.Itoa(o.count)
	case offset == o.last:
		return "last of " + strconv.Itoa(o.count)
	case i == 0:
		return "one of " + strconv.Itoa(o.count)
	default:
		return strconv.Itoa(i) + " of " + strconv.Itoa(o.count)
	}
}

// nameNote says how a name breaks the rule of AMQP 0-9-1 section 4.2.5.5, which nobody enforces: a
// letter, $ or # first, then letters, $, #, digits and _, at most 128 characters. common means that
// it does so only by characters that names are full of.
func nameNote(name []byte) (note string, common bool) {
	switch {
	case len(name) == 0:
		return "empty name", false
	case !utf8.Valid(name):
		return "name is not UTF-8", false
	case utf8.RuneCount(name) > 128:
		return "name longer than 128 characters", false
	}
	for i, r := range string(name) {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '$' || r == '#'
		switch {
		case letter, i > 0 && (r >= '0' && r <= '9' || r == '_'):
		case i == 0:
			return "name does not begin with a letter, $ or #", r == '_'
		case r == '-' || r == '.' || r == ':' || r == '/':
			note, common = "name holds "+string(r), true
		default:
			return "name holds " + kit.VisibleText([]byte(string(r))), false
		}
	}
	return note, common
}
