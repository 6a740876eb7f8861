package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// byteSize is a flag value such as 256MiB, 64kB or 1048576, in bytes.
type byteSize int64

// String writes b as UnmarshalText reads it.
func (b byteSize) String() string {
	return strings.NewReplacer(" ", "", ".0", "").Replace(humanize.IBytes(uint64(max(b, 0))))
}

// UnmarshalText reads a number with an optional unit: kB, MB, GB are powers of 1000; KiB, MiB, GiB
// of 1024.
func (b *byteSize) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n > 1<<62 {
		return fmt.Errorf("%q is no size; write for example 256MiB", text)
	}
	*b = byteSize(n)
	return nil
}

// redaction is a flag value such as authorization,x-api-*.
type redaction struct{ value *archive.Redaction }

// UnmarshalText refuses a list that names nothing: who asks for redaction must not go without it.
func (r *redaction) UnmarshalText(text []byte) (err error) {
	if r.value, err = archive.ParseRedaction(string(text)); err == nil && r.value == nil {
		return errors.New("there is no pattern in it; write for example authorization,x-api-*, or leave the flag out")
	}
	return err
}

// secret is a flag value that must never be shown. Given as @FILE it is read from that file, so
// that it stands neither in the process list nor in the environment.
type secret struct{ value string }

// String keeps the value out of everything that prints flags.
func (s secret) String() string {
	if s.value == "" {
		return ""
	}
	return "(hidden)"
}

// UnmarshalText takes the value itself, or with a leading @ the name of the file that holds it; one
// line end after it is dropped.
func (s *secret) UnmarshalText(text []byte) error {
	file, isFile := strings.CutPrefix(string(text), "@")
	if !isFile {
		s.value = string(text)
		return nil
	}
	raw, err := os.ReadFile(file) // #nosec G304 -- the file that the command line names
	if err != nil {
		return err
	}
	s.value = strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
	return nil
}
