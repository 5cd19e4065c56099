"""Run by a Python that has jedi: read places of definitions as JSON, print the references that jedi finds for each.

python jedi_references.py ROOT < [[path, line, column], ...]
"""

import json
import sys
from importlib import import_module
from pathlib import Path

jedi = import_module("jedi")

root = Path(sys.argv[1]).resolve()
project = jedi.Project(root)
found: list[list[tuple[str, int]] | None] = []
for path, line, column in json.load(sys.stdin):
    try:
        script = jedi.Script(path=root / path, project=project)
        names = script.get_references(line, column, include_builtins=False, scope="project")
        places: list[tuple[str, int]] | None = sorted(
            {
                (str(Path(name.module_path).relative_to(root)), name.line)
                for name in names
                if name.module_path and Path(name.module_path).is_relative_to(root)
            }
            - {(path, line)}
        )
    except Exception:  # jedi fails for some names; they are left out
        places = None
    found.append(places)
print(json.dumps(found))
