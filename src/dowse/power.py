"""The power supply of the machine: mains or battery, on Linux, macOS and Windows."""

import contextlib
from pathlib import Path

from dowse.platform import IS_MAC, IS_WINDOWS

POWER_SUPPLIES = Path("/sys/class/power_supply")


def is_on_battery(supplies: Path = POWER_SUPPLIES) -> bool:
    """Return whether the machine runs on its battery; false where the system does not tell."""
    try:
        if IS_MAC:
            return _mac_is_on_battery()
        return _windows_is_on_battery() if IS_WINDOWS else _linux_is_on_battery(supplies)
    except (OSError, AttributeError):
        return False


def _linux_is_on_battery(supplies: Path) -> bool:
    found = [_read_supply(folder) for folder in supplies.iterdir()]
    if any(supply["type"] != "Battery" and supply["online"] == "1" for supply in found):
        return False
    # The battery of a mouse has the scope `Device`; it discharges whatever powers the machine.
    return any(
        supply["type"] == "Battery" and supply["scope"] != "Device" and supply["status"] == "Discharging"
        for supply in found
    )


def _read_supply(folder: Path) -> dict[str, str]:
    facts = dict.fromkeys(("type", "online", "scope", "status"), "")
    for name in facts:
        with contextlib.suppress(OSError):
            facts[name] = (folder / name).read_text(encoding="ascii", errors="replace").strip()
    return facts


def _mac_is_on_battery() -> bool:
    import ctypes

    power = ctypes.CDLL("/System/Library/Frameworks/IOKit.framework/IOKit")
    power.IOPSGetTimeRemainingEstimate.restype = ctypes.c_double
    unlimited = -2.0  # the value on mains power
    return bool(power.IOPSGetTimeRemainingEstimate() != unlimited)


def _windows_is_on_battery() -> bool:
    import ctypes

    status = (ctypes.c_ubyte * 12)()  # SYSTEM_POWER_STATUS; its first byte is 0 on battery
    known = ctypes.windll.kernel32.GetSystemPowerStatus(ctypes.byref(status))  # type: ignore[attr-defined,unused-ignore]
    return bool(known) and status[0] == 0
