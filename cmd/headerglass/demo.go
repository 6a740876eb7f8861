package main

import (
	"context"
	"errors"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/broker"
	"github.com/headerglass/headerglass/web/demoserver"
	"github.com/headerglass/headerglass/web/demoserver/traffic"
)

type demoCmd struct {
	Rate     float64 `default:"50" help:"Messages a second (${default}); 0 sends them as fast as they are taken."`
	Messages uint64  `default:"0"  help:"How many messages to send before falling idle; 0 goes on for ever."`
	Seed     uint64  `default:"1"  help:"The same seed makes the same messages (${default})."`

	explorerFlags
}

// demoQueue is the one queue of the built-in endpoint.
const demoQueue = "demo"

// Run starts the built-in endpoint, feeds it and explores it over loopback, as serve would a
// broker.
func (c *demoCmd) Run(ctx context.Context, std stdio) error {
	if c.Rate < 0 {
		return usageError{"--rate cannot be below 0"}
	}
	endpoint, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{Product: "headerglass demo"})
	if err != nil {
		return err
	}
	defer endpoint.Close()
	endpoint.Declare(demoQueue)

	feedCtx, stopFeed := context.WithCancel(ctx)
	fed := make(chan error, 1)
	go func() {
		fed <- traffic.Feed(feedCtx, endpoint, demoQueue, traffic.Config{Seed: c.Seed, Rate: c.Rate, Count: c.Messages})
	}()
	err = c.explore(ctx, std, []reading{{
		origin: archive.Origin{Source: demoQueue, Queue: demoQueue},
		cfg: broker.Config{
			URL:         endpoint.URL(),
			Mode:        source.Drain,
			Queue:       demoQueue,
			AcceptLoss:  true,
			DialTimeout: 5 * time.Second,
		},
		draw: demoStatus,
	}})
	stopFeed()
	if feedErr := <-fed; feedErr != nil && !errors.Is(feedErr, context.Canceled) {
		err = errors.Join(err, feedErr)
	}
	return err
}

// demoStatus draws the consumer of the built-in endpoint: what it acknowledges is nobody's.
func demoStatus(s source.Status) source.Status {
	s.Mode = source.Demo
	return s
}
