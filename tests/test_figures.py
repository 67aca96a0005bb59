"""A number is more than its digits, a verb may be its own past, and a word may be broken at the end of a line."""

from summeval_nb import evaluate_answer, evaluate_many
from summeval_nb.judged import bradley_terry
from summeval_nb.text import split_text

SAID = [
    ("The lake froze at -12 degrees.", "The lake froze at minus twelve degrees."),
    ("Exports changed by -4 per cent.", "Exports fell by 4 per cent."),
    ("The mill burned down in 1764.", "The mill burned down in the 18th century."),
    ("She moved to Bonn in 1994.", "She moved to Bonn in the '90s."),
    ("The museum is open 10-18.", "The museum is open 10-18."),
    ("Trams will run until midnight.", "Trams run until midnight."),
    ("The har-\nvest was late.", "The harvest was late."),
]
NOT_SAID = [
    ("The balance was -300 euros.", "The balance was 300 euros."),
    ("The lake froze at minus twelve degrees.", "The lake froze at twelve degrees."),
    ("The reading was 135/85.", "The reading was 85/135."),
    ("The museum is open 10-18.", "The museum is open 18-10."),
    ("She moved to Bonn in 1994.", "She moved to Bonn in the early 1990s or the 1980s."),
    ("The club was founded in the 1910s.", "The club was founded in 1911."),
    ("The board will cut the fees.", "The board cut the fees."),
]


def test_signs_orders_decades_tenses_and_hyphens():
    pairs = SAID + NOT_SAID
    table = evaluate_many([text for text, _ in pairs], [summary for _, summary in pairs], progress=False)
    supported = [pair for pair, result in zip(pairs, table, strict=True) if result.score == 1]
    assert supported == SAID


def test_abbreviations_of_science_end_no_sentence():
    for start in ("Compare Fig. C with the map.", "It follows from Eq. D at once.", "J. Phys. has it."):
        assert split_text(start) == [start]


def test_a_firm_is_one_name_with_and_without_its_kind_and_an_ai_that_refuses_refuses():
    text = "Voss & Sohn GmbH builds organs in Ulm. Delta Freight Inc. was founded in 1984."
    table = evaluate_many([text] * 2, ["Delta Freight was founded in 1984.", "Voss & Sohn builds organs in Ulm."])
    assert table.scores.tolist() == [1, 1]
    asked = {"contexts": "The hut lies high.", "question": "Who built it?", "ground_truth": "Ida Moe built it."}
    refused = evaluate_answer(**asked, answer="As an AI, I am unable to answer that.")
    assert refused.answer_refused and refused.verdict == "refused"


def test_an_answer_that_is_the_truth_is_right():
    for truth in ("14 May 2003", "Zinc, tin and lead.", "False", "git status", "白芷", "`x = 1`"):
        found = evaluate_answer(contexts=truth, question="What is it?", ground_truth=truth, answer=truth)
        assert found.verdict == "right" and found.correctness.f1 == 1
    assert (
        evaluate_answer(contexts="", question="Who?", ground_truth="Not said.", answer="Not said.").verdict != "right"
    )


def test_few_votes_that_agree_separate_nobody():
    ranks = {n: {row["rank"] for row in bradley_terry([("A", "B", "A")] * n).rows()} for n in (2, 5, 6, 30)}
    assert ranks == {2: {1}, 5: {1}, 6: {1, 2}, 30: {1, 2}}  # two-sided sign test: .0625 for five, .031 for six
