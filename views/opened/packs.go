package opened

import (
	"slices"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
)

// Pack is the software whose headers stand together in the order "by pack".
type Pack uint8

// The packs, in the order they are shown in.
const (
	PackRabbitMQ Pack = iota
	PackCelery
	PackMassTransit
	PackNServiceBus
	PackSpring
	PackTracing
	PackOther
	packs
)

func (p Pack) String() string {
	names := [...]string{"RabbitMQ", "Celery", "MassTransit", "NServiceBus", "Spring", "Tracing", "Other"}
	return names[min(p, PackOther)]
}

// packOf says who sets a header of this name, as far as names tell. celery says that the table is
// one of Celery's, whose names are plain words.
func packOf(name []byte, celery bool) Pack {
	s := string(name)
	lower := strings.ToLower(s)
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
	}
	is := func(names ...string) bool { return slices.Contains(names, s) }
	switch {
	case is("x-death", "CC", "BCC", "x-delay", "x-delivery-count", "x-acquired-count", "x-received-from"),
		is("x-stream-offset", "x-stream-filter-value"),
		begins("x-first-death-", "x-last-death-", "x-opt-", "x-mqtt-"):
		return PackRabbitMQ
	case slices.Contains([]string{"traceparent", "tracestate", "baggage", "b3", "uber-trace-id"}, lower),
		strings.HasPrefix(lower, "x-b3-"):
		return PackTracing
	case begins("MT-"):
		return PackMassTransit
	case begins("NServiceBus.", "$.diagnostics."):
		return PackNServiceBus
	case is("__TypeId__", "__ContentTypeId__", "__KeyTypeId__", "x-exception-stacktrace", "x-exception-message"),
		is("x-original-exchange", "x-original-routingKey"),
		begins("spring_", "spring."):
		return PackSpring
	case celery && slices.Contains(celeryNames(), s):
		return PackCelery
	}
	return PackOther
}

// celeryNames are the headers of version 2 of Celery's message protocol.
func celeryNames() []string {
	return []string{
		"lang", "task", "id", "shadow", "eta", "expires", "group", "group_index", "retries", "timelimit",
		"root_id", "parent_id", "argsrepr", "kwargsrepr", "origin", "ignore_result",
		"replaced_task_nesting", "stamped_headers", "stamps", "stack", "meth",
	}
}

// isCelery reports whether a table has the names that every task has.
func isCelery(t fieldtable.Scanner) bool {
	found := map[string]bool{}
	for t.Next() {
		switch name := string(t.Field().Name); name {
		case "lang", "task", "id":
			found[name] = true
		}
	}
	return len(found) == 3
}

// byPack sorts fields by pack, each pack in wire order, and counts them.
func byPack(s fieldtable.Scanner, fields []fieldtable.Field) (of []Pack, counts [packs]int) {
	celery := isCelery(s)
	slices.SortStableFunc(
		fields,
		func(a, b fieldtable.Field) int { return int(packOf(a.Name, celery)) - int(packOf(b.Name, celery)) },
	)
	of = make([]Pack, len(fields))
	for i, f := range fields {
		of[i] = packOf(f.Name, celery)
		counts[of[i]]++
	}
	return of, counts
}
