"""A small repository with a history whose answers are known."""

import subprocess
from pathlib import Path

from tests.sample_data import write_tree

FILES = {
    "fruit/äpfel.py": "def peel(apple):\n    cut(apple)\n    return apple\n",
    "pay.py": 'def charge(customer):\n    return bill(customer, "twice")\n',
    "garden.py": 'def water(plants):\n    """Give every plant the water that it needs."""\n    pour(plants)\n',
    "CHANGES.md": "# Changes\n",
}


def commit(root: Path, message: str) -> None:
    """Commit all files."""
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", root, "add", "-A"], check=True)
    subprocess.run(["git", "-C", root, *person, "commit", "-q", "-m", message], check=True, capture_output=True)


def make_repository(root: Path) -> Path:
    """Write a repository with three commits."""
    write_tree(root, FILES)
    subprocess.run(["git", "init", "-q", root], check=True)
    commit(root, "Begin")
    write_tree(root, {
        "fruit/äpfel.py": "def peel(apple):\n    cut(apple)\n    turn(apple)\n    return apple\n",
        "fruit/ribbon.py": "RIBBON = 1\n",
    })  # fmt: skip
    commit(root, "Peel the apple in one ribbon")
    write_tree(
        root,
        {"pay.py": 'def charge(customer):\n    return bill(customer, "once")\n', "CHANGES.md": "# Changes\n\n- once\n"},
    )
    commit(root, "Charge the customer only once")
    return root
