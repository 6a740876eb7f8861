package wire

// Method is a method of class basic that carries a message. The zero value is basic.deliver.
type Method uint8

// The methods that carry a message (spec §1.8.3).
const (
	Deliver Method = iota
	Publish
	GetOk
	Return
)

// Methods returns all of them.
func Methods() []Method { return []Method{Deliver, Publish, GetOk, Return} }

// String is the method's name in the specification, without its class.
func (m Method) String() string {
	switch m {
	case Publish:
		return "publish"
	case GetOk:
		return "get-ok"
	case Return:
		return "return"
	}
	return "deliver"
}

// MethodByName is the opposite of String; Deliver for what is the name of none.
func MethodByName(name string) Method {
	for _, m := range Methods() {
		if m.String() == name {
			return m
		}
	}
	return Deliver
}
