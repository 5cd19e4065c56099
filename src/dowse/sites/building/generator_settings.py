"""The settings of a build: command line, environment, `dowse-site.toml` and the generator's own settings."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dowse.errors import SettingsError, UsageError
from dowse.sites.building.generator import SiteFacts
from dowse.sites.building.generator_detection import GENERATOR_NAMES
from dowse.sites.building.source_tree import MAX_SETTINGS_BYTES
from dowse.small_files import parse_toml, read_small_file

SETTINGS_FILE = "dowse-site.toml"
VARIABLE_PREFIX = "DOWSE_SITE_"
"""`DOWSE_SITE_NAME` sets the name, and so on."""
_FLAGS = ("drafts", "future")
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """The settings that were stated; None for those that were not."""

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


def gather_settings(source: Path, options: Mapping[str, Any], environment: Mapping[str, str]) -> GeneratorSettings:
    """Take each setting from the first that states it: the options, the environment, the settings file."""
    file_settings = _read_settings_file(source)
    values: dict[str, Any] = {}
    for name in SETTING_NAMES:
        candidates = (options.get(name), _read_variable(name, environment), file_settings.get(name))
        values[name] = next((value for value in candidates if value is not None), None)
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
        stated = parse_toml(read_small_file(file, MAX_SETTINGS_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}. Correct it or remove it.") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{file} cannot be read: {error}. Correct it or remove it.") from error
    for name, value in stated.items():
        if name not in SETTING_NAMES:
            raise SettingsError(f"{file} has {name!r}, which is not a setting. Known: {', '.join(SETTING_NAMES)}.")
        expected = bool if name in _FLAGS else list if name == "exclude" else str
        has_texts_only = not isinstance(value, list) or all(isinstance(item, str) for item in value)
        if not isinstance(value, expected) or not has_texts_only:
            type_names = {bool: "true or false", list: "a list of strings", str: "a string"}
            raise SettingsError(f"{file}: {name} has to be {type_names[expected]}.")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in stated.items()}


@dataclass(frozen=True, slots=True)
class SiteIdentity:
    """The site as its index describes it."""

    name: str
    domain: str
    description: str
    prefix: str
    base: str
    """The path that all URLs begin with; empty, or with a slash first."""


def resolve_identity(settings: GeneratorSettings, facts: SiteFacts) -> SiteIdentity:
    """Combine the settings with the facts of the generator, which fill the gaps."""
    url = urlsplit(facts.url if "://" in facts.url else f"//{facts.url}")
    name = settings.name or facts.name
    domain = _bare_domain(settings.domain) if settings.domain else (url.netloc or "")
    missing = [option for option, value in (("--name", name), ("--domain", domain)) if not value]
    if missing:
        raise UsageError(
            f"The site needs {' and '.join(missing)}: as an option, in {SETTINGS_FILE} or in the generator's settings."
        )
    base = settings.base if settings.base is not None else "/".join((url.path.strip("/"), facts.base.strip("/")))
    base = base.strip("/")
    description = settings.description if settings.description is not None else facts.description
    return SiteIdentity(name, domain, " ".join(description.split()), settings.prefix or "", f"/{base}" if base else "")


def _bare_domain(domain: str) -> str:
    return (urlsplit(domain).netloc if "://" in domain else domain.partition("/")[0]).strip()
