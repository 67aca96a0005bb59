"""A reader changes a chapter's first example, and the chapter runs to its end: no check of the page stops it."""

import execute
import pytest
from execute import NOTEBOOKS
from helpers.late import Late

nbformat = Late("nbformat")

pytestmark = pytest.mark.nightly
HELLO, FERRY = "Hello there.", "The ferry to Alden has not run since May, and 12 people lost their jobs."
CHANGES: dict[str, list[tuple[str, str]]] = {  # in order, each from where the last one stood
    "1_start/11_first_report": [("sample_articles()[0]", "sample_articles()[2]")],
    "1_start/12_five_steps": [
        ("sample_articles()[0].text", f'"{FERRY} It carried cars. A bridge is planned."'),
        ("The Kestrel Bridge has reopened, 26 months after a ship struck its central pier. ", f"{HELLO} "),
    ],
    "2_counting/21_ngrams": [("The cat is on the mat.", HELLO), ("Dr. Ng's 2-year-old cat cost €3.50.", HELLO)],
    "2_counting/22_rouge": [("The cat is on the mat.", FERRY), ("The cat sat on the mat.", HELLO)],
    "2_counting/23_two_rouge_numbers": [("The cat is on the mat.", FERRY), ("A cat is resting on the mat.", HELLO)],
    "2_counting/24_bleu": [("The cat is sitting on the mat.", FERRY), ("The cat is on the mat.", HELLO)],
    "2_counting/26_chrf": [("three cats slept", HELLO), ("three cat sleeping", FERRY)],
    "2_counting/27_ter": [("This week the Saudis denied information published in the New York Times", HELLO)],
    "2_counting/28_meteor_and_bertscore": [("the cats sat", FERRY), ("the cat sat on the mat", "a ferry ran")],
    "2_counting/29_learned_metrics": [
        ("26 months after a ship struck it. ", "after a storm. "),
        ("Repairs for 48 million crowns are over.", HELLO),
        ('"length bleu rouge1 rouge2', '"rouge1 rouge2'),
    ],
    "3_evidence/31_sentences": [("Acme Inc. opened a plant", "Our ferry stopped. Dr. Lee Ng jr. paid")],
    "3_evidence/32_vectors": [("The museum opens at nine.", HELLO)],
    "3_evidence/33_similarity": [("A ferry will run every twenty minutes from Monday.", FERRY)],
    "3_evidence/34_first_checker": [("The council approved the plan.", HELLO), ("rejected 3 plans in Paris", "slept")],
    "3_evidence/35_nli": [("Anna bought a red car in Paris.", FERRY), ("Anna likes cars.", HELLO)],
    "3_evidence/36_embedded_checker": [
        ("fell to 48 million", "rose to 50 million"),
        ("Henrik Solberg thanked", "She saw"),
    ],
    "3_evidence/37_claims": [
        ("Anna bought a red car, and Ben sold a green boat.", "Anna left. Ben sold a blue boat, and Eva slept.")
    ],
    "3_evidence/37b_factscore": [("was a Norwegian engineer and painter", "slept"), ('in 1914. "', 'in 1904. "')],
    "3_evidence/38_faithfulness": [("The fire destroyed 13 houses.", "The fire destroyed two barns.")],
    "3_evidence/39_language_model": [("Ben sold a blue boat. Anna", "Ben sold nothing. Maria")],
    "4_trust/42_guarantee": [('"qags_cnndm"', '"xsumfaith"')],
    "4_trust/43_which_checker": [('"shared-words", 0.7', '"shared-words", 0.5'), ("threshold=0.7", "threshold=0.5")],
    "5_other_qualities/51_judges": [("and it is crossed by 60,000 cars every day.", "in May.")],
    "5_other_qualities/52_coverage": [("A young company is bringing out", "An old firm in Alden sold")],
    "5_other_qualities/53_answers": [("Adults pay 9 euros and children pay 4 euros.", HELLO)],
    "5_other_qualities/54_retrieval": [
        ("The mill in Alden was rebuilt in 1904.", "It was rebuilt by 1950, people say.")
    ],
    "5_other_qualities/55_question_answering": [("The repairs cost 48 million crowns.", "They cost nothing.")],
    "5_other_qualities/56_ratings": [('"4": 0.45, "5": 0.43', '"4": 0.08, "5": 0.80')],
    "5_other_qualities/57_pairs": [("It opened in 1931.", "Nobody knows.")],
    "5_other_qualities/58_long_texts_and_dialogue": [
        ("But I will bring the stove.", HELLO),
        ("Twelve people", "Some people"),
        ("k in (1, 2, 8)", "k in (2, 4)"),
    ],
    "6_judging_the_judges/61_is_my_judge_right": [("[:60]", "[:40]")],
    "6_judging_the_judges/62_annotators": [
        ("[1, 2, 3, 3, 2, 1, 4, 1, 2, o, o, o]", "[3, 2, 1, 3, 2, 1, 4, 1, 2, 1, 5, o]")
    ],
    "6_judging_the_judges/63_agreement": [('"metric_rouge1"', '"metric_length"')],
    "6_judging_the_judges/64_summeval": [("[:, :, 3]", "[:, :, 0]")],
    "6_judging_the_judges/65_significance": [('("bertscore", "rouge1")', '("bleu", "length")')],
    "6_judging_the_judges/66_metric_table": [
        ('("length", "bleu", "rouge2", "bertscore", "embedding", "faithfulness")', '("bleu", "rouge1")')
    ],
    "6_judging_the_judges/60_asking_people": [
        ('"Ada": [3, 2, 3, 1]', '"Ada": [5, 1, None, 2]'),
        ('"B", "D"', '"A", "C"'),
    ],
    "6_judging_the_judges/67_which_metric": [
        ("if name.startswith(", "if name != 'metric_rougeL' and name.startswith(")
    ],
    "6_judging_the_judges/68_real_judges": [("[ratings == 0] = np.nan", "[ratings == 0] = 1")],
    "7_use/71_a_million_pairs": [("for article in sample_articles()", "for article in sample_articles()[:2]")],
    "7_use/72_teaching_pack": [("sample_articles()[0]", "sample_articles()[1]")],
    "7_use/73_class_notebook": [("sample_articles()[0]", "sample_articles()[1]")],
    "from_other_tools": [("The cat is on the mat.", FERRY)],
    "zh/1_bleu_rouge": [("市议会周一通过了新桥的建设方案。", "今天天气很好。")],
    "zh/2_summeval": [("[:, :, 3]", "[:, :, 0]")],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_example_stops_no_chapter(name):
    path = NOTEBOOKS / f"{name}.ipynb"
    notebook = nbformat.read(path, 4)
    for old, new in CHANGES[name]:
        cell = next(c for c in notebook.cells if c.cell_type == "code" and old in c.source)
        cell.source = cell.source.replace(old, new)
    execute.run(notebook, path, checked=False)
