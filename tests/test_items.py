"""Corpora as they lie on disks: strict CSV, whole gzip files, only a newline ends a line, one column of a name."""

import gzip
import json
from decimal import Decimal

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb.core.files import encode_row, open_items
from summeval_nb.runs.file import cut

pd = Late("pandas")
pyarrow = Late("pyarrow")
parquet = Late("pyarrow.parquet")

BROKEN_CSV = {
    "unclosed quote": ('id,text\n1,a\n2,"never closed\n3,b\n4,c\n', "line 3 of the CSV opens a quote that is never"),
    "quote that opens again": ('id,text\n1,"a\n2,b\n3,"c"\n4,d\n', "line 2 of the CSV has text between a closing"),
    "text behind a quote": ('id,text\n1,x\n2,"a" b\n', "line 3 of the CSV has text between a closing quote"),
    "bare CR": ("id,text\n1,a\rb\n2,c\n", "line 2 of the CSV holds a carriage return"),
}


def test_a_broken_csv_stops_with_its_line(tmp_path):
    path = tmp_path / "table.csv"
    for text, message in BROKEN_CSV.values():
        path.write_bytes(text.encode())
        with pytest.raises(ValueError, match=message):
            list(open_items(path))


def test_a_csv_that_is_one_keeps_what_it_quotes(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b'id,text\r\n1,"two\r\nlines, ""quoted"""\r\n2,5" pipe\r\n3,a\xe2\x80\xa8b\r\n')
    rows = [(item.place, json.loads(item.data)["text"]) for item in open_items(path)]
    assert rows == [(2, 'two\r\nlines, "quoted"'), (4, '5" pipe'), (5, "a\u2028b")]


def test_a_gzip_file_that_is_not_whole_is_named(tmp_path):
    packed = gzip.compress(b"".join(b'{"candidate": "%d"}\n' % i for i in range(3000)))
    changed = packed[:300] + bytes([packed[300] ^ 255]) + packed[301:]
    for data in (packed[:-400], changed, b'{"candidate": "a"}\n', packed[:5], packed + b"garbage"):
        (tmp_path / "pairs.jsonl.gz").write_bytes(data)
        with pytest.raises(ValueError, match=r"pairs.jsonl.gz' is not a whole gzip file \(.*\): copy or pack it"):
            list(open_items(tmp_path / "pairs.jsonl.gz"))


@pytest.mark.parametrize("ending", ["Jsonl.Gz", "NDJSON", "CSV.gZ", "PARQUET"])
def test_an_ending_in_capitals_is_the_same_ending(ending, tmp_path):
    path, rows = tmp_path / f"PAIRS.{ending}", [{"candidate": "a cat"}, {"candidate": "a dog"}]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    data = b"candidate\na cat\na dog\n" if ending.lower().startswith("csv") else lines
    if ending == "PARQUET":
        pd.DataFrame(rows).to_parquet(path)
    else:
        path.write_bytes(gzip.compress(data) if ending.lower().endswith("gz") else data)
    assert [json.loads(item.data) for item in open_items(path)] == rows


def doubled(kind, folder):
    """Two columns "score", as a table of some kind."""
    columns, cells = ["text", "score", "score"], ["a cat", "1", "2"]
    if kind == "frame":
        return pd.DataFrame([cells], columns=columns)
    if kind == "numbered frame":  # as JSON both are "1"
        return pd.DataFrame([cells], columns=["text", 1, "1"])
    path = folder / f"table.{kind}"
    if kind == "csv":
        path.write_text(f"{','.join(columns)}\n{','.join(cells)}\n")
    else:
        parquet.write_table(pyarrow.table([pyarrow.array([cell]) for cell in cells], names=columns), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame", "numbered frame"])
def test_a_table_with_two_columns_of_one_name_is_refused(kind, tmp_path):
    with pytest.raises(ValueError, match="names a column twice, '(score|1)': rename one of them, or leave it out"):
        list(open_items(doubled(kind, tmp_path)))


def test_a_column_that_json_cannot_say_is_left_unread():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    row = {"text": "a cat", "n": np.int64(3), "price": Decimal("1.50"), "image": b"\x89PNG", "deep": deep, (1, 2): "x"}
    item = encode_row(row | {"id": Decimal(7)}, 5)
    assert not item.problem and json.loads(item.data) == {"text": "a cat", "n": 3, "id": "7"}
    reasons = dict(item.unread)
    assert reasons["price"] == "Decimal is neither text, number, list nor mapping" and "bytes is" in reasons["image"]
    assert set(reasons) == {"price", "image", "deep", "(1, 2)", "id"} and hash(item)
    assert next(cut([item], 1))[0].key == next(cut([item._replace(unread=())], 1))[0].key  # of what is read
