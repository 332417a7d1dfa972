"""Sphinx configuration."""

import inspect
import re
from importlib import import_module
from importlib.metadata import version as _version
from typing import Any, ClassVar

import attrs
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import index, pending_xref
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import scorekit
from scorekit import _HOME  # the module of each public name

project = "scorekit"
author = "The scorekit authors"
copyright = "2026, The scorekit authors"  # noqa: A001 - Sphinx's name
version = release = _version("scorekit")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
exclude_patterns = ["_build", "recipes"]
html_theme = "furo"
html_title = "scorekit"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["style.css"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # what the page shows is what this version does
nb_execution_in_temp = False  # the data of the case study lie beside it
nb_execution_raise_on_error = True

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
autodoc_typehints_description_target = "documented_params"  # a record's fields say theirs
napoleon_use_rtype = False
# Records that callers make; of the others no signature is shown.
INPUTS = {"CodeSample", "CodeWeights", "JudgeRequest", "ModelPrice", "Run", "SqlCase", "Verdict"}
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
    r"scorekit\.records\.((Table)?Record|Report|ReportScores|Shown|Tabled)",
    r"[\w.]*FrozenMapping",
    "AnyJudge",
    r"scorekit\.judges\.(As|S)yncJudge",
    r"scorekit\._core\.frames\.Has\w+",
    "Insufficient",
    "Ties",
    "Schema",
)
nitpick_ignore_regex = [(r"py:.*", rf"({'|'.join((*_foreign, *_internal))})\b.*")]


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


class Topics(SphinxDirective):
    """Describe the public names of the given modules, functions first."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"parts": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return what autodoc says of each name."""
        functions, classes, data = [], [], []
        for module in self.arguments[0].split():
            source = ModuleAnalyzer.for_module(f"scorekit.{module}")
            source.analyze()
            source.overloads.clear()  # the one signature says what all of them take
            names = [name for name, home in _HOME.items() if home == f"scorekit.{module}"]
            for name in sorted(names, key=_is_async):  # the form that most people call first
                found = getattr(scorekit, name)
                if inspect.isfunction(found):
                    functions.append(f".. autofunction:: scorekit.{name}\n")
                elif isinstance(found, type):
                    classes.append(_class(f"scorekit.{name}", found))
                else:
                    data.append(f".. autodata:: scorekit.{name}\n   :no-value:\n")
        parts = []
        for path in self.options.get("parts", "").split():
            module, name = path.split(".")
            found = getattr(import_module(f"scorekit.{module}"), name)
            parts.append(_class(f"scorekit.{path}", found))
        titles = {"Functions": functions, "Classes": classes + data, "Parts of results": parts}
        text = [
            f".. rubric:: {title}\n\n" + "\n".join(one) for title, one in titles.items() if one
        ]
        return self.parse_text_to_nodes("\n".join(["```{eval-rst}", *text, "```"]))


class Names(SphinxDirective):
    """Show a table of all public names, or of the records that functions return."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table as nodes."""
        rows = _names() if self.arguments[0] == "names" else _results()
        return self.parse_text_to_nodes("\n".join(f"| {' | '.join(row)} |" for row in rows))


def _names() -> list[tuple[str, str]]:
    """Return what each name is, as the first line of its docstring says."""
    rows = [("name", "what it is"), ("---", "---")]
    for name in sorted(_HOME, key=str.casefold):
        found = getattr(scorekit, name)
        if isinstance(found, type) or inspect.isfunction(found):
            said = inspect.getdoc(found) or ""
        else:
            attributes = ModuleAnalyzer.for_module(_HOME[name]).find_attr_docs()
            said = " ".join(attributes["", name])
        rows.append((f"`{name}`", said.split("\n", 1)[0].replace("``", "`").replace("|", r"\|")))
    return rows


def _results() -> list[tuple[str, str, str]]:
    """Return which functions return each record, and its fields."""
    makers: dict[str, list[str]] = {}
    for name in _HOME:
        found = getattr(scorekit, name)
        if inspect.isfunction(found):
            for record in re.findall(r"[A-Z]\w+", str(found.__annotations__["return"])):
                makers.setdefault(record, []).append(f"`{name}`")
    rows = [("record", "returned by", "fields"), ("---", "---", "---")]
    for name in sorted(_HOME, key=str.casefold):
        found = getattr(scorekit, name)
        if name in makers and attrs.has(found) and name not in INPUTS:
            fields = (f"`{field.alias}`" for field in attrs.fields(found))
            rows.append((f"`{name}`", ", ".join(makers[name]), ", ".join(fields)))
    return rows


def _is_async(name: str) -> bool:
    """Return whether a public name is a function to be awaited."""
    return inspect.iscoroutinefunction(getattr(scorekit, name))


def _class(path: str, found: type) -> str:
    """Return the directive for a class: its own members, and those of its bases below `Record`."""
    lines = [f".. autoclass:: {path}", "   :members:", "   :exclude-members: notation"]
    if issubclass(found, scorekit.Record) and found is not scorekit.Record:
        lines.append("   :inherited-members: Record")
    elif "Tally" in path:
        lines.append("   :inherited-members:")
    return "\n".join(lines) + "\n"


def leave_out_what_attrs_made(
    _app: Sphinx, what: str, _name: str, found: Any, _options: Any, _signature: Any, returned: Any
) -> tuple[str, Any] | None:
    """Show no signature of a record that only scorekit makes: its fields follow anyway."""
    if what == "class" and issubclass(found, scorekit.Record) and found.__name__ not in INPUTS:
        return "", returned
    return None


def leave_out_fields(
    _app: Sphinx, what: str, _name: str, found: Any, _options: Any, lines: list[str]
) -> None:
    """Drop the block of fields of a record's docstring: the reference describes each below."""
    if what == "class" and issubclass(found, scorekit.Record) and "Attributes:" in lines:
        del lines[lines.index("Attributes:") :]


COLON = "\ue000"


def hide_colons(
    _app: Sphinx, what: str, _name: str, _found: Any, _options: Any, lines: list[str]
) -> None:
    """Keep napoleon from taking the words before a colon for the type of an attribute."""
    if what in ("attribute", "data", "property") and lines:
        lines[0] = lines[0].replace(":", COLON)


def show_colons(
    _app: Sphinx, _what: str, _name: str, _found: Any, _options: Any, lines: list[str]
) -> None:
    """Put them back."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


class IndexOtherNames(SphinxTransform):
    """Make the words of "Also called: ..." entries of the index, which the search finds first."""

    default_priority = 700  # before quotes are made round, and domains collect what is in a page

    def apply(self, **_: Any) -> None:
        """Put the entries, and the place they lead to, before the sentence."""
        for paragraph in list(self.document.findall(nodes.paragraph)):
            start, _, words = paragraph.astext().rstrip(".").partition(": ")
            if start != "Also called":
                continue
            # a search shows what is not a main entry behind all others
            target = nodes.target("", "", ids=["also-called"])
            entries = [("single", word, "also-called", "main", None) for word in words.split(", ")]
            paragraph.parent.insert(
                paragraph.parent.index(paragraph), [index(entries=entries), target]
            )


def show_formula(translator: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML: browsers show it without a script from the network."""
    block = isinstance(node, nodes.math_block)
    translator.body.append(tex2mathml(node.astext(), as_block=block))
    raise nodes.SkipNode


def miss_no_public_name(_app: Sphinx, env: Any) -> None:
    """Warn, and with ``-W`` fail, where the API reference lacks a public name."""
    described = {name for name, *_ in env.get_domain("py").get_objects()}
    for name in sorted({f"scorekit.{name}" for name in scorekit.__all__} - described):
        logging.getLogger(__name__).warning("%s is on no page of the API reference", name)


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.add_directive("topics", Topics)
    app.add_directive("names", Names)
    formula = (show_formula, None)
    app.add_transform(IndexOtherNames)
    app.add_html_math_renderer("mathml", inline_renderers=formula, block_renderers=formula)
    # before napoleon, which would describe the fields once more
    app.connect("autodoc-process-docstring", leave_out_fields, priority=400)
    app.connect("autodoc-process-docstring", hide_colons, priority=400)
    app.connect("autodoc-process-docstring", show_colons, priority=600)
    app.connect("autodoc-process-signature", leave_out_what_attrs_made)
    app.connect("doctree-read", link_public_names)
    app.connect("doctree-read", end_blocks_with_their_text)
    app.connect("env-check-consistency", miss_no_public_name)
