"""What is different between a claim and the sentence it comes from: words in their places. A plain module: edited
directly, tested in tests/test_differences.py.

The features of chapter 21 ask how much of a claim is in the evidence. The ones here align the claim with the one
evidence sentence that it is nearest to, and ask what is left over: which word stands where another stood, whether a
number keeps its unit and its neighbours, whether names keep their order, whether a "not" has come or gone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Indel, LCSseq, Levenshtein

from summeval_nb.evidence._actors import actor_clashes, with_first_names
from summeval_nb.evidence._beside import beside_clashes
from summeval_nb.evidence._denials import denied_once, negation_clashes
from summeval_nb.evidence._odd_words import kind_clashes, odd_word_clashes
from summeval_nb.evidence._roles import role_clashes
from summeval_nb.evidence._slots import (
    Clash,
    Slot,
    Words,
    different_slots,
    number_value,
    slot_clashes,
    title_for_name,
    told_between,
)
from summeval_nb.evidence._unsaid import unsaid_clashes
from summeval_nb.evidence._verbs import cause_clashes, speaker_clashes, verb_clashes
from summeval_nb.evidence._words import antonyms
from summeval_nb.evidence.check import (
    PairVectors,
    Parts,
    Token,
    idf_coverage,
    pairs_within,
    sentence_matches,
    stem_weight,
)
from summeval_nb.ground.results import Finding

__all__ = ["DIFFERENCES", "Clash", "compare"]

NEAR = 0.7  # of a claim's words, weighed by their rarity, that one sentence holds, if it may say who did what to whom
QUANTIFIERS = frozenset(
    "all every each most many some few several none no only any both either half majority always never often "
    "sometimes rarely usually".split()
)
HEDGES = frozenset(
    "may might could would should plan plans planned planning alleged allegedly reportedly possible possibly perhaps "
    "likely unlikely expected expects hope hopes hoped consider considering considered proposed proposal claims "
    "claimed suggested suggests if unless whether rumoured attempted tried wants wanted".split()
)
CONNECTIVES = frozenset(
    "before after because despite although though until since while unless if when during without therefore due".split()
)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def _closest(claim: Parts, evidence: Sequence[Parts], cosines: np.ndarray) -> tuple[int, int]:
    """Return the places of the evidence sentence nearest to the claim, and of the one that best holds what is left."""
    found = [
        0.6 * idf_coverage(claim, [one]) + 0.25 * pairs_within(claim, [one]) + 0.15 * float(cosine)
        for one, cosine in zip(evidence, cosines, strict=True)
    ]
    first = int(np.argmax(found))
    left = [key for key in claim.content if key not in evidence[first].key_set]
    if not left or len(evidence) == 1:
        return first, first
    held = [
        sum(stem_weight(key) for key in left if key in one.key_set) + 1e-3 * found[i] for i, one in enumerate(evidence)
    ]
    return first, int(np.argmax(held))


def _is_number(token: Token) -> bool:
    return token.kind == "number"


def _neighbours(tokens: Sequence[Token], place: int) -> set[str]:
    """Return the keys of the two content words after and the one before a place: a number's unit and its head."""
    after = [one.key for one in tokens[place + 1 : place + 5] if one.kind == "content"][:2]
    before = [one.key for one in tokens[max(0, place - 3) : place] if one.kind == "content"][-1:]
    return {*after, *before}


def _number_clashes(claim: Parts, evidence: Sequence[Parts]) -> tuple[list[Clash], dict[str, float]]:
    """Return numbers that the evidence does not hold, or that stand beside a unit that has another number there."""
    clashes, places = [], [i for i, token in enumerate(claim.tokens) if _is_number(token)]
    missing = moved = loose = 0
    where: dict[str, list[tuple[Parts, int]]] = {}
    heads: dict[str, set[str]] = {}
    units: dict[str, set[str]] = {}
    values: list[float] = []
    for one in evidence if places else ():
        for i, token in enumerate(one.tokens):
            if _is_number(token):
                where.setdefault(token.key, []).append((one, i))
                units.setdefault(_unit(one.tokens, i), set()).add(token.key)
                if (worth := number_value(one.tokens, i)) is not None:
                    values.append(worth)
                for key in _neighbours(one.tokens, i):
                    heads.setdefault(key, set()).add(token.key)
    for place in places:
        token = claim.tokens[place]
        own = _neighbours(claim.tokens, place)
        rivals = sorted({other for key in own for other in heads.get(key, ()) if other != token.key})
        worth = number_value(claim.tokens, place)
        if token.key not in where:
            low, high = told_between(claim.tokens, place)
            if worth is not None and any(low * worth <= other <= high * worth for other in values):
                continue
            missing += 1
            clashes.append(Clash("number", place, place, rivals[0] if rivals else ""))
            continue
        unit = _unit(claim.tokens, place)
        other_units = units.get(unit, set()) - {token.key} if unit else set()
        if other_units and all(_unit(one.tokens, i) != unit for one, i in where[token.key]):
            moved += 1
            clashes.append(Clash("number", place, place, min(other_units)))
        elif own and rivals and not any(own & _neighbours(one.tokens, i) for one, i in where[token.key]):
            loose += 1
    features = {"numbers_all": float(len(places)), "numbers_missing": float(missing)}
    return clashes, features | {"numbers_moved": float(moved), "numbers_loose": float(loose)}


_FURTHER = frozenset("more further additional extra other".split())


def _unit(tokens: Sequence[Token], place: int) -> str:
    """Return the key of the content word right after a number, or nothing: four days, four more days."""
    after = tokens[place + 1 : place + 3]
    after = after[1:] if after and after[0].key in _FURTHER else after[:1]
    return after[0].key if after and after[0].kind == "content" else ""


def _replacements(claim: Words, nearest: Words) -> list[tuple[int, int, int, int]]:
    """Return the places where other words stand between words that agree: (claim start, end, evidence start, end)."""
    found = []
    codes = Levenshtein.opcodes(nearest.parts.keys, claim.parts.keys)
    equal = [code.tag == "equal" for code in codes]
    for number, code in enumerate(codes):
        if code.tag != "replace":
            continue
        inside = (number > 0 and equal[number - 1]) or (number + 1 < len(codes) and equal[number + 1])
        if inside and code.dest_end - code.dest_start <= 4 and code.src_end - code.src_start <= 5:
            found.append((code.dest_start, code.dest_end, code.src_start, code.src_end))
    return found


_CAPITAL_ONLY = frozenset("may march".split())
# Two of these can well stand in one true sentence; they exclude each other only in the same place.
_ONLY_IN_PLACE = frozenset(
    "minutes minute hours hour days day weeks week months month years year decades decade million billion thousand "
    "thousands hundred hundreds trillion dozen half double twice once man men woman women boy boys girl girls father "
    "mother son daughter brother sister husband wife he she him her his hers himself herself old older new young "
    "first last before after january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday left right public private local national "
    "foreign".split()
)


def _antonym_clashes(
    claim: Words, nearest: Words, others: Sequence[Words], replaced: Sequence[tuple[int, int, int, int]]
) -> tuple[list[Clash], float, float]:
    """Return words whose opposite stands in the nearest sentence, how many of those are firm by the word alone or by
    the one word that it replaces, and how many have their opposite only elsewhere.

    Firm where the opposite stands in the word's own place, or the word stands nowhere in the evidence. Not open and
    shut are no opposites.
    """
    table, clashes = antonyms(), []
    near, anywhere = set(nearest.raw), {word for one in others for word in one.raw}
    slots = {i: set(nearest.raw[r[2] : r[3]]) for r in replaced for i in range(r[0], r[1])}
    codes = list(Levenshtein.opcodes(nearest.parts.keys, claim.parts.keys))
    wide = {
        i: set(nearest.raw[one.near_start : one.near_end])
        for one in different_slots(codes)
        if one.end - one.start <= 2 and one.near_end - one.near_start <= 3
        for i in range(one.start, one.end)
    }
    loose = firm = 0
    for place, word in enumerate(claim.raw):
        if word not in table or claim.parts.keys[place] in nearest.parts.key_set:
            continue
        if word in _CAPITAL_ONLY and not claim.parts.text[claim.parts.tokens[place].start].isupper():
            continue
        if hit := [one for one in sorted(table[word] & near) if not denied_once(claim, nearest, place, one)]:
            in_place = bool(table[word] & slots.get(place, set()))
            alone = claim.parts.tokens[place].kind == "content" and word not in anywhere | _ONLY_IN_PLACE
            firm += in_place or alone
            told = in_place or alone or bool(table[word] & wide.get(place, set()))  # fell, consequently rose
            clashes.append(Clash("antonym", place, place, hit[0], told))
        elif word not in anywhere and table[word] & anywhere:
            loose += 1
    return clashes, float(firm), float(loose)


def _order(claim: Parts, nearest: Parts) -> tuple[float, float, int]:
    """Return the share of matched content words in the nearest sentence's order, how many, and the first one."""
    places = {key: i for i, key in enumerate(nearest.content)}
    seen = [
        (i, places[key]) for i, key in enumerate(claim.content) if key in places and nearest.content.count(key) == 1
    ]
    if len(seen) < 2:
        return 1.0, float(len(seen)), -1
    ordered = sorted(there for _, there in seen)
    kept = LCSseq.similarity([there for _, there in seen], ordered)
    return kept / len(seen), float(len(seen)), seen[0][0]


def _name_clashes(
    claim: Words, nearest: Words, replaced: Sequence[tuple[int, int, int, int]], new: Sequence[Token]
) -> list[Clash]:
    """Return names that the evidence does not hold, or that stand where the nearest sentence has another name."""
    clashes = [Clash("name", i, i) for i, token in enumerate(claim.parts.tokens) if token in new]
    theirs = set(nearest.parts.names)
    for start, end, near_start, near_end in replaced:
        own = [i for i in range(start, end) if claim.parts.tokens[i] in claim.parts.names]
        there = [nearest.parts.tokens[i] for i in range(near_start, near_end) if nearest.parts.tokens[i] in theirs]
        if end - start > 2 or near_end - near_start > 3 or not own or not there:
            continue
        if any(token.key in claim.parts.key_set for token in there) or own[0] in {one.first for one in clashes}:
            continue
        if title_for_name(claim, nearest, Slot(start, end, near_start, near_end)):
            continue
        if all(claim.parts.tokens[i].key not in nearest.parts.key_set for i in own):
            clashes.append(Clash("name", own[0], own[-1], there[0].key))
    return clashes


def _name_known(claim: Parts, token: Token, known: frozenset[str], evidence: Sequence[Parts]) -> bool:
    """Return whether the evidence holds a name, a form of it (American, America), or what it abbreviates."""
    if token.key in known:
        return True
    stem = token.key[: max(4, len(token.key) - 2)]
    if len(stem) >= 4 and any(key.startswith(stem) or (len(key) >= 4 and token.key.startswith(key)) for key in known):
        return True
    written = claim.text[token.start : token.end].replace(".", "")
    return written.isupper() and len(written) > 1 and any(written.lower() in _initials(one) for one in evidence)


def _initials(parts: Parts) -> str:
    return "".join(t.key[0] for t in parts.tokens if t.kind == "content" and parts.text[t.start].isupper())


def _word_sets(claim: Words, nearest: Words) -> dict[str, float]:
    own, theirs = set(claim.raw), set(nearest.raw)
    return {
        "quantifiers_new": float(len((own - theirs) & QUANTIFIERS)),
        "quantifiers_gone": float(len((theirs - own) & QUANTIFIERS)),
        "hedges_new": float(len((own - theirs) & HEDGES)),
        "hedges_gone": float(len((theirs - own) & HEDGES)),
        "connectives_new": float(len((own - theirs) & CONNECTIVES)),
    }


def _token_matches(matches: np.ndarray, first: int) -> dict[str, float]:
    """Return how well the claim's token vectors match: over all evidence, in the nearest sentence, the weakest ones."""
    if not len(matches):
        return dict.fromkeys(("match_min", "match_second", "match_quarter", "near_mean", "near_min", "near_tenth"), 0.0)
    best, near = np.sort(matches.max(axis=1)), np.sort(matches[:, first])
    return {
        "match_min": float(best[0]),
        "match_second": float(best[min(1, len(best) - 1)]),
        "match_quarter": float(np.quantile(best, 0.25)),
        "near_mean": float(near.mean()),
        "near_min": float(near[0]),
        "near_tenth": float(np.quantile(near, 0.1)),
    }


def compare(
    claim: Parts,
    evidence: Sequence[Parts],
    vectors: PairVectors,
    cosines: np.ndarray,
    matches: np.ndarray | None = None,
) -> tuple[dict[str, float], list[Clash], tuple[int, int]]:
    """Return the features of what is different, the clashes, and the places of the nearest two evidence sentences.

    What it takes is what `pair_features` takes; `cosines`, shape (m,), are the claim's with each evidence sentence.
    """
    nearest = _closest(claim, evidence, cosines)
    found = _token_matches(sentence_matches(vectors) if matches is None else matches, nearest[0])
    features, clashes = word_differences(claim, evidence, nearest, found["near_min"])
    features |= found
    return {name: features[name] for name in DIFFERENCES}, clashes, nearest


def word_differences(
    claim: Parts, evidence: Sequence[Parts], nearest: tuple[int, int], near_min: float = 1.0
) -> tuple[dict[str, float], list[Clash]]:
    """Return the part of `compare` that needs no vectors but how the weakest token matches the nearest sentence."""
    first, second = nearest
    near, own = evidence[first], Words.of(claim)
    words = Words.of(near)
    numbers, features = _number_clashes(claim, evidence)
    replaced = _replacements(own, words)
    antonym, firm, loose = _antonym_clashes(own, words, [Words.of(one) for one in evidence], replaced)
    negation, parity = negation_clashes(own, words, evidence)
    roles, turned = role_clashes(own, evidence)
    order, shared, _ = _order(claim, near)
    known = frozenset().union(*(one.key_set for one in evidence))
    new = [token for token in claim.tokens if token.kind in ("content", "number") and token.key not in known]
    left = [key for key in claim.content if key not in near.key_set]
    both = near.key_set | evidence[second].key_set
    substance = ("content", "number", "negation")
    swapped = [
        r for r in replaced
        if any(claim.tokens[i].kind in substance for i in range(r[0], r[1]))
        and any(near.tokens[i].kind in substance for i in range(r[2], r[3]))
    ]  # fmt: skip
    one_word = [r for r in swapped if r[1] - r[0] == 1 and claim.tokens[r[0]].key not in near.key_set]
    names_new = [token for token in claim.names if not _name_known(claim, token, known, evidence)]
    names_far = [token for token in claim.names if token.key not in near.key_set]
    features |= {
        "words": float(len(claim.keys)),
        "new_words": float(len(new)),
        "new_weight": sum(stem_weight(token.key) for token in new),
        "left_over": float(len(left)),
        "left_over_two": float(sum(key not in both for key in claim.content)),
        "near_coverage": idf_coverage(claim, [near]),
        "near_pairs": pairs_within(claim, [near]),
        "taken": _share(sum(key in claim.content_set for key in near.content), len(near.content)),
        "edit": Indel.normalized_similarity(claim.keys, near.keys),
        "in_order": _share(LCSseq.similarity(claim.keys, near.keys), len(claim.keys)),
        "replaced": float(len(swapped)),
        "replaced_words": float(len(one_word)),
        "antonyms": float(len(antonym)),
        "antonyms_far": loose,
        "antonyms_firm": firm,
        "negation_parity": parity,
        "negations": float(len(negation)),
        "order": order,
        "order_words": shared,
        "roles_turned": turned,
        "names_all": float(len(claim.names)),
        "names_new": float(len(names_new)),
        "names_far": float(len(names_far)),
    }
    features |= _word_sets(own, words)
    names = _name_clashes(own, words, replaced, names_new)
    features["names_replaced"] = float(len(names) - len(names_new))
    if features["near_coverage"] < NEAR:  # too far from any sentence to say who did what to whom
        roles = [one._replace(firm=False) for one in roles]
    actors = _actors(own, evidence, roles, features["near_coverage"])
    slots = slot_clashes(own, words)
    covered = {place for one in slots for place in range(one.first, one.last + 1)}
    found = [one for one in (*numbers, *antonym, *negation, *names) if one.first not in covered]
    found += [one for one in [*roles, *actors] if covered.isdisjoint(range(one.first, one.last + 1))] + slots
    if not any(one.firm for one in found):  # no features count these, either
        told = [Words.of(one) for one in evidence]
        others = kind_clashes(own, words, told, near_min) or beside_clashes(own, told)
        later = others or odd_word_clashes(own, words, near_min) or unsaid_clashes(own, told)
        places = {one.first for one in later}
        found = [one for one in found if one.first not in places] + later
    return features, sorted(found, key=lambda one: one.first)


def _actors(claim: Words, evidence: Sequence[Parts], roles: Sequence[Clash], near_coverage: float) -> list[Clash]:
    """Return who does, says or closes what another does in the evidence, and roles that a first name has changed.

    No feature counts them: they are of the rules only.
    """
    known = frozenset(name.key for parts in (claim.parts, *evidence) for name in parts.names)
    own, told = with_first_names(claim.parts, known), [with_first_names(parts, known) for parts in evidence]
    words = Words.of(own)
    others = [Words.of(one) for one in told]
    found = actor_clashes(words, others)
    for one in (*verb_clashes(words, others), *speaker_clashes(words, others), *cause_clashes(words, others)):
        if all(one.last < other.first or other.last < one.first for other in found):
            found.append(one)
    if own is not claim.parts and near_coverage >= NEAR:
        first = own.tokens.index(own.names[0])
        turned = [one for one in role_clashes(words, told, shared=True)[0] if one.first == first]
        found = turned + [one for one in found if not turned or one.first > turned[0].last]
    taken = {place for one in roles for place in range(one.first, one.last + 1)}
    return [one for one in found if taken.isdisjoint(range(one.first, one.last + 1))]


DIFFERENCES = (
    *("words", "new_words", "new_weight", "left_over", "left_over_two", "near_coverage", "near_pairs", "taken"),
    *("edit", "in_order", "replaced", "replaced_words", "antonyms", "antonyms_far", "antonyms_firm"),
    *("negation_parity", "negations", "order"),
    *(
        "order_words",
        "roles_turned",
        "numbers_all",
        "numbers_missing",
        "numbers_moved",
        "numbers_loose",
        "names_all",
        "names_new",
    ),
    *("names_far", "names_replaced", "quantifiers_new", "quantifiers_gone", "hedges_new", "hedges_gone"),
    "connectives_new",
    *("match_min", "match_second", "match_quarter", "near_mean", "near_min", "near_tenth"),
)


def findings_of(claim: Parts, clashes: Sequence[Clash]) -> list[Finding]:
    """Return clashes as findings, with their places in the claim's text."""
    found = []
    for clash in clashes:
        start, end = claim.tokens[clash.first].start, claim.tokens[clash.last].end
        found.append(Finding(clash.kind, claim.text[start:end], start, end, clash.firm))
    return found
