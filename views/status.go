package views

import (
	"strings"
	"time"
)

func stateWord(s State) string {
	if s == "" {
		return string(StateStopped)
	}
	return string(s)
}

// stateClass is how a state looks: good, waiting, bad or quiet.
func stateClass(s State) string {
	switch s {
	case StateConsuming, StateWindowFull, StateReplayed:
		return "good"
	case StateConnecting, StateReconnecting, StateReplaying, StatePaused, StateIdle:
		return "wait"
	case StateBlocked, StateSpoolFull, StateSpoolFailed:
		return "bad"
	default:
		return "quiet"
	}
}

func modeClass(mode string) string {
	if mode == "drain" {
		return "takes"
	}
	return "safe"
}

func modeIcon(mode string) string {
	if mode == "drain" {
		return "drain"
	}
	return "shield"
}

// modeWords is the safety badge.
func modeWords(s BrokerStatus) string {
	w := s.Mode
	switch s.Mode {
	case "peek":
		w = "peek: holds " + num(s.Held) + ", returns them on exit"
	case "drain":
		w = "drain: removes messages"
	case "copy":
		w = "copy: takes nothing"
	case "stream":
		w = "stream: reads only"
	case "replay":
		w = "replay: files, no broker"
	case "demo":
		w = "demo: made-up messages, built-in broker"
	}
	if s.Consumers > 0 && (s.Mode == "peek" || s.Mode == "drain") {
		w += " · shared with " + plural(s.Consumers, "other consumer")
	}
	return w
}

func modeSentence(mode string) string {
	switch mode {
	case "peek":
		return "Messages are taken without acknowledging them, kept from other consumers while they are held, and given back to the queue with basic.nack. None is removed."
	case "drain":
		return "Each message is acknowledged with basic.ack once it is stored here: it leaves the queue for good."
	case "copy":
		return "The explorer has a queue of its own, bound beside the others and deleted with it. What other consumers get does not change."
	case "stream":
		return "A stream is read at an offset. Reading removes nothing and other readers are not affected."
	case "replay":
		return "The messages come from files. No broker is connected, and the files stay as they are."
	case "demo":
		return "The messages are made up by this process and read from an AMQP endpoint that it has built in. No broker is connected and no queue is touched."
	default:
		return "Nothing is consumed at the moment."
	}
}

// exitSentence says what will happen to the queue when the explorer ends.
func exitSentence(s BrokerStatus) string {
	switch s.Mode {
	case "peek":
		if s.Held == 0 {
			return "On exit there is nothing to give back at the moment."
		}
		return "On exit what is held, " + plural(
			s.Held,
			"message",
		) + ", is given back with basic.nack and requeue, flagged as redelivered. If the process is killed, the broker requeues them itself."
	case "drain":
		if s.Spool != nil {
			return "On exit what is on disk has been acknowledged, and the next start shows it again; what is still under way goes back to the queue."
		}
		return "On exit what is stored has been acknowledged; what is still under way goes back to the queue. Messages kept only in memory are gone with this process."
	case "copy":
		return "On exit the explorer's own queue is deleted with what is left in it."
	case "stream":
		return "On exit the consumer is cancelled; the stream stays as it is."
	default:
		return ""
	}
}

// fact is a line of the safety panel. Foreign values come from the broker or the configuration.
type fact struct {
	name, value string
	foreign     bool
}

// safetyFacts are the figures of the safety panel.
func safetyFacts(s BrokerStatus, now time.Time) []fact {
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
		w := dayAndClock(t, time.UTC)
		if d := t.Sub(now).Abs(); !now.IsZero() && d < 12*time.Hour {
			w = t.UTC().Format("15:04:05 MST")
		}
		if r := relative(t, now); r != "" {
			w += " (" + r + ")"
		}
		return w
	}
	counted := func(name string, n uint64) {
		if n > 0 {
			add(name, num(n))
		}
	}
	broker := s.Mode == "peek" || s.Mode == "drain" || s.Mode == "copy" || s.Mode == "stream"
	if s.Mode == "peek" {
		held := num(s.Held)
		if s.Window > 0 {
			held += " of " + num(s.Window)
		}
		add("Held now, unacknowledged", held)
		add("Held since", when(s.HeldSince))
		add("Given back at the latest", when(s.GiveBackAt))
		add("Given back so far", num(s.GivenBack))
	}
	if s.Mode == "drain" || broker && s.Acknowledged > 0 {
		add("Acknowledged, so removed", num(s.Acknowledged))
	}
	counted("Delivered again, kept once", s.Known)
	if s.Mode == "stream" && s.StreamOffset >= 0 {
		add("Offset of the last message", num(s.StreamOffset))
	}
	if !s.ObservedAt.IsZero() {
		add("Waiting in the queue", num(s.Ready))
		add("Other consumers", num(s.Consumers))
		add("Asked the broker", when(s.ObservedAt))
	}
	foreign("Queue type", s.QueueType)
	foreign("Policy", s.Policy)
	counted("Delivery limit", s.DeliveryLimit)
	state := stateWord(s.State)
	if since := when(s.Since); since != "" {
		state += " since " + since
	}
	add("State", state)
	add("Next attempt", when(s.NextAttempt))
	counted("Connections made again", s.Reconnects)
	if broker {
		foreign("Broker", strings.TrimSpace(s.Product+" "+s.Version))
		foreign("Address", s.URL)
	}
	kept := plural(s.Stored, "message") + ", " + size(s.Bytes)
	if s.MaxBytes > 0 {
		kept += " of " + size(s.MaxBytes)
	}
	add("Kept here", kept)
	add("Oldest kept", when(s.Oldest))
	counted("Made way for newer ones", s.Evicted)
	if sp := s.Spool; sp != nil {
		add("On disk", plural(sp.Messages, "message")+", "+size(sp.Bytes)+" of "+size(sp.MaxBytes))
		counted("Dropped from disk for newer ones", sp.Dropped)
	}
	return facts
}

func keptTitle(s BrokerStatus) string {
	t := size(s.Bytes)
	if s.MaxBytes > 0 {
		t += " of " + size(s.MaxBytes)
	}
	if s.Evicted > 0 {
		t += "; " + num(s.Evicted) + " older ones made way"
	}
	return t
}

// troubleWords say since when something is wrong and what comes next.
func troubleWords(s BrokerStatus, now time.Time) string {
	var words []string
	if !s.Since.IsZero() {
		w := " " + stateWord(s.State) + " since " + clock(s.Since, time.UTC)[:8] + " UTC"
		if r := relative(s.Since, now); r != "" {
			w += " (" + r + ")"
		}
		words = append(words, w)
	}
	if !s.NextAttempt.IsZero() && !now.IsZero() {
		r := "now"
		if s.NextAttempt.After(now) {
			r = relative(s.NextAttempt, now)
		}
		words = append(words, " next attempt "+r)
	}
	return strings.Join(words, ",")
}
