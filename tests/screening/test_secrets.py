"""The secrets that are masked, and the texts that are not."""

import hashlib
import json
import uuid
from pathlib import Path

import hatch_build
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import Failed
from dowse.screening import secrets
from dowse.screening.masking import UNCHECKED, screen_text, surroundings
from dowse.screening.secrets import find_secrets, load_secret_rules
from tests.end_to_end.security.fake_secrets import (
    ANTHROPIC,
    AWS,
    BY_KIND,
    GITHUB,
    SLACK,
    private_key,
    random_text,
)


def test_a_secret_is_masked_and_named() -> None:
    for kind in BY_KIND:
        text = f"before\n{BY_KIND[kind]}\nafter\n"
        found = screen_text(text)
        assert {mask.kind for mask in found.masked} == {kind}
        assert found.masked[0].line == 2
        assert f"[masked: {kind}]" in found.text
        secret = find_secrets(text)[0]
        assert text[secret.start : secret.end] not in found.text
        assert found.warning_fields() == {"masked": [kind]}


def test_lines_stay_lines() -> None:
    for kind in BY_KIND:
        text = f"one\r\n  {BY_KIND[kind]}  \n\n\tlast"
        found = screen_text(text)
        assert len(found.text.splitlines()) == len(text.splitlines())
        assert found.text.startswith("one\r\n  ")
        assert found.text.endswith("\n\n\tlast")


def test_several_secrets_on_a_line_are_all_masked() -> None:
    assert screen_text(f"{AWS} and {GITHUB} and {SLACK}").text == (
        "[masked: aws-access-token] and [masked: github-pat] and [masked: slack-bot-token]"
    )


NO_SECRETS = [
    'password = "secret"',
    "password = 'changeme'",
    "SECRET_KEY = os.environ['SECRET_KEY']",
    'token = get_token("user", timeout=30)',
    f'"integrity": "sha512-{random_text(86)}=="',
    f"sha256:{hashlib.sha256(b'x').hexdigest()}",
    f"commit {hashlib.sha1(b'x').hexdigest()}",
    f"id = '{uuid.UUID(int=7 << 64 | 99)}'",
    f'<img src="data:image/png;base64,{random_text(400)}">',
    "AKIAIOSFODNN7EXAMPLE is what the manual of AWS shows",
    "key=lambda one: (-one.relevance, one.path)",
    "api_key: str = Field(description='The key of the API')",
    "The token is a JWT, three parts with dots between them.",
    "-----BEGIN PUBLIC KEY-----\n" + random_text(64) + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + "\n".join(random_text(64, seed=seed) for seed in range(9)) + "\n-----END CERTIFICATE-----",
    "https://user:password@example.org/",
    "ghp_short",
    "",
]  # fmt: skip


def test_what_only_looks_like_a_secret_is_shown() -> None:
    for text in NO_SECRETS:
        assert screen_text(text).text == text
        assert screen_text(text).warning_fields() == {}


@given(st.text(max_size=300))
def test_any_text_is_shown_and_its_lines_are_kept(text: str) -> None:
    assert screen_text(text).text.count("\n") == text.count("\n")


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from([AWS, GITHUB, SLACK]))
def test_a_secret_between_words_is_masked_whatever_stands_around_it(before: str, after: str, secret: str) -> None:
    assert secret not in screen_text(f"{before} {secret} {after}").text


def test_some_rules_hold_in_certain_files_alone() -> None:
    text = 'password = "correct9horse"\n'
    assert screen_text(text, path="main.tf").warning_fields() == {"masked": ["hashicorp-tf-password"]}
    assert screen_text(text, path="main.py").warning_fields() == {}


# Texts that were cut


def test_a_secret_that_was_cut_at_an_edge_is_masked_too() -> None:
    for secret in (GITHUB, ANTHROPIC):
        whole = f"{'word ' * 50}{secret}{' word' * 50}"
        at = whole.index(secret)
        for start, end in ((at + 9, at + 300), (at - 100, at + len(secret) - 9)):
            cut = whole[start:end]
            found = screen_text(f"…{cut}…", around=surroundings(whole, start, end))
            assert {mask.kind for mask in found.masked} & {"github-pat", "anthropic-api-key"}
            assert not _shares(found.text, secret, 8)


def test_of_a_key_of_many_lines_every_part_is_masked() -> None:
    key = private_key(40)
    whole = f"before\n{key}\nafter\n"
    lines = whole.split("\n")
    for first in range(0, len(lines), 7):
        cut = "\n".join(lines[first : first + 5])
        start = whole.index(cut)
        found = screen_text(cut, around=surroundings(whole, start, start + len(cut)))
        assert not _shares(found.text, key, 16), first
        assert found.text.count("\n") == cut.count("\n")


def test_a_text_that_stands_between_words_needs_nothing_around_it() -> None:
    assert surroundings("one two three", 4, 7) == ""
    assert surroundings("one two three", 5, 7) == "one two three"


def _shares(text: str, secret: str, length: int) -> bool:
    parts = (secret[at : at + length] for at in range(len(secret) - length + 1))
    return any(
        part in text for part in parts if not part.startswith("-") and "PRIVATE" not in part and "\n" not in part
    )


# The rules


def test_there_are_rules_for_the_keys_of_many_services() -> None:
    kinds = {rule.kind for rule in load_secret_rules().rules}
    assert len(kinds) > 200
    assert set(BY_KIND) <= kinds
    assert all(rule.keywords for rule in load_secret_rules().rules)


def test_every_rule_can_be_compiled() -> None:
    for rule in load_secret_rules().rules:
        secrets._compile(rule.expression)
        for allowed in rule.allowed:
            for expression in allowed.expressions:
                secrets._compile(expression)


def test_what_a_rule_finds_has_its_stricter_keyword() -> None:
    rules = {rule.kind: rule for rule in load_secret_rules().rules}
    beginnings = {"jwt": r"\.ey", "twilio-api-key": "SK[0-9a-fA-F]{32}"}
    assert beginnings.keys() == secrets.STRICTER_KEYWORDS.keys()
    for kind, beginning in beginnings.items():
        assert beginning in rules[kind].expression


def test_a_value_whose_keyword_is_in_most_code_is_found_in_a_long_text_and_in_its_line() -> None:
    for kind, value in (
        ("vault-service-token", f"hvs.{random_text(95)}"),
        ("vault-service-token", "s.Zx8Kq2Lw9Rt4Yb7Nc1Vd5Mf3"),
        ("twilio-api-key", "SKb3a1c97f0e5d2486b3a1c97f0e5d2486"),
        ("lob-api-key", "lob_key = 'test_0b3a1c97f0e5d2486b3a1c97f0e5d248653'"),
    ):
        text = f"{'x = self.test_1()' * 9}\n{value}\n# see os.path"
        assert kind in {secret.kind for secret in find_secrets(text)}
        assert kind in {secret.kind for secret in find_secrets(value)}


@given(
    st.lists(
        st.sampled_from(
            ["api_key", "token", "secret", " ", "=", ":", ">", "|", "||", ",", "'", '"', "`", "\n", "\\n", ";", "("]
        )
        | st.text("abcXYZ019_.=+/-", min_size=8, max_size=14),
        max_size=12,
    ).map("".join)
)
def test_a_text_in_which_the_generic_rule_matches_has_the_signs_of_a_value(text: str) -> None:
    rule = next(rule for rule in load_secret_rules().rules if rule.kind == secrets.GENERIC_KIND)
    if secrets._compile(rule.expression).search(text):
        assert secrets._GENERIC_VALUE.search(text)


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"rules": [{}], "allowed": []}'])
def test_without_rules_nothing_is_shown(content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rules.json"
    if content is not None:
        file.write_bytes(content)
    load_secret_rules.cache_clear()
    monkeypatch.setattr(secrets, "RULES_FILE", file)
    with pytest.raises(Failed, match="rules for secrets cannot be read"):
        screen_text("anything")
    load_secret_rules.cache_clear()


def test_the_rules_are_those_of_the_pinned_package() -> None:
    generated = hatch_build.generate_rules(hatch_build.find_rules())
    assert json.loads(secrets.RULES_FILE.read_bytes()) == generated


def test_rules_of_another_version_are_not_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hatch_build, "RULES_SHA256", "0" * 64)
    with pytest.raises(RuntimeError, match="Install the version in pyproject"):
        hatch_build.find_rules()


HANGING = [
    "curl " + "\n a" * 3000,
    "curl " * 5000,
    "api" + " key" * 10_000,
    "kind: secret data: " * 2000,
    "-----BEGIN PRIVATE KEY-----" * 2000,
    "eyJ" * 20_000,
    "secret=" * 10_000 + "a" * 5000,
    '"' + "a:" * 20_000,
    "".join(f"{GITHUB[:-9]}{number:09}\n" for number in range(40_000)),
    "".join(f"{GITHUB[:-9]}{number:09} " for number in range(40_000)),
]


@pytest.mark.timeout(20)  # a rule without a timeout takes hours
@pytest.mark.parametrize("text", HANGING, ids=range(len(HANGING)))
def test_no_text_keeps_the_rules_busy_for_long(text: str) -> None:
    found = screen_text(text)
    assert found.text == text or found.masked


def test_a_text_that_takes_too_long_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "RULE_SECONDS", 1e-9)
    text = "curl " + "\n a" * 3000
    found = screen_text(text + f"\n{GITHUB}\nlast")
    assert set(found.text.split()) == {"[masked:", f"{UNCHECKED}]"}
    assert found.text.count("\n") == 3002
