package traffic

import (
	"context"
	"time"

	"github.com/headerglass/headerglass/web/demoserver"
)

// Config of Feed.
type Config struct {
	Seed  uint64
	Rate  float64 // messages a second; 0: as fast as they are taken
	Count uint64  // 0: for ever; else idle after so many
}

// Feed publishes a generator's messages to the queue until ctx is done, and then returns its error.
// It waits while the queue is full: a slow reader slows it down, and what was missed is not caught
// up with.
func Feed(ctx context.Context, s *demoserver.Server, queue string, cfg Config) error {
	s.Declare(queue)
	return feed(ctx, New(cfg.Seed), cfg, func(m demoserver.Message) error { return s.Publish(ctx, queue, m) })
}

// beat is how often a fast feed wakes up; a slow one wakes up for each message.
const beat = 10 * time.Millisecond

func feed(ctx context.Context, g *Generator, cfg Config, publish func(demoserver.Message) error) error {
	sent := uint64(0)
	send := func(n uint64) error {
		for range n {
			if cfg.Count > 0 && sent == cfg.Count {
				return nil
			}
			if err := publish(g.Next()); err != nil {
				return err
			}
			sent++
		}
		return nil
	}
	if cfg.Rate <= 0 {
		for cfg.Count == 0 || sent < cfg.Count {
			if err := send(1); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	}
	interval := max(time.Duration(float64(time.Second)/cfg.Rate), beat)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	due, last := 0.0, time.Now()
	for cfg.Count == 0 || sent < cfg.Count {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-ticker.C:
			n := uint64(0)
			n, due = owed(due, cfg.Rate, now.Sub(last))
			last = now
			if err := send(n); err != nil {
				return err
			}
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// owed returns how many messages to send now, and what part of one is left: due is what was left
// before, passed the time since. At most a second's worth is caught up with. A virtual machine's
// clock can step back; then nothing is owed.
func owed(due, rate float64, passed time.Duration) (n uint64, left float64) {
	due = max(0, min(due+rate*passed.Seconds(), max(rate, 1)))
	n = uint64(due + 1e-6)
	return n, due - float64(n)
}
