"""Texts in other languages: the language is recognized by common words, and forms and compounds by stems."""

from dowse.text.analysis import detect_language, is_form, languages, mark_stem, split_compound

SENTENCES = {
    "german": "Die Sicherung der Datenbank wird jede Nacht auf ein Band geschrieben.",
    "dutch": "De kopie van het bestand wordt elke nacht op een band gezet.",
    "swedish": "Kopian av databasen sparas på ett band och är kvar till våren.",
    "danish": "Kopien af databasen gemmes hver nat på et bånd, og den slettes ikke.",
    "norwegian": "Kopien av databasen lagres hver natt på et bånd, og den slettes ikke etter jul.",
    "finnish": "Tietokanta on varmuuskopioitu ja se on tallessa, mutta ei nauhalla.",
    "french": "La base est copiée chaque nuit sur une bande pour les données du site.",
    "spanish": "La copia de los datos se guarda en una cinta por la noche.",
    "italian": "La copia del database viene salvata ogni notte con il nastro della banca.",
    "portuguese": "A cópia dos dados não fica em uma fita para sempre.",
    "russian": "Копия базы хранится на ленте.",
}
GERMAN = next(language for language in languages() if language.name == "german")


def test_the_language_of_a_sentence_is_recognized() -> None:
    for name, text in SENTENCES.items():
        found = detect_language(text)
        assert found is not None
        assert found.name == name


def test_other_texts_are_read_as_english() -> None:
    for text in (
        "The copy of the database is written to a tape.",
        "translations en es fr de",
        "def die(self): pass",
        "",
        "数据库",
    ):
        assert detect_language(text) is None


def test_forms_and_compounds_of_a_stem_are_recognized() -> None:
    for stem, word, expected in (
        ("haus", "Häusern", True),
        ("haus", "Rathaus", True),
        ("versicher", "Krankenversicherung", True),
        ("rat", "Rathaus", False),
        ("haus", "Hase", False),
    ):
        assert is_form(word, mark_stem(stem, GERMAN)) is expected


def test_a_compound_is_split_into_known_words() -> None:
    assert split_compound("krankenversicher", GERMAN, {"krank", "versicher", "icher"}) == ["krank", "versicher"]
    assert split_compound("krankenversicher", GERMAN, {"kasse"}) == []
