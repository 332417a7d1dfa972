"""
How often `sql_equivalence` with *locate* names the clauses that are wrong, how often rightly.

    python -m benchmarks.oracles.check_clauses FILE... [--mutations N] [--seed 1]

A FILE is one that `benchmarks.oracles.corpora` reads.
Of a mutation the clause that was changed is known: that of the outermost SELECT which holds the
change.  The seconds are CPU, with and without *locate*, in turn.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict

from sqlglot import exp, parse_one

from benchmarks.machine import machine
from benchmarks.oracles.corpora import Pair, pairs, parser_of_files
from scorekit import SqlEquivalence, sql_equivalence
from scorekit._sql.prove.clauses import CLAUSES


def changed(pair: Pair) -> tuple[str, ...]:
    """Return the clauses in which the texts of two queries differ; none of set operations."""
    trees = [parse_one(text, read=pair.dialect) for text in (pair.first, pair.second)]
    if not all(isinstance(tree, exp.Select) for tree in trees):
        return ()
    return tuple(
        name
        for name, parts in CLAUSES.items()
        if any(trees[0].args.get(part) != trees[1].args.get(part) for part in parts)
    )


def timed(pair: Pair, *, locate: bool) -> tuple[SqlEquivalence, float]:
    """Return what is found about a pair, and the seconds of CPU that it took."""
    started = time.process_time()
    found = sql_equivalence(
        pair.first,
        pair.second,
        schema=pair.schema,
        keys=pair.keys,
        dialect=pair.dialect,
        locate=locate,
    )
    return found, time.process_time() - started


def main() -> None:
    """Print counts and times by set."""
    parser = parser_of_files(__doc__)
    options = parser.parse_args()
    print(f"{machine()}\n")
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    sizes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    named: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    spent: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for path in options.files:
        for pair in pairs(path, options.mutations, options.seed):
            _, without = timed(pair, locate=False)
            found, seconds = timed(pair, locate=True)
            spent[pair.of].append((without, seconds))
            count = counts[pair.of]
            count[found.verdict] += 1
            if found.verdict != "refuted":
                continue
            count["named"] += bool(found.differs_in)
            sizes[pair.of][len(found.differs_in)] += 1
            named[pair.of][found.differs_in] += 1
            if "mutations" in pair.of and (true := changed(pair)):
                count["known"] += 1
                count["right"] += found.differs_in == true
                if found.differs_in not in {true, ()}:
                    print(f"named {found.differs_in}, changed {true}: {pair.first}")
    print("| set | pairs | refuted | named | changed clause known | named rightly |", end="")
    print(" ms without | ms with | slowest with |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for of, count in counts.items():
        n = len(spent[of])
        without, seconds = (1e3 * sum(times) / n for times in zip(*spent[of], strict=True))
        most = max(seconds for _, seconds in spent[of])
        figures = [n, *(count[name] for name in ("refuted", "named", "known", "right"))]
        print(f"| {of} | {' | '.join(map(str, figures))} |", end="")
        print(f" {without:.1f} | {seconds:.1f} | {most:.2f} s |")
    for of, several in sizes.items():
        often = "; ".join(f"{n} {' + '.join(c) or 'none'}" for c, n in named[of].most_common(8))
        print(f"\n{of}: clauses named: {dict(sorted(several.items()))}\n  {often}")


if __name__ == "__main__":
    main()
