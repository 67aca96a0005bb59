"""Labelled sentences read from files of several layouts, and sets of them looked at and drawn from."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from summeval_nb.core.base import require_option
from summeval_nb.core.files import frame_rows, require_once
from summeval_nb.core.items import open_items, why_unread

Row = tuple[str, str, bool, str]  # article, text, supported, kind
Record = tuple[str, Any]  # where it stands, what stands there


class Labelled(Protocol):
    """What is measured: a `LabelledSentence`."""

    @property
    def article(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def supported(self) -> bool: ...
    @property
    def kind(self) -> str: ...


One = TypeVar("One", bound=Labelled)

_YES = {"1", "1.0", "true", "yes", "supported", "consistent", "entailment"}
_NO = {"0", "0.0", "false", "no", "unsupported", "not supported", "inconsistent", "not_entailment", "contradiction"}


class _Partly(dict[str, object]):
    """A record of a table with columns that cannot be read, each with the reason."""

    def __init__(self, record: Mapping[str, object], unread: Iterable[tuple[str, str]]) -> None:
        super().__init__(record)
        self.unread = {name: why_unread(name, why) for name, why in unread}


def _field(record: object, names: Sequence[str], where: str) -> object:
    """The first of some fields that a record has; an error names the place and what was found instead."""
    if not isinstance(record, Mapping):
        raise ValueError(f"{where} must be an object with named fields, not {type(record).__name__}")
    for name in names:
        if name in record and record[name] == record[name]:  # a table has NaN where nothing stands
            return record[name]
        if isinstance(record, _Partly) and name in record.unread:
            raise ValueError(f"{where}: {record.unread[name]}")
    wanted = " or ".join(map(repr, names))
    raise ValueError(f"{where}: there is no field {wanted} (found: {', '.join(map(repr, record))})")


def _text(record: object, names: Sequence[str], where: str) -> str:
    value = _field(record, names, where)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: {names[0]!r} must be a text that is not empty, not {value!r:.40}")
    return value


def _label(record: object, names: Sequence[str], where: str) -> bool:
    value = _field(record, names, where)
    said = str(value).strip().lower()
    if said in _YES or said in _NO:
        return said in _YES
    raise ValueError(f"{where}: {names[0]!r} must say 1 or 0, true or false, yes or no, not {value!r:.40}")


def _list(value: object, name: str, where: str) -> list[object]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where}: {name!r} must be a list with something in it, not {value!r:.40}")
    return value


def _table(path: Path) -> Iterator[Record]:
    """The rows of a JSONL, CSV or Parquet file, each with its line."""
    stream = open_items(path)
    name = f"{path.name}, {stream.unit}"
    items = iter(stream)
    while True:
        try:
            item = next(items, None)
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from error
        if item is None:
            return
        where = f"{name} {item.place}"
        if item.problem:
            raise ValueError(f"{where}: {item.problem}")
        try:
            record = json.loads(item.data)
            yield where, _Partly(record, item.unread) if item.unread else record
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where} is not JSON: {error}") from error


def _document(path: Path) -> list[Record]:
    """The objects of a file that is one JSON list, each with its number."""
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path.name}, line {error.lineno} is not JSON: {error.msg}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path.name} cannot be read as JSON: {error}") from error
    if not isinstance(value, list):
        raise ValueError(f"{path.name} must hold one JSON list of objects, not {type(value).__name__}")
    return [(f"{path.name}, item {number}", item) for number, item in enumerate(value, 1)]


def _tabs(path: Path) -> Iterator[Record]:
    """The rows of a file with tabs; quotation marks are text in it."""
    csv.field_size_limit(2**31 - 1)
    with open(path, encoding="utf-8-sig", newline="") as handle:
        reader = csv.reader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        header: list[str] | None = None
        try:
            for values in reader:
                where = f"{path.name}, line {reader.line_num}"
                if header is None:
                    header = values
                    require_once(header, f"{path.name}, line 1,")
                elif len(values) != len(header):
                    raise ValueError(f"{where}: {len(values)} values under {len(header)} column names")
                else:
                    yield where, dict(zip(header, values, strict=True))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path.name}, after line {reader.line_num}: not UTF-8 text ({error.reason})") from error


def _row(item: object, where: str) -> Row:
    """Article, text, label and kind of a row, under any of their usual names."""
    text = _text(item, ("sentence", "claim", "summary", "text"), where)
    label = _label(item, ("supported", "label"), where)
    kind = item.get("kind") if isinstance(item, Mapping) else None
    kind = None if kind != kind else kind
    return _text(item, ("article", "document", "doc", "source"), where), text, label, "" if kind is None else str(kind)


def _rows(path: Path) -> Iterator[Row]:
    for where, row in _table(path):
        yield _row(row, where)


def _qags(path: Path) -> Iterator[Row]:
    """github.com/W4ngatang/qags, data/mturk_cnndm.jsonl: per sentence the answers of three people; more than half."""
    for where, row in _table(path):
        article = _text(row, ("article",), where)
        for number, part in enumerate(_list(_field(row, ("summary_sentences",), where), "summary_sentences", where), 1):
            here = f"{where}, sentence {number}"
            answers = _list(_field(part, ("responses",), here), "responses", here)
            votes = Counter(_label(answer, ("response",), here) for answer in answers)
            yield article, _text(part, ("sentence",), here), votes[True] > votes[False], ""


def _frank(path: Path) -> Iterator[Row]:
    """github.com/artidoro/frank: true is a summary without an error in any sentence; the kind is its main error."""
    folder = path if path.is_dir() else path.parent
    judged: dict[tuple[str, str], Record] = {}
    for where, item in _document(folder / "human_annotations.json"):
        judged[_text(item, ("hash",), where), _text(item, ("model_name",), where)] = (where, item)
    errors = ("RelE", "EntE", "CircE", "OutE", "GramE", "CorefE", "LinkE", "Other")
    for where, item in _document(folder / "benchmark_data.json"):
        key = _text(item, ("hash",), where), _text(item, ("model_name",), where)
        if key not in judged:
            raise ValueError(f"{where}: human_annotations.json judges no summary of {key[0]} by {key[1]!r}")
        place, said = judged[key]
        values = {name: _number(said, name, place) for name in ("Factuality", *errors) if name in said}
        supported = _number(said, "Factuality", place) == 1.0
        kind = "" if supported else min((name for name in errors if name in values), key=values.__getitem__, default="")
        yield _text(item, ("article",), where), _text(item, ("summary",), where), supported, kind


def _number(record: object, name: str, where: str) -> float:
    value = _field(record, (name,), where)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"{where}: {name!r} must be a number in [0, 1], not {value!r:.40}")
    return float(value)


def _aggrefact(path: Path) -> Iterator[Row]:
    """github.com/Liyan06/AggreFact, aggre_fact_sota.csv; with `claim` for `summary` also LLM-AggreFact."""
    for where, row in _table(path):
        text = _text(row, ("summary", "claim"), where)
        yield _text(row, ("doc",), where), text, _label(row, ("label",), where), ""


def _summedits(path: Path) -> Iterator[Row]:
    """github.com/salesforce/factualNLG, data/summedits/summedits_DOMAIN.json; a folder holds several domains."""
    files = sorted(path.glob("summedits_*.json")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path} holds no file summedits_DOMAIN.json")
    for file in files:
        for where, item in _document(file):
            label, edits = _label(item, ("label",), where), item.get("edit_types") or []
            kind = "" if label or not isinstance(edits, list) or not edits else str(edits[0])
            yield _text(item, ("doc",), where), _text(item, ("summary",), where), label, kind


def _begin(path: Path) -> Iterator[Row]:
    """github.com/google/BEGIN-dataset, begin_test_wow.tsv and its sisters, the second release of 2022."""
    known = {"fully attributable": True, "not fully attributable": False, "generic": False}
    for where, row in _tabs(path):
        said = _text(row, ("begin_label",), where)
        if said.strip().lower() not in known:
            raise ValueError(f"{where}: 'begin_label' must be one of {', '.join(known)}, not {said!r:.40}")
        label = known[said.strip().lower()]
        yield _text(row, ("knowledge",), where), _text(row, ("response",), where), label, "" if label else said


LAYOUTS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "rows": _rows,
    "qags": _qags,
    "frank": _frank,
    "aggrefact": _aggrefact,
    "summedits": _summedits,
    "begin": _begin,
}


FORMATS = tuple(LAYOUTS)


def read_rows(path: Path, format: str) -> list[Row]:
    """The rows of a file of labelled sentences, at least one."""
    layout = LAYOUTS[require_option(format, "format", FORMATS)]
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    found = list(layout(path))
    if not found:
        raise ValueError(f"{path.name} holds no labelled sentence")
    return found


def asset_path(name: str) -> Path:
    """Where a file of the package lies."""
    return Path(str(resources.files("summeval_nb") / "assets" / name))


def asset(name: str) -> Any:
    """The content of a JSON file of the package."""
    return json.loads(asset_path(name).read_text(encoding="utf-8"))


def checked_set(name: str, items: Iterable[One | Mapping[str, object]], kind: type[One]) -> list[One]:
    """The items of a set, each of the right type and with something in it; rows become what `load_labelled` reads."""
    if hasattr(items, "columns") and hasattr(items, "to_dict"):
        items = frame_rows(items)
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        wanted = f"{kind.__name__}, or of rows with 'article', 'sentence' and 'supported'"
        raise TypeError(f"sets[{name!r}] must be a list of {wanted}, not {type(items).__name__}")
    made, found = cast("Callable[..., One]", kind), []
    for place, item in enumerate(items):
        checked = made(*_row(item, f"sets[{name!r}][{place}]")) if isinstance(item, Mapping) else item
        if not isinstance(checked, kind):
            raise TypeError(f"sets[{name!r}][{place}] must be a {kind.__name__}, not {type(checked).__name__}")
        for part in ("article", "text"):
            value = getattr(checked, part)
            if not isinstance(value, str) or not value.strip():
                raise ValueError(f"sets[{name!r}][{place}].{part} must be a text that is not empty, not {value!r:.40}")
        if not isinstance(checked.supported, (bool, np.bool_)):
            raise TypeError(f"sets[{name!r}][{place}].supported must be True or False, not {checked.supported!r:.40}")
        found.append(checked)
    if not found:
        raise ValueError(f"sets[{name!r}] is empty: leave it out")
    return found


def drawn(items: list[One], limit: int | None, seed: int) -> list[One]:
    """At most `limit` items, of whole articles drawn by lot, in the order of the set.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rows = [SimpleNamespace(article="one"), SimpleNamespace(article="two"), SimpleNamespace(article="one")]
    >>> len({row.article for row in drawn(rows, 1, seed=0)})
    1
    """
    if limit is None or len(items) <= limit:
        return items
    articles = list(dict.fromkeys(item.article for item in items))
    order = np.random.default_rng(seed).permutation(len(articles))
    rank = {articles[place]: number for number, place in enumerate(order)}
    places = sorted(range(len(items)), key=lambda place: rank[items[place].article])[:limit]
    return [items[place] for place in sorted(places)]


def short_hash(value: object) -> str:
    """A name for what is plain data."""
    return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()[:12]


def digest(items: Iterable[Labelled]) -> str:
    """A name for the content of a set."""
    return short_hash([(item.article, item.text, bool(item.supported), item.kind) for item in items])
