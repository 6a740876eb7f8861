package query

import (
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
)

// Filters of other worlds name a message's properties as words: JMS, Artemis, and RabbitMQ's SQL
// filters for AMQP 1.0. Such a word means the header of exactly that name, and the property where a
// message has no such header.

// hasAlias reports whether a bare word is such a name.
func hasAlias(word string) bool {
	if !mayBeAlias(word) {
		return false
	}
	section, rest := cutSection(word)
	if section == "a" {
		return rest != ""
	}
	_, found := aliasOf(word)
	_, missing := notInAMQP091(word)
	return found || missing
}

func mayBeAlias(word string) bool {
	return strings.HasPrefix(word, "JMS") || strings.HasPrefix(word, "AMQ") || strings.Contains(word, ".")
}

// alias gives the condition what its name means besides a header; its error says that AMQP 0-9-1
// has nothing of that name.
func (p *parser) alias(c *condition, name token) *Error {
	if section, rest := cutSection(name.text); section == "a" && rest != "" {
		c.also = &condition{path: path{name: rest}, slot: p.slot(rest)}
		return nil
	}
	if prop, ok := aliasOf(name.text); ok {
		c.also = &condition{prop: &prop}
		return nil
	}
	if what, missing := notInAMQP091(name.text); missing {
		return errorAt(name, "AMQP 0-9-1 has no %s: put %s in double quotes if it is a header's name.", what, name.text)
	}
	return nil
}

// cutSection parts a name of RabbitMQ's SQL filters at its first dot: p and h for the properties
// and the header of AMQP 1.0, a for its application properties, which are the headers.
func cutSection(word string) (section, rest string) {
	before, rest, _ := strings.Cut(word, ".")
	switch before {
	case "properties", "p":
		return "p", rest
	case "header", "h":
		return "h", rest
	case "application_properties", "a":
		return "a", rest
	}
	return "", word
}

// aliasOf is the property that a word means.
func aliasOf(word string) (property, bool) {
	if !mayBeAlias(word) {
		return property{}, false
	}
	section, name := cutSection(word)
	name = strings.ReplaceAll(name, "-", "_")
	var of string
	switch section {
	case "":
		of = map[string]string{
			"JMSType":          "type",
			"JMSPriority":      "priority",
			"JMSCorrelationID": "correlation_id",
			"JMSMessageID":     "message_id",
			"JMSReplyTo":       "reply_to",
			"JMSExpiration":    "expiration",
			"JMSRedelivered":   "redelivered",
			"JMSXUserID":       "user_id",
			"JMSXAppID":        "app_id",
			"JMSTimestamp":     "timestamp",
			"JMSDeliveryMode":  "delivery_mode",
			"AMQUserID":        "message_id",
			"AMQPriority":      "priority",
			"AMQExpiration":    "expiration",
			"AMQTimestamp":     "timestamp",
			"AMQDurable":       "delivery_mode",
		}[word]
	case "p":
		of = map[string]string{
			"message_id":       "message_id",
			"user_id":          "user_id",
			"reply_to":         "reply_to",
			"correlation_id":   "correlation_id",
			"content_type":     "content_type",
			"content_encoding": "content_encoding",
			"creation_time":    "timestamp",
		}[name]
	case "h":
		of = map[string]string{
			"priority": "priority",
			"ttl":      "expiration",
			"durable":  "delivery_mode",
		}[name]
	}
	if of == "" {
		return property{}, false
	}
	prop, ok := propertyByName(of)
	if !ok {
		return property{}, false
	}
	alias := *prop
	load := prop.load
	switch {
	case of == "timestamp":
		alias.load = func(s *Scratch, d *datum) presence { return inMilliseconds(load(s, d), d) }
	case word == "JMSDeliveryMode", word == "AMQDurable":
		modes := [...]string{1: "NON_PERSISTENT", 2: "PERSISTENT"}
		if word == "AMQDurable" {
			modes = [...]string{1: "NON_DURABLE", 2: "DURABLE"}
		}
		alias.load = func(s *Scratch, d *datum) presence {
			p := load(s, d)
			if p == present {
				mode := ""
				if 0 <= d.int && d.int < int64(len(modes)) {
					mode = modes[d.int]
				}
				*d = datum{class: classText, bytes: []byte(mode), removed: d.removed}
			}
			return p
		}
	case of == "delivery_mode":
		alias.load = func(s *Scratch, d *datum) presence {
			p := load(s, d)
			*d = datum{class: classBool, bool: d.int == 2, removed: d.removed}
			return p
		}
	}
	return alias, true
}

// inMilliseconds makes a time the number that JMS and AMQP 1.0 have of it. Beyond the range it is
// absent.
func inMilliseconds(p presence, d *datum) presence {
	if p != present {
		return p
	}
	ms := d.int
	if d.scale == scaleOf(fieldtable.Seconds) {
		if ms = d.int * 1000; ms/1000 != d.int {
			return absent
		}
	}
	*d = datum{class: classInt, int: ms, removed: d.removed}
	return present
}

// notInAMQP091 says what a name of AMQP 1.0 is that AMQP 0-9-1 does not have.
func notInAMQP091(word string) (what string, missing bool) {
	section, name := cutSection(word)
	name = strings.ReplaceAll(name, "-", "_")
	switch section + "." + name {
	case "p.to", "p.subject", "p.absolute_expiry_time", "p.group_id", "p.group_sequence", "p.reply_to_group_id",
		"h.first_acquirer", "h.delivery_count":
		return strings.ReplaceAll(name, "_", " "), true
	}
	return "", false
}
