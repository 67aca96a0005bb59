"""Run in a notebook's kernel before its first cell: writes down which files of this checkout are opened."""


def _watch() -> None:
    import os  # all names stay in here: the notebook's own names are untouched
    import sys

    root, hidden = os.environ["WATCH_ROOT"], os.path.join(os.environ["WATCH_ROOT"], ".")  # .venv is not ours
    log = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)  # forked children write here, too
    seen = set()

    def note(event, arguments):
        path = arguments[0] if event == "open" and isinstance(arguments[0], str) else ""
        if path.startswith(root) and not path.startswith(hidden) and path not in seen:
            seen.add(path)
            os.write(log, f"{path}\n".encode("utf-8", "surrogateescape"))

    sys.addaudithook(note)


_watch()
del _watch
