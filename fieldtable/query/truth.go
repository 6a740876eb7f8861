package query

// Verdict is what a filter says about one message.
type Verdict uint8

const (
	// No: the filter does not hold.
	No Verdict = iota
	// Yes: the filter holds.
	Yes
	// Unknown: a value it compares is absent or void (SQL's NULL). It never holds
	// whatever the rest of the table says.
	Unknown
	// Damaged: the table is damaged before a needed key was found, so the message
	// may be one that was asked for.
	Damaged
)

func (v Verdict) String() string {
	switch v {
	case No:
		return "no"
	case Yes:
		return "yes"
	case Unknown:
		return "unknown"
	}
	return "damaged"
}

// truths is a set of the values that a condition may still have. One element is
// three-valued logic as in SQL; several mean that bytes needed to tell are
// damaged, or were not looked at yet.
type truths uint8

const (
	isNo truths = 1 << iota
	isUnknown
	isYes

	noOrYes  = isNo | isYes
	anyTruth = isNo | isUnknown | isYes
)

func truthOf(b bool) truths {
	if b {
		return isYes
	}
	return isNo
}

// not mirrors the set.
func (a truths) not() truths {
	return a&isUnknown | a&isNo<<2 | a&isYes>>2
}

// and is the smaller of each pair, where no < unknown < yes.
func (a truths) and(b truths) truths {
	r := (a|b)&isNo | a&b&isYes
	if a&isUnknown != 0 && b&(isUnknown|isYes) != 0 || b&isUnknown != 0 && a&(isUnknown|isYes) != 0 {
		r |= isUnknown
	}
	return r
}

func (a truths) or(b truths) truths {
	return a.not().and(b.not()).not()
}

// yes is 1 where the set has isYes.
func (a truths) yes() uint64 { return uint64(a&isYes) / uint64(isYes) }

// verdict of a finished match: what is still open is damage, unless the message
// cannot match either way.
func (a truths) verdict() Verdict {
	switch {
	case a == isYes:
		return Yes
	case a&isYes != 0:
		return Damaged
	case a == isNo:
		return No
	}
	return Unknown
}
