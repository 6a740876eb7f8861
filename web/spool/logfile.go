package spool

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// logFile is one file of the log.
type logFile struct {
	name  string
	first uint64 // number of its first message
	seed  uint32 // of its frames' checksums
	f     file
	// size is how many octets of it are synced, messages how many sound messages those hold, as far
	// as is known: of a file that was not read yet, as many as there are numbers.
	size     int64
	messages uint64
	read     bool // it was scanned, or written by this process
}

const (
	lockFile  = "lock"
	keyFile   = "spool"
	logSuffix = ".log"
)

func logName(first uint64) string { return fmt.Sprintf("%020d%s", first, logSuffix) }

func parseLogName(name string) (first uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, logSuffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil && first > 0
}

// readHead reads a record up to its body.
func readHead(w *window, at int64, f frame) head {
	at += frameHeaderBytes
	h := make(head, fixedBytes)
	copy(h, w.from(at, fixedBytes))
	if !h.sound(f.length) {
		return nil
	}
	size := int(h.length())
	for len(h) < size {
		p := w.from(at+int64(len(h)), 1)
		if len(p) == 0 {
			return nil
		}
		h = append(h, p[:min(len(p), size-len(h))]...)
	}
	return h
}

// bodySize is the length of a body that a frame holds, without reading more than the head's fixed
// part.
func bodySize(w *window, at int64, f frame) int64 {
	p := w.from(at+frameHeaderBytes, fixedBytes)
	if len(p) < fixedBytes {
		return 0
	}
	return int64(f.length) - head(p[:fixedBytes]).length()
}

func printOf(w *window, at int64) uint64 {
	p := w.from(at+frameHeaderBytes, fixedBytes)
	if len(p) < fixedBytes {
		return 0
	}
	return binary.LittleEndian.Uint64(p[atPrint:])
}
