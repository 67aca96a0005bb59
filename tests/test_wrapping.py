"""Citation marks and what wraps a text: told by their form, and never at the cost of a sentence that says something."""

import pytest
from helpers.cases import cases
from helpers.patience import comes_back

from summeval_nb.text import citation_marks, wrappers
from summeval_nb.text.wrapping import cut_out, kept_pieces

TRUE = "Two workers were rescued from a flooded mine near Zwickau."


def without_marks(text):
    return cut_out(text, [mark[:2] for mark in citation_marks(text)])


def unwrapped(text):
    return cut_out(text, wrappers(text)).strip("-\n* >")


MARKS = {
    "[1]": "1",
    "[ 1 ]": "1",
    "[1, 2]": "1 2",
    "[2,5,9]": "2 5 9",
    "[1-3]": "1 2 3",
    "[10–12, 14]": "10 11 12 14",
    "[1][2]": "1 2",
    "[1], [2]": "1 2",
    "[1]-[3]": "1 2 3",
    "[see 4]": "4",
    "(1)": "1",
    "([3])": "3",
    "(see [1])": "1",
    "(Source 1)": "1",
    "(Sources 1 and 2)": "1 2",
    "(Source: Document 2)": "2",
    "[Document 2]": "2",
    "[Doc 1, Doc 3]": "1 3",
    "[Passages 2-4]": "2 3 4",
    "[doc-4]": "doc-4",
    "[chunk_12]": "chunk_12",
    "[^1]": "1",
    "^[1]": "1",
    "<sup>1</sup>": "1",
    "<sup>[2]</sup>": "2",
    "【1†source】": "1",
    "【4:0†source】": "4:0",
    "[1](https://a.org/x_(y))": "1",
    "[[1]](https://a.org)": "1",
    "[source](https://a.org)": "https://a.org",
    "([Reuters](https://a.org))": "Reuters",
    "(https://a.org)": "https://a.org",
    "[reuters.com](https://reuters.com/x)": "reuters.com",
    "\ue200cite\ue202turn0search1\ue201": "turn0search1",
}
MARKS |= {"[Kim18]": "Kim18", "[RTL+20]": "RTL+20", "[2, p. 9]": "2"}
AUTHORS = {
    "[p. 4]": ("p. 4",),
    "(pp. 6–7)": ("pp. 6–7",),
    "[Roe 2019, p. 11]": ("Roe 2019",),
    "(Smith et al., 2020)": ("Smith et al. 2020",),
    "(Smith & Lee, 2020; Roe 2019)": ("Smith & Lee 2020", "Roe 2019"),
    "(cf. Roe 2019a, 2019b)": ("Roe 2019a", "Roe 2019b"),
    "(see Smith, 2020, p. 5)": ("Smith 2020",),
    "[Smith et al., 2020]": ("Smith et al. 2020",),
    "(World Health Organization, 2021)": ("World Health Organization 2021",),
    "(van der Berg, 2019)": ("van der Berg 2019",),
    "(O'Neil, in press)": ("O'Neil in press",),
    "[Smith2020]": ("Smith2020",),
}


def test_a_mark_is_found_before_and_after_the_full_stop():
    for mark, labels in [*((m, tuple(v.split())) for m, v in MARKS.items()), *AUTHORS.items()]:
        for text in (f"Anna has two dogs {mark}.", f"Anna has two dogs. {mark}"):
            (found,) = citation_marks(text)
            assert found.labels == labels and text[found.start : found.end] == mark
            assert without_marks(text) == "Anna has two dogs."


def test_a_mark_may_be_glued_to_the_full_stop():
    for [mark] in cases("""
¹
²³
¹,²
¹⁻³
[1]
[a]
"""):
        assert without_marks(f"Anna has two dogs.{mark} Ben has none.") == "Anna has two dogs. Ben has none."


def test_a_mark_stands_before_its_sentence_too():
    assert without_marks("According to [1], Anna has two dogs.") == "Anna has two dogs."
    assert without_marks("According to Source 2, Anna has dogs [3].") == "Anna has dogs."
    assert without_marks("It rained.\n\n[1] Anna has two dogs.") == "It rained.\n\nAnna has two dogs."
    assert without_marks("- It rained [1]\n- It snowed [2]") == "- It rained\n- It snowed"


def test_what_the_text_says_in_brackets_is_no_mark():
    for [text] in cases("""
He said it don't [sic] work.
They won (3-1), or [2-1], and [5–3].
It is 5 m², 3 km² and 7 square miles², at 10³ or 2⁶ a day, R² was E = mc²
Ca²⁺ ions in 10<sup>3</sup> m<sup>2</sup>
(a + b)² is a² + 2ab + b²
[The bridge](https://a.org) fell. ![a cat](https://a.org/c.png)
the war (1914-18), the year (2020), the city [2020], three (3) dogs
the law (Article 5), (Mayor Anna Smith), (about 300), [Applause], (Figure 3), (Table 1)
Smith (2020) was elected.
It is [1,500 metres] long, not [1,500].
Let x[1] be 3, a[2] + b[3], list[0] = 5.
x lies in the interval [1, 2], values in [0, 1]
v = [1, 2, 3]
The road is long (see page 3).
OSLO (Reuters) - It rained.
Ben (9) and Anna (12) came third (3).
(May 2020), (March 3, 2021), (Summer 2020), (Tuesday, 2020), (born 1990), (Euro 2020)
[he] saw the [UK] government [...] and cat[s] with [a] hat
(1) wash it, (2) dry it
"""):
        assert citation_marks(text) == []


def test_a_name_of_the_article_with_a_year_is_no_mark():
    text = "He won gold (Paris, 1924)."
    assert citation_marks(text, like="The games of Paris were opened.") == []
    assert len(citation_marks(text)) == len(citation_marks(text, like="It rained.")) == 1


def test_a_mark_may_name_no_source():
    for [mark] in cases("""
[citation needed]
[source?]
(n.d.)
[ref]
"""):
        assert without_marks(f"Anna has two dogs {mark}.") == "Anna has two dogs."
        assert [found.labels for found in citation_marks(f"Anna has two dogs {mark}.")] == [()]


def test_an_article_by_its_number_is_a_mark_where_no_law_is_spoken_of():
    like = "Anna has two dogs."
    assert [mark.labels for mark in citation_marks("Anna has two dogs (Article 2).", like=like)] == [("2",)]
    assert citation_marks("It breaks the treaty (Article 2).", like=like) == []
    assert citation_marks("Anna may keep dogs (Article 2).", like="Article 2 is on dogs.") == []


def test_no_full_stop_stands_beside_another():
    assert without_marks("It shuts at 3 p.m. [1]. It is cold.") == "It shuts at 3 p.m. It is cold."
    assert without_marks("It shuts [1]...") == "It shuts..."


def test_numbers_in_brackets_that_count_up_are_marks():
    assert without_marks("It rained (1). It snowed (2).") == "It rained. It snowed."
    assert citation_marks("Her son (9). His son (12).") == []


WRAPPED = [
    f"Below is a brief overview of the text:\n\n{TRUE}",
    f"The following is a one-sentence summary of the article: {TRUE}",
    f"The article can be summarized as follows: {TRUE}",
    f"In two sentences: {TRUE}",
    f"Hello there! How can I help you today? {TRUE}",
    f"Great question! {TRUE}",
    f"Here's my attempt: {TRUE}",
    f"Based on the provided context, the answer is: {TRUE}",
    f"I have read the text. Here is what it says in short: {TRUE}",
    f"{TRUE} Was this helpful? 🙂",
    f"{TRUE} Can I do anything else for you?",
    f"<|channel|>analysis<|message|>A fire.<|end|><|start|>assistant<|channel|>final<|message|>{TRUE}",
    f"TL;DR: {TRUE}",
    f"{TRUE}I hope this helps! 😊",
    f"{TRUE}\n\nLet me know if you need more!",
    f"{TRUE} Please let me know if you would like any changes. Thank you!",
    f"{TRUE} Feel free to ask if you have any questions.",
    f"{TRUE} I can also provide a longer version.",
    f"{TRUE}\n\n**Word count:** 10",
    f"{TRUE} (10 words)",
    f"{TRUE}\n\nThis summary captures the main points of the article.",
    f"{TRUE} #mine #rescue",
    f"{TRUE}\n\nSources:\n[1] https://a.org\n[2] Anna Lee, https://b.org",
    f"```markdown\n{TRUE}\n```",
    f"Sure!\n\n<answer>\n{TRUE}\n</answer>\n\nI hope this helps.",
    f"<scratchpad>\nfire\n</scratchpad>\n\nSummary: {TRUE}",
    f"Okay, let me see.</think>{TRUE}",
    f"<|start_header_id|>assistant<|end_header_id|>\n\n{TRUE}<|eot_id|>",
    f"Here is a summary:\n\n{TRUE}",
    f"Sure! Here's a short summary of the article: {TRUE}",
    f"Sure, here is the summary: {TRUE}",
    f"Sure — here's a summary:\n{TRUE}",
    f"Of course! Here's the summary you requested:\n{TRUE}",
    f"Okay, so here's the gist: {TRUE}",
    f"Based on the article, here is a short summary: {TRUE}",
    f"Here's a summary of the U.S. trial:\n{TRUE}",
    f"I'd be happy to help! {TRUE}",
    f"Hi. I'm here to help. {TRUE}",
    f"Thank you for sharing the article! {TRUE}",
    f"**Here is a summary of the article:**\n\n{TRUE}",
    f"Sure, I can do that! {TRUE}",
    f"**Summary:** {TRUE}",
    f"**Summary**\n\n{TRUE}",
    f"### Summary\n{TRUE}",
    f"Answer: {TRUE}",
    f"{TRUE} Would you like me to expand on this?",
    f"{TRUE} If you'd like, I can make it shorter.",
    f"{TRUE} Is there anything else I can help you with?",
    f"{TRUE}\n\n(Word count: 10)",
    f"{TRUE}\n\n#Mine #Zwickau2024",
    f"<think>Let me see. It was a fire.</think>{TRUE}",
    f"<think>\nA fire.\n\nNo?\n</think>\n\n{TRUE}",
    f"<think></think>\n{TRUE}",
    f"<think>First.</think><think>Second.</think>{TRUE}",
    f"<Reasoning>It was a fire.</Reasoning> {TRUE}",
    f"[THINK]A fire.[/THINK]{TRUE}",
    f"{TRUE}</s>",
    f"{TRUE}\n<|endoftext|>",
    f"[/INST] {TRUE}",
    f"<|im_start|>assistant\n{TRUE}<|im_end|>",
]

WRAPPED += [
    *(f"{TRUE} {wish}" for wish in ("Enjoy your trip!", "Happy baking!", "Good luck with your exam!", "Best wishes!")),
    *(
        f"{TRUE}\n\n{end}"
        for end in ("Warm regards,\nYour helper", "Yours sincerely,\nThe Bot", "Have a great weekend!")
    ),
    *(
        f"{TRUE}\n\n{count}"
        for count in ("Total: 10 words", "Words: 10", "(Reading time: 1 minute)", "Total words: 10.")
    ),
    f"{TRUE}\n\n*This answer was written by an AI model.*",
    f"{TRUE} Please note that this text was generated automatically and may contain mistakes.",
    f"{TRUE} This is not investment advice.",
    f"{TRUE} Please consult a lawyer.",
    f"As an AI assistant, I have no opinion on this. {TRUE}",
    f"{TRUE}\n\nSource: Freie Presse",
    f"Sources: Reuters, Freie Presse\n{TRUE}",
    f"{TRUE}\n\nReferences:\n1. Lee, A. (2020). Mines under water.\n2. Town records.",
    f"[Overview]\n{TRUE}",
    f"Here's what the report says: {TRUE}",
    f"Certainly — here is the reworded passage:\n{TRUE}",
]


def test_what_wraps_a_summary_is_found():
    for text in WRAPPED:
        assert unwrapped(text) == TRUE


def test_a_sentence_of_the_subject_is_not_swallowed():
    for text in [
        "Here's what the jury heard on Monday.",
        "Here are three reasons for the delay: cost, weather and strikes.",
        "Here is the answer of the government: taxes will rise.",
        "Absolutely nothing was found.",
        "Okay Airlines went bankrupt.",
        "Great question time rows erupted.",
        "Hello Kitty turned 50.",
        "How can I help? asked the nurse.",
        "Thank you notes were sent to nurses.",
        "In short supply, petrol was rationed.",
        'The mayor said: "I hope this helps."',
        "Feel free to bring a dog.",
        "Do not hesitate to call the police.",
        "Would you like to live on Mars? Many would.",
        "The essay has 40 words.",
        "Thousands posted under #MeToo",
        "Sources:\n- rain\n- rivers",
        "The page used <think> in the middle. It closed with </think> in the end.",
        "The token <|endoftext|> ends a text.",
        "They sold <summary> tags.",
        "Snow fell. Thanks to salt, roads stayed open.",
        "Snow fell. Let me know if you want more on the mine, which was flooded in 1999.",
        "Snow fell. Cheers rang out.",
        "Certainly.",
        "Here is where the bridge was closed.",
        "Sure enough, the bridge fell.",
        "Of course, the bridge fell.",
        "Certainly not, the minister answered.",
        "Summary judgment was granted.",
        "The summary was released on Monday.",
        "The answer is no.",
        "In summary proceedings, the judge ruled.",
        "In summary, the bridge fell.",
        "Yes.",
        "I hope this helps, said the mayor.",
        '"It was hard. Let me know if it hurts."',
        "Let me know: that was the title of the song.",
        "If you need help, call 112.",
        "Can I help you? was the motto of the shop.",
        "I can help the victims, the nurse said.",
        "This summary trial is based on a new law, the court said.",
        "Fans shouted about #10.",
        "<think> is a new tag. The body </think> ends it.",
        "In HTML, </s> closes a strikethrough.",
        "Snow fell. It is great.",
        "Snow fell. This is helpful for farmers.",
        "Snow fell. You can help.",
        "Help is here. Snow fell.",
        "Snow fell. The answer is no.",
        "Snow fell. Feel free to ask about Ann, who was arrested.",
        "Snow fell. Good luck charms were sold.",
        "Snow fell. Sources: nine people died.",
        "Snow fell. This is not medical waste.",
        "Snow fell. Yes.",
        "Yes. Snow fell.",
        "Result: 9 people died.",
        "Of course!",
        "Thank you.",
    ]:
        assert wrappers(text) == []


def test_a_warning_in_words_of_the_article_is_no_wrapper():
    assert wrappers("**Summary: It fell.**") == [(2, 10)] and wrappers("Yes.", like="Snow fell on Monday.") == []
    text = "Snow fell. Always consult a doctor."
    assert wrappers(text) == [(11, len(text))] and wrappers(text, like="Ask a doctor first.") == []


def test_short_words_may_be_all_of_an_answer():
    for text in ("<think>Is it?</think>Certainly.", "Hm.</think>Certainly.<|im_end|>", "Certainly. I hope this helps!"):
        assert unwrapped(text) == "Certainly."
    assert unwrapped("Sure! Here is a summary:") == ""


def test_reasoning_that_never_ends_is_all_there_is():
    text = "<think>Let me see.\n\nThe bridge fell."
    assert wrappers(text) == [(0, len(text))]


def test_pieces_are_the_text_without_the_spans():
    text = "Sure! Anna [1] has two dogs.\n[2] Ben has none [3]. I hope this helps!"
    spans = sorted([*wrappers(text), *(mark[:2] for mark in citation_marks(text))])
    pieces = kept_pieces(text, spans)
    assert "".join(text[start:end] for start, end in pieces) == "Anna has two dogs.\nBen has none."
    assert all(first[1] <= second[0] for first, second in zip(pieces, pieces[1:], strict=False))
    assert cut_out(text, []) == text


@pytest.mark.parametrize("read", [citation_marks, wrappers])
@pytest.mark.parametrize(
    "piece",
    ["(", "[", "[1", "¹", " ", "\n", "#a ", "<think>", "</think>", "<|im_end|> ", "Here is a ", "if you I'd "]
    + ["(Smith ", "(A B ", "(Aa & ", "([a](http://", "[1], ", "**", "Sure! ", "I hope this helps! ", "Sources:\n- x\n"],
)
def test_long_texts_take_no_time(read, piece):
    text = piece * (50_000 // len(piece))
    with comes_back():
        read(text), read(text + "y")


def test_somebody_who_tells_of_himself_wraps_nothing():
    for [text] in cases("""
I can provide nine witnesses to the court.
I will make a cake for Ann.
I condensed the milk.
I need help. The car broke.
I like to read.
"""):
        assert wrappers(text) == []


def test_a_name_and_a_year_inside_a_clause_are_told():
    assert citation_marks("The bridge (Derby, 1899) fell.") == []
    assert [mark.labels for mark in citation_marks("It fell (Derby, 1899).")] == [("Derby 1899",)]
    assert [mark.labels for mark in citation_marks("It (Derby et al., 1899) fell.")] == [("Derby et al. 1899",)]
