// Read places of definitions as JSON, and print the uses of each that Go's own type checker finds in a module.
//
//	go run go_references.go ROOT < [[path, line, column], ...]
//
// Packages outside of the module are empty, and errors are passed over: what is defined and used in the module is known.
package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

type place struct {
	path string
	line int
}

type checker struct {
	root, module string
	files        *token.FileSet
	known        map[string]*types.Package
	uses         map[place]map[string]map[place]bool // by the definition's place and name
}

func main() {
	root, _ := filepath.EvalSymlinks(os.Args[1])
	one := &checker{root, moduleOf(root), token.NewFileSet(), map[string]*types.Package{}, map[place]map[string]map[place]bool{}}
	filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			if name := entry.Name(); path != root && (name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			one.check(path)
		}
		return nil
	})
	var wanted [][]any
	json.NewDecoder(os.Stdin).Decode(&wanted)
	answers := []any{}
	for _, one_wanted := range wanted {
		path, line, column := one_wanted[0].(string), int(one_wanted[1].(float64)), int(one_wanted[2].(float64))
		answers = append(answers, one.answer(path, line, column))
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}

func moduleOf(root string) string {
	text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	for _, line := range strings.Split(string(text), "\n") {
		if name, found := strings.CutPrefix(line, "module "); found {
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return ""
}

// Import returns a package of the module, and an empty one for everything else.
func (one *checker) Import(path string) (*types.Package, error) {
	if found := one.known[path]; found != nil {
		return found, nil
	}
	inside, isInside := strings.CutPrefix(path, one.module)
	if !isInside || (inside != "" && inside[0] != '/') {
		empty := types.NewPackage(path, filepath.Base(path))
		empty.MarkComplete()
		one.known[path] = empty
		return empty, nil
	}
	one.known[path] = types.NewPackage(path, filepath.Base(path)) // in a circle
	files := one.parse(filepath.Join(one.root, inside), func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
	for _, some := range files {
		one.known[path] = one.typed(path, some)
	}
	return one.known[path], nil
}

// check records the uses in a folder: in its package with its tests, and in the package of its outer tests.
func (one *checker) check(folder string) {
	for name, files := range one.parse(folder, func(string) bool { return true }) {
		one.typed(name, files)
	}
}

func (one *checker) parse(folder string, takes func(string) bool) map[string][]*ast.File {
	found := map[string][]*ast.File{}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && takes(name) {
			if file, _ := parser.ParseFile(one.files, filepath.Join(folder, name), nil, parser.SkipObjectResolution); file != nil {
				found[file.Name.Name] = append(found[file.Name.Name], file)
			}
		}
	}
	return found
}

func (one *checker) typed(path string, files []*ast.File) *types.Package {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: one, Error: func(error) {}, FakeImportC: true}
	found, _ := config.Check(path, one.files, files, info)
	for name, object := range info.Defs {
		if object != nil {
			one.usesOf(object.Pos(), name.Name)
		}
	}
	for name, object := range info.Uses {
		if object.Pos().IsValid() {
			one.usesOf(object.Pos(), name.Name)[one.place(name.Pos())] = true
		}
	}
	return found
}

func (one *checker) place(position token.Pos) place {
	at := one.files.Position(position)
	path, _ := filepath.Rel(one.root, at.Filename)
	return place{path, at.Line}
}

func (one *checker) usesOf(position token.Pos, name string) map[place]bool {
	at := one.place(position)
	if one.uses[at] == nil {
		one.uses[at] = map[string]map[place]bool{}
	}
	if one.uses[at][name] == nil {
		one.uses[at][name] = map[place]bool{}
	}
	return one.uses[at][name]
}

func (one *checker) answer(path string, line, column int) any {
	text, _ := os.ReadFile(filepath.Join(one.root, path))
	rest := strings.Split(string(text), "\n")[line-1][column:]
	end := strings.IndexFunc(rest, func(letter rune) bool {
		return !(letter == '_' || letter >= '0' && letter <= '9' || letter >= 'A' && letter <= 'Z' || letter >= 'a' && letter <= 'z' || letter > 127)
	})
	if end < 0 {
		end = len(rest)
	}
	uses, isKnown := one.uses[place{path, line}][rest[:end]]
	if !isKnown {
		return nil
	}
	places := [][]any{}
	for use := range uses {
		if use != (place{path, line}) {
			places = append(places, []any{use.path, use.line})
		}
	}
	sort.Slice(places, func(i, j int) bool {
		return places[i][0].(string) < places[j][0].(string) || places[i][0] == places[j][0] && places[i][1].(int) < places[j][1].(int)
	})
	return places
}
