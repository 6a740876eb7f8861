// Package static holds the explorer's scripts and styles: embedded, named after their content so
// that they can be cached for good, and minified and compressed once, when the program starts.
//
// Folder vendor holds what others wrote; its SOURCES file says where each file is from, under which
// licence, and what it hashes to.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

//go:embed *.css *.js *.svg vendor/*.js
var embedded embed.FS

// File is one asset as it is served.
type File struct {
	Name string // with the hash: app.0a1b2c3d4e.css
	Type string // Content-Type
	Body []byte
	Gzip []byte // the same, compressed; nil when that is no shorter
}

// Assets are all files, by the name they are served under. They do not change after [New].
type Assets struct {
	hashed map[string]string // name in the folder → name it is served under
	files  map[string]File   // name it is served under → file
}

// New hashes and compresses the embedded files.
func New() (*Assets, error) { return load(embedded) }

func load(fsys fs.FS) (*Assets, error) {
	a := &Assets{hashed: map[string]string{}, files: map[string]File{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		_, err = a.add(fsys, name, nil)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("static: %w", err)
	}
	return a, nil
}

// URL is the name that a file is served under, relative to the folder of assets: "app.css" gives
// "app.0a1b2c3d4e.css". It is empty for a file that does not exist, and on a nil receiver.
func (a *Assets) URL(name string) string {
	if a == nil {
		return ""
	}
	return a.hashed[name]
}

// Lookup finds a file by the name that URL gave. What it finds never changes: it can be served as
// immutable.
func (a *Assets) Lookup(hashed string) (File, bool) {
	f, ok := a.files[hashed]
	return f, ok
}

// importSpecifier matches the import of a module in the same folder, also one that is loaded only
// when it is needed.
var importSpecifier = regexp.MustCompile(`(\bfrom\s*|\bimport\s*\(?)"\./([a-z0-9-]+\.js)"`)

// add hashes one file, after those that it imports: a module's name follows from its imports'
// names, so a changed import changes every importer's name too.
func (a *Assets) add(fsys fs.FS, name string, importers []string) (string, error) {
	if hashed, ok := a.hashed[name]; ok {
		return hashed, nil
	}
	for _, i := range importers {
		if i == name {
			return "", fmt.Errorf("%s imports itself by way of %s", name, strings.Join(importers, ", "))
		}
	}
	body, err := fs.ReadFile(fsys, name)
	if err != nil {
		return "", err
	}
	ext := path.Ext(name)
	if ext == ".js" && path.Dir(name) == "." {
		var failed error
		body = importSpecifier.ReplaceAllFunc(body, func(m []byte) []byte {
			sub := importSpecifier.FindSubmatch(m)
			hashed, err := a.add(fsys, string(sub[2]), append(importers, name))
			if err != nil {
				failed = err
			}
			return fmt.Appendf(nil, `%s"./%s"`, sub[1], hashed)
		})
		if failed != nil {
			return "", failed
		}
	}
	if body, err = smaller(name, body); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.Sum256(body)
	base := path.Base(name)
	hashed := strings.TrimSuffix(base, ext) + "." + hex.EncodeToString(sum[:5]) + ext
	f := File{Name: hashed, Type: contentType(ext), Body: body}
	if f.Gzip, err = compress(body); err != nil {
		return "", err
	}
	a.hashed[name], a.files[hashed] = hashed, f
	return hashed, nil
}

// smaller leaves out of a script or style what only its reader needs. What others wrote stays as
// they published it.
func smaller(name string, body []byte) ([]byte, error) {
	if path.Dir(name) != "." {
		return body, nil
	}
	var to bytes.Buffer
	var err error
	switch from := bytes.NewReader(body); path.Ext(name) {
	case ".js":
		err = js.Minify(minify.New(), &to, from, nil)
	case ".css":
		err = css.Minify(minify.New(), &to, from, nil)
	default:
		return body, nil
	}
	return to.Bytes(), err
}

func contentType(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return "application/octet-stream"
	}
}

func compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() >= len(body) {
		return nil, nil
	}
	return b.Bytes(), nil
}
