"""Imports mean files of the project, in each language by its own rules."""

from pathlib import Path

import pytest

from dowse.indexes.reference_lookup import read_missing_references
from dowse.parsing.source_references import Import
from dowse.searching.references.import_resolution import ImportResolver
from dowse.searching.references.reference_files import SourceFiles
from tests.sample_data import open_indexed, write_tree

FILES = {
    "src/pkg/__init__.py": "", "src/pkg/a.py": "", "src/pkg/sub/__init__.py": "", "src/pkg/sub/b.py": "",
    "scripts/tool.py": "", "scripts/aid.py": "", "pkg2/os.py": "",
    "web/app.ts": "", "web/lib/index.ts": "", "web/lib/x.tsx": "", "packages/core/src/index.ts": "",
    "go.mod": "module ex.org/m\n", "top.go": "package m\n", "sub/s.go": "package sub\n", "sub/s_test.go": "package sub\n",
    "j/A.java": "package j;\nclass A {}\n", "j/B.java": "package k;\nclass B {}\n",
    "r/src/lib.rs": "", "r/src/x/mod.rs": "", "r/src/y.rs": "",
    "c/a.c": "", "c/a.h": "", "c/inc/deep/b.h": "",
    "lib/r/a.rb": "", "lib/r/b.rb": "",
    "svc/go.mod": "module ex.org/m/svc\n", "svc/a.go": "package svc\n", "svc/lib/a.go": "package lib\n",
    "svc/cmd/main.go": "package main\n", "packages/core/src/deep.ts": "",
    "app/main.py": "", "app/lib.py": "", "app/mod.py": "", "app/use.py": "", "app/main.js": "",
    "scripts/deep/use.py": "", "scripts/deep/aid.js": "",
    "c/inc/deep/main.h": "", "lib/r/main.rb": "", "web/deep/pear.service.ts": "",
    "lua/p/init.lua": "", "lua/p/main.lua": "", "lua/top.lua": "",
    "backup/go.mod": "module ex.org/m\n", "backup/top.go": "package m\n",
    "ex1/go.mod": "module example\n", "ex1/lib/a.go": "package lib\n", "ex1/main.go": "package main\n",
    "ex2/go.mod": "module example\n", "ex2/lib/a.go": "package lib\n", "ex2/main.go": "package main\n",
    ".tools/go.mod": "module tools/p\n", ".tools/main.go": "package main\n", ".tools/internal/x/x.go": "package x\n",
    "c/inc/gen/table.inc": "1, 2\n", "fruit.py": "", "plum.js": "", "plum.py": "", "kiwi.js": "", "kiwi.py": "",
    "r/src/z.rs": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def resolver(tmp_path_factory: pytest.TempPathFactory) -> tuple[SourceFiles, ImportResolver]:
    root: Path = write_tree(tmp_path_factory.mktemp("imports"), FILES)
    project = open_indexed(root)
    read_missing_references(project)
    files = SourceFiles(project.whole.references)
    return files, ImportResolver(files, project.source.read_bytes)


def test_an_import_means_these_files(resolver: tuple[SourceFiles, ImportResolver]) -> None:
    for path, module, name, expected in (
        ("src/pkg/a.py", ".sub.b", "f", ["src/pkg/sub/b.py"]),
        ("src/pkg/sub/b.py", "..", "a", ["src/pkg/a.py"]),
        ("src/pkg/a.py", "pkg.sub", "b", ["src/pkg/sub/b.py"]),
        ("src/pkg/a.py", "pkg.sub", "f", ["src/pkg/sub/__init__.py"]),
        ("scripts/tool.py", "aid", "", ["scripts/aid.py"]),
        ("src/pkg/a.py", "aid", "", []),
        ("src/pkg/a.py", "os", "path", []),
        ("web/app.ts", "./lib", "x", ["web/lib/index.ts"]),
        ("web/app.ts", "./lib/x.js", "x", ["web/lib/x.tsx"]),
        ("web/app.ts", "@/lib/x", "x", ["web/lib/x.tsx"]),
        ("web/app.ts", "@org/core", "x", ["packages/core/src/index.ts"]),
        ("web/app.ts", "react", "x", []),
        ("top.go", "ex.org/m/sub", "", ["sub/s.go"]),
        ("sub/s.go", "ex.org/m", "", ["top.go"]),
        ("top.go", "sub", "", []),
        ("svc/cmd/main.go", "ex.org/m/svc/lib", "", ["svc/lib/a.go"]),
        ("svc/cmd/main.go", "ex.org/m/svc", "", ["svc/a.go"]),
        ("svc/cmd/main.go", "ex.org/m/sub", "", ["sub/s.go"]),
        ("svc/cmd/main.go", "ex.org/mm/sub", "", []),
        ("web/app.ts", "@deep/pear.service", "f", ["web/deep/pear.service.ts"]),
        ("web/app.ts", "@org/core/deep", "f", ["packages/core/src/deep.ts"]),
        ("j/B.java", "j", "A", ["j/A.java"]),
        ("j/A.java", "j", "B", []),
        ("r/src/y.rs", "crate::x", "f", ["r/src/x/mod.rs"]),
        ("r/src/x/mod.rs", "super::y", "f", ["r/src/y.rs"]),
        ("r/src/y.rs", "std::x", "f", []),
        ("c/a.c", "a.h", "*", ["c/a.h"]),
        ("c/a.c", "deep/b.h", "*", ["c/inc/deep/b.h"]),
        ("c/a.c", "stdio.h", "*", []),
        ("lib/r/a.rb", "r/b", "*", ["lib/r/b.rb"]),
        ("lib/r/a.rb", "./b", "*", ["lib/r/b.rb"]),
        # the names that stand for a folder in another language
        ("app/use.py", "app.main", "f", ["app/main.py"]),
        ("app/use.py", "app.lib", "f", ["app/lib.py"]),
        ("app/use.py", "app", "mod", ["app/mod.py"]),
        ("app/use.py", "main", "f", ["app/main.py"]),
        ("c/a.c", "deep/main.h", "*", ["c/inc/deep/main.h"]),
        ("lib/r/a.rb", "r/main", "*", ["lib/r/main.rb"]),
        ("lua/top.lua", "p", "", ["lua/p/init.lua"]),
        ("lua/top.lua", "p.main", "", ["lua/p/main.lua"]),
        # a file of another language that is nearer, and a name with a dot
        ("scripts/deep/use.py", "aid", "", ["scripts/aid.py"]),
        ("web/app.ts", "@/deep/pear.service", "f", ["web/deep/pear.service.ts"]),
        # modules of the same name, and one in a folder that begins with a dot
        ("top.go", "ex.org/m/svc/cmd", "", ["svc/cmd/main.go"]),
        ("backup/top.go", "ex.org/m/sub", "", ["sub/s.go"]),
        ("ex1/main.go", "example/lib", "", ["ex1/lib/a.go"]),
        ("ex2/main.go", "example/lib", "", ["ex2/lib/a.go"]),
        (".tools/main.go", "tools/p/internal/x", "", [".tools/internal/x/x.go"]),
        ("c/a.c", "gen/table.inc", "*", ["c/inc/gen/table.inc"]),
        # the same words in the same folder mean another file in another language, and never the file itself
        ("plum.js", "fruit", "wash", []),
        ("plum.py", "fruit", "wash", ["fruit.py"]),
        ("kiwi.py", "fruit", "peel", ["fruit.py"]),
        ("kiwi.js", "fruit", "peel", []),
        ("r/src/y.rs", "crate::y", "f", []),
        ("r/src/z.rs", "crate::y", "f", ["r/src/y.rs"]),
    ):
        files, imports = resolver
        file = files.at(path)
        assert file is not None
        assert imports.files_of(file, Import(1, module, name, name or module)) == expected
