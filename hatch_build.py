"""The build step of the package: it generates the rules for secrets.

The rules are gitleaks' default rules. MaskerLogger, a package that masks logs, contains them as a TOML file. This step
reads that file and runs no code of MaskerLogger. pyproject.toml pins the version of the package, and `RULES_SHA256`
the content of the file. So nothing is fetched when dowse runs, and the package has no dependency for its rules.
"""

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

RULES_PACKAGE, RULES_FILE = "maskerlogger", "config/gitleaks.toml"
RULES_SHA256 = "5e839dcc9b5d61e116924d09fa44ee03403b3fce3227f45e9a38937f0d3bed50"
OUTPUT = Path(__file__).parent / "src/dowse/screening/secret_rules.json"

NAME_PREFIX = r"[\w.-]{0,50}?"
"""The beginning of many rules: it matches the characters before the name of a service, from every position.

Without it the rules find the same secrets in a tenth of the time. `dowse.screening.secrets` checks these characters
after a match."""


class RulesHook(BuildHookInterface[Any]):
    """Generates the rules before a wheel or an editable installation is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Write the rules into the package; the source distribution does not contain them."""
        if self.target_name == "wheel":
            write_rules()


def write_rules() -> None:
    """Write the rules where the package reads them."""
    generated = json.dumps(generate_rules(find_rules()), indent=1, ensure_ascii=False) + "\n"
    complete = OUTPUT.with_suffix(f".{os.getpid()}.json")  # a process that runs meanwhile reads no half of it
    complete.write_text(generated, encoding="utf-8")
    complete.replace(OUTPUT)


def find_rules() -> bytes:
    """Return the file with the rules. Raise RuntimeError if it is missing or not the expected one."""
    package = find_spec(RULES_PACKAGE)  # this does not import the package
    if package is None or not package.submodule_search_locations:
        raise RuntimeError(f"{RULES_PACKAGE} is not installed. Install the packages of requirements.txt.")
    file = Path(package.submodule_search_locations[0]) / RULES_FILE
    content = file.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != RULES_SHA256:
        raise RuntimeError(
            f"{file} has the SHA-256 {found}, not {RULES_SHA256}. Install the version in pyproject.toml."
        )
    return content


def generate_rules(source: bytes) -> dict[str, Any]:
    """Return the rules and the exceptions as `dowse.screening.secrets` reads them."""
    content = tomllib.loads(source.decode())
    return {
        "rules": [_convert_rule(entry) for entry in content["rules"] if "regex" in entry],
        "allowed": [_convert_allowlist(content["allowlist"])],
    }


def _convert_rule(entry: Mapping[str, Any]) -> dict[str, Any]:
    expression: str = entry["regex"]
    return {
        "kind": entry["id"],
        "expression": expression.replace(NAME_PREFIX, "", 1),
        "has_name_prefix": expression.removeprefix("(?i)").startswith(NAME_PREFIX),
        "keywords": [keyword.lower() for keyword in entry["keywords"]],
        "min_entropy": float(entry.get("entropy", 0)),
        "group": int(entry.get("secretGroup", 0)),
        "path": entry.get("path", ""),
        # Exceptions for certain files only are left out: a hit may be a page without a path.
        "allowed": [
            _convert_allowlist(allowlist)
            for allowlist in entry.get("allowlists", ())
            if allowlist.get("condition") != "AND"
        ],
    }


def _convert_allowlist(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "target": entry.get("regexTarget", "secret"),
        "expressions": entry.get("regexes", []),
        "words": [word.lower() for word in entry.get("stopwords", ())],
    }
