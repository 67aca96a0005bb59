"""What says a value in English: dates, times, amounts, numbers, numerals, titles and initials, with what they say."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

# What says a value: where it stands, what it is worth, and how it is usually written (None: as it stands).


class Form(NamedTuple):
    """An expression, the values it may stand for, and its usual form, "" where it has none."""

    start: int
    end: int
    keys: tuple[Hashable, ...]
    usual: str = ""


_ONES = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen".split(),
        range(1, 20),
        strict=True,
    )
)
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "tn": 10**12}
_ORDINAL_ONES = dict(
    zip(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth".split(),
        range(1, 20),
        strict=True,
    )
)
_ORDINAL_TENS = {f"{word[:-1]}ieth": value for word, value in _TENS.items()}


def _any(words: Iterable[str]) -> str:
    """Return a pattern for any of these words, the longest first; a dotless i is no i, and a long s no s."""
    return "(?a:" + "|".join(sorted(map(re.escape, {*words}), key=lambda word: (-len(word), word))) + ")"


_BELOW_100 = rf"(?:{_any(_TENS)}(?:[-\u2010\u2011 ]{_any(list(_ONES)[:9])}\b)?+|{_any(_ONES)})\b"
_BELOW_1000 = rf"(?:(?:an?\b|{_BELOW_100})\ hundred\b(?:(?:\ and)?\ {_BELOW_100})?+|{_BELOW_100})"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})++(?:\.\d++)?+|\d++(?:\.\d++)?+)"
_BEFORE = r"(?<![\w.,:/\u2010-\u2013-])"  # no part of a longer number, date or score
_SCALE = _any(_SCALES)
_WORDS = rf"""(?:
    half\ an?\ {_SCALE}\b
  | (?:(?:an?\b|{_BELOW_1000})(?:\ and\ a\ half)?\ {_SCALE}\b(?:(?:,|\ and)?\ (?={_BELOW_1000}\ {_SCALE}\b))?+){{1,4}}
    (?:(?:,|\ and|,\ and)?\ {_BELOW_1000}(?!\ {_SCALE}))?+
  | {_BELOW_1000}(?:\ and\ a\ half\b)?+
  | (?:an?|half\ a|two|three|four|five|six)\ dozen\b
  | zero\b
)"""
_FIGURES = rf"(?<!\d[.,:/]\ ){_DIGITS}(?:[\ \u00a0-]?{_SCALE}\b|(?:[mk]|\ ?(?:mn|bn|tn))\b)?+(?!\w|[.,:/]\d)"
_NUMBER = rf"(?:{_BEFORE}(?:{_FIGURES}|\b{_WORDS}))"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


def number_of(words: str) -> float | None:
    """Return what a number in digits or words is worth, None for what is no number.

    Examples
    --------
    >>> [number_of(words) for words in ("2,500", "2.5 million", "two hundred and four", "half a million", "£")]
    [2500.0, 2500000.0, 204.0, 500000.0, None]
    """
    total, current, held = 0.0, 0.0, False
    told = re.sub(r"(?<=\d),(?=\d{1,2}(?!\d))", ".", words.lower())  # 2,50 €
    for part in re.findall(r"\d[\d,]*(?:\.\d+)?|[a-z]+", told.replace("and a half", "plushalf")):
        scale = _SCALES.get(part) or _SHORT_SCALES.get(part)
        if part[0].isdigit():
            current = float(part.replace(",", ""))
        elif part in _ONES or part in _TENS:
            current += _ONES.get(part) or _TENS[part]
        elif part == "plushalf":
            current += 0.5
        elif part == "hundred":
            current = (current or 1) * 100
        elif part == "dozen":
            current = (current or 1) * 12
        elif part == "half":
            current = 0.5
        elif scale:
            total, current = total + (current or 1) * scale, 0.0
        elif part not in ("a", "an", "and", "zero"):
            return None
        held = True
    return round(total + current, 9) if held else None


# Dates.

_MONTHS = "January February March April May June July August September October November December".split()
_MONTH_NUMBERS = {month.lower(): number for number, month in enumerate(_MONTHS, 1)}
_MONTH_NUMBERS |= {month[:3].lower(): number for number, month in enumerate(_MONTHS, 1)} | {"sept": 9}
_SHORT_MONTHS = r"(?a:jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_MONTH = rf"(?P<month>March|May|Mar\b\.?|(?i:{_any({*_MONTHS} - {'March', 'May'})}|{_SHORT_MONTHS}))"
_ORDINAL_DAY = rf"(?:{_any([*_ORDINAL_ONES, *_ORDINAL_TENS])}|{_any(_TENS)}[- ]{_any(list(_ORDINAL_ONES)[:9])})"
_DAY = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)?\b|{_ORDINAL_DAY}\b)(?![.,:/-]\d|%|\ ?[ap]\.?m\b|\ percent)"
_YEAR = r"(?:,?\ (?:of\ )?(?P<year>1[0-9]\d\d|20\d\d)\b(?![.,:]\d))"
_AWAY = r"(?<![\w/.,:-])"
_DATES = tuple(
    re.compile(pattern, re.VERBOSE)
    for pattern in (
        rf"{_AWAY}(?P<year>1[0-9]\d\d|20\d\d)-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\d-])",
        rf"{_AWAY}{_MONTH}\ (?:the\ )?{_DAY}{_YEAR}?+",
        rf"{_AWAY}(?:the\ )?{_DAY}\ (?:of\ )?{_MONTH}{_YEAR}?+",
        rf"{_AWAY}{_MONTH}{_YEAR}",
    )
)
_JOINED = re.compile(r"\d(?:st|nd|rd|th)? (?:and|or|to|until|-|–) $")  # 2nd and 3rd May: one month for both
_FIGURE_DATE = re.compile(rf"{_AWAY}(\d\d?)([/.-])(\d\d?)\2((?:1[0-9]|20)?\d\d)(?![\d/-]|[.,:]\d)")
_LONE_MONTH = re.compile(
    r"(?<=\b(?:in|by|of)\ )(?P<month>(?:Jan|Feb|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)(?!\w|\ [A-Z])", re.VERBOSE
)  # no first name: the work of Jan Vos
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_WEEKDAY = re.compile(
    r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b\.?"
    rf"(?=,?\ (?:{_any([*_MONTHS, *(month[:3] for month in _MONTHS)])}|\d{{1,2}}(?:st|nd|rd|th)?\ [A-Z]|\d{{4}}-))"
)


def _ordinal(words: str) -> int | None:
    """Return the number of an ordinal or of a day: 15, 15th, fifteenth, twenty-first."""
    digits = re.match(r"\d+", words)
    if digits:
        return int(digits[0])
    tens, _, ones = words.lower().replace(" ", "-").rpartition("-")
    if tens:
        return _TENS[tens] + _ORDINAL_ONES[ones] if tens in _TENS and ones in _ORDINAL_ONES else None
    return _ORDINAL_ONES.get(ones) or _ORDINAL_TENS.get(ones)


def _date_form(start: int, end: int, year: str | None, month: int, day: int | None) -> Form:
    usual = _MONTHS[month - 1] + (f" {day}" if day else "") + (f"{',' * bool(day)} {year}" if year else "")
    return Form(start, end, (("date", int(year or 0), month, day or 0),), usual)


def dates(text: str) -> Iterator[Form]:
    """Give dates by their year, month and day."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            found = match.groupdict()
            written = found["month"].rstrip(".").lower()
            month = int(written) if written.isdigit() else _MONTH_NUMBERS[written]
            day = _ordinal(found["day"]) if found.get("day") else None
            joined = _JOINED.search(text[max(0, match.start() - 10) : match.start()])
            if (day is None or 1 <= day <= 31) and not joined:
                yield _date_form(*match.span(), found.get("year"), month, day)
    for match in _LONE_MONTH.finditer(text):
        yield Form(*match.span(), (), _MONTHS[_MONTH_NUMBERS[match["month"].rstrip(".").lower()] - 1])
    for match in _WEEKDAY.finditer(text):
        yield Form(*match.span(), (), next(day for day in _DAYS if day.startswith(match[1][:3])))


def figure_dates(text: str, like: frozenset[tuple[int, int, int]]) -> Iterator[Form]:
    """Give dates in figures whose day is told from the month: by its size, or because the other text has the date."""
    for match in _FIGURE_DATE.finditer(text):
        first, second, year = int(match[1]), int(match[3]), match[4]
        readings = {(first, second), (second, first)} if match[2] == "/" else {(first, second)}
        possible = {(d, m) for d, m in readings if 1 <= m <= 12 and 1 <= d <= 31}
        full = {
            (y, m, d)
            for d, m in possible
            for y in ([int(year)] if len(year) == 4 else [1900 + int(year), 2000 + int(year)])
        }
        known = full & like
        told = known if len(known) == 1 else full
        if len(told) == 1:
            (y, m, d) = next(iter(told))
            yield _date_form(*match.span(), str(y), m, d)
        else:
            yield Form(*match.span(), (), match[0])


# Times of day.

_PAST = {"five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_PART = r"in\ the\ (?:morning|afternoon|evening)|at\ night"
_HALF = r"(?P<half>[ap])\.?\ ?m\b\.?"
_TIMES = tuple(
    _compiled(pattern)
    for pattern in (
        rf"{_BEFORE}(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))?(?P<gap>\ ?)"
        rf"(?:{_HALF}|(?P<noon>noon|midnight)\b)",
        r"(?<![\w.,:/-])(?P<hour>0\d|1[2-9]|2[0-4]):(?P<minute>[0-5]\d)(?![\w:/-]|\.\d)(?:\ ?(?:hours|hrs|h)\b)?",
        rf"{_BEFORE}\b(?P<word>{_any(list(_ONES)[:12])}|1[0-2]|[1-9])(?::(?P<minute>[0-5]\d))?(?:\ o['’]clock)?"
        rf"\ (?P<part>{_PART})\b",
        rf"\b(?:(?P<half>half)|(?P<quarter>a\ quarter|quarter)|(?P<minutes>{_any(_PAST)})(?:\ minutes)?)"
        rf"\ (?P<side>past|after|to|before)\ (?P<word>{_any(list(_ONES)[:12])}|1[0-2]|[1-9])\ (?P<part>{_PART})\b",
    )
)


def times(text: str) -> Iterator[Form]:
    """Give times of day, longer ones first; what says a.m. or p.m. is left as it stands, but for its zeros.

    The hour after midnight has the number 0, as 12:15 a.m. and 12:15 p.m. are twelve hours apart.
    """
    for match in _TIMES[0].finditer(text):
        minute, late = int(match["minute"] or 0), (match["half"] or "p").lower() == "p"
        hour = int(match["hour"])
        if match["noon"]:
            usual = match["noon"].lower() if hour == 12 and not minute else match[0]
        elif hour == 12 and not minute:
            usual = "noon" if late else "midnight"
        elif match["minute"]:
            half = match[0][match.end("gap") - match.start() :]
            hour = 0 if hour == 12 and minute and not late else hour
            usual = f"{hour}{f':{minute:02}' if minute else ''}{match['gap']}{half}"
        else:
            usual = match[0]
        yield Form(*match.span(), (), usual)
    for match in _TIMES[1].finditer(text):
        yield Form(*match.span(), (), _clock(int(match["hour"]), int(match["minute"])))
    for match in _TIMES[3].finditer(text):
        minutes = 30 if match["half"] else 15 if match["quarter"] else _PAST[match["minutes"].lower()]
        past = _hour(match) * 60 + (minutes if match["side"].lower() in ("past", "after") else -minutes)
        yield Form(*match.span(), (), _clock(past // 60 % 24, past % 60))
    for match in _TIMES[2].finditer(text):
        yield Form(*match.span(), (), _clock(_hour(match), int(match["minute"] or 0)))


def _hour(match: re.Match[str]) -> int:
    """Return the hour, from 0 to 23, of a time with its part of the day."""
    hour = (_ONES.get(match["word"].lower()) or int(match["word"])) % 12
    part = match["part"].lower()
    return hour + 12 * ("afternoon" in part or "evening" in part or ("night" in part and hour >= 6))


def _clock(hour: int, minute: int) -> str:
    """Return a time as most news write it; without dots, which would end a sentence."""
    if minute == 0 and hour in (0, 12, 24):
        return "noon" if hour == 12 else "midnight"
    hour_said = (hour - 1) % 12 + 1 if hour % 24 else 0
    return f"{hour_said}{f':{minute:02}' if minute else ''} {'pm' if 12 <= hour < 24 else 'am'}"


# Quarters of a year.

_QUARTER = re.compile(r"(?<![\w./-])Q(?P<number>[1-4])(?P<year>(?=,? (?:19|20)\d\d\b))?(?![\w:-]|\.\d)")
_NAMED_Q = re.compile(r"(?:[A-Z][\w'’-]*|\d|[:/])[ \u00a0]$")  # the Audi Q3
_HAS_ARTICLE = re.compile(r"(?:\b(?:the|its|their|our|his|this|last|next|each|every|a)|['’]s?) $", re.I)


def quarters(text: str) -> Iterator[Form]:
    """Give quarters of a year, which are written as Q3 and as the third quarter."""
    for match in _QUARTER.finditer(text):
        named = _NAMED_Q.search(text[max(0, match.start() - 30) : match.start()])
        if named and named[0].strip() not in (
            "In",
            "By",
            "For",
            "Its",
            "The",
            "Their",
            "This",
            "Last",
            "During",
            "Since",
            "From",
        ):
            continue
        told = _HAS_ARTICLE.search(text[max(0, match.start() - 7) : match.start()])
        name = f"{'' if told else 'the '}{list(_ORDINAL_ONES)[int(match['number']) - 1]} quarter"
        usual = f"{name} of" if match["year"] is not None else name
        starts = not text[: match.start()].strip() or text[match.start() - 2] in ".!?"
        yield Form(*match.span(), (), usual[0].upper() + usual[1:] if starts else usual)


# Decades and centuries, which hold their years.

_PERIOD = _compiled(
    rf"""(?:\bthe\ )?(?:\b(?P<part>early|mid|late)[-\ ](?:the\ )?)?(?:
      (?:\b(?P<decade>(?:1[0-9]|20)\d0)|(?<!\w)['’](?P<short>\d0))['’]?s\b
      | \b(?P<century>\d{{1,2}}(?:st|nd|rd|th)|{_ORDINAL_DAY})\ century\b)"""
)
_PLAIN_YEAR = re.compile(r"(?<![\w.,:/$£€-])(?:1[0-9]|20)\d\d(?![\w%-]|[.,:/]\d)")


def _periods(text: str) -> Iterator[Form]:
    """Give decades and centuries by their part, first year and length."""
    for match in _PERIOD.finditer(text):
        part = (match["part"] or "").lower()
        if match["century"]:
            period = 100 * ((_ordinal(match["century"]) or 1) - 1) + 1, 100
        else:
            short = int(match["short"] or 0)
            period = int(match["decade"] or 0) or short + (2000 if short < 30 else 1900), 10
        yield Form(*match.span(), (("period", part, *period),))


def years_in_periods(text: str) -> Iterator[Form]:
    """Give years by the decade and the century that they lie in, whole and by their part."""
    for match in _PLAIN_YEAR.finditer(text):
        year, keys = int(match[0]), list[Hashable]()
        for first, length in ((year // 10 * 10, 10), ((year - 1) // 100 * 100 + 1, 100)):
            share = (year - first) / length
            parts = [("early", share < 0.4), ("mid", 0.3 < share < 0.7), ("late", share >= 0.6), ("", True)]
            keys += [("period", part, first, length) for part, holds in parts if holds]
        yield Form(*match.span(), tuple(keys))


# Amounts: money, shares, and what has a unit.

_SIGNS = {"us$": "$", "$": "$", "€": "€", "£": "£", "¥": "¥", "₹": "₹"}
_CURRENCIES = {
    "dollar": "$", "dollars": "$", "usd": "$", "euro": "€", "euros": "€", "eur": "€", "pound": "£", "pounds": "£",
    "gbp": "£", "pounds sterling": "£", "yen": "¥", "jpy": "¥", "rupee": "₹", "rupees": "₹", "inr": "₹",
    "us dollars": "$", "u.s. dollars": "$", "chf": "chf", "swiss francs": "chf", "yuan": "cny", "cny": "cny",
}  # fmt: skip
_MONEY = (
    _compiled(rf"(?<![\w$])(?P<currency>{_any(_SIGNS)})\ ?(?P<number>{_FIGURES}(?:\ [mk]\b)?+)"),
    _compiled(rf"(?P<number>{_NUMBER})[\ -](?P<currency>{_any(_CURRENCIES)})\b(?!\ of\ [a-z])"),
    _compiled(rf"(?P<number>(?<![\w.,])(?:\d++,\d{{1,2}}(?![.,]?\d)|{_DIGITS}(?![.,]\d)))\ ?(?P<currency>[€£])"),
    _compiled(rf"\b(?P<currency>USD|EUR|GBP|JPY|INR|CHF|CNY)\ ?(?P<number>{_FIGURES})"),
)
_PERCENT = _compiled(rf"(?P<number>{_NUMBER}|{_BEFORE}{_DIGITS})[\ \u00a0-]?(?:%|percent\b|per\ cent\b|pct\b)")

# name: dimension, factor, system ("" where there is one system only)
_UNITS: dict[str, tuple[str, float, str]] = {}
for _dimension, _system, _table in (
    ("length", "metric", "mm millimetre:.001 cm centimetre:.01 m metre:1 km kilometre:1000"),
    ("length", "imperial", "in inch inche:.0254 ft foot feet:.3048 yd yard:.9144 mile:1609.344"),
    ("mass", "metric", "g gram gramme:.001 kg kilo kilogram kilogramme:1 tonne:1000"),
    ("mass", "imperial", "oz ounce:.028349523 lb pound:.45359237 stone:6.35029318"),
    ("area", "metric", "hectare:10000 square-metre sq-m m²:1 square-kilometre square-km sq-km km²:1000000"),
    ("area", "imperial", "acre:4046.8564 square-foot square-feet sq-ft:.09290304 square-mile sq-mile:2589988.1"),
    ("speed", "metric", "km/h kph kmh kilometres-per-hour kilometres-an-hour:1"),
    ("speed", "imperial", "mph miles-per-hour miles-an-hour:1.609344"),
    ("volume", "metric", "ml millilitre:.001 cl centilitre:.01 litre:1"),
    ("hours", "", "sec second:1 min minute:60 h hr hour:3600 day:86400 week:604800"),
    ("months", "", "month:1 yr year:12 decade:120 century centurie:1200"),
    ("data", "", "kb kilobyte:1 mb megabyte:1000 gb gigabyte:1000000 tb terabyte:1000000000"),
):  # fmt: skip
    _names = list[str]()
    for _word in _table.split():
        _name, _, _factor = _word.partition(":")
        _names.append(_name.replace("-", " "))
        if _factor:
            for _name in _names:
                for _spelt in {_name, _name.replace("metre", "meter").replace("litre", "liter")}:
                    _UNITS |= {_form: (_dimension, float(_factor), _system) for _form in (_spelt, f"{_spelt}s")}
            _names = []
_QUANTITY = _compiled(
    rf"(?P<number>{_NUMBER}|\b(?:an?|half\ an?)(?=\ ))[\ \u00a0-]?(?P<unit>{_any(_UNITS)})\b"
    r"(?P<half>\ and\ a\ half\b)?+(?!['’]|-old)"
)
_BARE = re.compile(r"\d++(?:[.,]\d++)*+")
_GLUED = _compiled(rf"{_BEFORE}(?P<number>{_DIGITS})(?P<unit>{_any(_UNITS)})\b")
_DEGREES = _compiled(
    rf"(?:(?P<sign>\bminus\ |(?<![\w.,:/%)])[-−–])(?P<below>{_DIGITS}(?![,.]?\d)|{_WORDS})|(?P<number>{_NUMBER}))"
    r"(?:\ ?°\ ?(?P<unit>[CF]\b)|[\ -]degrees?\b(?:\ (?P<name>C|F|Celsius|Fahrenheit|centigrade)\b)?)"
    r"(?P<under>\ below\ zero\b)?"
)
_PARTS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "sixth": 1 / 6, "tenth": 1 / 10}
_SHARE = _compiled(
    rf"\b(?:(?P<some>one|two|three|four|1|2|3|4|6|7|8|9)\ (?:in|out\ of)(?:\ every)?\ (?P<all>three|four|five"
    rf"|six|eight|ten|3|4|5|6|8|10"
    r"|100)\b(?!\ ?(?:%|percent|per))"
    rf"|(?P<half>half)(?=\ (?:of|the|its|their|his|her|all)\b)"
    rf"|(?P<count>an?|one|two|three|four)[\ -](?P<part>{_any(list(_PARTS)[1:])})s?(?=\ of\b))"
    r"(?P<of>\ of\b(?:\ (?:the|all|its|their)\b)?|\ the\b)?"
)
_NO_SHARE = re.compile(
    r"\s?(?:an?|every|each)?\s?(?:hours?|minutes?|days?|weeks?|months?|years?|centur|miles?|million|billion"
    r"|dozen|way|time)"
)
_PERCENT_OF = re.compile(r" of(?: (?:the|all|its|their)\b)?")


def _shares(text: str) -> Iterator[Form]:
    """Give one in four, half of and 25 percent of by the share in a hundred."""
    for match in _SHARE.finditer(text):
        if match["all"]:
            worth = (number_of(match["some"]) or 0) / (number_of(match["all"]) or 1)
        elif match["half"]:
            worth = _PARTS["half"]
        else:
            count = match["count"].lower()
            worth = (1 if count in ("a", "an") else _ONES[count]) * _PARTS[match["part"].lower()]
        if worth < 1 and not _NO_SHARE.match(text, match.end()):
            yield Form(*match.span(), tuple(("share", value) for value in _in_a_hundred(worth)))
    for match in _PERCENT.finditer(text):
        if (value := number_of(match["number"])) is not None and (of := _PERCENT_OF.match(text, match.end())):
            yield Form(match.start(), of.end(), (("share", value),))


def _in_a_hundred(worth: float) -> list[float]:
    """The share in a hundred, as exact as it is commonly written: 33, 33.3."""
    return list(dict.fromkeys(round(100 * worth, digits) for digits in (0, 1, 2)))


def _amounts(text: str) -> Iterator[Form]:
    """Give money, shares and quantities by their worth in one unit."""
    for pattern in _MONEY:
        for match in pattern.finditer(text):
            currency = match["currency"].lower()
            if (value := number_of(match["number"])) is not None:
                yield Form(*match.span(), (("money", _SIGNS.get(currency) or _CURRENCIES[currency], value),))
    for match in _PERCENT.finditer(text):
        if (value := number_of(match["number"])) is not None:
            yield Form(*match.span(), (("percent", value),))
    counted = {"a": 1.0, "an": 1.0, "half a": 0.5, "half an": 0.5}
    for pattern in (_QUANTITY, _GLUED):
        for match in pattern.finditer(text):
            dimension, factor, system = _UNITS[match["unit"].lower()]
            value = counted.get(match["number"].lower()) or number_of(match["number"])
            if value is not None:
                value += 0.5 * bool(match.groupdict().get("half"))
                place = _last_place(match["number"]) * factor
                yield Form(*match.span(), (Amount(dimension, round(value * factor, 9), system, place),))
    for match in _DEGREES.finditer(text):
        number, unit = match["number"] or match["below"], (match["unit"] or match["name"] or "").upper()[:1]
        if (value := number_of(number)) is not None:
            value = -value if match["sign"] or match["under"] else value
            celsius = unit != "F"
            worth = value if celsius else (value - 32) / 1.8
            place = _last_place(number) * (1 if celsius else 1 / 1.8)
            amount = Amount("degrees", round(worth, 6), "metric" if celsius else "imperial", place)
            yield Form(*match.span(), (amount, ("degrees", value)) if unit else (("degrees", value),))


_SYSTEMS = ("", "metric", "imperial")


class Amount(NamedTuple):
    """A quantity in its dimension's unit, the system of units it was written in, and what its last figure is worth."""

    dimension: str
    worth: float
    system: str
    place: float

    def same(self, other: Amount) -> bool:
        """Whether two quantities are the same; of two systems, whether one is the other, rounded as it is written."""
        if self.dimension != other.dimension:
            return False
        apart = abs(self.worth - other.worth)
        if self.system == other.system:
            return apart <= 1e-9 * abs(self.worth)
        slack = 0.03 * abs(self.worth)
        if self.dimension == "degrees":  # whose zero is no nothing
            slack = max(slack, 0.5)
        return apart <= 0.5 * max(self.place, other.place) and apart <= slack


class Amounts:
    """The amounts of a text with the words for them, in order, so that those nearest to another are soon found."""

    def __init__(self, written: Iterable[tuple[Amount, str]]):
        self.words: dict[Amount, dict[str, None]] = {}
        for amount, words in written:
            self.words.setdefault(amount, {})[words] = None
        self.ordered: dict[tuple[str, str], list[Amount]] = {}
        for amount in sorted(self.words, key=lambda amount: amount.worth):
            self.ordered.setdefault((amount.dimension, amount.system), []).append(amount)

    def of(self, amount: Amount) -> list[str]:
        """Return the words for the same amount, those in the same system of units first."""
        found = list[str]()
        for system in sorted(_SYSTEMS, key=lambda system: system != amount.system):
            listed = self.ordered.get((amount.dimension, system), [])
            place = bisect_left(listed, amount.worth * (1 - 1e-9), key=lambda other: other.worth)
            for other in listed[max(0, place - 1) : place + 2]:
                found += self.words[other] if amount.same(other) else ()
        return found


def _last_place(number: str) -> float:
    """Return what a number's last figure is worth: .1 for 2.5, 1 for 40, a tenth of a million for 2.5 million."""
    figures = _BARE.search(number)
    scales = (_SCALES.get(word) or _SHORT_SCALES.get(word) for word in re.findall(r"[a-z]+", number.lower()))
    scale = next(filter(None, scales), 1)
    return scale * 10.0 ** -len(figures[0].partition(".")[2]) if figures else float(scale)


# Numbers and numerals.

_PLAIN_NUMBER = _compiled(_NUMBER)
_MARKED = re.compile(rf"{_BEFORE}(?<!\d )[1-9]\d{{0,2}}(?:(?:\.\d{{3}})+|(?:[ \u00a0\u202f]\d{{3}})+)(?!\w|[.,:/ ]\d)")
_ORDINAL = _compiled(
    rf"(?<![\w.,-])(?:\d{{1,3}}(?:st|nd|rd|th)|(?:{_any(_TENS)}[-\ ])?{_any(_ORDINAL_ONES)}|{_any(_ORDINAL_TENS)})\b"
)
_OF_TIME = re.compile(r"\b(?:an?|one|per|split) $")
_WAR = re.compile(
    r"\b(?:World War (?P<number>II|I|2|1|Two|One|two|one)|WW ?-?(?P<short>II|I|2|1)"
    r"|(?P<ordinal>First|Second|1st|2nd) World War)\b"
)
_WARS = dict.fromkeys(("I", "ONE", "1", "FIRST", "1ST"), "First")
_WARS |= dict.fromkeys(("II", "TWO", "2", "SECOND", "2ND"), "Second")
_NUMERAL = re.compile(
    r"\b(?P<word>[A-Za-z][\w'’-]{1,30}) (?P<number>(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})|\d{1,2}"
    rf"|(?:{'|'.join(word.capitalize() for word in list(_ONES)[:12])})"
    rf"|[Tt]he (?:{'|'.join(word.capitalize() for word in _ORDINAL_ONES)}))(?![\w'’]|[.,:/-]\d)"
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}
_NO_NUMERAL = frozenset("and but or if when then that than so as because while before after since where said".split())


def _roman(numeral: str) -> int:
    """Return what a Roman numeral is worth.

    Examples
    --------
    >>> [_roman(numeral) for numeral in ("IV", "XIV", "XLIX")]
    [4, 14, 49]
    """
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-value if value < max(values[i:]) else value for i, value in enumerate(values))


def wars(text: str) -> Iterator[Form]:
    """Give the two world wars, with a word in their names that tells them apart."""
    for match in _WAR.finditer(text):
        written = match["number"] or match["short"] or match["ordinal"]
        yield Form(*match.span(), (), f"{_WARS[written.upper()]} World War")


def _numerals(text: str) -> Iterator[Form]:
    """Give the numbers of kings, parts and chapters, by the word before them."""
    for match in _NUMERAL.finditer(text):
        number, word = match["number"], match["word"].lower()
        if number == "I" and (not match["word"][0].isupper() or word in _NO_NUMERAL):
            continue
        if number[0].isdigit():
            value = int(number)
        elif set(number) <= set("IVXL"):
            value = _roman(number)
        else:
            value = _ORDINAL_ONES.get(number[4:].lower()) or _ONES.get(number.lower()) or 0
        yield Form(*match.span("number"), (("numeral", word, value),))


def _numbers(text: str) -> Iterator[Form]:
    """Give numbers and ordinals by their value; *one* may be a pronoun and is none. 12.500 and 1 200 may have marks."""
    for match in _MARKED.finditer(text):
        keys = [("number", float(re.sub(r"\D", "", match[0])))]
        keys += [("number", value)] if "." in match[0] and (value := number_of(match[0])) is not None else []
        yield Form(*match.span(), tuple(keys))
    for match in _PLAIN_NUMBER.finditer(text):
        value = number_of(match[0])
        if value is not None and match[0].lower() not in ("one", "1"):
            yield Form(*match.span(), (("number", value),))
    for match in _ORDINAL.finditer(text):
        if match[0].lower() != "second" or not _OF_TIME.search(text[max(0, match.start() - 6) : match.start()]):
            yield Form(*match.span(), (("ordinal", _ordinal(match[0])),))


# Titles, streets and companies, by the name that they belong to.

_BEFORE_NAME = {
    "dr": "doctor", "st": "saint", "mt": "mount", "ft": "fort", "prof": "professor", "sen": "senator",
    "gov": "governor", "rep": "representative", "gen": "general", "lt": "lieutenant", "col": "colonel",
    "capt": "captain", "sgt": "sergeant", "rev": "reverend", "mr": "mister", "maj": "major", "hon": "honorable",
    "pres": "president", "det": "detective", "supt": "superintendent", "cllr": "councillor", "univ": "university",
    "dept": "department", "no": "number",
}  # fmt: skip
_AFTER_NAME = {
    "st": "street", "ave": "avenue", "rd": "road", "blvd": "boulevard", "sq": "square", "inc": "incorporated",
    "corp": "corporation", "co": "company", "ltd": "limited", "jr": "junior", "sr": "senior", "bros": "brothers",
    "univ": "university", "intl": "international", "assn": "association", "dept": "department",
}  # fmt: skip
_TITLE = re.compile(
    rf"\b(?P<title>{_any(w.capitalize() for pair in _BEFORE_NAME.items() for w in pair)}\b)\.?"
    r"(?= (?:of )?(?P<name>[A-Z\d][\w'’-]{0,40}))"
)
_SUFFIX = re.compile(
    r"\b(?P<name>[A-Z][\w'’-]{0,40}),? "
    rf"(?P<title>{_any(w.capitalize() for pair in _AFTER_NAME.items() for w in pair)}\b\.?)"
)


def _titles(text: str) -> Iterator[Form]:
    """Give what is abbreviated beside a name, by its full word and the name."""
    for match in _TITLE.finditer(text):
        title = match["title"].lower()
        end = match.end() if title in _BEFORE_NAME else match.end("title")
        yield Form(match.start(), end, (("title", _BEFORE_NAME.get(title, title), match["name"].lower()),))
    for match in _SUFFIX.finditer(text):
        title = match["title"].lower().rstrip(".")
        end = match.end("title") if title in _AFTER_NAME else match.start("title") + len(title)
        key = ("suffix", _AFTER_NAME.get(title, title), match["name"].lower())
        yield Form(match.start("title"), end, (key,))


_FIRM = re.compile(
    r"\b(?P<name>[A-Z][\w'’-]{1,40})(?:,? (?:(?:&|and) )?(?:Co|Company|Inc|Incorporated|Ltd|Limited|Corp|Corporation|"
    r"LLC|PLC|plc|AG|SA|GmbH)\b\.?)?"
)


def _firms(text: str) -> Iterator[Form]:
    """Give names with or without what says that they are a firm's."""
    for match in _FIRM.finditer(text):
        yield Form(*match.span(), (("firm", match["name"].lower()),))


# Initials of names. What everybody knows by its initials is never taken for another name.

_KNOWN_INITIALS = {
    initials: tuple(names.split("|"))
    for initials, names in (
        line.strip().split(" ", 1)
        for line in """UN United Nations
        UK United Kingdom
        US United States|United States of America
        EU European Union
        UAE United Arab Emirates
        USSR Union of Soviet Socialist Republics
        WHO World Health Organization|World Health Organisation
        WTO World Trade Organization|World Trade Organisation
        IMF International Monetary Fund
        NATO North Atlantic Treaty Organization|North Atlantic Treaty Organisation
        OECD Organisation for Economic Co-operation and Development
        OPEC Organization of the Petroleum Exporting Countries
        ICC International Criminal Court
        IAEA International Atomic Energy Agency
        IOC International Olympic Committee
        ECB European Central Bank
        FBI Federal Bureau of Investigation
        CIA Central Intelligence Agency
        NSA National Security Agency
        DEA Drug Enforcement Administration
        FDA Food and Drug Administration
        CDC Centers for Disease Control and Prevention|Centers for Disease Control
        EPA Environmental Protection Agency
        FAA Federal Aviation Administration
        SEC Securities and Exchange Commission
        IRS Internal Revenue Service
        NASA National Aeronautics and Space Administration
        ESA European Space Agency
        NHS National Health Service
        BBC British Broadcasting Corporation
        NFL National Football League
        NBA National Basketball Association
        MIT Massachusetts Institute of Technology
        NYPD New York Police Department|New York City Police Department
        LAPD Los Angeles Police Department
        NYC New York City
        LA Los Angeles
        DC District of Columbia
        IRA Irish Republican Army
        PM Prime Minister
        CEO chief executive officer|chief executive
        CFO chief financial officer
        GDP gross domestic product
        AI artificial intelligence
        MP member of parliament
        VP vice president|vice-president""".splitlines()
    )
}
_INITIALS = re.compile(r"(?<![\w.&-])(?:[A-Z]{2,6}|[A-Z]{1,2}(?:of?|f)[A-Z]{1,2}|(?:[A-Z]\.){2,6})(?!\w|\.[A-Z])")
_INITIALS_OF = {name.lower(): initials for initials, names in _KNOWN_INITIALS.items() for name in names}
_KNOWN_NAME = re.compile(rf"\b{_any(_INITIALS_OF)}\b", re.IGNORECASE)
_CAPITALISED = r"[A-Z][^\W\d_]{1,40}(?:[-'’][^\W\d_]{1,40}){0,3}"
_NAME = re.compile(rf"\b{_CAPITALISED}(?: (?:(?:of|for|the|and|in|on|to|de|&) ){{0,2}}{_CAPITALISED}){{1,9}}")
_LONGEST_NAME = 7
_NO_NAMES = frozenset(
    "ATM CCTV CEO DIY DNA DVD FAQ GPS HIV IVF LED LGBT MRI PDF RIP RNA SIM SMS SOS SUV URL USB VIP".split()
)


def initials(text: str) -> Iterator[Form]:
    """Give initials, and the names that everybody knows by them."""
    if sum(map(str.isupper, text)) * 2 > sum(map(str.isalpha, text)):
        return
    for match in _INITIALS.finditer(text):
        initials = match[0].replace(".", "").upper()
        yield Form(*match.span(), (("initials", "US" if initials == "USA" else initials),))
    for match in _KNOWN_NAME.finditer(text):
        initials = _INITIALS_OF[match[0].lower()]
        if match[0][0].isupper() or initials in ("CEO", "CFO", "GDP", "AI", "MP", "VP", "PM"):
            yield Form(*match.span(), (("initials", initials),))


def names_by_initials(text: str) -> Iterator[tuple[str, str]]:
    """Give the initials of each name of a text with the name: three letters or more, or two that everybody knows."""
    for run in _NAME.finditer(text):
        words = run[0].split(" ")
        capital = [i for i, word in enumerate(words) if word[0].isupper()]
        for number, first in enumerate(capital):
            for last in capital[number + 1 : number + _LONGEST_NAME]:
                part = words[first : last + 1]
                name = " ".join(part)
                for initials in {"".join(w[0] for w in part if w[0].isupper()), "".join(w[0].upper() for w in part)}:
                    if len(initials) == 2 and initials not in _KNOWN_INITIALS or initials in _NO_NAMES:
                        continue
                    if name in _KNOWN_INITIALS.get(initials, (name,)):
                        yield initials, name


# Names with and without the accents of their letters.

_NAME_WORD = re.compile(r"\b[^\W\d_a-z][^\W\d_]{2,40}")
_NO_ACCENT = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)


def _accents(text: str) -> Iterator[Form]:
    """Give the words of names by their letters without accents; in running text they begin with a capital letter."""
    for match in _NAME_WORD.finditer(text):
        if match[0][0].isupper():
            letters = unicodedata.normalize("NFD", match[0].lower().translate(_NO_ACCENT))
            yield Form(*match.span(), (("letters", "".join(c for c in letters if not unicodedata.combining(c))),))


# What is written as another text writes it, the longest first.
AS_ELSEWHERE = (_periods, _shares, _amounts, _numerals, _firms, _titles, initials, _numbers, _accents)
