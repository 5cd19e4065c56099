"""How a site is to be built: by the command line, the environment, `dowse-site.toml`, and the generator's own settings."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dowse.errors import SettingsError, UsageError
from dowse.sites.building.generator import SiteFacts
from dowse.sites.building.generator_detection import GENERATOR_NAMES

SETTINGS_FILE = "dowse-site.toml"
VARIABLE_PREFIX = "DOWSE_SITE_"
"""`DOWSE_SITE_NAME` is the name, and so on."""
_FLAGS = ("drafts", "future")
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """What was stated; None for what was not."""

    name: str | None = None
    domain: str | None = None
    description: str | None = None
    prefix: str | None = None
    generator: str | None = None
    base: str | None = None
    output: str | None = None
    drafts: bool | None = None
    future: bool | None = None
    exclude: tuple[str, ...] | None = None


SETTING_NAMES = tuple(field.name for field in fields(GeneratorSettings))


def gather_settings(source: Path, given: Mapping[str, Any], environment: Mapping[str, str]) -> GeneratorSettings:
    """Each setting from the first that states it: what was given, the environment, the file beside the source."""
    filed = _read_settings_file(source)
    values: dict[str, Any] = {}
    for name in SETTING_NAMES:
        stated = (given.get(name), _read_variable(name, environment), filed.get(name))
        values[name] = next((value for value in stated if value is not None), None)
    if values["generator"] not in (None, *GENERATOR_NAMES):
        raise UsageError(f"There is no generator {values['generator']!r}. Known: {', '.join(GENERATOR_NAMES)}.")
    return GeneratorSettings(**values)


def _read_variable(name: str, environment: Mapping[str, str]) -> Any:
    value = environment.get(VARIABLE_PREFIX + name.upper())
    if value is None:
        return None
    if name == "exclude":
        return tuple(filter(None, (part.strip() for part in value.split(","))))
    if name not in _FLAGS:
        return value or None
    if value.strip().lower() not in _TRUE + _FALSE:
        raise UsageError(f"{VARIABLE_PREFIX}{name.upper()} is {value!r}; write true or false.")
    return value.strip().lower() in _TRUE


def _read_settings_file(source: Path) -> dict[str, Any]:
    file = next((folder / SETTINGS_FILE for folder in (source, Path.cwd()) if (folder / SETTINGS_FILE).is_file()), None)
    if file is None:
        return {}
    try:
        stated = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} cannot be read: {error}. Correct it or remove it.") from error
    for name, value in stated.items():
        if name not in SETTING_NAMES:
            raise SettingsError(f"{file} has {name!r}, which is no setting. Known: {', '.join(SETTING_NAMES)}.")
        wanted = bool if name in _FLAGS else list if name == "exclude" else str
        is_texts = not isinstance(value, list) or all(isinstance(one, str) for one in value)
        if not isinstance(value, wanted) or not is_texts:
            kinds = {bool: "true or false", list: "a list of texts", str: "a text"}
            raise SettingsError(f"{file}: {name} has to be {kinds[wanted]}.")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in stated.items()}


@dataclass(frozen=True, slots=True)
class SiteIdentity:
    """The site as its index names it."""

    name: str
    domain: str
    description: str
    prefix: str
    base: str
    """The path that all addresses begin with; empty or beginning with a slash."""


def resolve_identity(settings: GeneratorSettings, about: SiteFacts) -> SiteIdentity:
    """What the settings say of the site, and the generator where they are silent."""
    url = urlsplit(about.url if "://" in about.url else f"//{about.url}")
    name = settings.name or about.name
    domain = _bare_domain(settings.domain) if settings.domain else (url.netloc or "")
    missing = [flag for flag, value in (("--name", name), ("--domain", domain)) if not value]
    if missing:
        raise UsageError(
            f"The site needs {' and '.join(missing)}: give it, set it in {SETTINGS_FILE}, or in the generator's settings."
        )
    base = settings.base if settings.base is not None else "/".join((url.path.strip("/"), about.base.strip("/")))
    base = base.strip("/")
    description = settings.description if settings.description is not None else about.description
    return SiteIdentity(name, domain, " ".join(description.split()), settings.prefix or "", f"/{base}" if base else "")


def _bare_domain(domain: str) -> str:
    return (urlsplit(domain).netloc if "://" in domain else domain.partition("/")[0]).strip()
