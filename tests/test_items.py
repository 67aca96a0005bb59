"""Corpora as they lie on disks: strict CSV, whole gzip files, and only a newline ends a line."""

import gzip
import json

import pytest

from summeval_nb.ground.items import open_items

BROKEN_CSV = {
    "unclosed quote": ('id,text\n1,a\n2,"never closed\n3,b\n4,c\n', "line 3 of the CSV opens a quote that is never"),
    "quote that opens again": ('id,text\n1,"a\n2,b\n3,"c"\n4,d\n', "line 2 of the CSV has text between a closing"),
    "text behind a quote": ('id,text\n1,x\n2,"a" b\n', "line 3 of the CSV has text between a closing quote"),
    "bare CR": ("id,text\n1,a\rb\n2,c\n", "line 2 of the CSV holds a carriage return"),
    "bare CR in the header": ("id,text\r1,a\r2,b\r", "line 1 of the CSV holds a carriage return"),
    "unclosed header": ('id,"text\n1,a\n', "line 1 of the CSV opens a quote"),
    "doubled header": ("id,text,id\n1,a,2\n", "header names a column twice"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN_CSV.values(), ids=BROKEN_CSV.keys())
def test_a_csv_in_which_rows_cannot_be_told_apart_stops_with_its_line(text, message, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    with pytest.raises(ValueError, match=message):
        list(open_items(path))


def test_a_csv_that_is_one_keeps_what_it_quotes(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b'id,text\r\n1,"two\r\nlines, ""quoted"""\r\n2,5" pipe\r\n3,a\xe2\x80\xa8b\r\n')
    rows = [(item.place, json.loads(item.data)["text"]) for item in open_items(path)]
    assert rows == [(2, 'two\r\nlines, "quoted"'), (4, '5" pipe'), (5, "a\u2028b")]


@pytest.mark.parametrize("damage", ["cut short", "changed", "no gzip at all", "cut in the head", "more behind it"])
def test_a_gzip_file_that_is_not_whole_is_named(damage, tmp_path):
    packed = gzip.compress(b"".join(b'{"candidate": "%d"}\n' % i for i in range(3000)))
    path = tmp_path / "pairs.jsonl.gz"
    changed = packed[:300] + bytes([packed[300] ^ 255]) + packed[301:]
    found = {"cut short": packed[:-400], "changed": changed, "no gzip at all": b'{"candidate": "a"}\n'}
    path.write_bytes(found.get(damage, packed[:5] if damage == "cut in the head" else packed + b"garbage"))
    with pytest.raises(ValueError, match=r"pairs.jsonl.gz' is not a whole gzip file \(.*\): copy or pack it again"):
        list(open_items(path))
