"""The power of a paired t test: exact for normal changes, and for single attempts of 0 or 1."""

from __future__ import annotations

import math

import numpy as np

from scorekit.intervals import t_quantile

MOST = 10**6
"""Tasks up to which power is exact; beyond, the normal distribution differs by 1e-6."""

FAR = 9.0
"""Standard deviations of the number of changes beyond which their chance is below 1e-18."""


def least_tasks(confidence_level: float) -> int:
    """Return the least number of tasks *n* at which a p value of ``2 ** -n`` is small enough."""
    return max(2, math.ceil(-math.log2((1.0 - confidence_level) / 2.0) - 1e-9))


def power_of_normal(n: int, effect: float, variance: float, confidence_level: float) -> float:
    """Return the chance that a two-sided test finds the *effect* on its side."""
    from scipy.special import nctdtr, ndtr

    far, quantile = effect * math.sqrt(n / variance), t_quantile(confidence_level, n - 1.0)
    if n > MOST or far > 30.0:  # noqa: PLR2004 - far from either end
        return float(ndtr(far - quantile))
    return 1.0 - float(nctdtr(n - 1.0, far, quantile))


def power_of_flags(n: int, effect: float, discordant: float, confidence_level: float) -> float:
    """
    Return the same where each change is -1, 0 or 1, by all numbers of changes and of falls.

    Of *m* changes the falls are more than the rises by *d*, and the test finds that if ``d^2 (n -
    1) >= t^2 (n m - d^2)``.
    """
    from scipy.special import bdtrc, gammaln, ndtr

    quantile, share = t_quantile(confidence_level, n - 1.0), (1.0 + effect / discordant) / 2.0
    spread = math.sqrt(n * discordant * (1.0 - discordant))
    if n > MOST:
        seen = math.sqrt(max(discordant - effect * effect, 0.0)) or math.ulp(0.0)
        return float(ndtr((effect * math.sqrt(n) - quantile * math.sqrt(discordant)) / seen))
    low = max(1, math.floor(n * discordant - FAR * (spread + 1.0)))
    m = np.arange(low, min(n, math.ceil(n * discordant + FAR * (spread + 1.0))) + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0)
        logs += m * math.log(discordant)
        logs += np.where(m < n, (n - m) * np.log1p(-discordant), 0.0)
    needed = np.sqrt(quantile**2 * n * m / (n - 1.0 + quantile**2))
    falls = np.ceil((m + needed) / 2.0 - 1e-9)
    found = np.where(falls > m, 0.0, bdtrc(falls - 1.0, m.astype(np.int64), share))
    return float(np.exp(logs) @ found)
