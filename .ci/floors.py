"""Print the oldest versions that settings.ini allows, as constraints for pip: numpy>=1.26 becomes numpy==1.26.*.

    python .ci/floors.py > floors.txt && pip install -c floors.txt -e '.[models,llm,chrf,parquet]'

Only what users install counts: tests and site may always have the newest.
"""

import re
from configparser import ConfigParser
from pathlib import Path

DEVELOPMENT = ("docs_requirements", "dev_requirements")


def floors(path: Path) -> list[str]:
    """Return one line for each requirement of settings.ini that names its oldest version."""
    parser = ConfigParser(delimiters=["="], interpolation=None)
    parser.read(path, encoding="utf-8")
    settings = parser["DEFAULT"]
    names = [name for name in settings if name.endswith("requirements") and name not in DEVELOPMENT]
    found = re.findall(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", " ".join(settings[name] for name in names))
    return sorted({f"{name}=={version}.*" for name, version in found}, key=str.casefold)


if __name__ == "__main__":
    print("\n".join(floors(Path(__file__).parents[1] / "settings.ini")))
