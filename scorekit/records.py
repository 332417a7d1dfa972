"""What every result is: a frozen record that can be shown, and is plain data and JSON too."""

from __future__ import annotations

import json
import logging
import math
import re
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sized
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeGuard,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    overload,
)

import attrs

from scorekit._core.docs import FieldDoc
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._core.near import missing_attribute
from scorekit._core.text import and_more
from scorekit._sheet.model import Sheet, Table, by_fields, line_of, row_of
from scorekit.errors import InputError, one_line, refuse, shortened, shown

T = TypeVar("T")

SCREEN = 100
"""Characters of the `repr` of a result, at most."""

SHORT = 50
"""Characters of a field in it, at most, where it does not hold all fields."""

MAX_SHOWN = 5
"""Items of such a field, beyond which it has their number alone."""

MAX_LISTED = 10
"""Records of a listing that print, unless all are asked for."""


class Shown:
    """What a sheet describes, as text, Markdown and HTML."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers find a missing attribute
        __getattr__ = missing_attribute

    def to_text(self, *, all: bool = False) -> str:  # noqa: A002 - the plainest word
        """
        Return what ``print`` shows: plain text, numbers rounded for display.

        Args:
            all: Whether to list what is only counted otherwise.
        """
        from scorekit._sheet.text import render

        return render(self._sheet(), everything=all)

    def to_markdown(self, *, all: bool = False) -> str:  # noqa: A002 - the plainest word
        """
        Return the same as Markdown, names escaped, for a pull request or a page.

        Args:
            all: Whether to list what is only counted otherwise.
        """
        from scorekit._sheet.markdown import render

        return render(self._sheet(), everything=all)

    def __str__(self) -> str:
        """Return `to_text`."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return the same as a page for a notebook, escaped."""
        from scorekit._sheet.html import render

        return render(self._sheet())

    def _sheet(self) -> Sheet:
        """Return what it shows: unless a record says more, its line and its fields."""
        return by_fields(self)


class Tabled(Shown):
    """What shows a table."""

    __slots__ = ()

    def to_latex(self) -> str:
        """Return the tables as LaTeX, each a ``tabular`` with the rules of booktabs."""
        from scorekit._sheet.latex import render

        return render(self._sheet())

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the first table as one flat dict a row, ready for a data frame."""
        from scorekit._sheet.rows import render

        return render(self._sheet())


@attrs.frozen
class Record(Shown):
    """Base of every result: what it shows, plain data and JSON, derived from the fields."""

    higher_is_better: ClassVar[bool] = True

    if not TYPE_CHECKING:  # type checkers find a missing attribute

        def __getattr__(self, name: str) -> object:
            """Return the default of a field that a pickle of before does not have."""
            known = attrs.fields_dict(type(self)).get(name)
            if known is None or known.default is attrs.NOTHING:
                missing_attribute(self, name)
            value = known.default
            value = value.factory() if isinstance(value, attrs.Factory) else value
            object.__setattr__(self, name, value)
            return value

    def __init_subclass__(cls) -> None:
        """Let ``help()`` show the fields with their texts."""
        text = cls.__dict__["__doc__"]
        if isinstance(text, str):  # attrs makes a class twice
            cls.__doc__ = cast("str", FieldDoc(text))

    def __repr__(self) -> str:
        """
        Show the fields if they fit on a line of a screen, else the first ones that say something.

        Records that are inputs have the `repr` of attrs instead, so that one can paste it.
        """
        fields = [
            (field.name, getattr(self, field.name))
            for field in attrs.fields(type(self))
            if field.repr
        ]
        head = f"{type(self).__name__}("
        whole = f"{head}{', '.join(f'{name}={value!r}' for name, value in fields)})"
        if len(whole) <= SCREEN:
            return whole
        text = head
        for name, value in fields:
            part = f"{name}={_in_short(value)}, "
            said = value is not None and not (isinstance(value, Sized) and not len(value))
            said = said and part != f"{name}=<{type(value).__name__}>, "
            if said and len(text) + len(part) <= SCREEN - len("...)"):
                text += part
        return f"{text}...)"

    def to_dict(self) -> dict[str, Any]:
        """
        Return nested builtins that strict JSON takes, keys in field order.

        Infinities and NaN, which JSON has no number for, go out as ``"inf"``, ``"-inf"`` and
        ``"nan"``. A field of which a report has thousands, and few that say anything, is left out
        where it has its default.
        """
        fields = {name: _plain(getattr(self, name)) for name in _field_names(type(self))}
        for name, default in _rare_fields(type(self)).items():
            if fields[name] == default:
                del fields[name]
        return fields

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """
        Rebuild a record from what `to_dict` returned, or ``json.loads`` of what `to_json` did.

        Args:
            data: One entry for each field that has no default; no other entries.

        Raises:
            InputError: If an entry is missing, unknown, or not what its field holds; if *data* is
                of another kind or of a newer version.
            TypeError: If *data* is not a mapping.
        """
        if not is_mapping(data):
            refuse("data", "a mapping", data, TypeError)
        heads = [name + "_" * (name in _field_names(cls)) in data for name in ("kind", "version")]
        record: Self = _build_record(
            cls, cls._without_head(data) if all(heads) else data, cls.__name__
        )
        return record

    @classmethod
    def _without_head(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of what `to_json` wrote; refuse another kind and another version."""
        fields = dict(data)
        for name, wanted in (("kind", cls.__name__), ("version", cls.version)):
            found = fields.pop(name, None)
            if found != wanted or isinstance(found, bool):
                is_newer = type(found) is int and name == "version" and found > cls.version
                newer = " (a newer scorekit wrote it)" if is_newer else ""
                refuse(f"{name} of the result", f"{wanted!r}{newer}", found)
            if name + "_" in fields:  # a field of the same name
                fields[name] = fields.pop(name + "_")
        return fields

    version: ClassVar[int] = 1
    """Of what ``to_json()`` writes."""

    def to_json(self) -> str:
        """Return the result as strict JSON; `from_json` gives an equal one back."""
        head = {"kind": type(self).__name__, "version": self.version}
        fields = {name + "_" * (name in head): one for name, one in self.to_dict().items()}
        return json.dumps(head | fields, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """
        Rebuild a result from what `to_json` returned.

        Raises:
            InputError: If *text* is cut short or not JSON, of another kind or version, or does
                not hold what such a result holds.
            TypeError: If *text* is not a string.
        """
        given = cast("object", text)
        if not isinstance(given, str):
            refuse("text", "a string", given, TypeError)
        try:
            data = json.loads(
                text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
            )
        except (ValueError, RecursionError) as error:
            reason = str(error) or type(error).__name__
            refuse("text", f"a whole JSON document, not a path to one ({reason})", text)
        if not isinstance(data, dict):
            refuse("text", f"a JSON object of kind {cls.__name__}", text)
        data = cls._without_head(cast("dict[str, Any]", data))
        try:
            return cls.from_dict(data)
        except RecursionError:
            refuse("text", "a result that is nested less deeply", text)

    def _line(self) -> str:
        """Return the record on one line, as a cell holds it; nothing if it has no such line."""
        return ""

    @staticmethod
    def _table_by_key(found: list[tuple[str, Any]]) -> str | None:
        """Return a page with a row for each record, behind its key; None if one is no record."""
        from scorekit._sheet.html import render

        if not all(isinstance(one, Record) for _, one in found):
            return None
        rows = [{"": key, **row_of(one)} for key, one in found]
        return render(Sheet("", "", (Table(rows=rows),)))


def _in_short(value: object) -> str:
    """Return a value as the `repr` of a result has it: rounded, of nested ones a line."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Record):
        line = getattr(value, "_brief", line_of(value).partition(" (")[0])  # without its grounds
        return f"<{line}>" if 0 < len(line) <= SHORT else f"<{type(value).__name__}>"
    if isinstance(value, str):
        return repr(shortened(value, SHORT))
    if isinstance(value, Sized):
        whole = repr(value) if len(value) <= MAX_SHOWN else ""
        if not 0 < len(whole) <= SHORT and is_mapping(value):
            name, one = next(iter(value.items()), ("", None))
            whole = f"{{{name!r}: {one:.4g}, ...}}" if isinstance(one, float) else ""
        return whole if 0 < len(whole) <= SHORT else f"<{len(value)}>"
    return repr(value)


@attrs.frozen(repr=False)
class TableRecord(Tabled, Record):
    """A result that shows a table."""


def listing(records: Iterable[Any]) -> tuple[Any, ...]:
    """Keep records such that they show as a table; converter of a field of them."""
    return records if isinstance(records, Listing) else Listing(records)


class Listing(Tabled, tuple[T, ...]):
    """Records that print one below the other, in a notebook as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Show them as a tuple does if that fits on a line, else their number and kind."""
        whole = super().__repr__() if len(self) <= MAX_SHOWN else ""
        if 0 < len(whole) <= SCREEN:
            return whole
        kinds = " or ".join(dict.fromkeys(type(one).__name__ for one in self))
        return f"<{len(self)} {kinds}: print() shows them>"

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> T: ...

    @overload
    def __getitem__(self, place: slice, /) -> Listing[T]: ...

    def __getitem__(self, place: SupportsIndex | slice, /) -> T | Listing[T]:
        """Return a record, or of a slice a listing."""
        found: Any = super().__getitem__(place)
        return type(self)(found) if isinstance(place, slice) else found

    def _sheet(self) -> Sheet:
        return Sheet("", "", (Table(rows=[row_of(record) for record in self]),))

    def to_text(self, *, all: bool = False) -> str:  # noqa: A002 - the plainest word
        """Return the text of each of the first, or of *all*, long ones with a line between."""
        shown: tuple[Any, ...] = self if all else self[:MAX_LISTED]
        texts = [one.to_text(all=all) if isinstance(one, Record) else str(one) for one in shown]
        if len(self) > len(shown):
            texts.append(f"{and_more(len(self) - len(shown))}: to_text(all=True) lists them")
        return ("\n\n" if any("\n" in text for text in texts) else "\n").join(texts) or "none"


SuiteKey = tuple[str, str | None]
"""A metric, and the model whose scores it holds; None where none is known."""

Cases = Mapping[str, tuple[float, ...]]
"""The scores of the attempts at each case."""


Ends: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""The scores of a case's attempts if all unknown ones failed, and if all passed."""


class CaseSql(NamedTuple):
    """The queries of a case, each once: of all its attempts, and those that are right."""

    generated: tuple[str, ...]
    expected: tuple[str, ...]


def together(queries: Iterable[tuple[str, CaseSql]]) -> dict[str, CaseSql]:
    """Return the queries of each case, of whatever attempts, each once."""
    found: dict[str, CaseSql] = {}
    for case_id, own in queries:
        if case_id in found:
            every = dict.fromkeys((*found[case_id].generated, *own.generated))
            found[case_id] = CaseSql(tuple(every), own.expected)
        else:
            found[case_id] = own
    return found


class ReportScores(NamedTuple):
    """What a comparison takes from a report."""

    suites: dict[SuiteKey, Cases]
    failing: Mapping[tuple[SuiteKey, str], str] = types.MappingProxyType({})
    """The kind of failure of cases where only a judge's or validator's failure is known."""
    unsafe: dict[str, bool] | None = None
    """Whether each unsafe query was caught at every attempt; None where safety was not scored."""
    only_flags: bool = False
    """Whether a code score says the same as ``"pass@1"``."""
    ends: Mapping[SuiteKey, Mapping[str, Ends]] = types.MappingProxyType({})
    """The lowest and the highest scores of cases with unknown outcomes, by suite and case."""
    sql: Mapping[str, CaseSql] = types.MappingProxyType({})
    """The queries of each case, where there are any."""
    is_judged: bool = False
    """Whether a judge decided some of it."""
    tags: Mapping[str, Mapping[str, str]] = types.MappingProxyType({})
    """The tags of each case, where it has any."""
    own_metric: str = ""
    """What a harness calls the score, under which it stands too where it is right or wrong."""
    ruler: Any = None
    """The `Ruler` that all this was measured with, where it is known."""
    answers: Mapping[str, tuple[str, ...]] = types.MappingProxyType({})
    """What tells the answers at each case apart, an attempt each, where reports have them."""


UNDECIDED = "no_judge"
"""The kind of failure of a pair that evidence leaves open where there is no judge to ask."""

UNKNOWN = "unknown outcomes"
"""The kind of failure of a case with a missing outcome."""


@attrs.frozen(repr=False)
class Report(TableRecord):
    """What `compare_reports` compares, where it has scores."""

    kind: ClassVar[str] = ""
    """What it is compared as; the name of its class if empty."""

    def scores_by_case(self) -> ReportScores | None:
        """Return what `compare_reports` compares; None for a report that it does not take."""
        return None


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"the number {constant}, which strict JSON does not have")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {shown(twice)} twice in one object")
    return data


TRACEBACK_LIMIT = 4000
"""Characters of a stack that a `MetricError` keeps: the innermost frames."""

# What text stores and encoders choke on; line breaks and tabs belong to SQL and stay.
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def _check_origin(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    del instance
    if value not in ("output", "instrument"):
        refuse(attribute.name, "one of 'output', 'instrument'", value)


def _check_aware(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    del instance
    if not isinstance(value, datetime) or value.tzinfo is None:
        refuse(attribute.name, "a datetime with a time zone", value)


@attrs.frozen(kw_only=True, repr=False)
class MetricError(Record):
    """
    A record, never raised: why a metric has no real score, and whose failure that is.

    Two errors are equal when the same thing happened; when and through which lines of code is
    left out of the comparison.
    """

    metric: str
    """Name of the metric's function."""
    origin: Literal["output", "instrument"] = attrs.field(validator=_check_origin)
    """``"output"``: what was scored is at fault and its 0.0 counts.  ``"instrument"``: a judge,
    validator or cache failed; the 0.0 is a placeholder and stays out of means."""
    kind: str
    message: str
    """What went wrong, on one line."""
    inputs: FrozenMapping[str, str]
    """What the metric was given, each value cut to 500 characters."""
    traceback: str = attrs.field(eq=False)
    timestamp: datetime = attrs.field(eq=False, validator=_check_aware)
    """When it happened, in UTC."""

    def _line(self) -> str:
        return f"{self.metric}: {self.kind} ({self.origin}): {self.message}"


@attrs.frozen(repr=False)
class MetricResult(Record):
    """A result with a *score* and an *error*: in a cell just these, printed also why."""

    def why(self) -> str:
        """Return in a line why the score is not 1, empty where it is."""
        result: Any = self
        error: MetricError | None = result.error
        if error is not None:
            named = error.message.startswith(f"{error.kind}:")
            return error.message if named else f"{error.kind}: {error.message}"
        return self._reason() if result.score < 1.0 else ""

    def _reason(self) -> str:
        """Return why a score that nothing hindered is not 1."""
        result: Any = self
        if hasattr(result, "reason"):
            return str(result.reason)
        lists = (("missing", result.missing), ("unexpected", result.unexpected))
        return "; ".join(f"{what} {', '.join(names)}" for what, names in lists if names)

    def _line(self) -> str:
        result: Any = self
        error: MetricError | None = result.error
        if error is None:
            return f"{result.score:.4g}"
        score = "no score" if error.origin == "instrument" else f"{result.score:.4g}"
        return f"{score} ({error.origin}: {error.kind})"

    def _sheet(self) -> Sheet:
        sheet, why = by_fields(self), self.why()
        result: Any = self
        if result.error is not None:
            why = why.removeprefix(f"{result.error.kind}: ")  # which the line has
        return attrs.evolve(sheet, headline=f"{sheet.headline}: {why}") if why else sheet


def now() -> datetime:
    """Return the time that a `MetricError` is stamped with."""
    return datetime.now(UTC)


def metric_error(
    metric: str,
    *,
    origin: Literal["output", "instrument"],
    kind: str,
    error: BaseException | str,
    inputs: Mapping[str, object],
    logger: logging.Logger,
) -> MetricError:
    """Make the record of a failed metric, bounded and printable, and log it once."""
    from scorekit._core.logs import log

    message, stack = error, ""
    if not isinstance(error, str):
        # unlike str(error) this survives an exception whose own __str__ raises
        failure = traceback.TracebackException.from_exception(error)
        message, stack = str(failure) or type(error).__name__, "".join(failure.format())
    record = MetricError(
        metric=metric,
        origin=origin,
        kind=kind,
        message=one_line(str(message)),
        inputs=FrozenMapping({name: _stored(value) for name, value in inputs.items()}),
        traceback=_storable(stack[-TRACEBACK_LIMIT:]),
        timestamp=now(),
    )
    level = logging.WARNING if origin == "output" else logging.ERROR
    log(logger, level, f"{one_line(metric)}: {record.message}", stacklevel=2)
    return record


def _stored(value: object) -> str:
    return _storable(shortened(value)) if isinstance(value, str) else shown(value)


def _storable(text: str) -> str:
    return _UNSTORABLE.sub(lambda match: ascii(match[0])[1:-1], text)


def _is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)


def _names(cls: type[Record]) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(cls))


_field_names: Callable[[Any], tuple[str, ...]] = cache(_names)

RARE = "rare"
"""What the metadata of a field call one that plain data have only where it is not its default."""


def _rares(cls: type[Record]) -> dict[str, Any]:
    """Return the plain default of each field that is left out where it has it."""
    return {f.name: _plain(f.default) for f in attrs.fields(cls) if f.metadata.get(RARE)}


_rare_fields: Callable[[Any], dict[str, Any]] = cache(_rares)


def _plain(value: object) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, str | int):
        return value.value if isinstance(value, Enum) else value
    if hasattr(value, "to_dict"):  # a record, or records kept as columns
        return cast("Record", value).to_dict()
    if _is_sequence(value):
        return [_plain(item) for item in value]
    if is_mapping(value):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a record cannot hold {shown(value)}")


# From plain data back to records: one builder per annotation, made once.

_Builder = Callable[[Any, str], Any]

BUILDER = "builder"
"""What the metadata of a field call a builder that its annotation does not give."""


def build(annotation: Any, value: object, path: str) -> Any:
    """Rebuild what a field with this annotation holds; *path* names it in errors."""
    return _builder(annotation)(value, path)


def _build_record(cls: type[Any], data: object, path: str) -> Any:
    if not is_mapping(data):
        refuse(path, "a mapping", data)
    builders = _field_builders(cls)
    unknown = [key for key in data if key not in builders]
    if unknown:
        refuse(path, f"a mapping with no keys but {', '.join(builders)}", unknown[0])
    required = {field.name for field in attrs.fields(cls) if field.default is attrs.NOTHING}
    missing = [name for name in builders if name in required and name not in data]
    if missing:
        raise InputError(f"{path} must have the key {missing[0]!r}, got {shown(list(data))}")
    values = {
        name: build(data[name], f"{path}.{name}")
        for name, build in builders.items()
        if name in data
    }
    try:
        return cls(**values)
    except (InputError, TypeError) as error:  # such as None where other fields forbid it
        raise InputError(f"{path}: {error}") from None


def _builder(annotation: Any) -> _Builder:  # noqa: PLR0911 - one return per kind of annotation
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _build_union(tuple(map(_builder, args)))
    if origin is tuple:
        parts = [_builder(part) for part in args if part is not ...]
        return _build_tuple(parts[0] if len(parts) == 1 else _build_union(tuple(parts)))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        build_key = _build_number_key if args[0] is float else _builder(args[0])
        return _build_mapping(build_key, _builder(args[1]))
    if origin is Literal:
        return _build_scalar(lambda v: v in args, f"one of {', '.join(map(repr, args))}")
    if annotation is float:
        return _build_float
    if annotation is int:
        return _build_scalar(lambda v: type(v) is int, "an integer")
    if annotation is types.NoneType:
        return _build_none
    if isinstance(annotation, type) and attrs.has(annotation):
        return lambda value, path: _build_record(annotation, value, path)
    if isinstance(annotation, type) and issubclass(annotation, Enum | datetime):
        return _build_parsed(annotation)
    noun = {str: "a string", bool: "True or False"}[annotation]
    return _build_scalar(lambda v: isinstance(v, annotation), noun)


def _build_scalar(accepts: Callable[[Any], bool], domain: str) -> _Builder:
    def build(value: Any, path: str) -> Any:
        return value if accepts(value) else refuse(path, domain, value)

    return build


_build_none = _build_scalar(lambda v: v is None, "None")


def _build_float(value: Any, path: str) -> float:
    if value in ("inf", "-inf", "nan") or type(value) is float:
        return math.nan if value == "nan" else float(value)
    if type(value) is not int:
        refuse(path, "a number", value)
    try:
        return float(value)
    except OverflowError:
        refuse(path, "a number that a float holds", value)


def _build_number_key(value: Any, path: str) -> float:
    try:
        return float(value)  # a string, as all keys of JSON are
    except (TypeError, ValueError):
        refuse(path, "a mapping whose keys are numbers", value)


def _build_tuple(build_item: _Builder) -> _Builder:
    def build(value: Any, path: str) -> tuple[Any, ...]:
        if not _is_sequence(value):
            refuse(path, "a list", value)
        return tuple(build_item(item, f"{path}[{i}]") for i, item in enumerate(value))

    return build


def _build_mapping(build_key: _Builder, build_value: _Builder) -> _Builder:
    def build(value: Any, path: str) -> FrozenMapping[Any, Any]:
        if not is_mapping(value):
            refuse(path, "a mapping", value)
        return FrozenMapping(
            {build_key(k, path): build_value(v, f"{path}[{shown(k)}]") for k, v in value.items()}
        )

    return build


def _build_union(builders: tuple[_Builder, ...]) -> _Builder:
    def build(value: Any, path: str) -> Any:
        if value is None and _build_none in builders:
            return None
        first, *others = (build for build in builders if build is not _build_none)
        for other in others:
            try:
                return other(value, path)
            except InputError as error:
                if not str(error).startswith(f"{path} must be"):
                    raise  # the right member, with something wrong inside
        return first(value, path)

    return build


def _build_parsed(kind: Any) -> _Builder:
    domain = "a date and time in ISO 8601"
    if issubclass(kind, Enum):
        domain = f"one of {', '.join(repr(member.value) for member in kind)}"

    def build(value: Any, path: str) -> Any:
        try:
            return kind.fromisoformat(value) if issubclass(kind, datetime) else kind(value)
        except (TypeError, ValueError):
            refuse(path, domain, value)

    return build


def _builders(cls: type[Any]) -> dict[str, _Builder]:
    return {
        f.name: f.metadata.get(BUILDER) or _builder(f.type)
        for f in attrs.fields(attrs.resolve_types(cls))
    }


_field_builders: Callable[[Any], dict[str, _Builder]] = cache(_builders)
