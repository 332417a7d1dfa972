"""Sphinx configuration."""

import os
import subprocess
import sys
from importlib.metadata import version as _version
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging

import scorekit

project = "scorekit"
author = "The scorekit authors"
copyright = "2026, The scorekit authors"  # noqa: A001 - Sphinx's name
version = release = _version("scorekit")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "scorekit"
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "force"  # what the page shows is what this version does
nb_execution_in_temp = True
nb_execution_raise_on_error = True

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
_internal = (
    "scorekit.parallel.[TR]",
    r"scorekit\.records\.Report(Scores)?",
    r"[\w.]*FrozenMapping",
    "Insufficient",
    "Schema",
)
nitpick_ignore_regex = [(r"py:.*", rf"({'|'.join((*_foreign, *_internal))})\b.*")]


def run_the_tour(_app: Sphinx) -> None:
    """Write what ``docs/tour.py`` prints to where its page includes it from."""
    here = Path(__file__).parent
    environment = {name: v for name, v in os.environ.items() if name != "ANTHROPIC_API_KEY"}
    command = [sys.executable, str(here / "tour.py")]
    printed = subprocess.run(  # noqa: S603 - our own script
        command, check=True, env=environment, stdout=subprocess.PIPE
    ).stdout
    (here / "_build").mkdir(exist_ok=True)
    (here / "_build" / "tour.txt").write_bytes(printed)


def link_public_names(_app: Sphinx, doctree: nodes.document) -> None:
    """Let every public name in the text lead to its description."""
    for name in list(doctree.findall(nodes.literal)):
        text = name.astext().removesuffix("()")
        if text in scorekit.__all__ and not isinstance(
            name.parent, nodes.reference | pending_xref
        ):
            link = pending_xref(
                "", refdomain="py", reftype="obj", reftarget=f"scorekit.{text}", refexplicit=True
            )
            name.replace_self(link)
            link += name


def end_blocks_with_their_text(_app: Sphinx, doctree: nodes.document) -> None:
    """Drop the blank line that ends an example for doctest's sake."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():  # otherwise it holds markup
            block.rawsource = block.rawsource.rstrip("\n")
            block.children = [nodes.Text(block.rawsource)]


def miss_no_public_name(_app: Sphinx, env: Any) -> None:
    """Warn, and with ``-W`` fail, where the API page lacks a public name."""
    described = {name for name, *_ in env.get_domain("py").get_objects()}
    for name in sorted({f"scorekit.{name}" for name in scorekit.__all__} - described):
        logging.getLogger(__name__).warning("%s is not on the API page", name)


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("builder-inited", run_the_tour)
    app.connect("doctree-read", link_public_names)
    app.connect("doctree-read", end_blocks_with_their_text)
    app.connect("env-check-consistency", miss_no_public_name)
