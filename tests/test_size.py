"""What `make size` counts: the packages that an installation leads to, and their files."""

from importlib.metadata import distribution

from docs.size import closure, size_of


def test_an_extra_adds_packages_and_takes_none_away():
    plain, models = closure("summeval_nb"), closure("summeval_nb", ["models"])
    assert {"summeval-nb", "numpy", "scipy", "pandas", "markupsafe"} <= set(plain), "markupsafe: what jinja2 needs"
    assert "torch" not in plain and "torch" in models and set(plain) < set(models)


def test_what_is_not_installed_is_named():
    assert closure("no-such-package-anywhere") == {"no-such-package-anywhere": None}


def test_a_package_is_at_least_as_large_as_its_largest_file():
    numpy = distribution("numpy")
    largest = max(numpy.locate_file(file).stat().st_size for file in numpy.files if file.suffix == ".so")
    assert size_of(numpy) > largest > 0
    assert size_of(distribution("summeval_nb")) > 1e6
