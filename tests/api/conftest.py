"""A shop to be searched."""

from pathlib import Path

import pytest

from tests.sample_data import write_tree

SHIPPING = '''FREE_FROM_CENTS = 5000


def shipping_cost(total_cents: int) -> int:
    """Return what delivery costs: nothing from 50 euros on."""
    return 0 if total_cents >= FREE_FROM_CENTS else 490
'''
CHECKOUT = "from shipping import shipping_cost\n\n\ndef pay(total):\n    return total + shipping_cost(total)\n"
GUIDE = "# Guide\n\n## Returns\n\nSend a parcel back within 30 days.\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Make a project of three files."""
    files = {"pyproject.toml": "", "src/shipping.py": SHIPPING, "src/checkout.py": CHECKOUT, "docs/guide.md": GUIDE}
    return write_tree(tmp_path / "shop", files)


@pytest.fixture
def billing(tmp_path: Path) -> Path:
    """Make a second project, which knows invoices."""
    text = "def invoice_total(items):\n    '''Add up an invoice.'''\n    return sum(items)\n"
    return write_tree(tmp_path / "billing", {"pyproject.toml": "", "invoices.py": text})
