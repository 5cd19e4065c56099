"""A description of the machine, without any of its paths."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def description() -> list[str]:
    """Return one fact per line."""
    return [
        f"Date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"Processor: {_processor()}, {_cores()} cores, {_memory()} memory",
        f"System: {platform.system()} {platform.release()} {platform.machine()}, Python {platform.python_version()}",
        f"Load before the run: {_load()}",
    ]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    """Return the model as the kernel names it; ARM kernels report numbers only."""
    facts = _facts(Path("/proc/cpuinfo"))
    if "CPU implementer" in facts:
        return f"ARM (implementer {facts['CPU implementer']}, part {facts.get('CPU part', 'unknown')})"
    return facts.get("model name") or platform.processor() or platform.machine()


def _memory() -> str:
    kilobytes = _facts(Path("/proc/meminfo")).get("MemTotal", "").split()
    return f"{int(kilobytes[0]) / 1e6:.0f} GB" if kilobytes else "unknown"


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _facts(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    parts = (line.partition(":") for line in file.read_text(encoding="utf-8").splitlines())
    return {key.strip(): value.strip() for key, _, value in parts}
