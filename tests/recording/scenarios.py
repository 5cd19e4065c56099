"""The table of all scenarios: for each golden file, the function that makes it."""

from collections.abc import Callable

from tests.recording import command_scenarios as commands
from tests.recording import option_scenarios as options
from tests.recording import tool_scenarios as tools
from tests.recording.projects import Place
from tests.recording.web_scenarios import public, web

SCENARIOS: dict[str, Callable[[Place], str]] = {
    "offers.json": tools.offers,
    "help.txt": commands.help_texts,
    "commands-project.txt": commands.project_commands,
    "commands-search.txt": commands.search_commands,
    "commands-documents.txt": commands.document_commands,
    "commands-site.txt": commands.site_commands,
    "commands-archive.txt": commands.archive_commands,
    "commands-notes.txt": commands.note_commands,
    "commands-wrong.txt": commands.wrong_usage,
    "commands-status.txt": commands.federated_status,
    "commands-damage.txt": commands.damage,
    "disk.txt": commands.disk,
    "project.json": tools.project,
    "projects.json": tools.several_projects,
    "documents.json": tools.documents,
    "site.json": tools.site,
    "archive.json": tools.archive,
    "notes.json": tools.notes,
    "federated.json": tools.federated,
    "wrong-arguments.txt": options.wrong_arguments,
    "budget.json": options.small_budget,
    "confirming-older.json": options.confirming_older,
    "confirming-newer.json": options.confirming_newer,
    "newer.json": options.newer_revision,
    "settings.json": options.other_settings,
    "encoder.json": options.default_encoder,
    "http.txt": web,
    "http-public.txt": public,
}
"""The longest come first, so that the last one to end is short."""
