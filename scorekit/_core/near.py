"""What a name that scorekit does not have is called here: the one door of its public names."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, wraps
from inspect import signature
from typing import Any, Final, NoReturn, get_type_hints

import attrs

from scorekit.errors import shown

_ALIKE: Final = 0.65
"""How alike two names are, by `difflib`, of which one may be a misspelling of the other."""

_AS_ALIKE: Final = 0.1
"""How much less alike than the most alike name another one is that is named, too."""

_MAX_NAMED: Final = 3

WORDS: Final[Mapping[str, str]] = {
    # how sure
    "alpha significance significance_level": "confidence_level",
    "confidence conf": "levels confidences confidence_level",
    "ci conf_level ci_level level": "confidence_level",
    "predicted_probabilities probabilities probs y_prob scores_of_judge": "confidences",
    "correct is_correct hits": "outcomes n_correct n_successes passed pass_rate",
    "accuracy labels label y_true is_right": "outcomes correct human_scores expected passed",
    # who answers, and what is right
    "sql query predicted_sql generated_sql pred_sql": "generated sql a",
    "prediction predictions pred predicted output outputs hypothesis": "generated answers a "
    "generated_rows judge_scores",
    "actual candidate_sql completion response responses calls predicted_calls tool_calls": (
        "generated answers"
    ),
    "gold golden reference references ref target targets truth ground_truth": "expected "
    "expected_rows expected_tables correct outcomes human_scores human b",
    "gold_sql expected_sql reference_sql expected_output expected_calls": "expected b",
    "expected_valid expected_safe is_safe safe": "should_pass expected_safe",
    "valid is_valid": "is_valid safety_valid",
    "gold_tables tables": "expected_tables",
    "rows result results": "generated_rows cases scores",
    "gold_rows reference_rows": "expected_rows",
    "db_schema ddl create_table database": "schema",
    "flavor backend read sql_dialect db db_type": "dialect",
    # which case, which side
    "id name ids": "case_id run_id task_id",
    "task item sample_id question_id instance_id problem": "case_id task_id run_id tasks",
    "task_id case tasks": "case_id run_id tasks clusters",
    "tier": "tier_id",
    "run trial epoch seed_of_run repeat sample_index": "attempt run_id",
    "version system variant": "version model",
    "llm model model_id model_name": "model version",
    "candidate new after treatment challenger other experiment": "current",
    "old before control base reference_run reference main": "baseline",
    "a": "baseline",
    "b": "current",
    "group groups cluster groupby families": "clusters by families",
    # how many
    "n num_samples n_attempts total trials n_total num_trials count nobs": "n_samples n_trials "
    "n_tasks attempts",
    "c num_correct n_pass n_passed successes n_success num_passed x": "n_correct n_successes",
    "n_runs runs_per_task samples_per_task samples attempts_per_task": "attempts n_samples cases",
    "sample_size n_cases n_items": "n_tasks",
    "ks at": "k",
    "k": "n_successes",
    "b n10 broken losses": "n_pass_to_fail",
    "c n01 fixed wins": "n_fail_to_pass",
    # passed and failed
    "success succeeded solved resolved ok score result passed outcome": "passed outcomes "
    "pass_rate safety_valid score",
    "total n_tests tests": "failed",
    "errors n_failed failures": "failed errors",
    "lint lint_warnings clippy n_warnings": "warnings clippy",
    "compiles builds": "compiled",
    "score judge_score quality impl": "impl_rate scores points",
    "weight weights": "weights points",
    # money and time
    "cost price usd dollars costs total_cost": "cost_usd price",
    "duration time seconds elapsed runtime": "duration_seconds latency_seconds timeout_seconds",
    "latency": "latency_seconds duration_seconds",
    "timeout max_time": "timeout_seconds",
    "budget budget_usd max_cost cost_limit": "max_cost_usd",
    "input": "input_tokens input_usd_per_million question",
    "output": "output_tokens output_usd_per_million",
    "prompt_tokens tokens_in n_input_tokens": "input_tokens",
    "completion_tokens tokens_out n_output_tokens": "output_tokens",
    "cached_tokens cache_tokens cache_read_input_tokens cached_input_tokens": "cache_read_tokens",
    "cache_creation_tokens cache_creation_input_tokens": "cache_write_tokens",
    "input_price input_cost prompt_price input_usd": "input_usd_per_million price",
    "output_price output_cost completion_price output_usd": "output_usd_per_million price",
    "cache_read_price cached_price": "cache_read_usd_per_million price",
    "cache_write_price": "cache_write_usd_per_million price",
    # planning and comparing
    "delta effect_size mde difference": "effect",
    "tolerance min_delta epsilon": "threshold tolerance margin",
    "equivalence_margin non_inferiority_margin": "margin",
    "multiple_testing correction": "adjustment",
    "sequential peeking": "anytime",
    "limits range score_range": "bounds",
    "random_state rng random_seed": "seed",
    "n_boot n_bootstrap bootstrap resamples": "n_resamples",
    "n_jobs workers max_workers threads pool": "executor max_concurrency",
    "concurrency parallel": "max_concurrency executor",
    "rpm": "requests_per_minute",
    "retries": "max_retries",
    "verbose tqdm show_progress": "progress",
    "temperature": "effort",
    "figsize width": "width_inches",
    "axes axis": "ax",
    "bins num_bins": "n_bins",
    "grade": "score scale",
    "judge judges predicted_scores": "judge_scores judge",
    "human humans annotator": "human_scores human",
    "order_matters ordered": "ordered row_order",
    "missing on_missing handle_missing": "insufficient",
}
"""What people call a parameter, and the parameters that it may be, the likeliest first."""

NOTES: Final[Mapping[tuple[str, str], str]] = {
    ("alpha", "confidence_level"): ", 1 - alpha",
    ("significance", "confidence_level"): ", 1 - significance",
    ("significance_level", "confidence_level"): ", 1 - significance_level",
    ("total", "failed"): ", total - passed",
    ("n_tests", "failed"): ", n_tests - passed",
    ("input_price", "price"): "=ModelPrice(input_usd_per_million=..., ...)",
    ("output_price", "price"): "=ModelPrice(..., output_usd_per_million=...)",
    ("n_failed", "failed"): ", a count",
    ("load_report", "CodeReport"): ".from_json(text), SqlReport.from_json(text)",
}
"""What is to be said besides."""

ELSEWHERE: Final[Mapping[tuple[str, str], str]] = {
    ("ClaudeJudge", "cache"): "CachedJudge(judge, directory)",
    ("ClaudeJudge", "cache_dir"): "CachedJudge(judge, directory)",
    ("ClaudeJudge", "temperature"): "none: the model takes effort",
    ("compare_reports", "seed"): "none: nothing is drawn at random",
    ("compare_reports", "n_bootstrap"): "none: nothing is drawn at random",
    ("compare_reports", "n_resamples"): "none: nothing is drawn at random",
    ("compare_reports", "alternative"): "none: verdicts look both ways, has_regressions down",
    ("compare_reports", "test"): "none: see paired_difference and mcnemar_test",
    ("compare_reports", "method"): "none: see paired_difference and mcnemar_test",
    ("compare_reports", "paired"): "none: see unpaired_difference",
    ("cost_of_pass", "total_cost"): "cost_usd=total_cost / n, pass_rate=n_passed / n",
    ("cost_of_pass", "n_passed"): "pass_rate=n_passed / n",
    ("plot_reliability", "confidence"): "calibration_error(confidences=..., outcomes=...)",
    ("plot_reliability", "confidences"): "calibration_error(confidences=..., outcomes=...)",
    ("plot_reliability", "correct"): "its outcomes",
    ("plot_reliability", "outcomes"): "its outcomes",
    ("required_tasks", "alternative"): "none: the test looks both ways",
    ("safety_validation", "query"): "none: safety_valid is what your validator said of it",
    ("safety_validation", "sql"): "none: safety_valid is what your validator said of it",
    ("token_cost", "model"): "price=PRICES[model]",
    ("token_cost", "total_tokens"): "input_tokens and output_tokens",
}
"""Names that stand for no parameter, and what to do instead, by callable."""

ATTRIBUTES: Final[Mapping[str, str]] = {
    "value estimate result": "score delta cost_of_pass mean",
    "mean average": "score mean_score means current_mean",
    "difference diff effect change": "delta",
    "accuracy pass_rate": "score pass_at_k",
    "ci confidence_interval conf_int interval bounds": "interval intervals",
    "lower lo lower_bound left ci_low": "low",
    "upper hi upper_bound right ci_high": "high",
    "level confidence": "confidence_level",
    "se std_err standard_error sem": "stderr",
    "pvalue p pval": "p_value",
    "std stdev sd": "std_dev stderr",
    "n nobs n_total count": "n_tasks n_cases n_samples n_runs n_items",
    "passed ok success is_ok regressed": "has_regressions score",
    "ranking rank order": "ranks",
    "winner top": "best",
    "is_significant significant": "verdict has_regressions",
    "errors failed failing": "failures error n_failed",
    "message explanation why_not": "reason reasoning why",
    "is_equivalent equal": "equivalent",
    "summary render text describe": "to_text",
    "markdown as_markdown": "to_markdown",
    "latex as_latex": "to_latex",
    "json dict as_dict asdict model_dump": "to_dict",
    "model_dump_json dumps": "to_json",
    "to_frame to_dataframe to_df to_pandas dataframe df frame": "to_rows to_dict",
    "to_polars": "to_rows to_dict",
    "rows records to_records to_list": "to_rows",
    "to_csv to_excel": "to_rows",
    "save dump write to_file": "to_json",
    "plot plot_": "plot",
    "html to_html": "to_markdown",
    "grade": "letter",
    "estimate_cost cost": "cost_usd usage",
    "total_cost": "total_cost_usd cost_usd",
    "filter select": "for_model by",
    "cases_": "cases",
    "pass_at_1 pass1": "pass_at_k",
    "variance": "between_tasks",
}
"""What people call an attribute, and what may be meant, the likeliest first."""

CALLS: Final[Mapping[str, str]] = {
    "has_regressions": "; passed is not has_regressions",
    "to_rows": "; pandas.DataFrame(result.to_rows())",
    "to_dict": "; pandas.DataFrame([result.to_dict()])",
}
"""How to use what is meant, where one cannot know."""

_UNLIKE: Final = frozenset(
    ("passed", "ok", "success", "is_ok", "to_frame", "to_dataframe", "to_df", "to_pandas", "df")
)

ON_OTHERS: Final[Mapping[tuple[str, str], str]] = {
    ("ClaudeJudge", "estimate_cost"): "report.judge_cost(judge)",
    ("CachedJudge", "estimate_cost"): "report.judge_cost(judge)",
}
"""What is asked of another object, by the class and the attribute that it does not have."""

PARTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "suite": ("verdicts", "SuiteVerdict", "suite"),
    "interval": ("intervals", "Interval", "interval"),
    "models": ("reports", "ModelStatistics", "models[0]"),
}
"""Attributes that have what is looked for on the result: module, class, and how to get there."""

PLOTS: Final[Mapping[str, str]] = {
    "Comparison": "plot_comparison",
    "CrossTier": "plot_cost_quality",
    "CodeReport": "plot_pass_at_k",
    "SqlReport": "plot_pass_at_k",
    "PassAtK": "plot_pass_at_k",
    "ConfidenceCalibration": "plot_reliability",
    "CalibrationError": "plot_reliability",
    "TimeHorizon": "plot_time_horizon",
}
"""The function that draws a result."""

OF_TABLES: Final[Mapping[str, str]] = {
    "compare_reports": "a run on each side; of one table with both: "
    "compare_from_columns(case_id=..., version=..., score=..., baseline=...)",
}
"""What to call instead where a data frame is given."""

BY_PLACE: Final[Mapping[str, str]] = {
    "required_tasks": "effect=..., pilot=(baseline, current)",
}
"""The arguments to name where values are given by their place, if not those that must be."""

NAMES: Final[Mapping[str, str]] = {
    "compare compare_runs compare_results compare_scores ab_test": "compare_reports",
    "compare_dataframes compare_df compare_frame compare_table": "compare_from_columns",
    "report evaluate score_code": "code_report",
    "report_from_dataframe code_report_from_dataframe from_dataframe": "code_report_from_columns",
    "code_scores score_samples": "code_scores_from_columns",
    "load_report load read_report": "CodeReport",
    "load_json from_json": "CodeReport",
    "exact_match execution_accuracy": "query_correctness result_accuracy",
    "sample_size required_sample_size power power_analysis": "required_tasks",
    "mde": "minimum_detectable_effect",
    "bootstrap bootstrap_ci confidence_interval ci wilson": "mean_interval proportion_interval",
    "mcnemar": "mcnemar_test",
    "ttest ttest_rel paired_ttest permutation_test": "paired_difference",
    "ttest_ind mannwhitneyu": "unpaired_difference",
    "kappa cohen_kappa cohens_kappa": "judge_agreement",
    "krippendorff fleiss": "rater_agreement",
    "ece expected_calibration_error brier": "calibration_error",
    "elo leaderboard": "bradley_terry compare_models",
    "cost price": "token_cost",
    "grade assign_letter_grade": "letter_grade",
    "llm_judge openai_judge": "judge_from_function",
    "queries": "sql_queries",
}
"""What people call a public name, and what may be meant."""


@cache
def _spread(words: str) -> Mapping[str, tuple[str, ...]]:
    """Return one of the tables by single words."""
    table: Mapping[str, str] = globals()[words]
    found: dict[str, tuple[str, ...]] = {}
    for names, meant in table.items():
        for name in names.split():
            key = _plain(name)
            found[key] = (*found.get(key, ()), *meant.split())
    return found


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _by_word(name: str, known: Iterable[str], words: str) -> str | None:
    """Return the name that *name* stands for by a table, None if it has none."""
    return next((one for one in _spread(words).get(_plain(name), ()) if one in known), None)


def near(name: str, known: Iterable[str], words: str) -> tuple[str, ...]:
    """Return the names among *known* that *name* may stand for: by a table, or by spelling."""
    from difflib import SequenceMatcher

    names = dict.fromkeys(known)
    if (meant := _by_word(name, names, words)) is not None:
        return (meant,)
    matcher = SequenceMatcher(b=name.lower())
    alike: dict[str, float] = {}
    for one in names:
        matcher.set_seq1(one)
        alike[one] = matcher.ratio()
    best = max(alike.values(), default=0.0)
    if best < _ALIKE:
        return ()
    close = sorted(alike, key=alike.__getitem__, reverse=True)
    return tuple(one for one in close if alike[one] >= best - _AS_ALIKE)[:_MAX_NAMED]


# Calls.


def at_the_door(value: Any) -> Any:
    """
    Return a public function or class that says, called by a wrong name, which one is right.

    Whether a call fits is asked where it raised a `TypeError`, so that a right one costs a call
    more. A class stays the same one; what is neither comes back as it is.
    """
    if inspect.iscoroutinefunction(value):
        return _awaited(value)
    if inspect.isfunction(value):
        return _called(value, value)
    cls: Any = value
    if not inspect.isclass(value) or issubclass(value, BaseException | Enum):
        return value
    if inspect.isfunction(cls.__init__) and not getattr(cls, "_is_protocol", False):
        cls.__init__ = _called(cls.__init__, cls)
        if not hasattr(cls, "__getattr__"):
            cls.__getattr__ = missing_attribute
    return value


def _called(function: Callable[..., Any], public: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except TypeError:
            better = _explained(public, args[function is not public :], named)
            if better is None:
                raise
            raise better from None

    return _at_home(called, public)


def _awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def awaited(*args: Any, **named: Any) -> Any:
        try:
            return await function(*args, **named)
        except TypeError:
            better = _explained(function, args, named)
            if better is None:
                raise
            raise better from None

    return _at_home(awaited, function)


def _at_home(door: Callable[..., Any], public: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isfunction(public):
        door.__module__ = "scorekit"  # where a pickle finds it
    return door


def _explained(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
) -> TypeError | None:
    """Return what to raise where arguments do not fit a function; None where they do."""
    try:
        signature(function).bind(*args, **named)
    except TypeError:
        message = _message(function, args, named)
        return None if message is None else TypeError(message)
    return None


def _message(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
) -> str | None:
    """Say of a wrong call what a right one has; None where Python's own words do."""
    parameters = signature(function).parameters
    name = function.__name__
    if name in OF_TABLES and any(map(_is_frame, args)):
        return f"{name}() takes {OF_TABLES[name]}"
    if unknown := [one for one in named if one not in parameters]:
        if (call := _other_call(function, unknown, named)) is not None:
            return f"{name}() has no {', '.join(map(repr, unknown))} (here {call})"
        says = [f"{one!r} (here {_meant(name, one, parameters, named)})" for one in unknown]
        return f"{name}() got an unexpected keyword argument {', '.join(says)}"
    by_place = [one for one in parameters.values() if one.kind is not one.KEYWORD_ONLY]
    if len(args) <= len(by_place):
        return None
    if name.endswith("_from_columns"):
        return f"{name}() takes columns by name, such as {name}(**table), got {shown(args[0])}"
    required = [one.name for one in parameters.values() if one.default is one.empty]
    names = dict.fromkeys([*required, *list(parameters)[: len(args)]])
    keywords = [f"{one}=..." for one in names if parameters[one] not in by_place]
    call = ", ".join(["..."] * len(by_place) + keywords)
    return f"{name}() takes arguments by name: {name}({BY_PLACE.get(name, call)})"


def _is_frame(value: object) -> bool:
    return hasattr(value, "columns") and hasattr(value, "shape")


def _other_call(
    function: Callable[..., Any], unknown: Sequence[str], named: Mapping[str, Any]
) -> str | None:
    """Return a call of the form with columns, or with a record, that has what is unknown."""
    name = function.__name__
    sibling = getattr(sys.modules["scorekit"], f"{name}_from_columns", None)
    if sibling is not None and (fields := _all_of(unknown, signature(sibling).parameters)):
        others = [one for one in named if one in signature(sibling).parameters]
        return f"{name}_from_columns({_keywords([*others, *fields])})"
    for parameter, kind in _records_of(function):
        if fields := _all_of(unknown, signature(kind).parameters):
            return f"{name}({parameter}={kind.__name__}({_keywords(fields)}))"
    return None


def _keywords(names: Iterable[str]) -> str:
    return ", ".join(f"{name}=..." for name in dict.fromkeys(names))


def _all_of(unknown: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return what all unknown names stand for, if one of them is there as it is spelled."""
    found = [near(name, known, "WORDS") for name in unknown]
    return [one[0] for one in found] if all(found) and not {*unknown}.isdisjoint(known) else []


def _records_of(function: Callable[..., Any]) -> Iterator[tuple[str, type[Any]]]:
    """Yield the parameters that are a record, with its class."""
    hints = {} if inspect.isclass(function) else get_type_hints(function)
    for name, hint in hints.items():
        if name != "return" and isinstance(hint, type) and attrs.has(hint):
            yield name, hint


def _meant(function: str, word: str, parameters: Iterable[str], named: Mapping[str, Any]) -> str:
    """Return what to write for an unknown keyword."""
    if (function, word) in ELSEWHERE:
        return ELSEWHERE[function, word]
    free = [one for one in parameters if one not in named]
    found = near(word, free, "WORDS") or near(word, parameters, "WORDS")
    said = " or ".join(one + NOTES.get((word, one), "") for one in found)
    return said or ", ".join(parameters) or "none"


# Attributes.


def missing_attribute(instance: object, name: str) -> NoReturn:
    """Raise what Python raises for a missing attribute, with what it is called here."""
    kind: Any = type(instance)
    raise AttributeError(_attribute(kind, name), name=name)


@cache
def _attribute(cls: type[Any], name: str) -> str:
    said = f"{cls.__name__!r} object has no attribute {name!r}"
    if name.startswith("_") or name in dir(cls):  # a protocol; or a slot that is not filled yet
        return said
    if (cls.__name__, name) in ON_OTHERS:
        return f"{said} (here {ON_OTHERS[cls.__name__, name]})"
    if "plot" in name and cls.__name__ in PLOTS:
        return f"{said} (here scorekit.{PLOTS[cls.__name__]}(result))"
    public = [one for one in dir(cls) if not one.startswith("_")]
    if (inside := _inside(name, public)) is not None:
        return f"{said} (here {inside})"
    found = near(name, public, "ATTRIBUTES")
    if not found:
        return said
    use = CALLS.get(found[0], "") if name in _UNLIKE else ""
    return f"{said} (here {' or '.join(found)}{use})"


def _inside(name: str, public: Sequence[str]) -> str | None:
    """Return what stands for an attribute on a part of the result, if nothing does on it."""
    if _by_word(name, public, "ATTRIBUTES") is not None:
        return None
    for part, (module, kind, path) in PARTS.items():
        cls = getattr(sys.modules.get(f"scorekit.{module}"), kind, None)
        if part in public and cls is not None:
            known = [one for one in dir(cls) if not one.startswith("_")]
            meant = name if name in known else _by_word(name, known, "ATTRIBUTES")
            if meant is not None:
                return f"{path}.{meant}"
    return None


def missing_name(name: str, public: Iterable[str], module: str = "scorekit") -> str:
    """Say that a module has no such name, and what may be meant."""
    said = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):
        return said
    meant = near(name, public, "NAMES")
    here = " or ".join(one + NOTES.get((name, one), "") for one in meant)
    return f"{said} (here {here})" if meant else said
