package broker

import (
	"errors"
	"slices"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// streamFilterKey is the header that a publisher gives a message its filter value with.
const streamFilterKey = "x-stream-filter-value"

func checkStreamFilter(cfg *Config) error {
	switch {
	case len(cfg.StreamFilters) == 0 && cfg.StreamUnfiltered:
		return errors.New("messages without a filter value are read anyway unless there is a filter for a stream")
	case len(cfg.StreamFilters) > 0 && cfg.Mode != source.Stream:
		return errors.New("only streams are filtered by the broker")
	case slices.Contains(cfg.StreamFilters, ""):
		return errors.New("a stream's filter value is empty")
	}
	return nil
}

// addStreamFilter adds the filter to a stream's consumer arguments. RabbitMQ filters since 3.13,
// and ignores the arguments before.
func addStreamFilter(args amqp.Table, cfg *Config) {
	if len(cfg.StreamFilters) == 0 {
		return
	}
	values := make([]any, len(cfg.StreamFilters))
	for i, v := range cfg.StreamFilters {
		values[i] = v
	}
	args["x-stream-filter"] = values
	if cfg.StreamUnfiltered {
		args["x-stream-match-unfiltered"] = true
	}
}

// streamFilter filters again what the broker has filtered: its Bloom filter tells whether a value
// may be in a chunk, and the whole chunk is delivered then.
type streamFilter struct {
	values     []string
	unfiltered bool
}

func newStreamFilter(cfg *Config) *streamFilter {
	if len(cfg.StreamFilters) == 0 {
		return nil
	}
	return &streamFilter{cfg.StreamFilters, cfg.StreamUnfiltered}
}

// admits reports whether a message is wanted. A filter that is nil wants every one.
func (f *streamFilter) admits(d *wire.Delivery) bool {
	if f == nil {
		return true
	}
	table, ok := wire.ViewContentHeader(d.Header).HeaderTable()
	if !ok {
		return f.unfiltered
	}
	v, ok := fieldtable.View(table, fieldtable.Lenient()).Get(streamFilterKey)
	if !ok {
		return f.unfiltered
	}
	text, ok := v.Text()
	return ok && slices.Contains(f.values, string(text))
}
