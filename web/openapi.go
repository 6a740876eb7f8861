package web

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/address"
)

// schemas.json says what the JSON of the API looks like, by name. It is the one part of the
// document that is not made from the table of routes; tests hold real answers against it.
//
//go:embed schemas.json
var schemas []byte

// Parameters that one route alone takes.
var (
	explain = address.Parameter{
		Name: "explain", Meaning: "1: say how the answer was reached", Values: []string{"1"},
	}
	unfinished = address.Parameter{Name: "q", Meaning: "the filter as far as it is written"}
	cursor     = address.Parameter{
		Name: "at", Meaning: "the byte of it that the word to complete ends at; its end, if absent", Number: true,
	}
)

type object = map[string]any

// inPath finds the parameters in a route's path.
var inPath = regexp.MustCompile(`\{(\w+)\}`)

// openAPI writes the surface down as an OpenAPI 3.1 document.
func (s *Server) openAPI() ([]byte, error) {
	paths := object{}
	for _, one := range s.routes() {
		if one.answers == "" {
			continue
		}
		paths[one.path] = one.operations("")
		if one.scoped {
			one.path = address.PathSource + "{source}" + one.path
			paths[one.path] = one.operations(", of one source")
		}
	}
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "headerglass", "version": s.cfg.Version,
			"description": "Headers of AMQP 0-9-1 messages, as delivered. No route changes anything. " +
				"Whatever answers to GET answers to HEAD too, without the body.",
		},
		"servers": []object{{"url": s.base + "/"}},
		"paths":   paths,
		"components": object{
			"schemas": json.RawMessage(schemas),
			"securitySchemes": object{
				"basic":  object{"type": "http", "scheme": "basic"},
				"bearer": object{"type": "http", "scheme": "bearer"},
			},
		},
	}
	if s.base == "" {
		delete(document, "servers") // the one it was read from
	}
	if s.cfg.Guard != nil {
		document["security"] = []object{{"basic": []string{}}, {"bearer": []string{}}}
	}
	return json.Marshal(document)
}

// operations are those of one path.
func (r route) operations(whose string) object {
	get := object{
		"summary": r.answers + whose, "parameters": r.parameters(),
		"responses": object{"200": r.answer(), "default": r.failure()},
	}
	if r.feed {
		get["responses"] = object{"101": object{"description": "a websocket"}, "default": r.failure()}
	}
	if r.open {
		get["security"] = []object{} // no login is asked for
	}
	all := object{"get": get}
	if r.post != nil {
		text := object{"type": "string"}
		form := object{"type": "object", "properties": object{"bytes": text, "file": text, "dialect": text}}
		all["post"] = object{
			"summary":     r.answers + whose + ", as a form sends them",
			"requestBody": object{"content": object{"multipart/form-data": object{"schema": form}}},
			"responses": object{
				"200": r.answer(), "default": r.failure(),
				"303": object{"description": "to an address that has the bytes"},
			},
		}
	}
	return all
}

// parameters are those of the path and those behind the question mark.
func (r route) parameters() []object {
	all := []object{}
	for _, m := range inPath.FindAllStringSubmatch(r.path, -1) {
		p := object{"name": m[1], "in": "path", "required": true}
		switch m[1] {
		case "seq":
			p["description"], p["schema"] = "the message's sequence number", object{"type": "integer", "minimum": 1}
		default:
			p["description"], p["schema"] = "the name of what is read", object{"type": "string"}
		}
		all = append(all, p)
	}
	for _, p := range address.Parameters() {
		if p.Pages&r.on != 0 {
			all = append(all, inQuery(p))
		}
	}
	for _, p := range r.also {
		all = append(all, inQuery(p))
	}
	return all
}

func inQuery(p address.Parameter) object {
	schema := object{"type": "string"}
	switch {
	case p.Name == "dialect":
		var names []string
		for _, d := range fieldtable.Dialects() {
			names = append(names, d.Name())
		}
		schema["enum"] = names
	case p.Number:
		schema = object{"type": "integer", "minimum": 0}
	case p.Values != nil:
		schema["enum"] = p.Values
	}
	if p.Repeats {
		schema = object{"type": "array", "items": schema}
	}
	return object{"name": p.Name, "in": "query", "description": p.Meaning, "schema": schema}
}

// answer is what the route gives where it does not fail.
func (r route) answer() object {
	schema := object{"type": "string"}
	media := r.media
	switch {
	case r.schema != "":
		media, schema = "application/json", object{"$ref": "#/components/schemas/" + r.schema}
	case media == "":
		media = "text/html; charset=utf-8"
	case !strings.HasPrefix(media, "text/"):
		schema = object{} // octets
	}
	return object{"description": r.answers, "content": object{media: object{"schema": schema}}}
}

// failure is how any failure is told.
func (r route) failure() object {
	sentence, text := object{"$ref": "#/components/schemas/Failure"}, object{"type": "string"}
	content := object{
		"application/json": object{"schema": sentence}, "text/plain; charset=utf-8": object{"schema": text},
		"text/html; charset=utf-8": object{"schema": text},
	}
	if underAPI(r.path) {
		content = object{"application/json": object{"schema": sentence}}
	}
	return object{"description": "what is wrong, in one sentence", "content": content}
}

// serveOpenAPI serves the document.
func (s *Server) serveOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	b, err := s.openAPI()
	if err != nil {
		return err
	}
	return writeJSON(w, b)
}
