"""`dowse deps`: list the packages that a project uses, and turn their search on or off."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import folder_argument, json_option
from dowse.cli.output import CommandReply, progress_bar
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.indexes.dependencies.package_search import Dependencies
    from dowse.indexes.dependencies.package_types import FoundPackages


@click.command()
@folder_argument
@click.option("--all", "is_all", is_flag=True, help="Also list the packages that other packages need.")
@click.option("--enable", "is_enabled", flag_value=True, default=None, type=bool, help="Let dowse search dependencies.")
@click.option("--disable", "is_enabled", flag_value=False, type=bool, help="Let dowse read no dependencies any more.")
@click.option(
    "--index", "indexes", is_flag=True, help="Index the packages now instead of when they are first searched."
)
@click.option("--package", metavar="NAME", help="With --index, only this package.")
@json_option
def deps(
    folder: Path | None, *, is_all: bool, is_enabled: bool | None, indexes: bool, package: str | None
) -> CommandReply:
    """List the packages that the project in DIR uses, with the versions that are installed.

    DIR defaults to the project around the working directory. Packages are found by the metadata in
    environments and caches: of Python, JavaScript, Rust, Go, Ruby, PHP, and the source jars of Java
    and Kotlin. Nothing is run, imported or downloaded.

    dowse reads no package until --enable, which writes "dependencies": true into your own settings.
    From then on, dowse search --deps searches the direct dependencies.

    Exit code 1: the project has no packages that are installed.
    """
    if is_enabled is not None:
        return _turn(is_on=is_enabled)
    from dowse.indexes.dependencies.package_search import Dependencies
    from dowse.indexes.project_lookup import open_or_find

    root = folder or open_or_find(None).root
    dependencies = Dependencies(root.resolve())
    with contextlib.closing(dependencies):
        if indexes:
            with progress_bar("Indexing packages") as progress:
                done = dependencies.index_packages(package, progress)
            return CommandReply(
                {"status": "success", "indexed": done}, notes=[f"Indexed {pluralize(done, 'package')}."]
            )
        return _list(dependencies, is_all=is_all)


def _turn(*, is_on: bool) -> CommandReply:
    """Write the setting into the user's own file, and leave everything else in it as it is."""
    from dowse.errors import SettingsError
    from dowse.settings import read_json
    from dowse.store.storage_layout import global_settings_file
    from dowse.system.platform import make_private_folder, write_atomically

    file = global_settings_file()
    content = read_json(file) if file.exists() else {}
    if not isinstance(content, dict):
        raise SettingsError(f"{file} does not contain a JSON object. Correct or remove it.")
    make_private_folder(file.parent)
    write_atomically(file, (json.dumps({**content, "dependencies": is_on}, indent=2) + "\n").encode())
    reply = {"status": "success", "dependencies": is_on, "settings": str(file)}
    text = f"Dependencies are {'searched from now on' if is_on else 'no longer read'}: {file}"
    return CommandReply(reply, [text])


def _list(dependencies: "Dependencies", *, is_all: bool) -> CommandReply:
    from dowse.indexes.dependencies.installed_packages import find_packages
    from dowse.indexes.dependencies.package_search import DISABLED
    from dowse.indexes.user_settings import reads_dependencies

    found = find_packages(dependencies.root, is_all=is_all)
    is_on = reads_dependencies(dependencies.root)
    count = pluralize(len(found.packages), "package") + (f", {len(found.missing)} missing" if found.missing else "")
    notes = [*found.notes, count, *([] if is_on else [DISABLED])]
    return CommandReply(_reply(found, is_on=is_on), _lines(found), notes, 0 if found.packages else 1)


def _lines(found: "FoundPackages") -> Iterator[str]:
    for package in found.packages:
        needed = "" if package.is_direct else "  (needed by others)"
        yield f"{package.ecosystem:<10}  {package.label}  {package.root}{needed}"
    for missing in found.missing:
        yield f"{missing.ecosystem:<10}  {missing.name}  {missing.why}"


def _reply(found: "FoundPackages", *, is_on: bool) -> dict[str, Any]:
    packages = [
        {
            "ecosystem": one.ecosystem, "name": one.name, "version": one.version, "path": str(one.root),
            "direct": one.is_direct,
        }
        for one in found.packages
    ]  # fmt: skip
    missing = [{"ecosystem": one.ecosystem, "name": one.name, "reason": one.why} for one in found.missing]
    return {"enabled": is_on, "packages": packages, "missing": missing, "notes": found.notes}
