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

	// PathSource begins the paths of the pages of one source, before its name and the path that the
	// page of all sources has.
	PathSource = "/s/"

	messages     = "/m/"
	messagesJSON = "/api/messages/"
)

func messagePath(k Key) string {
	return sourcePath(k.Source) + messages + strconv.FormatUint(k.Seq, 10)
}
