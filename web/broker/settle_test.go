package broker

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// ackLog is an AMQP channel that notes what is acknowledged.
type ackLog struct {
	mu   sync.Mutex
	tags []uint64
	err  error
}

func (a *ackLog) Ack(tag uint64, multiple bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return a.err
	}
	if !multiple {
		return errors.New("not multiple")
	}
	a.tags = append(a.tags, tag)
	return nil
}

func (a *ackLog) acked() []uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.tags)
}

func testSink(t *testing.T, prefetch int) *sink {
	t.Helper()
	c, err := New(Config{
		URL:        "amqp://",
		Queue:      "q",
		Mode:       source.Drain,
		AcceptLoss: true,
		Prefetch:   prefetch,
		Archive:    archive.New(archive.Config{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return newSink(c)
}

func deliver(s *sink, tag uint64) {
	s.Begin(&wire.Delivery{Channel: 1, DeliveryTag: tag, Header: content(nil, nil)})
	s.End(1)
}

// TestAcksNeverPassWhatIsStored, and are few.
func TestAcksNeverPassWhatIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log, quit := testSink(t, 100), &ackLog{}, make(chan struct{})
		var done sync.WaitGroup
		done.Go(func() { settle(s, log, quit, nil) })
		deliver(s, 1)
		synctest.Wait()
		if tags := log.acked(); len(tags) != 0 {
			t.Errorf("acknowledged at once: %v", tags)
		}
		time.Sleep(ackDelay) // the bubble's clock
		synctest.Wait()
		for tag := uint64(2); tag <= 26; tag++ { // a quarter of the prefetch: not later
			deliver(s, tag)
		}
		synctest.Wait()
		deliver(s, 27)
		// not complete
		s.Begin(&wire.Delivery{Channel: 1, DeliveryTag: 28, Header: content(nil, nil)})
		close(quit)
		done.Wait()
		if got := log.acked(); len(got) != 3 || got[0] != 1 || got[1] != 26 || got[2] != 27 {
			t.Errorf("acknowledged up to %v", got)
		}
		if s.held() != 0 || s.counts.acknowledged.Load() != 27 {
			t.Errorf("held %d, acknowledged %d", s.held(), s.counts.acknowledged.Load())
		}
	})
}

func TestNoAckOnAChannelThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log, quit := testSink(t, 100), &ackLog{err: errors.New("closed")}, make(chan struct{})
		defer close(quit)
		var done sync.WaitGroup
		done.Go(func() { settle(s, log, quit, nil) })
		deliver(s, 1)
		done.Wait()
		if s.held() != 1 || s.counts.acknowledged.Load() != 0 {
			t.Errorf("held %d, acknowledged %d", s.held(), s.counts.acknowledged.Load())
		}
	})
}

func TestSinkAllocatesNothing(t *testing.T) {
	s := testSink(t, 1000)
	d := &wire.Delivery{
		Channel:    1,
		Exchange:   []byte("e"),
		RoutingKey: []byte("k"),
		Header:     content(poisons()[1].table, make([]byte, 1000)),
		BodySize:   1000,
	}
	body := make([]byte, 1000)
	if n := testing.AllocsPerRun(1000, func() {
		d.DeliveryTag++
		s.Begin(d)
		s.Body(1, body)
		s.End(1)
	}); n > 0.1 { // a new segment now and then
		t.Errorf("%v allocations a message", n)
	}
}
