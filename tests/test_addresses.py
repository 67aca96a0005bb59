"""Addresses with passwords, keys and odd signs: taken apart rightly, and shown without what is secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summeval_nb.ground._addresses import Address, hidden, without_secrets


@pytest.mark.parametrize(
    "text, shown, below, user, password",
    [
        ("http://h/v1", "http://h/v1", "http://h/v1/x", "", ""),
        ("http://h:80/v1/", "http://h:80/v1", "http://h:80/v1/x", "", ""),
        ("https://me:pw@h/v1?api_key=k&v=2", "https://h/v1", "https://h/v1/x?api_key=k&v=2", "me", "pw"),
        ("http://me:p%40s%2Fs@[::1]:8/v1/?k=a@b#f", "http://[::1]:8/v1", "http://[::1]:8/v1/x?k=a@b", "me", "p@s/s"),
        ("http://me:p@ss@h/v1", "http://h/v1", "http://h/v1/x", "me", "p@ss"),
        ("http://token@h", "http://h", "http://h/x", "token", ""),
    ],
)
def test_addresses_are_taken_apart(text, shown, below, user, password):
    address = Address.parse(text)
    assert (address.shown, address.below("/x"), address.user, address.password) == (shown, below, user, password)
    assert address.below("/props", root=True) == below.replace("/v1/x", "/props").replace("/x", "/props")
    assert not user or user not in repr(address)
    assert without_secrets(f"llm:a@{text}") == f"llm:a@{shown}" or "/v1/" in text


@pytest.mark.parametrize(
    "text",
    [
        *("", "localhost:8000", "ftp://h/v1", "http:///v1", "http://h:port/v1", "http://h:99999/v1", "http://[::1/v1"),
        *("http://me:secret/v1", "http://me:hun?secret@h/v1", "http://me:a#secret@h/v1", "http://me:secret @h/v1"),
        *("http://h/v1\r\nX: secret", "http://me:secret\\@h/v1", "me:secret@h/v1", "http://h:1:secret/v1"),
    ],
)
def test_wrong_addresses_are_refused_and_no_secret_is_shown(text):
    with pytest.raises(ValueError, match="base_url must be an address") as caught:
        Address.parse(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["http://me:secret@h/v1", "http://h/v1?key=secret", "http://me:x/secret@h/v1", "http://me:secret?x@h/v1"]
)
def test_addresses_within_texts_lose_their_secrets(text):
    line = f"calling {text}, which failed: {{'url': '{text}'}}"
    assert "secret" not in without_secrets(line) and without_secrets(line).startswith("calling http://")


@pytest.mark.parametrize("text", ["http://h:81, which", "(http://[::1]:8).", "see http://h/v1: it", "http://h: no"])
def test_what_follows_an_address_in_its_sentence_stays(text):
    assert without_secrets(text) == text


word = st.text("abcdefghijklmnopqrstuvwxyzABC0123456789-_.~!$&*+,;=%:@/?#[]", min_size=6, max_size=12)


@given(word, word, word)
def test_no_password_no_user_and_no_query_is_left(user, password, query):
    from urllib.parse import quote

    secrets = [f"USER{user}", f"PASS{password}", f"QUERY{query}"]
    quoted = [quote(one, safe="") for one in secrets]
    text = f"http://{quoted[0]}:{quoted[1]}@host:8000/v1?key={quoted[2]}"
    address = Address.parse(text)
    assert (address.user, address.password) == (secrets[0], secrets[1])
    assert address.shown == without_secrets(text) == "http://host:8000/v1"
    said = f"refused: {secrets} {quoted} {address.basic} {address.below('/x')}"
    left = hidden(said, address.secrets)
    assert not any(mark in left for mark in ("USER", "PASS", "QUERY", address.basic[6:]))
