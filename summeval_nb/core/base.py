"""What every module needs: names of types, checks of arguments, numpy when it is used, and warnings."""

from __future__ import annotations

import functools
import importlib
import numbers
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, SupportsAbs, TypeAlias, TypeGuard, TypeVar

__all__ = [
    "np",
    "JsonDict",
    "Scores",
    "is_numpy",
    "is_listed",
    "short_repr",
    "require_text",
    "require_texts",
    "require_column",
    "require_count",
    "require_flag",
    "is_finite",
    "require_share",
    "require_inner_share",
    "require_option",
    "require_options",
    "how_to_install",
    "require_module",
    "made_of",
    "float_array",
    "InputWarning",
    "callers_level",
    "LONG",
    "warn_of_order",
    "hub_only_if",
]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """Looks every name up in numpy, and keeps it.

        numpy is imported when it is first used, so that one text needs none. lazy_loader's own lazy module is not safe
        when two threads meet it first (Python 3.11.7), and leaves a half-made numpy in `sys.modules`.
        """

        def __getattr__(self, name: str) -> object:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Numpy()

JsonDict: TypeAlias = dict[str, Any]  # what JSON can say of a thing, by name: `to_dict()`, a row of a table


class Scores(Protocol):
    """What scores texts: a `Metric`, or any object with these two attributes."""

    @property
    def columns(self) -> Mapping[str, str]:
        """What it reads, in the order of its arguments."""

    def score_many(self, *columns: Any, **choices: Any) -> Any:
        """Return a table or a list, with one score a text."""


def is_numpy(value: object, kind: str) -> bool:
    """Return whether `value` is of numpy's type of that name, without importing numpy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind))


def require_text(value: object, name: str) -> str:
    """Return `value` if it is a string; otherwise raise a `TypeError` that names the
    remedy."""
    if isinstance(value, str):
        return value
    remedy = "pass one string"
    if isinstance(value, (bytes, bytearray)):
        remedy = "decode it first: value.decode('utf-8')"
    elif isinstance(value, PathLike):
        remedy = "read the file first: value.read_text(encoding='utf-8')"
    elif isinstance(value, (list, tuple)):
        remedy = "pass one string; join the parts, or call the function once for each"
    elif value is None:
        remedy = "pass '' for an empty text"
    raise TypeError(f"{name} must be a string, not {type(value).__name__} ({short_repr(value)}): {remedy}")


def require_texts(values: object, name: str) -> list[str]:
    """Return `values` as a list of strings; a single string, None or a non-string
    element raises a `TypeError`."""
    if not is_listed(values):
        remedy = "pass a list of strings"
        if isinstance(values, str):
            remedy = "wrap one text in a list: [text]"
        elif _is_table(values):
            remedy = "pass one of its columns, as in table['text']"
        raise TypeError(
            f"{name} must be a list of strings, not {type(values).__name__} ({short_repr(values)}): {remedy}"
        )
    return [require_text(value, f"{name}[{index}]") for index, value in enumerate(values)]


def require_column(values: object, name: str) -> list[object]:
    """Return one value for each text as a list; a single text or what cannot be listed
    raises a `TypeError`."""
    if not is_listed(values):
        remedy = "for one text call score, or wrap it in a list: [text]"
        raise TypeError(f"{name} must be a list, not {type(values).__name__} ({short_repr(values)}): {remedy}")
    return list(values)


def is_listed(values: object) -> TypeGuard[Iterable[object]]:
    """Whether these are many values: a text and a mapping are one."""
    single = isinstance(values, (str, bytes, bytearray, Mapping)) or _is_table(values)
    counted = hasattr(values, "__len__") and hasattr(values, "__getitem__")
    return not single and (isinstance(values, Iterable) or counted)


def _is_table(values: object) -> bool:
    """Whether these are a table of pandas, of which a list would hold the names."""
    return hasattr(values, "columns") and hasattr(values, "iloc")


def short_repr(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:37] + "..."


_MOST = {"n_resamples": 10_000_000, "errors": 10**9}  # more would take days


def require_count(value: object, name: str, *, minimum: int = 1) -> int:
    """Return `value` as an int of at least `minimum` (numpy integers too); otherwise
    raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__} ({short_repr(value)})")
    count = int(value)
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {short_repr(value)}")
    if (most := _MOST.get(name)) is not None and count > most:
        raise ValueError(f"{name} must be at most {most:,}, not {short_repr(value)}")
    return count


def require_flag(value: object, name: str) -> bool:
    """Return `value` if it is True or False (numpy's too); a text, a number or None
    raises a `TypeError`."""
    if not (isinstance(value, bool) or is_numpy(value, "bool_")):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__} ({short_repr(value)})")
    return bool(value)


def is_finite(value: SupportsAbs[Any]) -> bool:
    """Return whether a number is one that a float can hold; not every whole number is.

    Examples
    --------
    >>> is_finite(1e308), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    return bool(abs(value) <= sys.float_info.max)


def require_share(value: object, name: str) -> float:
    """Return `value` as a float in [0, 1]; otherwise raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number in [0, 1], not {type(value).__name__} ({short_repr(value)})")
    number: Any = value  # compared as it is: not every whole number is a float
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must lie in [0, 1], not {short_repr(value)}")
    return float(value)


def require_inner_share(value: object, name: str) -> float:
    """Return `value` as a float between 0 and 1, and neither of them; otherwise raise."""
    share = require_share(value, name)
    if not 0 < share < 1:
        raise ValueError(f"{name} must lie between 0 and 1, not {value}")
    return share


def require_option(value: object, name: str, known: Iterable[str]) -> str:
    """Return `value` if it is one of the known names; otherwise raise a `ValueError`
    that lists them."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"unknown {name} {short_repr(value)}; known: {', '.join(map(repr, names))}")
    return value


def require_options(caller: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise a `TypeError` for a name of an option that there is not; it says which one was probably meant.

    Parameters
    ----------
    caller : str
        What the user called: a function as `"evaluate()"`, a metric by its name.
    given, known : iterable of str
        The names that were given, and all that there are.

    Examples
    --------
    >>> require_options("bleu", ["smoth"], ["n", "smooth"])
    Traceback (most recent call last):
    TypeError: bleu has no option 'smoth', did you mean 'smooth'? known: 'n', 'smooth'
    """
    names = list(known)
    for name in given:
        if name not in names:
            from difflib import get_close_matches

            nearest = get_close_matches(str(name), names, n=1, cutoff=0.65)
            meant = f", did you mean {nearest[0]!r}?" if nearest else ";"
            raise TypeError(
                f"{caller} has no option {short_repr(name)}{meant} known: {', '.join(map(repr, names)) or 'none'}"
            )


def how_to_install(extra: str) -> str:
    """Return the words in which every message says how to install an extra.

    Examples
    --------
    >>> how_to_install("llm")
    "pip install -e '.[llm]' in your checkout"
    """
    return f"pip install -e '.[{extra}]' in your checkout"


def require_module(name: str, extra: str) -> ModuleType:
    """Import and return a module; if it is missing, raise an `ImportError` that names
    the extra to install.

    Only the absence of the module itself is reported so; an error inside it passes
    through.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != name.split(".")[0]:
            raise
        message = f"this needs the package {error.name}: {how_to_install(extra)}"
        raise ImportError(message, name=error.name) from error


Given = ParamSpec("Given")


Made = TypeVar("Made")


def made_of(what: str) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Let a function that reads `what` raise a `ValueError` with a remedy for data that lack a part or its form."""

    def wrap(read: Callable[Given, Made]) -> Callable[Given, Made]:
        @functools.wraps(read)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Made:
            try:
                return read(*args, **kwargs)
            except KeyError as error:
                raise ValueError(f"this is not {what}: {error} is missing; pass what to_dict() returned") from error
            except (AttributeError, IndexError, TypeError) as error:
                raise ValueError(f"this is not {what}: {error}; pass what to_dict() returned") from error

        return call

    return wrap


def float_array(values: object, name: str) -> np.ndarray:
    """Return numbers as an array of floats; a whole number that no float can hold is a `ValueError`."""
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError as error:
        raise ValueError(f"{name} holds a number that no float can hold: {error}") from error


class InputWarning(UserWarning):
    """Something is allowed but probably not meant, such as a path where a text belongs;
    the message has the remedy."""


def callers_level() -> int:
    """Return the stack level, for the caller of this function, of the first frame outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("summeval_nb."):
        level, frame = level + 1, frame.f_back
    return level


LONG = 300  # characters of a text below which its length says nothing


def warn_of_order(
    sizes: Sequence[tuple[int, int]],
    *,
    judged: tuple[str, str] = ("the summary is", "summaries are"),
    beside: str = "the article",
    remedy: str,
    times: int = 2,
) -> None:
    """Warn of judged texts much longer than what they are held against: (characters of the other, of the judged).

    0 characters of the other say nothing. `judged` is what one such text, and several, are called; the remedy says
    which comes first.
    """
    found = [i for i, (other, own) in enumerate(sizes) if own > LONG and 0 < times * other < own]
    if found:
        other, own = sizes[found[0]]
        which = f"{len(found)} {judged[1]}" if len(found) > 1 else judged[0]
        place = f", first in pair {found[0]}" if len(sizes) > 1 else ""
        warnings.warn(
            f"{which} much longer than {beside} ({own:,} characters against {other:,}{place}): {remedy}",
            InputWarning,
            stacklevel=callers_level(),
        )


_ALONE = threading.RLock()  # the switch is one for the whole process


@contextmanager
def hub_only_if(download: bool) -> Iterator[dict[str, Any]]:
    """Yield the arguments for a library's `from_pretrained`; while the block runs, hubs are out of reach or not.

    `local_files_only` alone does not do: before it looks at local files, huggingface_hub 2 asks the hub for a list of
    the programs that may be calling, and sends the name of the one it recognises with every request.
    """
    from huggingface_hub import constants

    require_flag(download, "download")  # a "no" would be true
    with _ALONE:
        before = constants.HF_HUB_OFFLINE
        constants.HF_HUB_OFFLINE = before or not download
        try:
            yield {"local_files_only": not download}
        finally:
            constants.HF_HUB_OFFLINE = before
