"""Short answers: read with their question, found where it looks for them, right or wrong as a reader would say."""

from helpers.cases import cases
from helpers.patience import comes_back

from summeval_nb import evaluate, evaluate_answer
from summeval_nb.evidence import checker
from summeval_nb.judged import answer_faithfulness
from summeval_nb.judged.replies import Told, read_replies, spoken, spoken_units, table_rows


def test_an_answer_is_read_with_its_question():
    for question, answer, statement in cases("""
How many moons has Mars? | Two. | Mars has two moons.
How many people did the storm kill? | 12 people | The storm killed 12 people.
How long is the river? | 1.5 km | The river is 1.5 km long.
What is the capital of Australia? | Canberra. | The capital of Australia is Canberra.
Who is older, Ann or Bob? | Ann | Ann is older.
In which city does Ann live? | Rome | Ann lives in Rome.
What can visitors see from the tower? | The harbour | Visitors can see the harbour from the tower.
According to the text, who wrote it? | Olga Ruiz | Olga Ruiz wrote it.
When was the bridge closed? | It closed in May. | The bridge closed in May.
What does the ferry cost? | Adults pay 9 euros on it. | Adults pay 9 euros on it.
Was the bridge closed in May? | Well, in fact, no. | The bridge was not closed in May.
Which team did Leeds beat? | Derby | Leeds beat Derby.
Was the bridge closed in May? | It wasn't. | The bridge was not closed in May.
Did the city council approve the plan? | Yes | The city council approved the plan.
Did the shop open? | Yes. | The shop opened.
Does the man with the hat live in Leeds? | No | The man with the hat does not live in Leeds.
Where did the baker move to? | Norwich | The baker moved to Norwich.
Did the lake freeze? | Yes. | The lake froze.
What should the guests have paid? | 9 euros | The guests should have 9 euros paid.
What could delay the ferry? | Thick fog | Thick fog could delay the ferry.
What drives the pump? | The wheel | The wheel drives the pump.
Was the shop open? | **Yes** — since June. | The shop was open.
Was the shop open? | *No*: it was not. | The shop was not open.
Was the shop open? | Of course not. | The shop was not open.
Was the shop open? | Not one shop was open. | Not one shop was open.
"""):
        assert [told.text for told in read_replies(question, [answer])[0]] == [statement]
    assert read_replies("Was the shop open?", ["Sadly not — it rained."])[0][0].text == "The shop was not open."
    for question, answer in cases("""
Name the capital. | Canberra
Was it closed? | Maybe.
When was it closed? | Yes
??? | No
What melts snow quickly? | Salt
"""):
        ((told,),) = read_replies(question, [answer])
        assert told.reason and told.text == answer
    for question in ("What does a child pay, and when was it built?", "Who wrote it and when?"):  # two questions
        assert read_replies(question, ["Nothing, in 1974."]) == [[Told("Nothing, in 1974.")]]
    assert read_replies("When did the mill and the ferry open?", ["In 1974."])[0][0].text != "In 1974."
    # only the first statement is read with the question
    read = read_replies("How many moons has Mars?", ["Sure!", "Two.", "One."])
    assert read[0] == [] and read[1][0].own == "Two" and read[2] == [Told("One.")]
    assert read_replies("", ["Two."]) == [[Told("Two.")]]


def test_the_verdict_on_a_short_answer():
    for question, truth, answer, verdict in cases("""
When was the bridge closed? | May | June | wrong
Did the council approve the budget? | Yes, the council approved the budget. | Maybe. | the judge cannot tell
How many moons has Mars? | Mars has two moons. | Two | right
How many moons has Mars? | Two | Mars has three moons. | wrong
How long is the river? | 1,500 metres | 1.5 km | right
When was the bridge closed? | May | <think>I am not sure.</think>In May. | right
When was the bridge closed? | May | Sure! The bridge was closed in June [1]. I hope this helps! | wrong
Did the council approve the budget? | Yes, the council approved the budget. | No. | wrong
Did the council approve the budget? | Yes, the council approved the budget. | Bananas are yellow.
    | the judge cannot tell
Did the council approve the budget? | No | Nope | right
"""):
        report = evaluate_answer("c", question, truth, answer)
        assert (report.verdict, report.correctness.f1) == (verdict, verdict == "right")
    # a short statement is not glued to its neighbour
    report = evaluate_answer("c", "How many moons has Mars?", "Two.", "Mars has two moons. The sky is green.")
    assert [hypothesis.score for hypothesis in report.inferences["answer_given_truth"].hypotheses] == [1, 0]


def test_a_short_answer_stands_in_its_place_or_not_and_what_is_asked_is_not_said():
    for passage, question, true, false in cases("""
The storm killed 12 people and hurt 30. | How many people were killed? | 12 | 30
Ann lives in Berlin. Bob lives in Rome. | Where does Ann live? | Berlin | Rome
The bridge was designed by Ida Holm and built by Tor Berg. | Who designed it? | Ida Holm | Tor Berg
The film lasts 90 minutes. | How long does the film last? | 1.5 hours | 2 hours
Leeds beat Derby 2-1 on Sunday. | Which team won? | Leeds | Derby
Ella works as a nurse. Her brother works as a pilot. | What does Ella work as? | A nurse | A pilot
The hotel has a pool. | Does the hotel have a pool? | Yes | No
The ferry does not run in winter. | Does the ferry run in winter? | No | Yes
"""):
        scores = [answer_faithfulness(question, [passage], answer).score for answer in (true, false)]
        assert scores == [1, 0]
    assert answer_faithfulness("Is it free?", ["Is it free? Many ask."], "Yes, it is free.").score == 0


def test_a_word_alone_is_contradicted_by_another_of_its_kind_and_roles_hold_for_pronouns():
    for pair in ("March April", "north south", "uncle aunt", "Anna Maria", "red blue", "two three"):
        assert [verdict.state for verdict in evaluate(*pair.split()).verdicts] == ["contradicted"]
        assert checker([pair.split()[0]], pair.split()[0])[0]
    assert evaluate("happy", "glad").verdicts[0].state == "unclear"
    for told, same, turned in cases("""
The dog chased the cat. | It chased the cat. | It chased the dog.
The company sued the bank. | The company sued it. | The bank sued it.
"""):
        assert checker([told], same)[0] and not checker([told], turned)[0]


TABLE = "Prices:\n\n| product | cost |\n|---|---|\n| tea | 5 euros |\n| milk | 7 euros |\n\nThat is all we sell."


def test_a_table_is_read_row_by_row_with_the_signs_in_its_cells_and_a_true_one_is_faithful():
    units = spoken_units(TABLE)
    assert [unit.plain for unit in units[1:3]] == ["The cost of tea is 5 euros.", "The cost of milk is 7 euros."]
    assert all(TABLE[unit.place.start : unit.place.end] == unit.place.text for unit in units) and len(units) == 4
    for text, told in (
        ("city | people\nOslo | 700\nBergen | 290", ["The people of Oslo is 700.", "The people of Bergen is 290."]),
        ("|a|b|\n|-|-|\n|1|2|\n\n|c|d|\n|-|-|\n|3|4|", ["The b of a 1 is 2.", "The d of c 3 is 4."]),
        ("a | b", []),
        ("no table", []),
        ("| - | - |\n" * 3 + "Room 1 has a sauna.", []),
    ):
        assert [own.text for row in table_rows(text) for own in row.told] == told
    for first, second, score in [("5", "7", 1), ("7", "5", 0), ("5", "9", 0.5)]:
        table = f"| product | cost |\n|---|---|\n| tea | {first} euros |\n| milk | {second} euros |"
        assert answer_faithfulness("Prices?", ["Tea costs 5 euros. Milk costs 7 euros."], table).score == score
    ticked = "| room | sauna |\n|---|---|\n| Room 1 | \u2713 |\n| Room 2 | - |"
    report = evaluate_answer("Room 1 has a sauna.", "Which room has it?", "Room 1 has a sauna.", ticked)
    assert not report.correctness.f1


def test_long_texts_are_read_in_linear_time():
    for text in ["|" * 100_000, "a | " * 25_000, "Is it " * 20_000 + "?", "yes, " * 20_000]:
        with comes_back():
            table_rows(text), read_replies("Is it so?", [text]), read_replies(text, ["Two."]), spoken(text)
