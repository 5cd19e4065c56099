"""Documents in other languages are found by other forms of their words, by parts of compounds, and without spaces."""

from collections.abc import Iterator

import pytest

from dowse.indexes.document_search import DocumentQuery, find_documents
from dowse.indexes.index import ProjectIndex
from dowse.searching.passages import found_terms
from dowse.searching.query_terms import parse_search_query
from dowse.types import View
from tests.sample_data import open_indexed, write_tree

DOCUMENTS = {
    "de.md": "# Krankenversicherung\n\nDie Bescheinigung der Ärzte ist nicht nötig. Der Vertrag endet mit dem Monat.\n",
    "nl.md": "# Huisarts\n\nDe ziektekosten van het gezin worden door de verzekering betaald.\n",
    "sv.md": "# Bokning\n\nMötesrummet är ledigt och kan bokas av alla på våningen.\n",
    "fr.md": "# Congés\n\nLes demandes sont examinées par la direction dans la semaine.\n",
    "ru.md": "# Копии\n\nРезервные копии баз хранятся на ленте.\n",
    "ja.md": "# 会議室の予約\n\n会議室はカレンダーで予約します。\n",
    "zh.md": "# 数据库备份\n\n每天凌晨自动备份数据库。\n",
    "ko.md": "# 서버 재시작\n\n서버를 다시 시작하려면 관리자에게 연락하십시오.\n",
    "en.md": "# Backups\n\nThe database is copied every night, and the copies are kept for a month.\n",
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProjectIndex]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(tmp_path_factory.mktemp("home")))
        root = tmp_path_factory.mktemp("documents")
        write_tree(root, DOCUMENTS)
        index = open_indexed(root, View.DOCUMENTS)
        yield index
        index.close()


def paths(index: ProjectIndex, text: str) -> list[str]:
    matches = find_documents(index, DocumentQuery(parse_search_query(text))).matches
    return [hit.document.path for hit in matches.found if hit.place != "meaning"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Versicherungen", "de.md"), ("Arzt", "de.md"), ("Arztbescheinigungen", "de.md"),
        ("wie enden die Verträge", "de.md"), ("ziekteverzekering", "nl.md"), ("mötesrum", "sv.md"),
        ("demande examinee", "fr.md"), ("хранить резервную копию базы", "ru.md"), ("会議室を予約したいのですが", "ja.md"),
        ("怎样备份数据库", "zh.md"), ("库", "zh.md"), ("서버", "ko.md"), ("copying databases", "en.md"),
    ],
)  # fmt: skip
def test_a_question_in_its_language_finds_a_document(documents: ProjectIndex, query: str, path: str) -> None:
    assert paths(documents, query)[:1] == [path]


def test_a_required_word_may_be_another_form_but_not_a_part(documents: ProjectIndex) -> None:
    assert paths(documents, "+Verträge") == ["de.md"]
    assert paths(documents, "Vertrag +Kasse") == []


def test_the_words_that_were_found_are_shown(documents: ProjectIndex) -> None:
    matches = find_documents(documents, DocumentQuery(parse_search_query("Arzt Versicherung"))).matches
    line = "Krankenversicherung der Ärzte"
    assert [line[start:end] for start, end, _ in found_terms(line, matches.terms)] == ["Krankenversicherung", "Ärzte"]


def test_a_language_is_forgotten_with_its_last_document(documents: ProjectIndex) -> None:
    store = documents.store
    assert store.foreign_terms(["Verträge"])
    (documents.root / "de.md").unlink()
    documents.update()
    store.refresh()
    assert not store.foreign_terms(["Verträge"])
