"""Addresses with passwords, keys and odd signs: taken apart rightly, and shown without what is secret."""

from urllib.parse import quote

import pytest
from helpers.spellings import SPELLINGS
from hypothesis import example, given
from hypothesis import strategies as st

from summeval_nb.core.addresses import Address, hidden, looks_like_a_key, without_keys, without_secrets


def sent(address: Address) -> str:
    """The address of a page below, as a server is asked for it."""
    return f"{address.start}/x" + (f"?{address.query}" if address.query else "")


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
    assert (address.shown, sent(address), address.user, address.password) == (shown, below, user, password)
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
    secrets = [f"USER{user}", f"PASS{password}", f"QUERY{query}"]
    quoted = [quote(secret, safe="") for secret in secrets]
    text = f"http://{quoted[0]}:{quoted[1]}@host:8000/v1?key={quoted[2]}"
    address = Address.parse(text)
    assert (address.user, address.password) == (secrets[0], secrets[1])
    assert address.shown == without_secrets(text) == "http://host:8000/v1"
    said = f"refused: {secrets} {quoted} {address.basic} {sent(address)}"
    left = hidden(said, address.secrets)
    assert not any(mark in left for mark in ("USER", "PASS", "QUERY", address.basic[6:]))


KEYS = [
    *("7f3kd92mfa81jd0q", "0123456789abcdef0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef", "sk-12345"),
    *("AIzaSyD4kQ9x_Zr1", "AbCdEfGhIjKlMnOp", "x%2D7f3kd92mfa81jd0q", "a1b2-c3d4-e5f6-g7h8", "1234567890123456"),
    *(
        "hf_AbCdEfGh1234",
        "abcdefghijklmnopqrstuvwxyzab",
        "eyJhbGciOiJIUzI1NiJ9.e30.Zm9v",
        "key-9f8e7d6c",
        "MTIzNDU2Nzg5MDEy==",
    ),
]
NAMES = [
    *("v1", "openai", "deployments", "gpt-4o-mini-2024-07-18", "Llama-3.1-8B-Instruct", "internationalization"),
    *("chat", "us-central1-aiplatform", "my-project-123456", "Qwen2.5-7B-Instruct-GPTQ-Int4", "serving-endpoints"),
    *("mixtral-8x7b-instruct-v0.1", "token-auth.html", "api-reference", "anthropic.claude-3-5-sonnet-20240620-v1:0"),
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_in_a_path_is_sent_and_never_shown(key):
    text = f"https://h:8/v1/{key}/openai"
    address = Address.parse(text)
    assert sent(address) == text + "/x" and key not in repr(address) + address.shown
    assert address.shown == without_secrets(text) == without_secrets(address.shown)  # hidden once, hidden for good
    assert key not in hidden(f"no page {sent(address)}", address.secrets)
    assert address.shown != Address.parse(text.replace(key, f"{key[:-1]}_7f3kd92mfa81jd0r")).shown  # told apart
    assert without_secrets(f"llm:m@{text}, no") == f"llm:m@{address.shown}, no"
    wrong = pytest.raises(ValueError, Address.parse, f"ftp://h/{key}/v1")
    assert key not in str(wrong.value)


@pytest.mark.parametrize("name", NAMES)
def test_names_in_a_path_are_shown(name):
    assert not looks_like_a_key(name)
    assert (
        Address.parse(f"https://h/{name}/v1").shown == without_secrets(f"https://h/{name}/v1") == f"https://h/{name}/v1"
    )


@pytest.mark.parametrize("before", ["key", "api-key", "apikey", "token", "access_token", "Secret", "x-api-key"])
def test_what_follows_a_part_that_is_called_a_key_is_hidden(before):
    assert without_keys(f"/v1/{before}/abc/x") == f"/v1/{before}/***/x"


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=20, max_size=60))
def test_long_keys_of_small_letters_and_digits_are_hidden(key):
    if not key.isalpha() or len(key) > 23:
        assert key not in Address.parse(f"http://h/{key}/v1").shown


@pytest.mark.parametrize("host", ["localhost", "LocalHost.", "judge.localhost", "127.0.0.1", "127.8.9.10", "[::1]"])
@pytest.mark.parametrize("rest", ["", ":8000/v1"])
def test_this_machine_is_known_by_its_names(host, rest):
    assert Address.parse(f"http://{host}{rest}").local


@pytest.mark.parametrize("host", ["127.1", "0x7f000001", "2130706433", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]"])
def test_this_machine_is_known_by_odd_spellings(host):
    assert Address.parse(f"http://{host}/v1").local


@pytest.mark.parametrize("host", ["h", "localhost.example.com", "128.0.0.1", "10.127.0.1", "[::2]", "127.example.com"])
def test_other_machines_are_others(host):
    assert not Address.parse(f"http://{host}/v1").local


def test_port_0_is_refused_by_its_name():
    with pytest.raises(ValueError, match="port 0") as caught:
        Address.parse("http://me:secret@h:0/v1")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("query", ["v=1", "v=1&n=42", "a=b;c", "1", "debug"])
def test_short_values_of_a_query_make_no_holes(query):
    said = "model m1 takes 131,072 tokens of HTTP/1.1, and debugging of v42"
    secrets = Address.parse(f"http://h/v1?{query}").secrets
    assert hidden(said, secrets) == said
    assert hidden(f"no page /v1/x?{query}!", secrets) == "no page /v1/x***!"


def test_a_value_of_four_characters_is_hidden_as_a_word():
    assert hidden("wrong key pw-9, 'pw-9' of pw-99", ["pw-9"]) == "wrong key ***, '***' of pw-99"
    assert hidden("key_pw-9 pw-9! apw-9", ["pw-9"]) == "key_*** ***! apw-9"


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=40))
@example("ab'cde/<f>&")  # Python escapes the ' in a text that has a " of its own
def test_a_secret_is_hidden_however_it_is_spelled(spelling, secret):
    said = f"the key {SPELLINGS[spelling](secret)} is wrong"
    left = hidden(said, [secret])
    assert secret not in left and SPELLINGS[spelling](secret).strip("'\"\\") not in left
    assert left.startswith("the key ") and left.endswith(" is wrong") and "***" in left


@given(st.text("abcdef/+&%\\\"'<>;#x0123 ", max_size=200))
def test_what_holds_no_secret_stays_as_it_is(text):
    assert hidden(text, ["sk-very-secret", "1"]) == text
