"""Paths in requests lead to the right file or to an error; errors never contain file contents."""

from pathlib import Path

import pytest

from dowse.system.platform import NAMES_FOLD_CASE
from tests.sample_data import index, write_tree
from tests.surfaces.project.project_client import connect

pytestmark = pytest.mark.anyio

SECRET = "hunter2"

FILES: dict[str, str | bytes] = {
    "pyproject.toml": "",
    "src/main.py": "def main(): ...\n",
    "src/größe.py": "def groesse(): ...\n",
    "my file.md": "# Mine\n",
    ".env": f"TOKEN={SECRET}\n",
    "sub/.env.local": f"TOKEN={SECRET}\n",
    ".git/config": f"[core]\n  x = {SECRET}\n",
    ".ssh/id_rsa": f"{SECRET}\n",
    "server.pem": f"{SECRET}\n",
    "node_modules/x/index.js": f"{SECRET}\n",
    ".gitignore": "ignored.py\nignored/\n",
    "ignored.py": f"x = '{SECRET}'\n",
    "ignored/deep.py": f"x = '{SECRET}'\n",
    "image.bin": b"\x00\x01" + SECRET.encode(),
    "folder/inside.py": f"x = '{SECRET}'\n",
}

OUTSIDE = [
    "..", "../", "../secret.txt", "./../secret.txt", "src/../../secret.txt", "src/../../other/secret.py", "../other/secret.py",
    "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "..%2fsecret.txt", "..%2Fother%2fsecret.py", "%2E%2E%5Csecret.txt",
    "%252e%252e%252fsecret.txt", "..\\secret.txt", "src\\..\\..\\secret.txt", "..%5csecret.txt", ".\u200b./secret.txt",
    "\u202e../secret.txt", "..\u2060/secret.txt", "....//secret.txt", "..;/secret.txt", "..\0/secret.txt",
    "\uff0e\uff0e/secret.txt", "..\u2215secret.txt", "src/..\u200d/../../secret.txt",
]  # fmt: skip
ABSOLUTE = [
    "/", "//", "/etc/passwd", "//etc/passwd", "\\etc\\passwd", "\\\\server\\share\\secret.txt", "%2Fetc%2Fpasswd", "%5c%5cserver",
    "~", "~/", "~/secret.txt", "~root/secret.txt", "C:\\secret.txt", "C:/secret.txt", "c:secret.txt", "C:", "\\\\?\\C:\\secret.txt",
    "file:///etc/passwd", "file:/etc/passwd", " /etc/passwd", "\u200b/etc/passwd", "/proc/self/environ", "/dev/zero",
]  # fmt: skip
DENIED = [
    ".env", "./.env", ".ENV", "%2eenv", "%252eenv", ".e\u200bnv", "\u202e.env", "src/../.env", ".env/", ".env\0", "sub/.env.local",
    "sub\\.env.local", "sub%2f.env.local", ".git/config", ".git\\config", ".GIT/config", ".git%2fconfig", ".g\u200dit/config",
    ".git", ".git/", ".ssh/id_rsa", "server.pem", "node_modules/x/index.js", "nowhere/.env", "src/.git/config",
]  # fmt: skip
NOT_INDEXED = [
    "ignored.py", "./ignored.py", "ignored\\deep.py", "ignored/deep.py", "ignored", "image.bin",
    "src", "src/", ".", "./", "src/..", "folder",
    "gone.py", "src/main.py/below", "src/main.py\0", "src/main.py\0.txt", "a\0b", "\0", "x" * 300, "x" * 4000, "a/" * 2000,
    " src/main.py", "src/main.py ", "src/main.pу", "*", "src/*.py", "$(id)", "%", "%zz", "%00", "nul", "con",
    "\ud800", "src/\udcff.py", "src\n/main.py",
]  # fmt: skip

if not NAMES_FOLD_CASE:
    NOT_INDEXED.append("SRC/MAIN.PY")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_tree(tmp_path, {"secret.txt": SECRET, "other/secret.py": SECRET})
    root = write_tree(tmp_path / "project", FILES)
    (root / "link.py").symlink_to("src/main.py")
    (root / "out.py").symlink_to("../secret.txt")
    (root / "hole").symlink_to("../other")
    (root / "loop").symlink_to("loop")
    (root / "dangling.py").symlink_to("nowhere.py")
    index(root)
    return root


async def replies(root: Path, paths: list[str], prefix: str = "") -> dict[str, str]:
    """Return the error code for each path; assert that no reply contains file contents."""
    async with connect("auto", *([root, root.parent / "other"] if prefix else [root])) as assistant:
        codes = {}
        for path in paths:
            error = await assistant.expect_error("reindex_file", path=prefix + path)
            assert SECRET not in str(error)
            codes[path] = error["code"]
        return codes


async def test_what_may_not_be_indexed_is_not_found(project: Path) -> None:
    paths = [*OUTSIDE, *ABSOLUTE, *DENIED, *NOT_INDEXED]
    assert await replies(project, paths) == dict.fromkeys(paths, "FILE_NOT_FOUND")


SYMLINKS = [
    "link.py", "./link.py", "src/../link.py", "link%2epy", "out.py", "dangling.py", "loop", "hole", "hole/", "hole/secret.py",
    "hole\\secret.py", "hole/../secret.txt/..", "hole/nothing.py", "loop/x.py",
]  # fmt: skip


async def test_symlinks_are_refused_at_the_end_and_on_the_way(project: Path) -> None:
    codes = await replies(project, SYMLINKS)
    assert set(codes.values()) <= {"SYMLINK_NOT_ALLOWED", "FILE_NOT_FOUND"}
    assert [path for path, code in codes.items() if code != "SYMLINK_NOT_ALLOWED"] == ["hole/../secret.txt/.."]


async def test_absolute_paths_into_the_project_are_refused_too(project: Path) -> None:
    paths = [str(project / "src/main.py"), str(project / ".env"), f"{project}/", f"file://{project}/src/main.py"]
    assert await replies(project, paths) == dict.fromkeys(paths, "FILE_NOT_FOUND")


async def test_what_was_refused_is_not_in_the_index(project: Path) -> None:
    async with connect("auto", project) as assistant:
        for path in (*DENIED, *OUTSIDE, *SYMLINKS, "ignored.py"):
            await assistant.expect_error("reindex_file", path=path)
        for tool in ("search_code", "search_docs"):
            hits = (await assistant.call_tool(tool, query=f"{SECRET} TOKEN"))["results"]
            assert {hit["path"] for hit in hits} <= {"folder/inside.py"}
        listed = (await assistant.call_tool("search_by_path", pattern="**", limit=1000))["matches"]
        assert listed == [
            ".gitignore", "folder/inside.py", "my file.md", "pyproject.toml", "src/größe.py", "src/main.py",
        ]  # fmt: skip


async def test_globs_reach_nothing_outside(project: Path) -> None:
    async with connect("auto", project) as assistant:
        for pattern in ("**/secret*", "**/.env*", "**/.git/**", "{..,src}/*", "hole/**", "**/id_rsa", "[.][.]/*"):
            assert (await assistant.call_tool("search_by_path", pattern=pattern))["matches"] in (
                [],
                ["src/größe.py", "src/main.py"],
            )


# Several projects


async def test_behind_the_name_of_a_project_the_same_is_refused(project: Path) -> None:
    index(project.parent / "other")
    paths = [*OUTSIDE, *ABSOLUTE, *DENIED, *NOT_INDEXED]
    assert await replies(project, paths, prefix="project/") == dict.fromkeys(paths, "FILE_NOT_FOUND")


async def test_a_path_of_several_projects_begins_with_the_name_of_one(project: Path) -> None:
    index(project.parent / "other")
    async with connect("auto", project, project.parent / "other") as assistant:
        assert (await assistant.call_tool("reindex_file", path="project/src/main.py"))["path"] == "project/src/main.py"
        assert (await assistant.call_tool("reindex_file", path="src/main.py", project="project"))[
            "path"
        ] == "project/src/main.py"
        assert (await assistant.expect_error("reindex_file", path="project/link.py"))["code"] == "SYMLINK_NOT_ALLOWED"
        for path in ("src/main.py", "project", "project/", "/src/main.py", "nobody/src/main.py", "../project/src/main.py",
                     "other/src/main.py", "project/../other/secret.py", "./project/src/main.py"):  # fmt: skip
            assert (await assistant.expect_error("reindex_file", path=path))["code"] == "FILE_NOT_FOUND"
