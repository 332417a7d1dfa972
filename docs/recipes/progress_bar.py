"""tqdm: a progress bar over many SQL cases, in a terminal and in a notebook."""

from __future__ import annotations

from tqdm.auto import tqdm

import scorekit


def main() -> None:
    """Score a hundred cases with your own bar; `progress=True` shows a plain one."""
    cases = [
        scorekit.SqlCase(
            case_id=f"q{i}", generated="SELECT id FROM users", expected_tables=["users"]
        )
        for i in range(100)
    ]
    with tqdm(total=len(cases), unit="case") as bar:
        report = scorekit.score_sql_cases(cases, progress=lambda done, _: bar.update(done - bar.n))
    print(bar.n, report.n_cases)


if __name__ == "__main__":
    main()
