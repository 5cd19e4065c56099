"""The settings of a build, as the command line states them."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from dowse.errors import UsageError


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """The settings that were stated; empty for those that were not."""

    name: str = ""
    domain: str = ""
    """The domain; a full URL stands for its domain."""
    description: str = ""
    prefix: str = ""
    base: str = ""
    """The path that all URLs begin with."""
    exclude: tuple[str, ...] = ()
    drafts: bool = False
    future: bool = False


@dataclass(frozen=True, slots=True)
class SiteIdentity:
    """The site as its index describes it."""

    name: str
    domain: str
    description: str
    prefix: str
    base: str
    """The path that all URLs begin with; empty, or with a slash first."""


def resolve_identity(settings: BuildSettings, stated_host: str) -> SiteIdentity:
    """Return the site; its domain is the host that its pages state if the settings state none."""
    domain = settings.domain
    domain = (urlsplit(domain).netloc if "://" in domain else domain.partition("/")[0]).strip() or stated_host
    missing = [option for option, value in (("--name", settings.name), ("--domain", domain)) if not value]
    if missing:
        raise UsageError(f"The site needs {' and '.join(missing)}.")
    base = settings.base.strip("/")
    description = " ".join(settings.description.split())
    return SiteIdentity(settings.name, domain, description, settings.prefix, f"/{base}" if base else "")
