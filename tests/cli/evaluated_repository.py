"""A small repository with a history whose answers are known."""

from pathlib import Path

from tests.searching.history import repositories
from tests.searching.history.repositories import Change, git

COMMITS = [
    Change("Begin", {
        "fruit/äpfel.py": "def peel(apple):\n    cut(apple)\n    return apple\n",
        "pay.py": 'def charge(customer):\n    return bill(customer, "twice")\n',
        "garden.py": 'def water(plants):\n    """Give every plant the water that it needs."""\n    pour(plants)\n',
        "CHANGES.md": "# Changes\n",
    }),
    Change("Peel the apple in one ribbon", {
        "fruit/äpfel.py": "def peel(apple):\n    cut(apple)\n    turn(apple)\n    return apple\n",
        "fruit/ribbon.py": "RIBBON = 1\n",
    }),
    Change("Charge the customer only once", {
        "pay.py": 'def charge(customer):\n    return bill(customer, "once")\n', "CHANGES.md": "# Changes\n\n- once\n",
    }),
]  # fmt: skip


def make_repository(root: Path) -> Path:
    """Write a repository with three commits."""
    repositories.make_repository(root, COMMITS)
    git(root, "checkout", "-q", "-f", "main")
    return root
