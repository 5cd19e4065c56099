"""The sources of documents, and the policy that decides which files may be read."""

from dowse.sources.project_files import ProjectFiles
from dowse.sources.roots import DetectedRoot, detect_root

__all__ = ["VERSION", "DetectedRoot", "ProjectFiles", "detect_root"]

VERSION = 1
"""The version of the policy. Raise it when the policy refuses more files because of their content; all files are then
read again."""
