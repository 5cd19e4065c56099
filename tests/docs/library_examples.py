"""The examples of docs/api.md, for mypy; `python -m tests.docs.test_library_docs` writes them."""

# ruff: noqa
# fmt: off
import dowse

with dowse.open("shop") as index:
    for hit in index.search("when is delivery free", limit=1):
        print(hit.path, hit.lines, hit.symbol)
        print(hit.text)
    print([f"{one.path}:{one.line}" for one in index.find("FREE_FROM_CENTS")])
    print([f"{use.path}:{use.line} {use.kind}" for use in index.uses("shipping_cost")])
    print(index.read("docs/guide.md#returns"))

import asyncio


async def ask() -> list[str]:
    async with dowse.open_async("shop", "billing") as index:
        hits = await index.search("add up an invoice", limit=1)
        return [f"{hit.path} {hit.symbol}" for hit in hits]


print(asyncio.run(ask()))

with dowse.open("shop") as index:
    print([one.path for one in index.related("src/checkout.py").imports])
    print([hit.symbol for hit in index.outline("docs/guide.md")], index.files("src/*"))
    print(index.explain("src/shipping.py", "when is delivery free").rank)

try:
    dowse.open("nowhere")
except dowse.DowseError as error:
    print(error.code, "-", str(error).rpartition("/")[2])

with dowse.notes("decisions") as notes:
    notes.add("prices", "Prices are in cents.", {"by": "Ada"})
    print(notes.search("cents")[0].text, notes.read("prices").metadata, len(notes))
