"""Where documents come from, behind one policy."""

from dowse.sources.project_files import ProjectFiles
from dowse.sources.roots import DetectedRoot, detect_root

__all__ = ["VERSION", "DetectedRoot", "ProjectFiles", "detect_root"]

VERSION = 1
"""Changes whenever the policy would refuse a file for what it holds that it let in before; all are then read again."""
