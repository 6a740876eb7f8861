package bodies

import "strings"

// section is one kind of section of a message (part 3, section 3.2).
type section struct {
	code   uint64
	name   string
	fields string // of a list, in order
}

func sections() []section {
	return []section{
		{0x70, "header", "durable priority ttl first-acquirer delivery-count"},
		{0x71, "delivery-annotations", ""},
		{0x72, "message-annotations", ""},
		{0x73, "properties", "message-id user-id to subject reply-to correlation-id content-type content-encoding " +
			"absolute-expiry-time creation-time group-id group-sequence reply-to-group-id"},
		{0x74, "application-properties", ""},
		{0x75, "data", ""},
		{0x76, "amqp-sequence", ""},
		{0x77, "amqp-value", ""},
		{0x78, "footer", ""},
	}
}

// sectionOf returns what a descriptor names: a number, or a symbol such as amqp:amqp-value:*.
func sectionOf(d Value) (section, bool) {
	for _, s := range sections() {
		switch d.Type() {
		case "ulong":
			if bigEndian(d.Raw()) == s.code {
				return s, true
			}
		case "symbol":
			kind := "list"
			switch s.code {
			case 0x71, 0x72, 0x74, 0x78:
				kind = "map"
			case 0x75:
				kind = "binary"
			case 0x77:
				kind = "*"
			}
			if string(d.Raw()) == "amqp:"+s.name+":"+kind {
				return s, true
			}
		}
	}
	return section{}, false
}

// AMQP10 lays open sections of AMQP 1.0, or values, one after the other up to the end of b, in at
// most max rows; more says that there are others.
func AMQP10(b []byte, max int) (rows []Row, more bool) {
	l := &listing{max: max}
	for at := 0; at < len(b); {
		v, err := Read(b, at)
		if err != nil {
			l.damage(0, err)
			break
		}
		if !l.value(v, 0, "", nil) {
			break
		}
		at = v.end
	}
	return l.rows, l.more
}

// value adds the rows of v and of what is in it. fields are the names of a list's items. It returns
// false once the listing is full.
func (l *listing) value(v Value, level int, name string, fields []string) bool {
	row := Row{Level: level, Offset: v.at, End: v.end, Name: name, Type: v.Type()}
	if d, ok := v.Descriptor(); ok {
		if s, ok := sectionOf(d); ok {
			row.Type = s.name + ": " + row.Type
			fields = strings.Fields(s.fields)
		} else {
			row.Type = "described by " + named([]byte(d.head())) + ": " + row.Type
		}
	}
	if !v.IsContainer() {
		row.Text = v.head()
		return l.add(row)
	}
	n, _, _ := v.counted()
	if row.Text = items(uint64(n)); v.Type() == "map" {
		row.Text = items(uint64(n) / 2)
	}
	if !l.add(row) {
		return false
	}
	i, key := 0, ""
	for item, err := range v.Items() {
		switch {
		case err != nil:
			l.damage(level+1, err)
			return !l.more
		case v.Type() != "map":
			name := place(i)
			if i < len(fields) {
				name = fields[i]
			}
			if !l.value(item, level+1, name, nil) {
				return false
			}
		case i%2 == 0:
			key = keyText(item)
		default:
			if !l.value(item, level+1, key, nil) {
				return false
			}
		}
		i++
	}
	return true
}

// keyText is a map's key as the name of a row: any type may be one.
func keyText(v Value) string {
	if v.IsContainer() {
		return v.Type()
	}
	return named([]byte(v.head()))
}
