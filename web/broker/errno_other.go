//go:build !windows

package broker

import "syscall"

// The system's numbers for what has a sentence of its own.

func refusedErrors() []syscall.Errno { return []syscall.Errno{syscall.ECONNREFUSED} }

func resetErrors() []syscall.Errno { return []syscall.Errno{syscall.ECONNRESET, syscall.EPIPE} }

func noRouteErrors() []syscall.Errno {
	return []syscall.Errno{syscall.EHOSTUNREACH, syscall.ENETUNREACH}
}

func diskFullErrors() []syscall.Errno { return []syscall.Errno{syscall.ENOSPC} }
