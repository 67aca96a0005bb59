"""Addresses with passwords, keys and odd signs: taken apart rightly, and shown without what is secret."""

from urllib.parse import quote

import pytest
from helpers.spellings import SPELLINGS
from hypothesis import example, given
from hypothesis import strategies as st

from summeval_nb.core.addresses import Address, redacted


@pytest.mark.parametrize(
    "text, shown, query, user, password",
    [
        ("http://h:80/v1/", "http://h:80/v1", "", "", ""),
        ("https://me:pw@h/v1?api_key=k&v=2", "https://h/v1", "api_key=k&v=2", "me", "pw"),
        ("http://me:p%40s%2Fs@[::1]:8/v1?k=a@b#f", "http://[::1]:8/v1", "k=a@b", "me", "p@s/s"),
        ("http://me:p@ss@h/v1", "http://h/v1", "", "me", "p@ss"),
        ("http://token@h", "http://h", "", "token", ""),
    ],
)
def test_addresses_are_taken_apart(text, shown, query, user, password):
    address = Address.parse(text)
    assert (address.shown, address.start, address.query) == (shown, shown, query)
    assert (address.user, address.password) == (user, password) and (not user or user not in repr(address))
    assert redacted(f"llm:a@{text}").removesuffix("/") == f"llm:a@{shown}"


def test_wrong_addresses_are_refused_and_no_secret_is_shown():
    for text in (
        *("", "localhost:8000", "ftp://h/v1", "http:///v1", "http://h:port/v1", "http://h:99999/v1", "http://[::1/v1"),
        *("http://me:secret/v1", "http://me:hun?secret@h/v1", "http://me:a#secret@h/v1", "http://me:secret @h/v1"),
        *("http://h/v1\r\nX: secret", "http://me:secret\\@h/v1", "me:secret@h/v1", "http://h:1:secret/v1"),
    ):
        with pytest.raises(ValueError, match="base_url must be an address") as caught:
            Address.parse(text)
        assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="port 0") as caught:
        Address.parse("http://me:secret@h:0/v1")
    assert "secret" not in str(caught.value)


def test_addresses_within_texts_lose_their_secrets_and_nothing_else():
    for text in ("me:secret@h/v1", "h/v1?key=secret", "me:x/secret@h/v1", "me:secret?x@h/v1"):
        line = redacted(f"calling http://{text}, which failed: {{'url': 'http://{text}'}}")
        assert "secret" not in line and line.startswith("calling http://")
    for text in ("http://h:81, which", "(http://[::1]:8).", "see http://h/v1: it", "http://h: no"):
        assert redacted(text) == text


word = st.text("abcdefghijklmnopqrstuvwxyzABC0123456789-_.~!$&*+,;=%:@/?#[]", min_size=6, max_size=12)


@given(word, word, word)
def test_no_password_no_user_and_no_query_is_left(user, password, query):
    secrets = [f"USER{user}", f"PASS{password}", f"QUERY{query}"]
    quoted = [quote(secret, safe="") for secret in secrets]
    text = f"http://{quoted[0]}:{quoted[1]}@host:8000/v1?key={quoted[2]}"
    address = Address.parse(text)
    assert (address.user, address.password) == (secrets[0], secrets[1])
    assert address.shown == redacted(text) == "http://host:8000/v1"
    left = redacted(f"refused: {secrets} {quoted} {address.basic} {address.start}?{address.query}", address.secrets)
    assert not any(mark in left for mark in ("USER", "PASS", "QUERY", address.basic))


KEYS = ["7f3kd92mfa81jd0q", "0123456789abcdef0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef", "sk-12345"]
KEYS += ["AIzaSyD4kQ9x_Zr1", "x%2D7f3kd92mfa81jd0q", "1234567890123456", "hf_AbCdEfGh1234", "MTIzNDU2Nzg5MDEy=="]
KEYS += ["abcdefghijklmnopqrstuvwxyzab", "eyJhbGciOiJIUzI1NiJ9.e30.Zm9v", "key-9f8e7d6c"]
NAMES = ["v1", "openai", "deployments", "gpt-4o-mini-2024-07-18", "Llama-3.1-8B-Instruct", "internationalization"]
NAMES += ["us-central1-aiplatform", "my-project-123456", "Qwen2.5-7B-Instruct-GPTQ-Int4", "serving-endpoints"]
NAMES += ["mixtral-8x7b-instruct-v0.1", "token-auth.html", "anthropic.claude-3-5-sonnet-20240620-v1:0"]


def test_a_key_in_a_path_is_sent_and_never_shown():
    for key in KEYS:
        text = f"https://h:8/v1/{key}/openai"
        address = Address.parse(text)
        assert address.start == text and key not in repr(address) + address.shown
        assert address.shown == redacted(text) == redacted(address.shown)  # hidden once, hidden for good
        assert key not in redacted(f"no page /v1/{key}/x", address.secrets)
        assert address.shown != Address.parse(text.replace(key, f"{key[:-1]}_7f3kd92mfa81jd0r")).shown  # told apart
        assert redacted(f"llm:m@{text}, no") == f"llm:m@{address.shown}, no"
        assert key not in str(pytest.raises(ValueError, Address.parse, f"ftp://h/{key}/v1").value)
    for name in NAMES:
        assert Address.parse(f"https://h/{name}/v1").shown == redacted(f"https://h/{name}/v1") == f"https://h/{name}/v1"
    for before in ("key", "api-key", "apikey", "token", "access_token", "Secret", "x-api-key"):
        assert Address.parse(f"http://h/v1/{before}/abc/x").shown == f"http://h/v1/{before}/***/x"


def test_this_machine_is_known_by_its_names():
    ours = ["localhost", "LocalHost.", "judge.localhost", "127.0.0.1", "127.8.9.10", "[::1]"]
    ours += ["127.1", "0x7f000001", "2130706433", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]"]
    others = ["h", "localhost.example.com", "128.0.0.1", "10.127.0.1", "[::2]", "127.example.com"]
    assert [host for host in ours + others if Address.parse(f"http://{host}:8000/v1").local] == ours


def test_short_values_make_no_holes():
    said = "model m1 takes 131,072 tokens of HTTP/1.1, and debugging of v42"
    for query in ("v=1", "v=1&n=42", "a=b;c", "1", "debug"):
        secrets = Address.parse(f"http://h/v1?{query}").secrets
        assert redacted(said, secrets) == said
        assert redacted(f"no page /v1/x?{query}!", secrets) == "no page /v1/x***!"
    assert redacted("wrong key pw-9, 'pw-9' of pw-99", ["pw-9"]) == "wrong key ***, '***' of pw-99"
    assert redacted("key_pw-9 pw-9! apw-9", ["pw-9"]) == "key_*** ***! apw-9"


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=40))
@example("ab'cde/<f>&")  # Python escapes the ' in a text that has a " of its own
def test_a_secret_is_hidden_however_it_is_spelled(spelling, secret):
    said = f"the key {SPELLINGS[spelling](secret)} is wrong"
    left = redacted(said, [secret])
    assert secret not in left and SPELLINGS[spelling](secret).strip("'\"\\") not in left
    assert left.startswith("the key ") and left.endswith(" is wrong") and "***" in left
