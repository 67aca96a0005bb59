"""The public names of this part: one line a name, imported when first used."""

from .exercises import AnswerCheck as AnswerCheck
from .exercises import check_answer as check_answer
from .exercises import common_slip as common_slip
from .exercises import my_progress as my_progress
from .exercises import seal_answers as seal_answers
from .play import Picture as Picture
from .play import play_bleu as play_bleu
from .play import play_correlation as play_correlation
from .play import play_evidence as play_evidence
from .play import play_lcs as play_lcs
