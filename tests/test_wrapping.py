"""Citation marks and what wraps a text: told by their form, and never at the cost of a sentence that says something."""

from helpers.cases import cases, sentences
from helpers.patience import comes_back

from summeval_nb.text import citation_marks, wrappers
from summeval_nb.text.wrapping import cut_out

TRUE = "Two workers were rescued from a flooded mine near Zwickau."


def without_marks(text):
    return cut_out(text, [mark[:2] for mark in citation_marks(text)])


def unwrapped(text):
    return cut_out(text, wrappers(text)).strip("-\n* >")


MARKS = {  # how a source is named, and the labels that are read
    "[1]": "1", "[ 1 ]": "1", "[1, 2]": "1 2", "[2,5,9]": "2 5 9", "[1-3]": "1 2 3", "[10–12, 14]": "10 11 12 14",
    "[1][2]": "1 2", "[1], [2]": "1 2", "[1]-[3]": "1 2 3", "[see 4]": "4", "(1)": "1", "([3])": "3",
    "(see [1])": "1", "(Source 1)": "1", "(Sources 1 and 2)": "1 2", "(Source: Document 2)": "2", "[Document 2]": "2",
    "[Doc 1, Doc 3]": "1 3", "[Passages 2-4]": "2 3 4", "[doc-4]": "doc-4", "[chunk_12]": "chunk_12", "[^1]": "1",
    "^[1]": "1", "<sup>1</sup>": "1", "<sup>[2]</sup>": "2", "【1†source】": "1", "【4:0†source】": "4:0",
    "[1](https://a.org/x_(y))": "1", "[[1]](https://a.org)": "1", "[source](https://a.org)": "https://a.org",
    "([Reuters](https://a.org))": "Reuters", "(https://a.org)": "https://a.org",
    "[reuters.com](https://reuters.com/x)": "reuters.com", "\ue200cite\ue202turn0search1\ue201": "turn0search1",
    "[Kim18]": "Kim18", "[RTL+20]": "RTL+20", "[2, p. 9]": "2",
}  # fmt: skip
AUTHORS = {
    "[p. 4]": ("p. 4",),
    "(pp. 6–7)": ("pp. 6–7",),
    "[Roe 2019, p. 11]": ("Roe 2019",),
    "(Smith et al., 2020)": ("Smith et al. 2020",),
    "(cf. Roe 2019a, 2019b)": ("Roe 2019a", "Roe 2019b"),
    "(see Smith, 2020, p. 5)": ("Smith 2020",),
    "(World Health Organization, 2021)": ("World Health Organization 2021",),
    "(O'Neil, in press)": ("O'Neil in press",),
    "[Smith2020]": ("Smith2020",),
}


def test_a_mark_is_found_before_and_after_the_full_stop():
    for mark, labels in [*((m, tuple(v.split())) for m, v in MARKS.items()), *AUTHORS.items()]:
        for text in (f"Anna has two dogs {mark}.", f"Anna has two dogs. {mark}"):
            (found,) = citation_marks(text)
            assert found.labels == labels and text[found.start : found.end] == mark
            assert without_marks(text) == "Anna has two dogs."


def test_a_mark_may_be_glued_to_the_full_stop_and_stands_before_its_sentence_too():
    for mark in ("¹", "²³", "¹,²", "¹⁻³", "[1]", "[a]"):
        assert without_marks(f"Anna has two dogs.{mark} Ben has none.") == "Anna has two dogs. Ben has none."
    for text, said in cases("""
According to [1], Anna has two dogs. | Anna has two dogs.
According to Source 2, Anna has dogs [3]. | Anna has dogs.
It shuts at 3 p.m. [1]. It is cold. | It shuts at 3 p.m. It is cold.
It shuts [1]... | It shuts...
It rained (1). It snowed (2). | It rained. It snowed.
"""):
        assert without_marks(text) == said
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


def test_a_mark_may_name_no_source():
    for mark in ("[citation needed]", "[source?]", "(n.d.)", "[ref]"):
        assert without_marks(f"Anna has two dogs {mark}.") == "Anna has two dogs."
        assert [found.labels for found in citation_marks(f"Anna has two dogs {mark}.")] == [()]


def test_what_the_article_says_decides_whether_a_mark_is_one():
    text, like = "He won gold (Paris, 1924).", "Anna has two dogs."
    assert citation_marks(text, like="The games of Paris were opened.") == []
    assert len(citation_marks(text)) == len(citation_marks(text, like="It rained.")) == 1
    assert [mark.labels for mark in citation_marks("Anna has two dogs (Article 2).", like=like)] == [("2",)]
    assert citation_marks("It breaks the treaty (Article 2).", like=like) == []  # where a law is spoken of
    assert citation_marks("Anna may keep dogs (Article 2).", like="Article 2 is on dogs.") == []
    assert citation_marks("Her son (9). His son (12).") == []  # they do not count up
    assert citation_marks("The bridge (Derby, 1899) fell.") == []
    assert [mark.labels for mark in citation_marks("It fell (Derby, 1899).")] == [("Derby 1899",)]
    assert [mark.labels for mark in citation_marks("It (Derby et al., 1899) fell.")] == [("Derby et al. 1899",)]


WRAPPED = sentences("""
Below is a brief overview of the text:⏎⏎@ / The following is a one-sentence summary of the article: @ / The article can
be summarized as follows: @ / Hello there! How can I help you today? @ / Based on the provided context, the answer is: @
/ I have read the text. Here is what it says in short: @ / @ Was this helpful? 🙂 / <|channel|>analysis<|message|>A
fire.<|end|><|start|>assistant<|channel|>final<|message|>@ / TL;DR: @ / @I hope this helps! 😊 / @⏎⏎Let me know if you
need more! / @ Feel free to ask if you have any questions. / @⏎⏎**Word count:** 10 / @ (10 words) / @⏎⏎This summary
captures the main points of the article. / @ #mine #rescue / @⏎⏎Sources:⏎[1] https://a.org⏎[2] Anna Lee, https://b.org /
```markdown⏎@⏎``` / Sure!⏎⏎<answer>⏎@⏎</answer>⏎⏎I hope this helps. / <scratchpad>⏎fire⏎</scratchpad>⏎⏎Summary: @ /
Okay, let me see.</think>@ / <|start_header_id|>assistant<|end_header_id|>⏎⏎@<|eot_id|> / Here is a summary:⏎⏎@ / Of
course! Here's the summary you requested:⏎@ / Here's a summary of the U.S. trial:⏎@ / Thank you for sharing the article!
@ / **Here is a summary of the article:**⏎⏎@ / **Summary**⏎⏎@ / ### Summary⏎@ / @ Would you like me to expand on this? /
<think>Let me see. It was a fire.</think>@ / <think>First.</think><think>Second.</think>@ / <Reasoning>It was a
fire.</Reasoning> @ / @</s> / @⏎<|endoftext|> / [/INST] @ / <|im_start|>assistant⏎@<|im_end|> / @ Enjoy your trip! /
@⏎⏎Warm regards,⏎Your helper / @⏎⏎Have a great weekend! / @⏎⏎(Reading time: 1 minute) / @⏎⏎*This answer was written by
an AI model.* / @ Please note that this text was generated automatically and may contain mistakes. / @ Please consult a
lawyer. / As an AI assistant, I have no opinion on this. @ / Sources: Reuters, Freie Presse⏎@ / @⏎⏎References:⏎1. Lee,
A. (2020). Mines under water.⏎2. Town records. / [Overview]⏎@ / Certainly — here is the reworded passage:⏎@
""")  # @ is what is said


def test_what_wraps_a_summary_is_found():
    for text in WRAPPED:
        assert "@" in text and unwrapped(text.replace("@", TRUE)) == TRUE, text


SAID = sentences("""
Here's what the jury heard on Monday. / Here are three reasons for the delay: cost, weather and strikes. / Here is the
answer of the government: taxes will rise. / Absolutely nothing was found. / Okay Airlines went bankrupt. / How can I
help? asked the nurse. / In short supply, petrol was rationed. / The mayor said: "I hope this helps." / Feel free to
bring a dog. / Would you like to live on Mars? Many would. / Thousands posted under #MeToo / Sources:⏎- rain⏎- rivers /
The page used <think> in the middle. It closed with </think> in the end. / The token <|endoftext|> ends a text. / Snow
fell. Thanks to salt, roads stayed open. / Snow fell. Let me know if you want more on the mine, which was flooded in
1999. / Certainly. / Sure enough, the bridge fell. / The summary was released on Monday. / In summary proceedings, the
judge ruled. / Yes. / "It was hard. Let me know if it hurts." / Let me know: that was the title of the song. / Can I
help you? was the motto of the shop. / This summary trial is based on a new law, the court said. / <think> is a new tag.
The body </think> ends it. / In HTML, </s> closes a strikethrough. / Snow fell. This is helpful for farmers. / Snow
fell. Feel free to ask about Ann, who was arrested. / Snow fell. Sources: nine people died. / Yes. Snow fell. / Result:
9 people died. / I can provide nine witnesses to the court. / I need help. The car broke.
""")


def test_a_sentence_of_the_subject_is_not_swallowed():
    for text in SAID:
        assert wrappers(text) == [], text


def test_what_the_article_says_and_what_is_all_of_an_answer_is_no_wrapper():
    assert wrappers("**Summary: It fell.**") == [(2, 10)] and wrappers("Yes.", like="Snow fell on Monday.") == []
    text = "Snow fell. Always consult a doctor."
    assert wrappers(text) == [(11, len(text))] and wrappers(text, like="Ask a doctor first.") == []
    for text in ("<think>Is it?</think>Certainly.", "Hm.</think>Certainly.<|im_end|>", "Certainly. I hope this helps!"):
        assert unwrapped(text) == "Certainly."
    assert unwrapped("Sure! Here is a summary:") == ""
    text = "<think>Let me see.\n\nThe bridge fell."  # reasoning that never ends is all there is
    assert wrappers(text) == [(0, len(text))]


LONG = [
    "(", "[", "[1", "¹", " ", "\n", "#a ", "<think>", "</think>", "<|im_end|> ", "Here is a ", "if you I'd ",
    "(Smith ", "(A B ", "(Aa & ", "([a](http://", "[1], ", "**", "Sure! ", "I hope this helps! ", "Sources:\n- x\n",
]  # fmt: skip


def test_long_texts_take_no_time():
    for piece in LONG:
        text = piece * (50_000 // len(piece))
        for read in (citation_marks, wrappers):
            with comes_back():
                read(text), read(text + "y")
