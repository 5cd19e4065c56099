"""A title is taken from a file's properties only where a person gave it."""

from dowse.reading.shorten import clean_title


def test_titles_of_programs_are_none() -> None:
    for stated, title in (
        ("On search", "On search"), (" On\n search ", "On search"), ("Microsoft Word - On search", "On search"),
        ("Microsoft Word - report.doc", ""), ("Word Document", ""), ("Microsoft Word Document", ""),
        ("Document1", ""), ("PowerPoint Presentation", ""), ("untitled", ""), ("Untitled-3", ""),
        ("report final.DOCX", ""), ("Title", ""), ("Documents of the court", "Documents of the court"),
        ("Titles and ranks", "Titles and ranks"), ("", ""),
    ):  # fmt: skip
        assert clean_title(stated) == title
