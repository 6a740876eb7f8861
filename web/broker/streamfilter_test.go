package broker

import (
	"fmt"
	"slices"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// TestNodeStreamFilter: only what the filter wants is shown, whatever else is in its chunks, and
// gaps in the offsets are counted.
func TestNodeStreamFilter(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		c.declare(t, "s", amqp.Table{"x-queue-type": "stream"})
		const rounds = 40
		bodies := map[string][]string{}
		for i := range rounds {
			var last *amqp.DeferredConfirmation
			for _, value := range []string{"eu", "us", ""} {
				headers := amqp.Table{}
				if value != "" {
					headers[streamFilterKey] = value
				}
				body := fmt.Sprintf("%s%d", value, i)
				bodies[value] = append(bodies[value], body)
				var err error
				last, err = c.PublishWithDeferredConfirm("", "s", false, false, amqp.Publishing{
					Headers: headers,
					Body:    []byte(body),
				})
				if err != nil {
					t.Fatal(err)
				}
				if i%2 == 0 && !last.Wait() { // chunks of their own, and chunks of mixed values
					t.Fatal("not confirmed")
				}
			}
			if !last.Wait() {
				t.Fatal("not confirmed")
			}
		}
		for _, tc := range []struct {
			name       string
			values     []string
			unfiltered bool
			want       []string
		}{
			{"one value", []string{"eu"}, false, bodies["eu"]},
			{"unfiltered ones too", []string{"eu"}, true, append(slices.Clone(bodies["eu"]), bodies[""]...)},
			{"two values", []string{"eu", "us"}, false, append(slices.Clone(bodies["eu"]), bodies["us"]...)},
			{"a value that nobody has", []string{"asia"}, false, nil},
		} {
			t.Run(tc.name, func(t *testing.T) {
				r := run(t, Config{
					URL: c.url(), Queue: "s", Mode: source.Stream, Offset: "first",
					StreamFilters: tc.values, StreamUnfiltered: tc.unfiltered,
				})
				r.untilStored(t, uint64(len(tc.want)))
				r.untilState(t, source.Consuming)
				if err := r.stop(t); err != nil {
					t.Fatal(err)
				}
				got := r.bodies()
				slices.Sort(got)
				slices.Sort(tc.want)
				if !slices.Equal(got, tc.want) {
					t.Errorf("%d messages shown of %d: %v", len(got), len(tc.want), got)
				}
				st := r.Status()
				if !slices.Equal(st.StreamFilters, tc.values) {
					t.Errorf("%+v", st)
				}
				if left := st.OffsetGaps + st.LeftOut; tc.name == "one value" && left < rounds {
					t.Errorf("%d offsets are not accounted for as left out or missing", left)
				}
			})
		}
	})
}

func TestStreamFilterConfig(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		ok   bool
	}{
		{"a filter", Config{Mode: source.Stream, StreamFilters: []string{"a"}}, true},
		{"of a queue", Config{Mode: source.Peek, StreamFilters: []string{"a"}}, false},
		{"unfiltered alone", Config{Mode: source.Stream, StreamUnfiltered: true}, false},
		{"an empty value", Config{Mode: source.Stream, StreamFilters: []string{""}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := checkStreamFilter(&tt.cfg); (err == nil) != tt.ok {
				t.Error(err)
			}
		})
	}
}
