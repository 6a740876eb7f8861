package shell

import (
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/kit"
)

// StateClass is how a state looks: good, waiting, bad or quiet.
func StateClass(s source.State) string {
	switch s {
	case source.Consuming, source.Replayed:
		return "good"
	case source.WindowFull, source.Connecting, source.Reconnecting, source.Replaying, source.Paused, source.Idle:
		return "wait"
	case source.Blocked, source.SpoolFull, source.SpoolFailed:
		return "bad"
	default:
		return "quiet"
	}
}

// conduct is what the page says about a mode.
type conduct struct {
	class, icon string // of the safety badge
	badge       string // its words
	doing       string // what reading does to what is read, in sentences
	exit        string // what happens to it when the explorer ends; "" = nothing
	acked       string // what acknowledging has done, as the name of a count; "" = the count says nothing
}

// conductOf words what the source does.
func conductOf(s source.Status) conduct {
	c := conduct{class: "safe", icon: "shield", badge: string(s.Mode), doing: "Nothing is consumed at the moment."}
	switch s.Mode {
	case source.Peek:
		c.badge = "peek: holds " + kit.Num(s.Held) + ", returns " + plural.Verb(s.Held, "it", "them") + " on exit"
		c.doing = "Messages are taken without acknowledging them, kept from other consumers while they are held, " +
			"and given back to the queue with basic.nack. None is removed."
		c.exit = "On exit what is held, " + kit.Plural(s.Held, "message") +
			", is given back with basic.nack and requeue, flagged as redelivered. " +
			"If the process is killed, the broker requeues them itself."
		if s.Held == 0 {
			c.exit = "On exit there is nothing to give back at the moment."
		}
		if s.QueueType == "quorum" {
			c.exit += " This queue counts deliveries, and that was accepted: each look costs every message in it one."
		}
		if s.Browsing {
			c.badge = "peek: takes nothing"
			c.doing = "The broker lets the queue be browsed: no message is taken, none counts as delivered, and other " +
				"consumers get each of them as ever."
			c.exit = "On exit there is nothing to give back."
		}
	case source.Drain:
		c.class, c.icon, c.badge, c.acked = "takes", "drain", "drain: removes messages", "Acknowledged, so removed"
		c.doing = "Each message is acknowledged with basic.ack once it is stored here: it leaves the queue for good."
		c.exit = "On exit what is stored has been acknowledged; what is still under way goes back to the queue. " +
			"Messages kept only in memory are gone with this process."
		if s.Spool != nil {
			c.exit = "On exit what is on disk has been acknowledged, and the next start shows it again; " +
				"what is still under way goes back to the queue."
		}
		if s.Undrained {
			c.class, c.icon = "safe", "shield"
			c.badge, c.acked = "drain: this queue keeps its messages", "Acknowledged, removing nothing"
			c.doing = "What is acknowledged here stays in the queue: its consumers remove nothing."
		}
	case source.Copy:
		c.badge, c.acked = "copy: takes nothing", "Acknowledged in the explorer's own queue"
		c.doing = "The explorer has a queue of its own, bound beside the others and deleted with it. " +
			"What other consumers get does not change."
		c.exit = "On exit the explorer's own queue is deleted with what is left in it."
	case source.Stream:
		c.badge, c.acked = "stream: reads only", "Acknowledged to get more, removing nothing"
		c.doing = "A stream is read at an offset. Reading removes nothing and other readers are not affected."
		if len(s.StreamFilters) > 0 {
			c.doing += " Only messages that the stream filter wants are shown, so offsets between them are missing here."
		} else if s.OffsetGaps > 0 {
			c.doing += " Offsets between those shown are not delivered over AMQP 0-9-1: entries that a stream client has " +
				"compressed, which only the stream protocol reads, or messages that the stream keeps no longer."
		}
		c.exit = "On exit the consumer is cancelled; the stream stays as it is."
	case source.Replay:
		c.badge = "replay: files, no broker"
		c.doing = "The messages come from files. No broker is connected, and the files stay as they are."
	case source.Relayed:
		c.badge = "relay: passes everything on"
		c.doing = "Clients connect here in place of the broker. Every byte is passed on as it is, in both directions, " +
			"and read along; nothing is added, and nobody waits for the explorer."
		c.exit = "On exit the connections that pass through here end, as when a broker goes away."
	case source.Demo:
		c.badge = "demo: made-up messages, built-in broker"
		c.doing = "The messages are made up by this process and read from an AMQP endpoint that it has built in. " +
			"No broker is connected and no queue is touched."
	}
	if s.Consumers > 0 && s.Mode.Shared() {
		c.badge += " · shared with " + kit.Plural(s.Consumers, "other consumer")
	}
	return c
}

// brokerFacts are sentences on what the broker does to messages on their way here.
func brokerFacts(s source.Status) []string {
	if !s.Mode.AtBroker() {
		return nil
	}
	queueType := s.QueueType
	switch s.Mode {
	case source.Copy:
		queueType = "classic" // the explorer's own queue
	case source.Stream:
		queueType = "stream"
	}
	return s.Broker().Facts(queueType)
}

// fact is a line of the safety panel. Foreign values come from the broker or the configuration.
type fact struct {
	name, value string
	foreign     bool
}

// safetyFacts are the figures of the safety panel.
func safetyFacts(s source.Status, now time.Time) []fact {
	var facts []fact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name: name, value: value})
		}
	}
	foreign := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, value, true})
		}
	}
	when := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		w := kit.DayAndClock(t, time.UTC)
		if d := t.Sub(now).Abs(); !now.IsZero() && d < 12*time.Hour {
			w = t.UTC().Format("15:04:05 MST")
		}
		if r := kit.Relative(t, now); r != "" {
			w += " (" + r + ")"
		}
		return w
	}
	counted := func(name string, n uint64) {
		if n > 0 {
			add(name, kit.Num(n))
		}
	}
	if s.Mode == source.Peek && !s.Browsing {
		held := kit.Num(s.Held)
		if s.Window > 0 {
			held += " of " + kit.Num(s.Window)
		}
		add("Held now, unacknowledged", held)
		add("Held since", when(s.HeldSince))
		add("Given back at the latest", when(s.GiveBackAt))
		add("Given back so far", kit.Num(s.GivenBack))
	}
	if name := conductOf(s).acked; name != "" && (s.Acknowledged > 0 || s.Mode == source.Drain) {
		add(name, kit.Num(s.Acknowledged))
	}
	counted("Delivered again, kept once", s.Known)
	if s.Mode == source.Stream && s.StreamOffset >= 0 {
		add("Offset of the last message", kit.Num(s.StreamOffset))
	}
	foreign("Stream filter", strings.Join(s.StreamFilters, ", "))
	counted("Offsets not delivered", s.OffsetGaps)
	counted("Delivered and not wanted by the filter", s.LeftOut)
	if !s.ObservedAt.IsZero() {
		add("Waiting in the queue", kit.Num(s.Ready))
		add("Other consumers", kit.Num(s.Consumers))
		add("Asked the broker", when(s.ObservedAt))
	}
	foreign("Queue type", s.QueueType)
	foreign("Policy", s.Policy)
	counted("Delivery limit", s.DeliveryLimit)
	counted("Given back before, at most", s.DeliveryCount)
	if s.Mode == source.Drain {
		counted("Under way at most, now", s.Prefetch)
	}
	counted("Left out, since undeliverable", s.Undeliverable)
	state := s.State.String()
	if since := when(s.Since); since != "" {
		state += " since " + since
	}
	add("State", state)
	add("Next attempt", when(s.NextAttempt))
	counted("Connections made again", s.Reconnects)
	if n := len(s.Gaps); n > 0 {
		last := s.Gaps[n-1]
		add("Not connected, and not copied", kit.Plural(n, "time")+", last from "+when(last.From)+" to "+when(last.To))
	}
	if r := s.Relay; r != nil {
		add("Connections now", kit.Num(r.Open))
		add("Connections since the start", kit.Num(r.Accepted))
		add("Passed on", kit.Size(r.Forwarded))
		counted("Connections that passed unread", r.Foreign)
		if r.Overlooked > 0 {
			add("Passed on and not read", kit.Size(r.Overlooked)+" at "+kit.Plural(r.Gaps, "place"))
		}
	}
	if s.Mode.AtBroker() || s.Relay != nil {
		foreign("Broker", strings.TrimSpace(s.Product+" "+s.Version))
		foreign("Address", s.URL)
	}
	kept := kit.Plural(s.Kept.Messages, "message") + ", " + kit.Size(s.Kept.Bytes)
	if s.Kept.MaxBytes > 0 {
		kept += " of " + kit.Size(s.Kept.MaxBytes)
	}
	add("Kept here", kept)
	add("Oldest kept", when(s.Kept.Oldest))
	counted("Made way for newer ones", s.Kept.Evicted)
	if sp := s.Spool; sp != nil {
		add("On disk", kit.Plural(sp.Messages, "message")+", "+kit.Size(sp.Bytes)+" of "+kit.Size(sp.MaxBytes))
		counted("Dropped from disk for newer ones", sp.Dropped)
		counted("Lost on disk by damage", sp.Lost)
		for _, d := range sp.Damage {
			foreign("Damaged on disk", d)
		}
	}
	return facts
}

func keptTitle(k source.Kept) string {
	t := kit.Size(k.Bytes)
	if k.MaxBytes > 0 {
		t += " of " + kit.Size(k.MaxBytes)
	}
	if k.Evicted > 0 {
		t += "; " + kit.Plural(k.Evicted, "older one") + " made way"
	}
	return t
}

// notes are what the status has to say beside an error.
func notes(s source.Status) []string {
	if s.Spool == nil || len(s.Spool.Damage) == 0 {
		return s.Notes
	}
	first := "The spool is damaged: " + s.Spool.Damage[0]
	if more := len(s.Spool.Damage) - 1; more > 0 {
		first += "; and " + kit.Plural(uint64(more), "more place") + ", " + kit.Plural(s.Spool.Lost, "message") + " lost in all"
	}
	return append([]string{first + ". What else is there is shown."}, s.Notes...)
}

// TroubleWords say since when something is wrong and what comes next.
func TroubleWords(s source.Status, now time.Time) string {
	var words []string
	if !s.Since.IsZero() {
		w := " " + s.State.String() + " since " + kit.Clock(s.Since, time.UTC)[:8] + " UTC"
		if r := kit.Relative(s.Since, now); r != "" {
			w += " (" + r + ")"
		}
		words = append(words, w)
	}
	if !s.NextAttempt.IsZero() && !now.IsZero() {
		r := "now"
		if s.NextAttempt.After(now) {
			r = kit.Relative(s.NextAttempt, now)
		}
		words = append(words, " next attempt "+r)
	}
	return strings.Join(words, ",")
}
