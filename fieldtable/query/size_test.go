package query

import (
	"runtime"
	"strings"
	"testing"
)

// Whoever keeps filters of strangers can tell from their text what they take.
func TestCompiledFiltersAreSmall(t *testing.T) {
	for _, tt := range []struct{ name, filter string }{
		{"runs without _", "a LIKE '" + strings.Repeat("%a", 4900) + "'"},
		{"runs of _ alone", "a LIKE '" + strings.Repeat("%_", 4900) + "'"},
		{"short runs", "a LIKE '" + strings.Repeat("%_a", 3300) + "'"},
		{"runs of more letters than are looked at one by one", "a LIKE '" + strings.Repeat("%_abcdefghi", 900) + "'"},
		{"many patterns", "a LIKE '%ab%cd_'" + strings.Repeat(" OR ab LIKE '%abc%def%ghi_jkl%'", 235)},
		{"a list", "a IN (1" + strings.Repeat(",1", 999) + ")"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const n = 10
			var qs [n]*Filter
			before := heap()
			for i := range qs {
				var err error
				if qs[i], err = Compile(tt.filter); err != nil {
					t.Fatal(err)
				}
			}
			if each := (heap() - min(before, heap())) / n; each > 128*uint64(len(tt.filter)) {
				t.Errorf("%d bytes of filter are %d when compiled", len(tt.filter), each)
			}
			runtime.KeepAlive(qs)
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
