"""The public names of this part: one line a name, imported when first used."""

from .exercises import ExerciseCheck as ExerciseCheck
from .exercises import check_exercise as check_exercise
from .exercises import common_slip as common_slip
from .exercises import hash_answers as hash_answers
from .exercises import my_progress as my_progress
from .exercises import page_is_checked as page_is_checked
from .play import Picture as Picture
from .play import class_slides as class_slides
from .play import draw_shared_words as draw_shared_words
from .play import play_bleu as play_bleu
from .play import play_correlation as play_correlation
from .play import play_evidence as play_evidence
from .play import play_lcs as play_lcs
