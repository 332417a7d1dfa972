"""Hugging Face `evaluate`: a metric with pass@k and its interval, beside any other."""

from __future__ import annotations

from typing import Any

import evaluate
from datasets import Features, Value

import scorekit


class PassAtK(evaluate.Metric):  # type: ignore[misc] # it has no types
    """Estimate pass@k from the passes of each task."""

    def _info(self) -> evaluate.MetricInfo:
        counts = Features({"predictions": Value("int64"), "references": Value("int64")})
        return evaluate.MetricInfo(
            description="pass@k; predictions are passes of a task, references its samples",
            citation="",
            inputs_description="",
            features=counts,
        )

    def _compute(self, predictions: list[int], references: list[int], k: int) -> dict[str, Any]:
        result = scorekit.pass_at_k(n_samples=references, n_correct=predictions, k=k)
        return {f"pass@{k}": result.score, "interval": str(result.interval)}


def main() -> None:
    """Collect batch by batch, as `evaluate` does, and compute once."""
    metric = PassAtK()
    metric.add_batch(predictions=[3, 0], references=[10, 10])
    metric.add_batch(predictions=[10, 7], references=[10, 10])
    for name, value in metric.compute(k=3).items():
        print(name, value)


if __name__ == "__main__":
    main()
