package address

import "strconv"

// The paths that pages link to, below where the explorer is mounted. {seq} is a message's sequence
// number. The table of routes has the others.
const (
	PathList        = "/"
	PathMessage     = messages + "{seq}"
	PathCompare     = "/diff"
	PathPaste       = "/inspect"
	PathFeed        = "/live"
	PathSummary     = "/summary"
	PathExport      = "/export." // and the extension of a format
	PathStatic      = "/static/" // and the name of an asset
	PathComplete    = "/api/complete"
	PathMessageJSON = messagesJSON + "{seq}"

	messages     = "/m/"
	messagesJSON = "/api/messages/"
)

func messagePath(seq uint64) string { return messages + strconv.FormatUint(seq, 10) }
