"""Sphinx configuration."""

from importlib.metadata import version as _version

project = "scorekit"
author = "The scorekit authors"
copyright = "2026, The scorekit authors"  # noqa: A001 - Sphinx's name
version = release = _version("scorekit")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "scorekit"
myst_enable_extensions = ["dollarmath"]

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
autodoc_class_signature = "separated"
napoleon_use_rtype = False
# Names of other libraries, and of aliases and private classes in signatures.
_foreign = (
    "np",
    "numpy",
    "NDArray",
    "collections",
    "Any",
    "attrs",
    "Axes",
    "concurrent",
    "datetime",
    "hypothesis",
    "matplotlib",
    "os",
    r"\w*\.?Decimal",
    r"\w*\.?Fraction",
)
_internal = ("scorekit.parallel.[TR]", r"[\w.]*FrozenMapping", "Insufficient", "Schema")
nitpick_ignore_regex = [(r"py:.*", rf"({'|'.join((*_foreign, *_internal))})\b.*")]
