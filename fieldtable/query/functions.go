package query

import "strings"

// unknownFunction names what comes nearest to a function that other engines have.
func unknownFunction(name token) *Error {
	var instead string
	switch strings.ToUpper(name.text) {
	case "XPATH", "XQUERY":
		instead = "filters look at headers and properties, not into the body"
	case "REGEX", "REGEXP", "RLIKE", "REGEXP_LIKE":
		instead = "write tenant MATCHES '^a.*z$'"
	case "LOWER", "UPPER", "LCASE", "UCASE":
		instead = "write tenant MATCHES '(?i)^acme$' for a text in any case"
	case "LEFT", "RIGHT", "SUBSTR", "SUBSTRING", "INSTR", "LOCATE", "STARTSWITH", "ENDSWITH", "CONTAINS", "TRIM":
		instead = "write tenant LIKE 'a%', '%z' or '%mid%'"
	case "CURRENT_TIMESTAMP", "GETDATE", "SYSDATE":
		instead = "write NOW(), in seconds since 1970"
	case "COALESCE", "NVL", "IFNULL", "ISNULL":
		instead = "write (a = 1 OR a IS NULL AND b = 1)"
	case "MOD":
		instead = "write n % 2"
	case "ABS":
		instead = "write n BETWEEN -5 AND 5"
	case "CAST", "CONVERT", "CONVERT_STRING_EXPRESSIONS":
		instead = "text that reads as a number equals that number without it"
	default:
		return errorAt(
			name,
			"There is no function %s: there are anywhere, exists, type, duplicate, malformed and NOW.",
			name.text,
		)
	}
	return errorAt(name, "There is no function %s: %s.", name.text, instead)
}
