package fieldtable_test

import (
	"math"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
)

func TestDecimalString(t *testing.T) {
	for _, c := range []struct {
		scale    uint8
		unscaled int32
		want     string
	}{
		{0, 0, "0"},
		{2, 0, "0.00"},
		{0, 7, "7"},
		{2, 314, "3.14"},
		{2, -314, "-3.14"},
		{3, 314, "0.314"},
		{3, -7, "-0.007"},
		{1, 10, "1.0"},
		{0, math.MinInt32, "-2147483648"},
		{10, math.MinInt32, "-0.2147483648"},
		{9, math.MaxInt32, "2.147483647"},
		{255, 1, "0." + strings.Repeat("0", 254) + "1"},
	} {
		d := fieldtable.Decimal{Scale: c.scale, Unscaled: c.unscaled}
		if got := d.String(); got != c.want {
			t.Errorf("%d with scale %d: %s, want %s", c.unscaled, c.scale, got, c.want)
		}
	}
}
