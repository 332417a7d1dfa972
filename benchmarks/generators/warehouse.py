"""
Queries as analysts write them for Snowflake, and the same with one thing changed.

    python -m benchmarks.generators.warehouse [--pairs 100] [--seed 1]

Each pair is compared without an engine, and with DuckDB standing in for the warehouse: sqlglot
translates the statements and the query.  Printed are the verdicts, and what the engine raised.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import duckdb
from sqlglot import transpile

from benchmarks.machine import machine
from benchmarks.oracles.corpora import changed_forms
from scorekit import SqlEquivalence, sql_equivalence

SCHEMA: Final = {
    "customers": {
        "customer_id": "int primary key",
        "name": "varchar not null",
        "region": "varchar",
        "created_at": "timestamp",
        "email": "varchar",
    },
    "orders": {
        "order_id": "int primary key",
        "customer_id": "int not null references customers(customer_id)",
        "ordered_at": "timestamp",
        "status": "varchar",
        "amount": "number(10, 2)",
    },
    "items": {
        "order_id": "int not null references orders(order_id)",
        "line": "int not null",
        "sku": "varchar",
        "quantity": "int",
        "price": "number(10, 2)",
    },
}

QUERIES: Final = """
SELECT customer_id, amount FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY ordered_at DESC, order_id) = 1
SELECT order_id FROM orders QUALIFY RANK() OVER (ORDER BY amount DESC) <= 3
SELECT c.region, SUM(o.amount) AS total FROM customers c JOIN orders o USING (customer_id) GROUP BY ALL
SELECT region, COUNT_IF(email IS NULL) FROM customers GROUP BY region
SELECT IFF(amount > 100, 'large', 'small') AS size, COUNT(*) FROM orders GROUP BY 1
SELECT NVL(region, 'none'), COUNT(DISTINCT customer_id) FROM customers GROUP BY 1
SELECT DATE_TRUNC('month', ordered_at) AS month, SUM(amount) FROM orders WHERE status = 'paid' GROUP BY 1 ORDER BY 1
SELECT order_id FROM orders WHERE ordered_at >= DATEADD(day, -7, '2024-03-10'::date)
SELECT customer_id FROM customers WHERE DATEDIFF(month, created_at, '2024-03-10'::timestamp) > 6
SELECT name FROM customers WHERE email ILIKE '%@example.com'
SELECT LISTAGG(DISTINCT status, ',') WITHIN GROUP (ORDER BY status) FROM orders WHERE amount > 10
SELECT customer_id, MAX_BY(status, order_id) FROM orders GROUP BY customer_id
SELECT ZEROIFNULL(SUM(quantity)) FROM items WHERE sku LIKE 'A%'
SELECT order_id, SUM(quantity * price) FROM items GROUP BY order_id HAVING SUM(quantity * price) > 50
SELECT YEAR(ordered_at) AS y, MEDIAN(amount) FROM orders GROUP BY y
SELECT SPLIT_PART(email, '@', 2) AS domain, COUNT(*) FROM customers WHERE email IS NOT NULL GROUP BY domain
SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.amount > 20)
WITH ranked AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY amount DESC, order_id) AS rn FROM orders) SELECT customer_id, amount FROM ranked WHERE rn = 2
WITH monthly AS (SELECT TO_CHAR(ordered_at, 'YYYY-MM') AS m, SUM(amount) AS total FROM orders GROUP BY 1) SELECT m, total - LAG(total) OVER (ORDER BY m) FROM monthly
SELECT TRY_TO_NUMBER(sku), COUNT(*) FROM items GROUP BY 1
SELECT status, RATIO_TO_REPORT(SUM(amount)) OVER () FROM orders GROUP BY status
SELECT customer_id, BOOLOR_AGG(status = 'returned') FROM orders GROUP BY customer_id
SELECT CONCAT_WS('-', region, name) FROM customers WHERE region IN ('EU', 'US')
SELECT o.order_id FROM orders o LEFT JOIN items i ON i.order_id = o.order_id AND i.quantity > 1 WHERE i.line IS NULL
SELECT DECODE(status, 'paid', 1, 'open', 2, 0), SUM(amount) FROM orders GROUP BY 1
SELECT DIV0(SUM(amount), COUNT(order_id)) FROM orders WHERE status <> 'void'
SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) > 2 AND MIN(amount) > 5
SELECT GREATEST(quantity, 3), LEAST(price, 9.5) FROM items WHERE line < 4
SELECT LAST_DAY(ordered_at), COUNT(*) FROM orders GROUP BY 1
SELECT c.name, SUM(i.quantity) FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN items i ON i.order_id = o.order_id WHERE o.status = 'paid' GROUP BY c.customer_id, c.name
SELECT status, APPROX_COUNT_DISTINCT(customer_id) FROM orders GROUP BY status
SELECT name FROM customers WHERE region = 'EU' MINUS SELECT name FROM customers WHERE created_at > '2024-01-01'
SELECT order_id, amount FROM orders WHERE status = 'paid' ORDER BY amount DESC, order_id LIMIT 3
SELECT REGEXP_SUBSTR(email, '[a-z]+'), COUNT(*) FROM customers GROUP BY 1
"""  # noqa: E501


def fake_snowflake(statements: Sequence[str], query: str) -> list[tuple[Any, ...]]:
    """Run Snowflake's SQL, translated, in DuckDB."""
    texts = [transpile(text, read="snowflake", write="duckdb")[0] for text in (*statements, query)]
    with duckdb.connect() as connection:
        for text in texts[:-1]:
            connection.execute(text)
        return connection.execute(texts[-1]).fetchall()


def changed(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield queries and changed forms of them, in turn over the queries."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    queries = QUERIES.strip().splitlines()
    several = [list(changed_forms(query, n, rng, dialect="snowflake")) for query in queries]
    pairs = [
        (query, forms[i])
        for i in range(n)
        for query, forms in zip(queries, several, strict=True)
        if i < len(forms)
    ]
    yield from pairs[:n]


def main() -> None:
    """Print the verdicts with and without an engine."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(machine())
    noted: dict[str, list[SqlEquivalence]] = {"alone": [], "by an engine": []}
    start = time.process_time()
    for first, second in changed(options.pairs, options.seed):
        for how, found in noted.items():
            engine = fake_snowflake if how == "by an engine" else None
            result = sql_equivalence(
                first, second, schema=SCHEMA, dialect="snowflake", engine=engine
            )
            found.append(result)
            if engine and result.verdict != "refuted":
                print(f"{result.verdict}: {result.reason[:150]}\n    {first}\n    {second}")
    for how, found in noted.items():
        print(how, dict(Counter(one.verdict for one in found)))
    print(f"CPU: {time.process_time() - start:.1f} s")


if __name__ == "__main__":
    main()
