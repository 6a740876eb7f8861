//go:build !unix

package spool

import "io/fs"

const (
	modes    = false
	noFollow = 0
)

func owned(fs.FileInfo, bool) error { return nil }
