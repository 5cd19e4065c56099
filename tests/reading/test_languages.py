"""A file's language is known by its name, its extension or its first line."""

import tomllib
from importlib import resources

from dowse.reading.languages import detect_language, language_called


def test_the_name_tells_the_language() -> None:
    for path, language in (
        ("src/app.py", "python"), ("stubs/app.pyi", "python"), ("a.js", "javascript"), ("a.mjs", "javascript"),
        ("a.jsx", "javascript"), ("a.ts", "typescript"), ("types.d.ts", "typescript"), ("a.tsx", "tsx"),
        ("build.gradle.kts", "kotlin"), ("script.sc", "scala"), ("test.exs", "elixir"), ("a.hpp", "cpp"),
        ("a.inl", "cpp"), ("View.m", "objc"), ("guide.mdx", "markdown"), ("README.MD", "markdown"),
        ("index.rst", "rst"), ("notes.txt", "text"), ("CMakeLists.txt", "cmake"), ("Makefile", "make"),
        ("docker/Dockerfile", "dockerfile"), ("Dockerfile.dev", "dockerfile"), (".gitignore", "gitignore"),
        ("Cargo.lock", "toml"), ("LICENSE", "text"), (".py", "text"), ("py", "text"), ("folder.py/LICENSE", "text"),
        ("", "text"),
    ):  # fmt: skip
        assert detect_language(path, b"") == language


def test_a_file_without_extension_is_known_by_the_program_its_first_line_calls() -> None:
    for first_line, language in (
        (b"#!/bin/sh\n", "bash"),
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python3.11 -u\r\n", "python"),
        (b"#! /usr/bin/env -S LANG=C node --harmony\n", "javascript"),
        (b"#!/usr/bin/env Rscript", "r"),
        (b"#!/usr/bin/env\n", "text"),
        (b"#!\xff\xfe", "text"),
        (b"# python\n", "text"),
    ):
        assert detect_language("bin/run", first_line) == language


def test_the_name_is_believed_before_the_first_line() -> None:
    assert detect_language("run.rb", b"#!/bin/sh\n") == "ruby"


def test_a_header_is_c_unless_its_text_is_clearly_another_language() -> None:
    for head, language in (
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
    ):
        assert detect_language("include/engine.h", head) == language


def test_no_extension_and_no_name_belongs_to_two_languages() -> None:
    text = resources.files("dowse.reading").joinpath("languages.toml").read_text(encoding="utf-8")
    for sign in ("names", "beginnings", "extensions", "programs"):
        claimed = [value.lower() for of in tomllib.loads(text).values() for value in of.get(sign, ())]
        assert sorted(claimed) == sorted(set(claimed))


def test_a_language_is_known_by_its_name_and_its_extension() -> None:
    for said, language in (
        ("Python", "python"), ("py", "python"), (".ts", "typescript"), ("C++", "cpp"), ("c#", "csharp"), ("shell", "bash"),
        ("jsx", "javascript"), ("terraform", "hcl"), ("makefile", "make"), ("klingon", "klingon"),
    ):  # fmt: skip
        assert language_called(said) == language
