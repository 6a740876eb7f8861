package fieldtable_test

import (
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

// Run under -race: goroutines ask one Memo for all keys in their own order.
func TestMemoIsSafeForConcurrentUse(t *testing.T) {
	table := fieldtable.View(specimens.Big(rand.New(rand.NewSource(1))), nil)
	var keys []string
	for f := range table.All() {
		keys = append(keys, string(f.Name))
	}
	keys = append(keys, "x-not-there", "")
	memo := fieldtable.NewMemo(table)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(g)))
			for range 2000 {
				key := keys[r.Intn(len(keys))]
				want, wantErr := table.Lookup(key)
				if got, err := memo.Lookup(key); !sameValue(got, want) || !sameError(err, wantErr) {
					t.Errorf("%q: %v, %v, want %v, %v", key, got, err, want, wantErr)
					return
				}
			}
		})
	}
	wg.Wait()
}

// However many keys are asked for, the table is read once: what follows the first pass does not
// depend on the octets any more.
func TestMemoReadsEachFieldOnce(t *testing.T) {
	encoded := encode.Table(func(e *encode.Encoder) {
		for i := range 100 {
			e.Int32(fmt.Sprint("k", i), int32(i))
		}
	})
	memo := fieldtable.NewMemo(fieldtable.View(encoded, nil))
	if _, err := memo.Lookup("k50"); err != nil {
		t.Fatal(err)
	}
	// The tags of all fields that have been passed become unknown; a second pass would stop at the
	// first.
	for f := range fieldtable.View(encoded, nil).All() {
		if string(f.Name) == "k51" {
			break
		}
		encoded[f.Value.Offset()] = 'Z'
	}
	for i := 99; i >= 51; i-- {
		if _, err := memo.Lookup(fmt.Sprint("k", i)); err != nil {
			t.Errorf("k%d: %v", i, err)
		}
	}
	for range 2 {
		if _, err := memo.Lookup("x-not-there"); err != fieldtable.ErrAbsent {
			t.Errorf("a missing key: %v", err)
		}
	}
}

func TestMemoRemembersDamage(t *testing.T) {
	memo := fieldtable.NewMemo(fieldtable.View(encode.Table(func(e *encode.Encoder) {
		e.Int32("before", 1)
		e.Value("bad", 'Z', nil)
	}), nil))
	for range 2 {
		if _, err := memo.Lookup("after"); err == nil || err == fieldtable.ErrAbsent {
			t.Errorf("%v, want the damage", err)
		}
		if v, err := memo.Lookup("before"); err != nil || v.IsZero() {
			t.Errorf("before the damage: %v", err)
		}
	}
}

func BenchmarkMemo(b *testing.B) {
	table := fieldtable.View(specimens.NServiceBus(rand.New(rand.NewSource(1))), nil)
	b.Run("new and one miss", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fieldtable.NewMemo(table).Lookup("x-not-there")
		}
	})
	b.Run("hit", func(b *testing.B) {
		memo := fieldtable.NewMemo(table)
		for b.Loop() {
			memo.Lookup("tenant")
		}
	})
}
