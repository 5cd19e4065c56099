"""The errors of the table of a place."""

from pathlib import Path

import pytest

from dowse.errors import Failed
from dowse.places.place_table import SharedPlace


def test_the_digits_of_a_time_are_no_status_of_a_store(tmp_path: Path) -> None:
    """The time until a client gave up was once taken for the status 403."""
    message = "Generic S3 error: error sending request, after 3 retries in 1.403117s"
    with pytest.raises(Failed, match="it does not answer"), SharedPlace(str(tmp_path)).errors("read"):
        raise OSError(message)
    with pytest.raises(Failed, match="have no access"), SharedPlace(str(tmp_path)).errors("read"):
        raise OSError("Client error with status 403 Forbidden: No Body")
