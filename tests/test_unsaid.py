"""What the evidence speaks of without saying that it is so supports no claim; what keeps the "if" stays supported."""

from helpers.cases import cases

from summeval_nb.evidence import EmbeddedChecker
from summeval_nb.evidence.tokens import take_apart
from summeval_nb.evidence.unsaid import (
    unsaid_spans,
    unsaid_words,
)
from summeval_nb.text.split import split_text

UNSAID = cases("""
Doctors used to think that ulcers were caused by stress. | Ulcers are caused by stress.
Investors were misled into thinking that the mine held gold. | The mine held gold.
Far from being bankrupt, the theatre in Oslo made a profit. | The theatre in Oslo is bankrupt.
Police ruled out that the fire was set on purpose. | The fire was set on purpose.
Passengers must pay a fine unless they show a ticket. | Passengers must pay a fine.
The comet might be visible without a telescope. | The comet is visible without a telescope.
The choir sang in Lisbon in October and plans to sing in Porto. | The choir sang in Porto.
The bank denied a report that it had lost four million customer records.
    | The bank had lost four million customer records.
The island could run out of drinking water by August. | The island ran out of drinking water by August.
The story that Einstein failed mathematics is not true. | Einstein failed mathematics.
An online post falsely stated that the volcano had killed a climber. | The volcano killed a climber.
If Clara had sold the shares in May, she would have earned a fortune. | Clara sold the shares in May.
Drivers threatened to block the motorway near Lyon. | Drivers blocked the motorway near Lyon.
The girl made up the story that a wolf had entered the school. | A wolf entered the school.
A rumour spread that the factory had closed in May. | The factory had closed in May.
Inspectors found no trace of lead in the water of Brent. | Inspectors found lead in the water of Brent.
The orchestra will cancel its spring tour if the strike continues. | The strike continues.
The farmer denies poisoning the wolves. | The farmer poisoned the wolves.
The general would not say whether the troops had crossed the river. | The troops had crossed the river.
Had the pilot seen the tower, he would have turned back. | The pilot saw the tower.
The governor promised to pardon the two fishermen. | The governor pardoned the two fishermen.
The mine was shut in 1984, although the union denied that it was unsafe. | The mine was unsafe.
The restaurant, which may move to a larger house, won a prize in 2019. | The restaurant moved to a larger house.
Students who fail the test can repeat it if they apply in writing. | Students who fail the test can repeat it.
The treaty takes effect if both parliaments approve it. | The treaty takes effect.
The dog would have bitten the postman, but its owner called it back. | The dog bit the postman.
The coach said he would resign if the team lost on Saturday. | The coach resigned.
If enough volunteers sign up, the museum opens at night. | The museum opens at night.
Police have not confirmed that the driver was drunk. | The driver was drunk.
The nurse asked if the patient had eaten. | The patient had eaten.
""")
SAID = cases("""
The orchestra will cancel its spring tour if the strike continues.
    | If the strike continues, the orchestra will cancel its spring tour.
Passengers must pay a fine unless they show a ticket.
The farmer denies poisoning the wolves. | The farmer denies that he poisoned the wolves.
The airline denied that any luggage was lost. An inspector said that luggage was lost. | Luggage was lost.
It is untrue that the soup contained nuts.
Had the pilot seen the tower, he would have turned back.
The zoo may lend its two pandas to Vienna. In May the zoo lent its two pandas to Vienna.
    | The zoo lent its two pandas to Vienna.
The landlord threatened to cut off the water, and on Tuesday he cut off the water. | The landlord cut off the water.
The choir plans to sing in Lisbon in October. | The choir will sing in Lisbon in October.
Anna denied the charge, but her brother admitted that he had broken the window.
    | Her brother admitted that he had broken the window.
The mine was shut in 1984, although the union denied that it was unsafe. | The mine was shut in 1984.
The restaurant, which may move to a larger house, won a prize in 2019. | The restaurant won a prize in 2019.
The dog would have bitten the postman, but its owner called it back. | The owner called the dog back.
If enough volunteers sign up, the museum opens at night. They signed up, and the museum opens at night.
    | The museum opens at night.
The ministry refuses to say how many soldiers died. | Soldiers died.
Archaeologists say the skull may belong to a Viking. | The skull may belong to a Viking.
The publisher printed the diary in two volumes and plans to print the letters.
    | The publisher printed the diary in two volumes.
The judge ruled that the fence was legal, although the neighbour had denied it. | The fence was legal.
The engineer warned that the bridge would collapse if trucks crossed it. On Sunday the bridge collapsed.
    | The bridge collapsed.
The actor is accused of stealing a necklace from a shop in Paris. | The actor is accused of stealing a necklace.
There is no evidence that the vaccine causes fever.
The chairman refused to resign. | The chairman did not resign.
Should the talks fail, the workers will walk out on Friday. | If the talks fail, the workers will walk out on Friday.
He wanted to become a pilot but became a teacher. | He became a teacher.
""")


def judged(pairs):
    return EmbeddedChecker().check_many([(split_text(evidence), claim) for evidence, claim in pairs])


def test_what_is_only_spoken_of_is_not_supported_and_what_keeps_the_condition_is():
    for (evidence, claim), verdict in zip(UNSAID, judged(UNSAID), strict=True):
        assert verdict.state in ("unclear", "contradicted"), claim
        if "deni" not in evidence and {one.kind for one in verdict.findings if one.clash} == {"modality"}:
            assert verdict.state == "unclear", claim
    said = [(row[0], row[-1]) for row in SAID]  # without a claim, it supports itself
    for (_, claim), verdict in zip(said, judged(said), strict=True):
        assert verdict.state == "supported", claim


def test_a_long_hostile_sentence_takes_no_more_than_its_length():
    for word in ["if ", "may ", "denied that ", "would ", ", which may ", "plans to "]:
        long = take_apart(word * (20_000 // len(word)) + "the pipe leaks.")
        assert len(unsaid_spans(long)) > 0
        assert isinstance(unsaid_words(take_apart("The pipe leaks."), [long]), list)
        assert isinstance(unsaid_words(long, [take_apart("The pipe may leak.")]), list)
