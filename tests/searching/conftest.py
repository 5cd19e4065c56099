"""An index of a few files in several languages."""

import os

import pytest

from dowse.indexes.index import ProjectIndex
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import FILES


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectIndex:
    os.environ["DOWSE_HOME"] = str(tmp_path_factory.mktemp("answers"))
    project = open_indexed(write_tree(tmp_path_factory.mktemp("project"), FILES))
    project.store.refresh()
    return project
