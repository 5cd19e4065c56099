"""Any bytes become text, and the reported encoding is correct."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.reading.decoding import decode
from dowse.types import Reading

FRENCH = "Les élèves français étudient à l’école — “très” bien. Ça coûte 5 €."
GERMAN = "Der Bär läuft über die Straße. Größe, Müller, für alle Fälle, schön."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy, a pak šel domů na večeři."
TURKISH = "Türkçe bir belge: İstanbul'da şöyle böyle, ığdır çağ, güneş doğdu."
GREEK = "Αυτό είναι ένα ελληνικό έγγραφο για τη μηχανή αναζήτησης."
RUSSIAN = "Это русский документ. Описание поисковой машины, Москва большой город."
JAPANESE = "これは日本語の文書です。検索エンジンの設計について説明します。"
CHINESE = "这是一个中文文档。搜索引擎的设计说明，北京是一个很大的城市。"
TAIWANESE = "這是一個中文文檔。搜尋引擎的設計說明，台北是一個很大的城市。"
KOREAN = "이것은 한국어 문서입니다. 검색 엔진의 설계를 설명합니다."
ARABIC = "هذه وثيقة عربية عن محرك البحث في القاهرة"

unicode_text = st.text(st.characters(exclude_categories=["Cs"]))
text_without_zeros = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def is_true_of(decoded: Reading, data: bytes) -> bool:
    encoded = decoded.text.encode("utf-8")  # fails for a lone surrogate
    return decoded.is_verbatim == (data[decoded.text_start :] == encoded)


@given(st.binary())
def test_any_bytes_become_text_and_verbatim_means_the_same_bytes(data: bytes) -> None:
    assert is_true_of(decode(data), data)


@given(st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"]), st.binary())
def test_any_bytes_after_a_mark_become_text(mark: bytes, data: bytes) -> None:
    assert is_true_of(decode(mark + data), mark + data)


@given(text_without_zeros)
def test_utf8_is_taken_as_it_is(text: str) -> None:
    without_mark = text.removeprefix("\ufeff")
    assert decode(without_mark.encode()) == Reading(without_mark, "")


@given(unicode_text)
def test_a_utf8_mark_is_no_part_of_the_text_and_the_rest_stays_verbatim(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode()) == Reading(text, "", text_start=3)


@given(text_without_zeros, st.sampled_from(["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]))
def test_wide_text_with_a_mark_comes_back(text: str, encoding: str) -> None:
    assert decode(("\ufeff" + text).encode(encoding)) == Reading(text, "", encoding=encoding, is_verbatim=False)


def test_older_encodings_are_recognised_also_from_one_line_in_much_code() -> None:
    for around in ("%s", "int main() {}\n" * 200 + "/* %s */\n" + "x = 1;\n" * 300):
        for encoding, text in (
            ("latin-1", GERMAN),
            ("cp1252", FRENCH),
            ("mac_roman", "Les élèves français étudient à l’école — très bien."),
            ("cp1250", CZECH),
            ("cp1254", TURKISH),
            ("cp1253", GREEK),
            ("koi8_r", RUSSIAN),
            ("cp1251", RUSSIAN),
            ("cp866", RUSSIAN),
            ("shift_jis", JAPANESE),
            ("euc_jp", JAPANESE),
            ("gbk", CHINESE),
            ("big5", TAIWANESE),
            ("euc_kr", KOREAN),
            ("cp1256", ARABIC),
        ):
            decoded = decode((around % text).encode(encoding))
            assert decoded.text == around % text
            assert not decoded.is_verbatim


def test_one_accented_name_in_code_is_western() -> None:
    assert decode(b"/* Copyright Jos\xe9 P\xe9rez */\n" + b"int x;\n" * 5000).text.startswith("/* Copyright José Pérez")


def test_a_stray_byte_in_utf8_is_replaced_and_the_rest_stays_right() -> None:
    data = ("déjà vu, naïve\n" * 5000).encode() + b"\xff\n" + "coöperate\n".encode()
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert not decoded.is_verbatim
    assert decoded.text == "déjà vu, naïve\n" * 5000 + "\N{REPLACEMENT CHARACTER}\ncoöperate\n"


def test_utf8_cut_within_a_character_is_still_utf8() -> None:
    assert decode(JAPANESE.encode()[:-1]).text.startswith(JAPANESE[:-1])


def test_bytes_that_cp1252_does_not_know_are_latin_1() -> None:
    assert decode(b"a \x81 b").encoding == "latin-1"


def test_a_declared_encoding_is_read_as_browsers_read_it() -> None:
    for declared, text, encoding in (
        ("windows-1255", "זה מסמך בעברית", "cp1255"),
        ("ISO-8859-1", "“naïve”", "cp1252"),
        ("GB2312", "镕基", "gb18030"),
        ("Shift_JIS", "①日本", "cp932"),
        ("iso-8859-2", "žluťoučký", "iso8859-2"),
    ):
        decoded = decode(text.encode(encoding), declared)
        assert (decoded.text, decoded.encoding) == (text, encoding)


def test_a_declared_encoding_that_cannot_be_is_not_believed() -> None:
    for declared in ("utf-8", "utf-16", "hex", "punycode", "unicode_escape", "nonsense", "a\0b", ""):
        assert decode("schön und größer".encode("cp1252"), declared).text == "schön und größer"


def test_utf8_wins_over_what_is_declared() -> None:
    assert decode("größer".encode(), "iso-8859-1").is_verbatim


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)) * 4096, (GERMAN + "\n").encode("latin-1") * 14000, JAPANESE.encode("shift_jis") * 16000],
    ids=["binary", "latin-1", "shift-jis on one line"],
)
@pytest.mark.timeout(5)  # takes 0.03 s; without a sample it would take minutes
def test_a_megabyte_is_judged_by_a_sample(data: bytes) -> None:
    assert is_true_of(decode(data), data)
