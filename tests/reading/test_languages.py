"""A file's language is known by its name, its extension or its first line."""

import tomllib
from importlib import resources

import pytest

from dowse.reading.languages import detect_language, language_called


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"), ("stubs/app.pyi", "python"), ("a.js", "javascript"), ("a.mjs", "javascript"),
        ("a.jsx", "javascript"), ("a.ts", "typescript"), ("types.d.ts", "typescript"), ("a.tsx", "tsx"),
        ("build.gradle.kts", "kotlin"), ("script.sc", "scala"), ("test.exs", "elixir"), ("a.hpp", "cpp"),
        ("a.inl", "cpp"), ("View.m", "objc"), ("guide.mdx", "markdown"), ("README.MD", "markdown"),
        ("index.rst", "rst"), ("notes.txt", "text"), ("CMakeLists.txt", "cmake"), ("Makefile", "make"),
        ("docker/Dockerfile", "dockerfile"), ("Dockerfile.dev", "dockerfile"), (".gitignore", "gitignore"),
        ("Cargo.lock", "toml"), ("LICENSE", "text"), (".py", "text"), ("py", "text"), ("folder.py/LICENSE", "text"),
        ("", "text"),
    ],
)  # fmt: skip
def test_the_name_tells_the_language(path: str, language: str) -> None:
    assert detect_language(path, b"") == language


@pytest.mark.parametrize(
    ("first_line", "language"),
    [
        (b"#!/bin/sh\n", "bash"),
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python3.11 -u\r\n", "python"),
        (b"#! /usr/bin/env -S LANG=C node --harmony\n", "javascript"),
        (b"#!/usr/bin/env Rscript", "r"),
        (b"#!/usr/bin/env\n", "text"),
        (b"#!\xff\xfe", "text"),
        (b"# python\n", "text"),
    ],
)
def test_a_file_without_extension_is_known_by_the_program_its_first_line_calls(
    first_line: bytes, language: str
) -> None:
    assert detect_language("bin/run", first_line) == language


def test_the_name_is_believed_before_the_first_line() -> None:
    assert detect_language("run.rb", b"#!/bin/sh\n") == "ruby"


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#ifndef A_H\nint f(int class_id);\n/* a class of its own */\n", "c"),
        (b'#ifdef __cplusplus\nextern "C" {\n#endif\nstruct a;\n', "c"),
        (b"/*\n  using the\n  class of functions\n*/\n", "c"),
        (b"", "c"),
        (b"class Engine;\n", "cpp"),
        (b"class EXPORT Engine final : public Base\n{\n", "cpp"),
        (b"class Engine {\n public:\n", "cpp"),
        (b"namespace dowse {\n", "cpp"),
        (b"template <typename T>\nT f();\n", "cpp"),
        (b"#include <string>\nint f(const std::string& s);\n", "cpp"),
        (b"#import <Foundation/Foundation.h>\n@interface A : NSObject\n@end\n", "objc"),
    ],
)
def test_a_header_is_c_unless_its_text_is_clearly_another_language(head: bytes, language: str) -> None:
    assert detect_language("include/engine.h", head) == language


def test_no_extension_and_no_name_belongs_to_two_languages() -> None:
    text = resources.files("dowse.reading").joinpath("languages.toml").read_text(encoding="utf-8")
    for sign in ("names", "beginnings", "extensions", "programs"):
        claimed = [value.lower() for of in tomllib.loads(text).values() for value in of.get(sign, ())]
        assert sorted(claimed) == sorted(set(claimed))


@pytest.mark.parametrize(
    ("said", "language"),
    [("Python", "python"), ("py", "python"), (".ts", "typescript"), ("C++", "cpp"), ("klingon", "klingon")],
)
def test_a_language_is_known_by_its_name_and_its_extension(said: str, language: str) -> None:
    assert language_called(said) == language
