"""The SDK without the modules that no server needs."""

import subprocess
import sys

PROGRAM = """
import sys
from dowse.mcp.sdk_import import leave_out_unused_modules
leave_out_unused_modules()
import mcp.server.lowlevel
assert "mcp.client" not in sys.modules
from mcp.server import Server
assert Server is mcp.server.lowlevel.Server
from mcp import Client
print(Client.__name__, mcp.__name__, hasattr(mcp, "nothing"))
"""


def test_a_name_of_the_sdk_is_imported_when_it_is_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.split(), done.stderr) == (["Client", "mcp", "False"], "")
