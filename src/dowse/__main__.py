"""`python -m dowse`."""

import sys

from dowse.cli import main

sys.exit(main())
