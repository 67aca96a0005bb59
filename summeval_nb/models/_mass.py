"""When a choice is no answer: its options hold next to nothing of the model's probability. Edited directly.

Chapter 87 says what the mass is. Judges and checkers that choose between options share this rule.
"""

from __future__ import annotations

from summeval_nb.models.llm import BackendError, Choice

LEAST_MASS = 0.001  # below it, what the options hold is a comparison of two accidents


def answered(choice: Choice | BackendError) -> Choice | BackendError:
    """The choice, or an error where its options hold less than `LEAST_MASS` of the model's probability.

    Examples
    --------
    >>> answered(Choice("yes", {"yes": 0.9, "no": 0.1}, mass=0.8)).label
    'yes'
    >>> isinstance(answered(Choice("yes", {"yes": 0.9, "no": 0.1}, mass=1e-9)), BackendError)
    True
    """
    if isinstance(choice, BackendError) or choice.mass >= LEAST_MASS:
        return choice
    options = ", ".join(choice.probabilities)
    return BackendError(
        f"the options {options} hold {choice.mass:.1g} of the model's probability, less than {LEAST_MASS}: "
        "it wanted to say something else; ask a model that follows instructions, or with another prompt"
    )
