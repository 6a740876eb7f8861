package facts

// Repeated is how many fields of one name a table may have before they are shown as one.
const Repeated = 20
