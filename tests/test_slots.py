"""Words in another's place: what clashes though every word stands in the evidence, and what does not."""

import pytest

from summeval_nb.evidence._slots import Words, slot_clashes
from summeval_nb.evidence.check import take_apart

FILM = "The film was directed by Lena Ortiz and written by Paul Shaw."
BRIDGE = "The bridge was built in 1932 and widened in 1968."
RIVER = "The road was closed until early evening because a lorry had turned over."
TEAM = "Thierry Henry, Jamie Redknapp and Graeme Souness praised the young keeper."


def clashes(claim: str, evidence: str) -> list[tuple[str, str, str]]:
    """Return kind, text and what stood there instead, of each clash."""
    own = Words.of(take_apart(claim))
    found = slot_clashes(own, Words.of(take_apart(evidence)))
    return [(one.kind, " ".join(own.raw[one.first : one.last + 1]), one.instead_of) for one in found]


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        (
            "The film was written by Lena Ortiz and directed by Paul Shaw.",
            FILM,
            [("role", "written", "directed"), ("role", "directed", "written")],
        ),
        (
            "The owner was fined 2.3 million kroner in May.",
            "The owner was fined 900,000 kroner in May.",
            [("number", "2.3", "900,000")],
        ),
        (
            "Two-factor sign-in is off by default for all.",
            "Two-factor sign-in is on by default for all.",
            [("antonym", "off", "on")],
        ),
        (
            "It is the default for existing teams since May.",
            "It is the default for new teams since May.",
            [("antonym", "existing", "new")],
        ),
        (
            "It is sold for macOS by the firm of his son.",
            "It is sold for Windows by the firm of his son.",
            [("name", "macos", "window")],
        ),
        (
            "The bridge was built in 1968 and widened in 1932.",
            BRIDGE,
            [("number", "1968", "1932"), ("number", "1932", "1968")],
        ),
        (
            "The town lent the bank two million euros.",
            "The bank lent the town two million euros.",
            [("role", "town", "bank"), ("role", "bank", "town")],
        ),
        (
            "Leeds beat West Ham 2-1 on Sunday.",
            "West Ham beat Leeds 2-1.",
            [("role", "leeds", "west ham"), ("role", "west ham", "leeds")],
        ),
        (
            "In May the Norwegian Sea Authority sued Bellamy Roke over the pier.",
            "In May Bellamy Roke sued the Norwegian Sea Authority over the pier.",
            [
                ("role", "the norwegian sea authority", "bellamy roke"),
                ("role", "bellamy roke", "the norwegian sea authority"),
            ],
        ),
        (
            "The film by the man who faces trial was written by Lena Ortiz and directed by Paul Shaw.",
            "The film by the man who faces trial was directed by Lena Ortiz and written by Paul Shaw.",
            [("role", "written", "directed"), ("role", "directed", "written")],
        ),
        (  # a "not" that stays where it was says nothing of the order
            "The man had been left in the rain with nothing but a blanket, and was exposed to the woods.",
            "The man had been left in the woods with nothing but a blanket, and was exposed to the rain.",
            [("role", "rain", "woods"), ("role", "woods", "rain")],
        ),
        (
            "Experts say the palace was built during the period of the island.",
            "Experts say the island was built during the period of the palace, but it is not clear by whom.",
            [("role", "palace", "island"), ("role", "island", "palace")],
        ),
        (  # copied more at length elsewhere, and still another's number
            "The state pays 48 million crowns.",
            "It will cost 48 million crowns, of which the state pays 12 million.",
            [("number", "48", "12")],
        ),
        (
            "Last year Barclays rescued the Bank of England from its debts.",
            "Last year the Bank of England rescued Barclays from its debts.",
            [("role", "barclays", "the bank of england"), ("role", "the bank of england", "barclays")],
        ),
        (
            "On Monday the Queen opened the bridge.",
            "On Monday the Pope opened the bridge.",
            [("name", "queen", "pope")],
        ),
        (
            "Captain Hill fined the bakery on Monday.",
            "Captain King fined the bakery on Monday.",
            [("name", "hill", "king")],
        ),
        ("The new roof was approved.", "The new roof was not approved.", [("negation", "approved", "not")]),
        ("The new roof was not approved.", "The new roof was approved.", [("negation", "approved", "")]),
        ("The bridge was built in 1968 and is still in use.", "The bridge was built in 1932, not in 1968.", []),
        (
            "The old bridge was built in 1968 by convicts.",
            "The old bridge was built in 1932 by convicts, and burnt in 1968.",
            [("number", "1968", "1932")],
        ),
        (
            "Jean Pratt voted for the plan.",
            "Councillor Jean Pratt voted against the plan.",
            [("antonym", "for", "against")],
        ),
        (
            "The road was closed until early evening until a lorry had turned over.",
            RIVER,
            [("antonym", "until", "because")],
        ),
        (
            "Mr Coleraine captained his club to a championship in 1991.",
            "Mr McGurk captained his club to a championship in 1991, when Coleraine were second.",
            [("name", "coleraine", "mcgurk")],
        ),
        (
            "She was discharged on 3 March 2024.",
            "She was admitted on 3 March 2024, discharged on 9 March 2024.",
            [("number", "3", "9")],
        ),
        (
            "Sales rose by 4 percent last year.",
            "Sales rose by 3 percent in May and fell by 4 percent in June.",
            [("number", "4", "3")],
        ),
        (
            "Our approach keeps the graphical information in the directed model between its layers.",
            "Our approach keeps the directed information in the graphical model between its layers.",
            [("role", "graphical", "directed"), ("role", "directed", "graphical")],
        ),
    ],
)
def test_what_stands_in_anothers_place_clashes(claim, evidence, expected):
    assert clashes(claim, evidence) == expected


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (FILM, FILM),
        ("Graeme Souness, Jamie Redknapp and Thierry Henry praised the young keeper.", TEAM),
        ("Lena Ortiz met Paul Shaw in Paris.", "Paul Shaw met Lena Ortiz in Paris."),
        ("The road was closed until early evening since a lorry had turned over.", RIVER),
        ("About 50 lorries turned over on the bridge.", "Some 48 lorries turned over on the bridge."),
        ("Jonathon Moss will be the fourth official.", "Jonathan Moss will be the fourth official."),
        ("The film was written by Paul Shaw and directed by Lena Ortiz.", FILM),
        ("Sales fell in Asia but rose in Europe.", "Sales rose in Europe but fell in Asia."),
        ("The mayor and the governor opened the road.", "The governor and the mayor opened the road."),
        ("The second half was better than the first half.", "The first half was worse than the second half."),
        ("The Norwegian company bought the Swedish firm.", "The Swedish firm was bought by the Norwegian company."),
        ("The test worked in mice but not in rats.", "The test did not work in rats but worked in mice."),
        ("Police arrested two men, aged 23 and 31.", "Police arrested two men, aged 31 and 23."),
        ("The bridge is old.", BRIDGE),
        ("The roof was approved in May.", "The roof was not approved until May."),
        ("The roof was approved.", "The roof was not only approved but paid for."),
        ("Virtual reality is common, and Virtual meatballs are not.", "Virtual meatballs Virtual reality is common."),
        ("Orgreave police wrote what Orgreave said.", "Orgreave police wrote what Orgreave said."),
        ("Lena Ortiz said the film was finished.", "The film was finished, said Lena Ortiz."),
        ("Leeds drew with West Ham on Sunday.", "West Ham drew with Leeds on Sunday."),
        ("Eve paid Tom Hill on Monday.", "Tom Hill paid Eve on Monday, and Eve paid Tom Hill on Monday."),
        ("West Ham beat Leeds again in May.", "West Ham beat Leeds in May, and Leeds beat West Ham in June."),
        ("Tom said New York was loved by them all.", "They all love New York, said Tom."),
        ("The museum is open on Tuesdays.", "The museum is not open on Mondays."),
        ("The bill was passed.", "The bill was not passed unanimously."),
        ("The bill was paid with a cheque.", "The bill was not paid in cash but with a cheque."),
        ("The roof was approved by the board in May.", "The roof was not approved by the board until May."),
        ("On Sunday West Ham played with Leeds.", "On Sunday Leeds played with West Ham."),
        ("New York lies near Boston, they said.", "Boston lies near New York, they said."),
        ("Colin Mears told the court that he had paid.", "Mr Mears told the court that he had paid."),
        ("Mr Mears told the court that he had paid.", "Colin Mears told the court that he had paid."),
        ("She does not understand the difference.", "She does not really understand the difference."),
        ("He didn't have enough cash to pay.", "He didn ’ t have enough cash to pay."),
        ("No customer data was exposed.", "No photos were lost, and no customer data was exposed."),
        ("It was widened in 1968.", BRIDGE),
        ("Two million euros came from the bank.", "The bank lent the town two million euros."),
        (  # the "not" has moved with its clause
            "The board did not meet the union, and the union met the press.",
            "The union met the press, and the board did not meet the union.",
        ),
        ("The state pays 48 million crowns.", "The state pays 48 million this year, the state pays 12 million next."),
        ("The state pays about 13 million crowns.", "It costs 48 million crowns; the state pays 12.9 million."),
        ("Sales rose by 4 percent.", "Sales rose by 3 percent in May and rose by 4 percent in June."),
        ("Sales fell by 4 percent.", "Sales rose by 3 percent in May and fell by 4 percent in June."),
        ("The owner was fined 0.9 million kroner in May.", "The owner was fined 900,000 kroner in May."),
        ("It happened on 3 March.", "Admitted on 3 March, she was discharged on 9 March."),
        (
            "The talks between the guild and the old board failed.",
            "The talks between the old board and the guild failed.",
        ),
    ],
)
def test_what_says_the_same_does_not(claim, evidence):
    assert clashes(claim, evidence) == []
