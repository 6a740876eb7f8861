// Package shell is what stands around every page: the top bar, the state of the source, the
// settings and the help.
package shell

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/static"
	"github.com/headerglass/headerglass/views/address"
)

// Frame is what stands around every page.
type Frame struct {
	Title  string         // before " · headerglass"; "" = the queue's name
	Links  address.Links  // what every URL on the page is built from
	Assets *static.Assets // hashed URLs of the scripts and styles; nil draws the page without them
	Broker source.Status
	Now    time.Time // what relative times count from; zero leaves them out
}
