package fieldtable

// Client is a broker or client library, as its source code reads field tables.
type Client struct {
	Name    string // as its users call it
	Version string // the release or commit that was read
	Source  string // where to look it up: repository and file
	// Refusal says what it does when it cannot read a table.
	Refusal string
	// TagError is what it reports at a tag that it does not know; empty: nothing of its own.
	TagError string

	behaviour
}

// behaviour is what tells clients apart. The zero behaviour of each kind is what most do.
type behaviour struct {
	// dialect has the client's own tags, widths, signs and timestamp unit.
	dialect    *Dialect
	duplicates duplicates
	decimals   decimals
	timestamps timestamps
	names      nameRule

	refusesNaN      bool // and infinities
	floatsReversed  bool // reads f in the byte order of the host, taken to be little-endian
	doublesOnly     bool // holds 64-bit integers as IEEE doubles
	losesShortTail  bool // what begins in the last 3 octets of a table or array
	takesWhatIsLeft bool // of a string whose length is greater than that
	textIsUTF8      bool // octets that are no UTF-8 become U+FFFD
	replacesInNames bool // likewise in names
	doublesCut      bool // reads d as an integer, and refuses NaN and infinities in it
	numbersFirst    bool // puts fields whose names are numbers before the others
	// slack says which damage does not stop it: it goes on with whatever it then has before it.
	slack slack
	// deletes: takes the message, and deletes it when it is stored, for what it calls invalid.
	deletes bool
	// takes an element without any octet after its tag for the end of the array
	arraysEndEarly   bool
	emptyArrayIsNull bool
	emptyTableIsNull bool
	emptyBytesIsNull bool
	maxElements      int // of a table or array; 0: no limit
}

type duplicates uint8

const (
	lastCounts duplicates = iota
	firstCounts
	allKept
	// RabbitMQ: look-ups take the first, the headers exchange and the management page the last
	firstAndLast
	secondRefused
)

type decimals uint8

const (
	signedDecimals   decimals = iota
	unsignedDecimals          // the unscaled value
	signAndMagnitude          // the top bit is the sign; a scale above 28 is refused
	// the unscaled value is taken for the value, and the scale for its display
	unscaledDecimals
	magnitudeMaxScale = 28
)

type timestamps uint8

const (
	signedTimestamps   timestamps = iota
	unsignedTimestamps            // 64 bits
	dateTimestamps                // unsigned, refused outside the years 1 to 9999
	// unsigned, divided by 1000 above 32 bits, refused if that is beyond the year 9999
	guessedTimestamps
	multipliedSeconds // by 1000, into 64 bits with wrap-around
)

type nameRule uint8

const (
	anyName nameRule = iota
	utf8Names
	nonEmptyNames
	shortNames // of 1 to 128 octets
	objectKeys // __proto__ is lost
)

type slack uint8

const (
	_ slack = iota // none: any damage stops it
	// a nested table or array that claims more than there is, and a boolean without its octet
	nodeSlack
	// tables and arrays, nested or not, that claim more than there is
	javaSlack
	// names that are cut short, and values that need octets from behind their array or table
	pamqpSlack
	bunnySlack // everything but an unknown tag in a table
)

// Clients returns the brokers and libraries that Readings knows.
func Clients() []Client {
	dialect := func(known tags) *Dialect { return newDialect("", "", known) }
	withU := tagsRabbitMQ.with(tags{'U': KindInt16})
	withoutL := tagsRabbitMQ.without("L")
	return []Client{
		{
			Name: "RabbitMQ server", Version: "5b09e556da (2026-08)",
			Source:  "rabbitmq/rabbitmq-server deps/rabbit_common/src/rabbit_binary_parser.erl, parse_table",
			Refusal: "closes the connection", TagError: "541 INTERNAL_ERROR",
			behaviour: behaviour{
				dialect:    rabbitMQ,
				duplicates: firstAndLast,
				decimals:   unsignedDecimals,
				timestamps: unsignedTimestamps,
				refusesNaN: true,
			},
		},
		{
			Name: "Java", Version: "5.30.0",
			Source:  "rabbitmq/rabbitmq-java-client src/main/java/com/rabbitmq/client/impl/ValueReader.java",
			Refusal: "closes the connection", TagError: "MalformedFrameException",
			behaviour: behaviour{dialect: dialect(withoutL), duplicates: firstCounts, timestamps: multipliedSeconds,
				replacesInNames: true, slack: javaSlack},
		},
		{
			Name: ".NET", Version: "9579b3d5a",
			Source:  "rabbitmq/rabbitmq-dotnet-client projects/RabbitMQ.Client/Impl/WireFormatting.Read.cs",
			Refusal: "closes the connection", TagError: "SyntaxErrorException",
			behaviour: behaviour{dialect: dialect(withoutL), decimals: signAndMagnitude,
				emptyArrayIsNull: true, emptyTableIsNull: true},
		},
		{
			Name: "Go (amqp091-go)", Version: "1.16.0",
			Source:  "rabbitmq/amqp091-go read.go, readField",
			Refusal: "closes the connection", TagError: "ErrSyntax (502)",
			behaviour: behaviour{dialect: dialect(withoutL), maxElements: 8192, arraysEndEarly: true},
		},
		{
			Name: "Node (amqplib)", Version: "2.3.1",
			Source:  "amqp-node/amqplib lib/codec.js, decodeFields",
			Refusal: "closes the connection", TagError: "TypeError",
			behaviour: behaviour{dialect: dialect(withoutL), decimals: unsignedDecimals, timestamps: unsignedTimestamps,
				names: objectKeys, doublesOnly: true, takesWhatIsLeft: true,
				textIsUTF8: true, replacesInNames: true, numbersFirst: true,
				slack: nodeSlack},
		},
		{
			Name: "Python (pika)", Version: "1.4.4",
			Source:  "pika/pika pika/data.py, decode_value",
			Refusal: "closes the connection", TagError: "InvalidFieldTypeException",
			behaviour: behaviour{dialect: dialect(withU), timestamps: dateTimestamps, takesWhatIsLeft: true,
				doublesCut: true},
		},
		{
			Name: "Python (py-amqp)", Version: "5.4.2",
			Source:  "celery/py-amqp amqp/serialization.py, _read_item",
			Refusal: "closes the connection", TagError: "FrameSyntaxError",
			behaviour: behaviour{
				dialect:         dialect(withU),
				timestamps:      dateTimestamps,
				takesWhatIsLeft: true,
			},
		},
		{
			Name: "Python (pamqp: aio-pika)", Version: "3.3.0",
			Source:  "gmr/pamqp pamqp/decode.py, TABLE_MAPPING",
			Refusal: "closes the connection", TagError: "ValueError",
			behaviour: behaviour{
				dialect:         dialect(tagsRabbitMQ.with(tags{0: KindVoid})),
				decimals:        unsignedDecimals,
				timestamps:      guessedTimestamps,
				names:           utf8Names,
				takesWhatIsLeft: true,
				slack:           pamqpSlack,
			},
		},
		{
			Name: "Ruby (Bunny)", Version: "amq-protocol 2.3.2",
			Source:  "ruby-amqp/amq-protocol lib/amq/protocol/table_value_decoder.rb",
			Refusal: "closes the connection", TagError: "ArgumentError",
			behaviour: behaviour{
				dialect: onlyOneIsTrue(dialect(tagsRabbitMQ.without("BuiL").with(tags{
					'b': KindUint8,
					'I': KindUint32,
				}))),
				decimals:        unsignedDecimals,
				timestamps:      unsignedTimestamps,
				floatsReversed:  true,
				losesShortTail:  true,
				takesWhatIsLeft: true,
				slack:           bunnySlack,
			},
		},
		{
			Name: "PHP (php-amqplib)", Version: "3.5.3",
			Source:  "php-amqplib/php-amqplib PhpAmqpLib/Wire/AMQPAbstractCollection.php, AMQPReader.php",
			Refusal: "fails", TagError: "AMQPOutOfRangeException",
			behaviour: behaviour{dialect: dialect(withoutL), timestamps: unsignedTimestamps, names: shortNames},
		},
		{
			Name: "C (rabbitmq-c)", Version: "0.11.0",
			Source:  "alanxz/rabbitmq-c librabbitmq/amqp_table.c, amqp_decode_field_value",
			Refusal: "fails", TagError: "AMQP_STATUS_BAD_AMQP_DATA",
			behaviour: behaviour{
				dialect:    rabbitMQC,
				duplicates: allKept,
				decimals:   unsignedDecimals,
				timestamps: unsignedTimestamps,
			},
		},
		{
			Name: "Rust (lapin)", Version: "4.12.3",
			Source:  "amqp-rs/amq-protocol types/src/parsing.rs",
			Refusal: "closes the connection",
			behaviour: behaviour{
				dialect:    dialect(withU),
				decimals:   unsignedDecimals,
				timestamps: unsignedTimestamps,
				names:      utf8Names,
			},
		},
		{
			Name: "Apache Qpid (Broker-J)", Version: "1df338ce92",
			Source:  "apache/qpid-broker-j broker-plugins/amqp-0-8-protocol/src/main/java/org/apache/qpid/server/protocol/v0_8/AMQType.java",
			Refusal: "refuses the message", TagError: "IllegalArgumentException",
			behaviour: behaviour{
				dialect:          qpidJava,
				duplicates:       secondRefused,
				decimals:         unscaledDecimals,
				names:            nonEmptyNames,
				textIsUTF8:       true,
				emptyTableIsNull: true,
				emptyBytesIsNull: true,
				deletes:          true,
			},
		},
		{
			Name: "LavinMQ", Version: "f9b7af7",
			Source:    "cloudamqp/amq-protocol.cr src/amq/protocol/table.cr",
			Refusal:   "fails when the field is read",
			behaviour: behaviour{dialect: onlyOneIsTrue(dialect(withU)), duplicates: firstCounts},
		},
	}
}

func onlyOneIsTrue(d *Dialect) *Dialect {
	d.trueIsOne = true
	return d
}
