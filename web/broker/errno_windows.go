package broker

import "syscall"

// The system's numbers for what has a sentence of its own. Those that package syscall names like
// Unix are made up on Windows.
const (
	wsaENetUnreach    syscall.Errno = 10051
	wsaEConnRefused   syscall.Errno = 10061
	wsaEHostUnreach   syscall.Errno = 10065
	errHandleDiskFull syscall.Errno = 39
	errDiskFull       syscall.Errno = 112
)

func refusedErrors() []syscall.Errno { return []syscall.Errno{wsaEConnRefused} }

func resetErrors() []syscall.Errno {
	return []syscall.Errno{syscall.WSAECONNRESET, syscall.WSAECONNABORTED}
}

func noRouteErrors() []syscall.Errno { return []syscall.Errno{wsaEHostUnreach, wsaENetUnreach} }

func diskFullErrors() []syscall.Errno { return []syscall.Errno{errDiskFull, errHandleDiskFull} }
