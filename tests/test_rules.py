"""What clashes between a claim and its evidence, and what says the same in other words and does not."""

import numpy as np
from helpers.cases import cases
from helpers.patience import comes_back

from summeval_nb.evidence.rules import (
    Words,
    _bound_clashes,
    _part_clashes,
    actor_clashes,
    find_clashes,
    findings_of,
    nearest_two,
    role_clashes,
    slot_clashes,
)
from summeval_nb.evidence.tokens import take_apart

EVIDENCE = [row for [row] in cases("""
Revenue rose 3 percent to 48 million dollars in March.
The board did not approve the plan before Monday.
Anna Smith beat Maria Jones in the final in Paris.
The American company employs about 2,000,000 people.
""")]  # fmt: skip


def clashes_of(claim: str, *evidence: str):
    """Return what clashes, and what is counted, with the evidence sentence that is nearest."""
    parts, told = take_apart(claim), [take_apart(text) for text in evidence]
    return find_clashes(parts, told, nearest_two(parts, told, np.zeros(len(told))))


def firm(claim: str, *evidence: str) -> list[tuple[str, str]]:
    """Return kind and text of each firm clash."""
    found = findings_of(take_apart(claim), clashes_of(claim, *evidence).found)
    return [(finding.kind, finding.text) for finding in found if finding.clash]


def texts(clashes: list[tuple[str, str]]) -> str:
    return ", ".join(text for _, text in clashes)


def test_a_changed_fact_clashes_and_the_same_in_other_words_does_not():
    for claim, expected in cases("""
Revenue fell 3 percent to 48 million dollars. | antonym fell
The board approved the plan. | negation approved
Maria Jones beat Anna Smith in the final. | role Maria Jones, role Anna Smith
Anna Smith beat Maria Jones in the final in London. | name London
Revenue rose 3 percent to 84 million dollars. | number 84
Anna Smith did not beat Maria Jones. | negation beat
Revenue rose 3 percent. |
Maria Jones was beaten by Anna Smith in the final. |
A company in America employs 2 million people. |
In March revenue went up 3 percent to 48 million dollars. |
The plan was not approved by the board. |
Nearly 50 million dollars of revenue came in. |
"""):
        assert ", ".join(map(" ".join, firm(claim, *EVIDENCE))) == expected


def test_antonyms_clash_though_their_like_is_there():
    for claim, evidence, expected in cases("""
Shares of Castine fell on Tuesday. | Shares of Castine rose on Tuesday, and Harlow's slipped. | fell
Profits had dropped a year later. | Profits rose although sales fell. | dropped
The waiting list grew by 12 per cent. | The hospital cut its waiting list by 12 per cent. | grew
"""):
        assert [text for _, text in firm(claim, evidence) if text in claim.split()] == expected.split(", ")


def test_limits_and_parts_exclude_one_another():
    """What the evidence bounds on one side is not told on the other; half is no quarter."""
    for claim, evidence, expected in cases("""
More than 200 people came. | Up to 200 people came. | 200
More than half of the members left. | Nearly half of the members left. | half
Half of the town was flooded. | A quarter of the town was flooded. | Half
The price was cut by a quarter. | The price was cut by half. | quarter
Over 500 stayed. | Almost 500 left, and over 500 stayed. |
No fewer than 30 houses burned. | At least 30 houses burned. |
In the third quarter sales rose by half. | Sales rose by half in the third quarter. |
A thırd of the seats, a thİrd of the votes. | Half of the seats. |
"""):
        assert ", ".join(text for kind, text in firm(claim, evidence) if kind == "number") == expected, claim


def test_many_limits_and_parts_are_read_in_linear_time():
    for claim, evidence in [("up to 200, ", "more than 200, "), ("half of the seats, ", "a third of the seats, ")]:
        own, told = take_apart(claim * 20_000), take_apart(evidence * 20_000)
        with comes_back():
            assert len([*_bound_clashes(own, [told]), *_part_clashes(own, told)]) >= 19_999


def test_a_name_that_opens_the_sentence_clashes_with_another():
    for claim, evidence, expected in cases("""
Berlin is the capital of France. | Paris is the capital of France. | Berlin
Haydn composed the second quartet. | Mozart composed the second quartet. | Haydn
Rainfall is expected in the north. | Rain is expected in the north. |
Officers arrested two men in Leeds. | Police arrested two men in Leeds. |
"""):
        assert texts(firm(claim, evidence)) == expected, claim


def exchanged(claim: str, evidence: str) -> str:
    """Return kind, text and what stood there instead, of each clash."""
    own = Words.of(take_apart(claim))
    found = slot_clashes(own, Words.of(take_apart(evidence)))
    said = [(clash, " ".join(own.raw[clash.first : clash.last + 1])) for clash in found]
    return "; ".join(f"{clash.kind}: {text} > {clash.instead_of}".strip() for clash, text in said)


# evidence, claim, and each clash with what stood in its place; a "not" that stays says nothing of the order
def test_what_stands_in_anothers_place_clashes():
    for evidence, claim, expected in cases("""
The owner was fined 900,000 kroner in May. | The owner was fined 2.3 million kroner in May. | number: 2.3 > 900,000
The bridge was built in 1932 and widened in 1968. | The bridge was built in 1968 and widened in 1932.
    | number: 1968 > 1932; number: 1932 > 1968
West Ham beat Leeds 2-1. | Leeds beat West Ham 2-1 on Sunday. | role: leeds > west ham; role: west ham > leeds
Last year the Bank of England rescued Barclays from its debts.
    | Last year Barclays rescued the Bank of England from its debts.
    | role: barclays > the bank of england; role: the bank of england > barclays
The new roof was approved. | The new roof was not approved. | negation: approved >
Mr McGurk captained his club to a championship in 1991, when Coleraine were second.
    | Mr Coleraine captained his club to a championship in 1991. | name: coleraine > mcgurk
Our approach keeps the directed information in the graphical model between its layers.
    | Our approach keeps the graphical information in the directed model between its layers.
    | role: graphical > directed; role: directed > graphical
It is sold for Windows by the firm of his son. | It is sold for macOS by the firm of his son. | name: macos > window
The bridge was built in 1932, not in 1968. | The bridge was built in 1968 and is still in use. |
"""):
        assert exchanged(claim, evidence) == expected


def test_what_says_the_same_in_its_place_does_not():
    for evidence, claim in cases("""
Thierry Henry, Jamie Redknapp and Graeme Souness praised the young keeper.
    | Graeme Souness, Jamie Redknapp and Thierry Henry praised the young keeper.
The road was closed until early evening because a lorry had turned over.
    | The road was closed until early evening since a lorry had turned over.
Some 48 lorries turned over on the bridge. | About 50 lorries turned over on the bridge.
Jonathan Moss will be the fourth official. | Jonathon Moss will be the fourth official.
The first half was worse than the second half. | The second half was better than the first half.
The film was finished, said Lena Ortiz. | Lena Ortiz said the film was finished.
The roof was not approved by the board until May. | The roof was approved by the board in May.
The test did not work in rats but worked in mice. | The test worked in mice but not in rats.
Police arrested two men, aged 31 and 23. | Police arrested two men, aged 23 and 31.
Boston lies near New York, they said. | New York lies near Boston, they said.
He didn ’ t have enough cash to pay. | He didn't have enough cash to pay.
The union met the press, and the board did not meet the union.
    | The board did not meet the union, and the union met the press.
Admitted on 3 March, she was discharged on 9 March. | It happened on 3 March.
The roof was not approved until May. | The roof was approved in May.
Orgreave police wrote what Orgreave said. | Orgreave police wrote what Orgreave said.
The bill was not paid in cash but with a cheque. | The bill was paid with a cheque.
The state pays 48 million this year, the state pays 12 million next. | The state pays 48 million crowns.
The owner was fined 900,000 kroner in May. | The owner was fined 0.9 million kroner in May.
"""):
        assert exchanged(claim, evidence) == ""


SAME_BOTH_WAYS = cases("""
No visitors were allowed into the ward. | Visitors were not allowed into the ward.
The museum is not only a school but also a theatre. | The museum is both a school and a theatre.
Terns failed to raise a single chick after the storm. | Terns did not raise a single chick after the storm.
Children travel free if accompanied by an adult. | Children travel free when accompanied by an adult.
Ellen T. Brown was elected as chair of the club. | Ellen Brown was elected as chair of the club.
The council did not approve the plan. | The council rejected the plan.
Mopeds will be banned. | Mopeds will not be allowed on the bridge.
The shop stays shut until Friday. | The shop does not open before Friday.
It was not until March that the cafe opened. | The cafe opened in March.
Paris is the capital of France. | The capital of France is Paris.
Tom Hale is the head of Kelda and Ann Lee is the head of Marston.
    | The head of Kelda is Tom Hale and the head of Marston is Ann Lee.
Anna Berg is also the head of Kelda. | The head of Kelda is Anna Berg.
Oslo is Norway's capital. | The capital of Norway is Oslo.
""")
SAME_ONE_WAY = cases("""
Anna Berg, who lives in Oslo, is the head of Kelda. | The head of Kelda is Anna Berg.
Dr Miriam Oduya is the head of the Leeds study. | The head of the Leeds study is Miriam Oduya.
Leeds beat Hull. | Hull was beaten by Leeds.
Sales fell in the last quarter. | Sales did not rise in the last quarter.
""")
TWO_SIDES = cases("""
The farmer Olga Brandt lent her tractor to Emil Sorensen. | Emil Sorensen borrowed a tractor from Olga Brandt.
Varnay Steel sold its mine to Petrov Metals in 2019. | Petrov Metals bought the mine from Varnay Steel.
The painter Nora Quist taught Jonas Wald at the academy. | Jonas Wald was taught by Nora Quist.
In the cup Kersby United beat Holm City on Saturday. | Holm City lost to Kersby United.
The trader Aldo Renz owned the ship Blue Petrel. | Blue Petrel belonged to Aldo Renz.
Mayor Ines Ott gave the coach Leo Brand a medal. | Leo Brand received a medal from Ines Ott.
""")


def test_the_same_denied_inverted_shortened_or_told_from_its_other_side_does_not_clash():
    other_way = [(claim, evidence) for evidence, claim in SAME_BOTH_WAYS]
    for evidence, claim in [*SAME_BOTH_WAYS, *other_way, *SAME_ONE_WAY, *TWO_SIDES]:
        assert firm(claim, evidence) == []


def test_a_deed_with_its_sides_exchanged_clashes():
    for told, claim in TWO_SIDES:
        first, second, middle = claim.split()[:2], claim.rstrip(".").split()[-2:], claim.split()[2:-2]
        turned = " ".join([*second, *middle, *first]) + "."
        assert ("role", " ".join([second[1], *middle, first[0]])) in firm(turned, told)


def test_a_denial_that_came_or_went_clashes_one_that_says_the_same_does_not_and_it_ends_with_its_clause():
    for evidence, claim, expected in cases("""
No trains ran and buses were late. | Trains ran and no buses were late. | Trains, buses
Not only the mayor but also her deputy resigned. | Only the mayor resigned. | mayor
The plan was not approved; it was rejected. | The plan was approved. | approved
Sales did not rise in the last quarter. | Sales fell in the last quarter. | fell
The firm paid no dividend. | The firm paid a dividend. | dividend
They will not move until the council pays them. | The council said they will move in spring. | move
The talks ended after lunch and no deal was made. | The talks ended before lunch. | before
Insurance covers no more than ten million. | Insurance covers more than ten million. | ten, million
The mayor refused to sign the law, but the governor signed it. | The governor did not sign it. | sign
The cafe will not open until March. | The cafe will open in February. | open, February
The road, not the bridge, was approved. | The bridge, not the road, was approved. | bridge, road
The drug is not only safe but also cheap. | The drug is not safe. | safe
No adults were hurt in the crash. | Children were hurt in the crash. | Children
She never failed to pay the rent. | She did not pay the rent. | pay
"""):
        assert texts(firm(claim, evidence)) == expected
    told, claim = "The museum is not only a school but also a theatre.", "The museum is both a school and a theatre."
    assert not clashes_of(claim, told).negation_difference and not clashes_of(told, claim).negation_difference
    assert clashes_of("The cafe will open until March.", "The cafe will not open until March.").negation_difference
    for told in ("A child pays nothing, and the hall was built in 1974.", "He said nothing but left the hall in 1974."):
        clause = told.replace(", and", " but").partition(" but ")[2]
        assert not clashes_of(clause, told).found


def test_a_clash_of_a_kind_is_there_or_not():
    # evidence, claim, a kind of clash, and whether the claim has one
    for evidence, claim, kind, there in cases("""
Sales declined to 20 million. | Sales fell to 20 million. | negation | no
He was asked to resign, and refused. | He refused to resign. | negation | no
They chose Leeds over Hull. | They chose Leeds rather than Hull. | negation | no
She scored 48 goals. | She scored fewer than 50 goals. | number | no
The firm earned 2 million euros. | The firm earned 2,000,000 euros. | number | no
The road is 12 instead of 8 kilometres long. | The road is 12 kilometres long. | number | no
She scored 52 goals. | She scored fewer than 50 goals. | number | yes
In the first half of the year revenue rose by 31 percent. | The firm said revenue had risen by 50 percent. | number
    | yes
Built in 1990 instead of a hall, it holds 400 people. | It holds 1990 people. | number | yes
Ben is the mother of Anna. | Anna is the mother of Ben. | role | yes
On Monday Ben Hill's boss was Tom Hale. | On Monday Tom Hale's boss was Ben Hill. | role | yes
They say Hull is larger than Leeds. | They say Leeds is larger than Hull. | role | yes
"""):
        assert (kind in [own for own, _ in firm(claim, evidence)]) == (there == "yes")


def turned_in(claim: str, *evidence: str) -> int:
    found = role_clashes(Words.of(take_apart(claim)), [take_apart(text) for text in evidence])
    assert all(clash.kind == "role" for clash in found)
    return len(found)


def test_turned_roles_clash_in_either_voice_and_the_same_in_another_order_do_not():
    for evidence, claim in cases("""
As Bertram Foyle was delayed by a train, the meeting was chaired by the vice-president, Sunniva Clegg.
    | The vice-president, Sunniva Clegg, chaired it because Bertram Foyle was delayed by a train.
Follow Echo on Twitter, Echo on Instagram and Alto on YouTube.
    | Follow Echo on Twitter, Echo on Instagram and Alto on YouTube.
Maria Jones, who was coached by Anna Smith, thanked her family. | Maria Jones thanked Anna Smith.
The records show Lena Ortiz received 400 dollars from Paul Shaw.
    | The records show Lena Ortiz was paid 400 dollars by Paul Shaw.
In the end Hale got the key to the hall from Nair. | In the end Hale was given the key to the hall by Nair.
"""):
        assert turned_in(claim, evidence) == 0
    for evidence, claim in cases("""
Maria Jones was beaten by Anna Smith in the final. | Maria Jones beat Anna Smith in the final.
As Bertram Foyle was delayed by a train, the meeting was chaired by the vice-president, Sunniva Clegg.
    | Bertram Foyle chaired the meeting because Sunniva Clegg was delayed by a train.
For a while Leeds were leading by two goals when York scored. | For a while York were leading when Leeds scored.
In court, April Jones had sued Tom Hale over the debt. | In court, Hale sued April Jones over the debt.
Lena Ortiz paid Paul Shaw 400 dollars. | Lena Ortiz was paid 400 dollars by Paul Shaw.
In the cup France on Sunday overcame a weak Germany. | In the cup Germany on Sunday overcame France.
"""):
        assert turned_in(claim, evidence) >= 1
        assert turned_in(claim, evidence, claim) == 0, "one sentence with the claim's roles is enough"
    long = " ".join("then the mayor Hale thanked the writer Nair and the writer Nair thanked Hale," for _ in range(60))
    with comes_back():
        assert turned_in(long, long) == 0


def given_away(evidence, claim):
    words = [Words.of(take_apart(text)) for text in (claim, *evidence)]
    return words[0], actor_clashes(words[0], words[1:])


def test_a_deed_given_to_somebody_else_clashes_and_ones_own_or_another_wording_does_not():
    # evidence sentences, a claim, and whose deed is given to whom
    for evidence, claim, expected in cases("""
The Tarle Trust runs four small schools in neighbouring Easterley. / Parents in Kingsmere object.
    | The Tarle Trust runs four small schools in Kingsmere. | kingsmere > easterley
Chief executive Miriam Osei told the board that the fares were unfair. / Peter Lane of the council agreed.
    | Councillor Peter Lane told the board that the fares were unfair. | peter lane > miriam osei
The paper was accepted after Leon Szabo, her fiercest critic, repeated her measurements in 1984. / It was reviewed by
    Arnold Keble.
    | It was Arnold Keble who repeated her measurements in 1984. | arnold keble > leon szabo
Ben Otter, who had come on as a substitute at half time, scored. / The fans sang for Luke Farr.
    | Luke Farr came on as a substitute at half time. | luke farr > ben otter
The WHO praised Carl Dunn. / Ann Bell signed the order. | The WHO signed the order. | who > ann bell
"""):
        words, (clash,) = given_away(evidence.split(" / "), claim)
        name, instead = expected.split(" > ")
        assert clash.instead_of == instead and " ".join(words.raw[clash.first : clash.last + 1]).endswith(name)
    for evidence, claim in cases("""
She moved with her two small children to the suburb of Croydon. / Croydon lies in south London.
    | She moved with her two small children to London.
tom hale told the board that the fares were unfair. / Ann Nair left.
    | Ann Nair told the board that the fares were unfair.
The mayor of Leeds opened the bridge on Monday. / Mayor Priya Nair was late. | Priya Nair opened the bridge on Monday.
The bridge was opened by Priya Nair in May. / Priya Nair opened the bridge in May, too.
    | In May Priya Nair opened the bridge.
"""):
        assert given_away(evidence.split(" / "), claim)[1] == []


def test_the_sentence_with_the_same_deed_decides_and_names_alone_have_roles():
    foul = ["Calder defender Mats Lind had brought down Hall 20 metres from goal.", "For Calder, Hall was the best."]
    told = [take_apart(text) for text in foul]
    turned, right = take_apart("Hall brought down Lind 20 metres from goal."), take_apart("Lind brought down Hall.")
    assert [clash.kind for clash in find_clashes(turned, told, (0, 1)).found] == ["role"]
    assert find_clashes(right, told, (0, 1)).found == []
    for evidence, right, turned in cases("""
The broker Solvo has bought Kornhaus. / Last year Kornhaus had accused Solvo of spying.
    | Kornhaus accused Solvo of spying. | Solvo accused Kornhaus of spying.
The dog Rex bit the postman Karl Lunde in Vik. | Karl Lunde was bitten by Rex. | Rex was bitten by Karl Lunde.
"""):
        assert not firm(right, *evidence.split(" / "))
        assert [kind for kind, _ in firm(turned, *evidence.split(" / "))] == ["role"]
