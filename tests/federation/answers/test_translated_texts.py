"""Texts of translation and resource files lead to the code that uses their keys."""

from pathlib import Path

from dowse.federation.answers.definition_search import describe_definitions
from dowse.federation.answers.translated_texts import keys_of
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import definition_options, search_now
from dowse.searching.query_terms import parse_plain_query
from tests.sample_data import write_tree

TEXT = "Your basket is empty, add a medlar first"


def test_the_key_of_a_text_has_the_keys_around_it() -> None:
    for lines, keys in (
        (
            ["{", '  "checkout": {', '    "errors": {', f'      "empty_basket": "{TEXT}"'],
            "checkout.errors.empty_basket",
        ),
        (["en:", "  checkout:", "    other: Yes", f"    empty_basket: {TEXT}"], "checkout.empty_basket"),
        ([f'  <string name="empty_basket">{TEXT}</string>'], "empty_basket"),
        (['  <data name="EmptyBasket" xml:space="preserve">', f"    <value>{TEXT}</value>"], "EmptyBasket"),
        ([f"checkout.empty-basket={TEXT}"], "checkout.empty-basket"),
        ([f'"empty_basket" = "{TEXT}";'], "empty_basket"),
        (['msgid "Empty basket"', f'msgstr "{TEXT}"'], "Empty basket"),
        (["return [", "    'checkout' => [", f"        'empty' => '{TEXT}',"], "checkout.empty"),
    ):
        assert next(keys_of(lines, len(lines) - 1)) == keys


def test_a_quoted_text_names_the_code_that_uses_its_key(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "shop",
        {
            "package.json": "{}",
            "src/locales/en.json": f'{{\n  "checkout": {{\n    "empty_basket": "{TEXT}"\n  }}\n}}\n',
            "src/pay.ts": "export function pay(count: number) {\n  if (!count) throw t('checkout.empty_basket')\n}\n",
            "src/other.ts": "export function open() {\n  return 'shop.open'\n}\n",
        },
    )
    index = ProjectIndex(root)
    index.update()
    answer = search_now(index, parse_plain_query(f"when is '{TEXT}' shown"), definition_options(5, None, None))
    text = describe_definitions({"": index}, answer).text
    other = search_now(index, parse_plain_query("open the shop"), definition_options(5, None, None))
    assert "  src/locales/en.json:3 checkout.empty_basket, used at src/pay.ts:2" in text
    assert "used at" not in describe_definitions({"": index}, other).text
    index.close()
