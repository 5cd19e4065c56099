"""Where documents come from, behind one policy."""

from dowse.sources.project import ProjectSource
from dowse.sources.roots import DetectedRoot, detect_root

__all__ = ["DetectedRoot", "ProjectSource", "detect_root"]
