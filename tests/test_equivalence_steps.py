"""Each step of a proof: pairs that it proves, and near misses, all run on random databases."""

# ruff: noqa: E501, S311 - a pair of queries stands on one line, over tables of our own

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import pytest

from scorekit import sql_equivalence

SCHEMA = """
CREATE TABLE d (id INT PRIMARY KEY, name TEXT NOT NULL, size INT);
CREATE TABLE e (id INT PRIMARY KEY, d_id INT NOT NULL REFERENCES d (id), boss INT REFERENCES e (id),
                pay INT, rank INT NOT NULL);
CREATE TABLE n (a INT, b INT NOT NULL, c TEXT)
"""

# What a step proves, by the name that it has in a proof.
EQUAL = [
    ("left join to inner join", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE CASE WHEN d.size > 1 THEN 1 ELSE 0 END = 1", "SELECT e.id FROM e JOIN d ON e.boss = d.id WHERE d.size > 1"),
    ("left join to inner join", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE d.size = 1 OR d.name = 'x'", "SELECT e.id FROM e JOIN d ON e.boss = d.id WHERE d.size = 1 OR d.name = 'x'"),
    ("HAVING to EXISTS", "SELECT b FROM n WHERE a > 1 GROUP BY b HAVING COUNT(*) > 0", "SELECT DISTINCT b FROM n WHERE a > 1"),
    ("full join to left join", "SELECT e.id, d.id FROM e FULL JOIN d ON e.boss = d.id WHERE e.rank > 1", "SELECT e.id, d.id FROM e LEFT JOIN d ON e.boss = d.id WHERE e.rank > 1"),
    ("full join to left join", "SELECT e.id, d.id FROM e FULL JOIN d ON e.boss = d.id WHERE e.rank > 1 AND d.size = 2", "SELECT e.id, d.id FROM e JOIN d ON e.boss = d.id WHERE e.rank > 1 AND d.size = 2"),
    ("unused outer join removed", "SELECT e.pay FROM e LEFT JOIN d ON e.boss = d.id", "SELECT pay FROM e"),
    ("unused outer join removed", "SELECT DISTINCT n.a FROM n LEFT JOIN e ON e.rank = n.b", "SELECT DISTINCT a FROM n"),
    ("unused outer join removed", "SELECT d.name FROM d LEFT JOIN (SELECT d_id, MAX(pay) FROM e GROUP BY d_id) t ON d.id = t.d_id", "SELECT name FROM d"),
    ("IS NULL of an outer join to NOT EXISTS", "SELECT d.name FROM d LEFT JOIN e ON e.d_id = d.id WHERE e.id IS NULL", "SELECT name FROM d WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.d_id = d.id)"),
    ("IS NULL of an outer join to NOT EXISTS", "SELECT d.name FROM d LEFT JOIN e ON e.d_id = d.id AND e.pay > 1 WHERE e.pay IS NULL", "SELECT name FROM d WHERE d.id NOT IN (SELECT e.d_id FROM e WHERE e.pay > 1)"),
    ("IS NULL of an outer join to NOT EXISTS", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE d.id IS NOT NULL OR e.rank = 1", "SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM d WHERE d.id = e.boss) OR e.rank = 1"),
    ("IS NULL of an outer join to NOT EXISTS", "SELECT e.id FROM e LEFT JOIN (SELECT a, TRUE AS i FROM n GROUP BY a) x ON e.boss = x.a WHERE x.i IS NOT NULL OR e.rank = 1", "SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.boss) OR e.rank = 1"),
    ("left join to inner join", "SELECT e.id, d.name FROM e LEFT JOIN d ON e.d_id = d.id", "SELECT e.id, d.name FROM e JOIN d ON e.d_id = d.id"),
    ("foreign key join removed", "SELECT e.pay FROM e JOIN d ON e.d_id = d.id", "SELECT pay FROM e"),
    ("foreign key join removed", "SELECT e.pay FROM e JOIN e b ON e.boss = b.id", "SELECT pay FROM e WHERE boss IS NOT NULL"),
    ("foreign key join removed", "SELECT d.id, COUNT(*) FROM e JOIN d ON e.d_id = d.id WHERE d.id > 1 GROUP BY d.id", "SELECT d_id, COUNT(*) FROM e WHERE d_id > 1 GROUP BY d_id"),
    ("foreign key join removed", "SELECT b.id + 1 FROM e JOIN e b ON e.boss = b.id WHERE b.id < 3", "SELECT boss + 1 FROM e WHERE boss < 3"),
    ("self join on a key removed", "SELECT x.pay, y.rank FROM e x JOIN e y ON x.id = y.id", "SELECT pay, rank FROM e"),
    ("self join on a key removed", "SELECT x.pay FROM e x, e y, e z WHERE x.id = y.boss AND y.boss = z.id AND z.rank > 1", "SELECT x.pay FROM e x, e y WHERE x.id = y.boss AND x.rank > 1"),
    ("GROUP BY to scalar subqueries", "SELECT e.id FROM e JOIN (SELECT DISTINCT a FROM n) x ON x.a = e.pay", "SELECT id FROM e WHERE pay IN (SELECT a FROM n)"),
    ("grouped derived table to scalar subqueries", "SELECT e.id FROM e JOIN (SELECT a, COUNT(*) FROM n GROUP BY a) x ON x.a = e.pay", "SELECT id FROM e WHERE pay IN (SELECT a FROM n)"),
    ("EXISTS to join", "SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM d WHERE d.id = e.boss AND d.size = 1)", "SELECT e.id FROM e JOIN d ON d.id = e.boss AND d.size = 1"),
    ("EXISTS to join", "SELECT DISTINCT n.c FROM n WHERE EXISTS (SELECT 1 FROM e WHERE e.pay = n.a)", "SELECT DISTINCT n.c FROM n JOIN e ON e.pay = n.a"),
    ("GROUP BY to scalar subqueries", "SELECT DISTINCT d.id FROM d JOIN e ON e.pay = d.size", "SELECT id FROM d WHERE size IN (SELECT pay FROM e)"),
    ("grouped derived table to scalar subqueries", "SELECT e.id FROM e, (SELECT MAX(a) AS m FROM n) x WHERE e.pay = x.m", "SELECT id FROM e WHERE pay = (SELECT MAX(a) FROM n)"),
    ("unused columns removed", "SELECT x.a FROM (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x JOIN e ON e.id = x.k WHERE e.pay = 1", "SELECT x.a FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY b, a) x JOIN e ON e.id = x.k WHERE e.pay = 1"),
    ("condition on keys moved out of a derived table", "SELECT e.pay, x.b FROM e JOIN (SELECT DISTINCT a, b FROM n WHERE a > 1) x ON e.pay = x.a", "SELECT e.pay, x.b FROM e JOIN (SELECT DISTINCT a, b FROM n) x ON e.pay = x.a WHERE e.pay > 1"),
    ("tables paired, conditions and columns compared", "SELECT MAX(pay) FROM e WHERE rank = 1 GROUP BY rank, boss", "SELECT MAX(pay) FROM e WHERE rank = 1 GROUP BY boss"),
    ("GROUP BY of single rows removed", "SELECT id, SUM(pay), COUNT(*), COUNT(pay) FROM e GROUP BY id", "SELECT id, pay, 1, CASE WHEN pay IS NULL THEN 0 ELSE 1 END FROM e"),
    ("redundant DISTINCT removed", "SELECT DISTINCT e.id, d.name FROM e JOIN d ON e.d_id = d.id", "SELECT e.id, d.name FROM e, d WHERE d.id = e.d_id"),
    ("redundant DISTINCT in a derived table removed", "SELECT COUNT(DISTINCT a) FROM (SELECT DISTINCT a FROM n) x", "SELECT COUNT(DISTINCT a) FROM n"),
    ("DISTINCT moved out of a derived table", "SELECT e.id, x.b FROM e, (SELECT DISTINCT b FROM n WHERE b > 1) x WHERE x.b < e.rank", "SELECT DISTINCT e.id, n.b FROM e, n WHERE n.b < e.rank AND n.b > 1"),
    ("aggregate simplified", "SELECT COUNT(DISTINCT id), COUNT(rank) FROM e", "SELECT COUNT(*), COUNT(*) FROM e"),
    ("aggregate simplified", "SELECT a, MAX(a), SUM(DISTINCT a) FROM n GROUP BY a", "SELECT a, a, a FROM n GROUP BY a"),
    ("tables paired, conditions and columns compared", "SELECT SUM(pay), COUNT(pay) FROM e WHERE pay IS NOT NULL AND rank > 1", "SELECT SUM(pay), COUNT(pay) FROM e WHERE rank > 1"),
    ("tables paired, conditions and columns compared", "SELECT COUNT(CASE WHEN a > 1 THEN 1 END) FROM n WHERE a > 1", "SELECT COUNT(CASE WHEN a > 1 THEN 1 END) FROM n"),
    ("dependent column added to GROUP BY", "SELECT d.name, COUNT(*) FROM d JOIN e ON e.d_id = d.id GROUP BY e.d_id", "SELECT d.name, COUNT(*) FROM d JOIN e ON e.d_id = d.id GROUP BY d.id"),
    ("nested aggregates merged", "SELECT SUM(x.k) FROM (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x GROUP BY x.a", "SELECT COUNT(*) FROM n GROUP BY a"),
    ("nested aggregates merged", "SELECT MAX(x.m) FROM (SELECT MAX(pay) AS m FROM e UNION ALL SELECT MAX(a) FROM n) x", "SELECT MAX(v) FROM (SELECT pay AS v FROM e UNION ALL SELECT a FROM n) x"),
    ("UNION ALL moved out of a derived table", "SELECT x.v FROM (SELECT pay AS v FROM e UNION ALL SELECT a FROM n) x WHERE x.v > 1", "SELECT a FROM n WHERE a > 1 UNION ALL SELECT pay FROM e WHERE pay > 1"),
    ("UNION ALL moved out of a derived table", "SELECT d.name FROM d, (SELECT pay AS v FROM e UNION ALL SELECT a FROM n) x WHERE x.v = d.id", "SELECT d.name FROM d, e WHERE e.pay = d.id UNION ALL SELECT d.name FROM d, n WHERE n.a = d.id"),
    ("query without rows emptied", "SELECT a FROM n WHERE b > 3 AND b < 2", "SELECT id FROM e WHERE 1 = 0"),
    ("query without rows emptied", "SELECT COUNT(*), SUM(a) FROM n WHERE b <> b", "SELECT 0, NULL"),
    ("empty UNION arm removed", "SELECT a FROM n UNION ALL SELECT pay FROM e WHERE rank IS NULL", "SELECT a FROM n"),
    ("empty UNION arm removed", "SELECT a FROM n UNION SELECT pay FROM e WHERE 1 = 2", "SELECT DISTINCT a FROM n"),
    ("UNION arms over the same tables merged", "SELECT id FROM e WHERE pay > 5 UNION SELECT id FROM e WHERE d_id = 3", "SELECT id FROM e WHERE pay > 5 OR d_id = 3"),
    ("EXISTS to join", "SELECT COUNT(DISTINCT d_id) FROM e WHERE pay > 1", "SELECT COUNT(*) FROM d WHERE id IN (SELECT d_id FROM e WHERE pay > 1)"),
    ("row that is there anyway", "SELECT e.id, k FROM e JOIN (SELECT boss, COUNT(*) AS k FROM e GROUP BY boss) x ON x.boss = e.boss", "SELECT id, (SELECT COUNT(*) FROM e x WHERE x.boss = e.boss) FROM e WHERE boss IS NOT NULL"),
    ("condition of a subquery known around it removed", "SELECT id FROM (SELECT id, boss, RANK() OVER (PARTITION BY boss ORDER BY rank DESC) AS r FROM e) x WHERE r = 1 AND boss IS NOT NULL", "SELECT id FROM e WHERE rank = (SELECT MAX(rank) FROM e x WHERE x.boss = e.boss)"),
    ("redundant EXISTS removed", "SELECT id FROM (SELECT id, boss, pay, AVG(rank) OVER (PARTITION BY boss) AS m FROM e) x WHERE pay > m AND boss IS NOT NULL", "SELECT id FROM e WHERE pay > (SELECT AVG(rank) FROM e x WHERE x.boss = e.boss)"),
    ("HAVING to EXISTS", "SELECT d_id FROM e GROUP BY d_id HAVING SUM(CASE WHEN pay = 1 THEN 1 ELSE 0 END) > 0", "SELECT DISTINCT d_id FROM e WHERE pay = 1"),
    ("INTERSECT or EXCEPT to EXISTS", "SELECT a FROM n INTERSECT SELECT pay FROM e", "SELECT DISTINCT a FROM n WHERE EXISTS (SELECT 1 FROM e WHERE e.pay = n.a OR (e.pay IS NULL AND n.a IS NULL))"),
    ("EXCEPT of a query from itself emptied", "SELECT pay FROM e WHERE rank > 1 EXCEPT SELECT x.pay FROM e x WHERE x.rank > 1", "SELECT a FROM n WHERE 1 = 0"),
    ("unused columns removed", "SELECT x.p, x.k FROM (SELECT a AS p, a AS q, COUNT(*) AS k FROM n GROUP BY a) x JOIN e ON e.id = x.q", "SELECT x.q, x.k FROM (SELECT a AS p, a AS q, COUNT(*) AS k FROM n GROUP BY a) x JOIN e ON e.id = x.p"),
    ("INTERSECT or EXCEPT to EXISTS", "SELECT b FROM n EXCEPT SELECT rank FROM e", "SELECT DISTINCT b FROM n WHERE b NOT IN (SELECT rank FROM e)"),
    ("IN to EXISTS", "SELECT id FROM e WHERE pay IN (SELECT MAX(a) FROM n GROUP BY b)", "SELECT id FROM e WHERE EXISTS (SELECT 1 FROM (SELECT MAX(a) AS m FROM n GROUP BY b) x WHERE x.m = e.pay)"),
    ("IS NULL of a scalar subquery to NOT EXISTS", "SELECT id FROM e WHERE (SELECT name FROM d WHERE d.id = e.boss) IS NOT NULL", "SELECT id FROM e WHERE EXISTS (SELECT 1 FROM d WHERE d.id = e.boss)"),
    ("scalar subquery without tables replaced by its value", "SELECT id FROM e WHERE (SELECT 1) = rank", "SELECT id FROM e WHERE rank = 1"),
    ("LIMIT 0 emptied", "SELECT id FROM e LIMIT 0", "SELECT id FROM e WHERE 1 = 0"),
    ("tables paired, conditions and columns compared", "SELECT pay FROM e WHERE rank > 1 ORDER BY id LIMIT 2", "SELECT pay FROM e WHERE NOT rank <= 1 ORDER BY id LIMIT 2"),
    ("LIMIT of a single row removed", "SELECT MAX(pay) FROM e LIMIT 1", "SELECT MAX(pay) FROM e"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT name, size FROM d ORDER BY name LIMIT 1", "SELECT name, size FROM d ORDER BY name LIMIT 1"),
    ("tables paired, conditions and columns compared", "SELECT a FROM (SELECT a FROM n LIMIT 1) x GROUP BY a", "SELECT a FROM (SELECT a FROM n LIMIT 1) x"),
    ("tables paired, conditions and columns compared", "SELECT id FROM e WHERE rank > 1 ORDER BY pay LIMIT 2", "SELECT id FROM e WHERE rank > 1 AND rank IS NOT NULL ORDER BY pay LIMIT 2"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT b, COUNT(*) FROM n GROUP BY b ORDER BY COUNT(*) DESC LIMIT 1", "SELECT b, COUNT(*) FROM n GROUP BY b ORDER BY COUNT(*) DESC LIMIT 1"),
    ("LIMIT moved out of a derived table", "SELECT x.pay + 1 FROM (SELECT pay, rank FROM e ORDER BY id LIMIT 2) x", "SELECT pay + 1 FROM e ORDER BY id LIMIT 2"),
    ("LIMIT moved out of a derived table", "SELECT DISTINCT x.pay FROM (SELECT pay FROM e ORDER BY id LIMIT 1) x", "SELECT pay FROM e ORDER BY id LIMIT 1"),
    ("LIMIT moved out of a derived table", "SELECT x.b FROM (SELECT DISTINCT b, COUNT(a) FROM n GROUP BY b ORDER BY COUNT(*) LIMIT 2) x", "SELECT x.b FROM (SELECT b, MAX(a) FROM n GROUP BY b ORDER BY COUNT(*) LIMIT 2) x"),
    ("redundant ORDER BY item removed", "SELECT rank FROM e ORDER BY id, pay", "SELECT rank FROM e ORDER BY id"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT id FROM e WHERE pay IN (SELECT a FROM n ORDER BY b LIMIT 1)", "SELECT id FROM e WHERE pay IN (SELECT a FROM n ORDER BY b LIMIT 1)"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT id FROM e WHERE pay = (SELECT a FROM n WHERE b > 1)", "SELECT id FROM e WHERE (SELECT x.a FROM n x WHERE x.b > 1) = pay"),
    ("nested aggregates merged", "SELECT d.size, SUM(x.k), MAX(x.m) FROM d JOIN (SELECT d_id, COUNT(*) AS k, MAX(pay) AS m FROM e GROUP BY d_id) x ON x.d_id = d.id GROUP BY d.size", "SELECT d.size, COUNT(*), MAX(e.pay) FROM d JOIN e ON e.d_id = d.id GROUP BY d.size"),
    ("tables paired, conditions and columns compared", "SELECT x.id FROM e x, e y WHERE x.pay = y.rank AND y.rank > 2", "SELECT y.id FROM e x, e y WHERE y.pay = x.rank AND y.pay > 2"),
]  # fmt: skip

# Where the condition of the step beside it does not hold; some database shows it.
DIFFERENT = [
    ("left join to inner join", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE COALESCE(d.size, 3) > 2", "SELECT e.id FROM e JOIN d ON e.boss = d.id WHERE COALESCE(d.size, 3) > 2"),
    ("left join to inner join", "SELECT SUM(d.size), COUNT(*) FROM e LEFT JOIN d ON e.boss = d.id", "SELECT SUM(d.size), COUNT(*) FROM e JOIN d ON e.boss = d.id"),
    ("left join to inner join", "SELECT e.id FROM e LEFT JOIN n ON e.id = n.a GROUP BY e.id HAVING COUNT(n.b) < 2", "SELECT e.id FROM e JOIN n ON e.id = n.a GROUP BY e.id HAVING COUNT(n.b) < 2"),
    ("left join to inner join", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE d.size = 1 OR d.name = 'x' OR e.rank = 2", "SELECT e.id FROM e JOIN d ON e.boss = d.id WHERE d.size = 1 OR d.name = 'x' OR e.rank = 2"),
    ("left join to inner join", "SELECT d.size, COUNT(*) FROM d LEFT JOIN e ON e.pay = d.id GROUP BY d.size HAVING COUNT(*) > 1", "SELECT d.size, COUNT(*) FROM d JOIN e ON e.pay = d.id GROUP BY d.size HAVING COUNT(*) > 1"),
    ("left join to inner join", "SELECT d.id FROM d LEFT JOIN e ON e.pay = d.id GROUP BY d.id HAVING COUNT(*) > 1 OR MAX(d.size) > 1", "SELECT d.id FROM d JOIN e ON e.pay = d.id GROUP BY d.id HAVING COUNT(*) > 1 OR MAX(d.size) > 1"),
    ("HAVING to EXISTS", "SELECT b FROM n GROUP BY b HAVING COUNT(DISTINCT a) > 0", "SELECT DISTINCT b FROM n"),
    ("full join to left join", "SELECT e.id, d.id FROM e FULL JOIN d ON e.boss = d.id WHERE e.rank > 1 OR d.size = 1", "SELECT e.id, d.id FROM e LEFT JOIN d ON e.boss = d.id WHERE e.rank > 1 OR d.size = 1"),
    ("unused outer join removed", "SELECT d.name FROM d LEFT JOIN e ON e.d_id = d.id", "SELECT name FROM d"),
    ("tables paired, conditions and columns compared", "SELECT e.pay, x.size FROM e LEFT JOIN (SELECT * FROM d WHERE size > 2 OR size < 1) x ON e.boss = x.id", "SELECT pay, NULL FROM e"),
    ("tables paired, conditions and columns compared", "SELECT e.pay, x.id FROM e LEFT JOIN (SELECT d.id FROM d FULL JOIN n ON d.id = n.a WHERE n.b IS NULL) x ON e.boss = x.id", "SELECT pay, NULL FROM e"),
    ("tables paired, conditions and columns compared", "SELECT e.pay, x.id FROM e LEFT JOIN (SELECT d.id FROM d LEFT JOIN n ON d.id = n.a WHERE n.b IS NULL) x ON e.boss = x.id", "SELECT pay, NULL FROM e"),
    ("tables paired, conditions and columns compared", "SELECT e.pay, x.id FROM e LEFT JOIN (SELECT d.id, n.b FROM d FULL JOIN n ON d.id = n.a) x ON e.boss = x.id AND x.b IS NULL", "SELECT e.pay, x.id FROM e LEFT JOIN (SELECT d.id, n.b FROM d FULL JOIN n ON d.id = n.a) x ON e.boss = x.id AND 1 = 0"),
    ("IS NULL of an outer join to NOT EXISTS", "SELECT d.name FROM d LEFT JOIN e ON e.d_id = d.id WHERE e.pay IS NULL", "SELECT name FROM d WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.d_id = d.id)"),
    ("IS NULL of an outer join to NOT EXISTS", "SELECT e.id FROM e WHERE e.pay NOT IN (SELECT a FROM n)", "SELECT e.id FROM e LEFT JOIN n ON n.a = e.pay WHERE n.b IS NULL"),
    ("IS NULL of an outer join to NOT EXISTS", "SELECT e.id FROM e LEFT JOIN n ON e.boss = n.a WHERE n.b IS NOT NULL OR e.rank = 1", "SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.boss) OR e.rank = 1"),
    ("left join to inner join", "SELECT e.id, d.name FROM e LEFT JOIN d ON e.d_id = d.id AND d.size = 1", "SELECT e.id, d.name FROM e JOIN d ON e.d_id = d.id AND d.size = 1"),
    ("left join to inner join", "SELECT e.id, b.pay FROM e LEFT JOIN e b ON e.boss = b.id", "SELECT e.id, b.pay FROM e JOIN e b ON e.boss = b.id"),
    ("foreign key join removed", "SELECT e.pay FROM e JOIN e b ON e.boss = b.id", "SELECT pay FROM e"),
    ("foreign key join removed", "SELECT e.pay FROM e JOIN d ON e.d_id = d.id AND d.size = 1", "SELECT pay FROM e"),
    ("foreign key join removed", "SELECT e.pay FROM e JOIN d ON e.d_id = d.id AND e.rank = d.id", "SELECT pay FROM e"),
    ("foreign key join removed", "SELECT d.id FROM e JOIN d ON e.d_id = d.id WHERE d.size > 1", "SELECT d_id FROM e"),
    ("foreign key join removed", "SELECT d.id FROM e JOIN d ON e.pay = d.id WHERE d.id < 3", "SELECT pay FROM e WHERE pay < 3"),
    ("self join on a key removed", "SELECT x.pay FROM e x JOIN e y ON x.rank = y.rank", "SELECT pay FROM e"),
    ("tables paired, conditions and columns compared", "SELECT e.id FROM e JOIN n x ON x.a = e.pay", "SELECT id FROM e WHERE pay IN (SELECT a FROM n)"),
    ("tables paired, conditions and columns compared", "SELECT e.id FROM e JOIN (SELECT DISTINCT a, b FROM n) x ON x.a = e.pay", "SELECT id FROM e WHERE pay IN (SELECT a FROM n)"),
    ("EXISTS to join", "SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.boss)", "SELECT e.id FROM e JOIN n ON n.a = e.boss"),
    ("GROUP BY to scalar subqueries", "SELECT DISTINCT d.size FROM d JOIN e ON e.pay = d.size", "SELECT size FROM d WHERE size IN (SELECT pay FROM e)"),
    ("grouped derived table to scalar subqueries", "SELECT e.id FROM e, (SELECT MAX(a) AS m FROM n GROUP BY b) x WHERE e.pay = x.m", "SELECT id FROM e WHERE pay = (SELECT MAX(a) FROM n)"),
    ("condition on keys moved out of a derived table", "SELECT e.pay, x.k FROM e JOIN (SELECT a, COUNT(*) AS k FROM n WHERE b > 1 GROUP BY a) x ON e.id = x.a", "SELECT e.pay, x.k FROM e JOIN (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x ON e.id = x.a WHERE e.id > 1"),
    ("tables paired, conditions and columns compared", "SELECT n.c, x.k FROM n JOIN (SELECT d_id, COUNT(*) AS k FROM e GROUP BY d_id) x ON x.d_id = n.a", "SELECT n.c, COUNT(*) FROM n JOIN e ON e.d_id = n.a GROUP BY n.a, n.c"),
    ("tables paired, conditions and columns compared", "SELECT MAX(pay) FROM e WHERE rank > 1 GROUP BY rank, boss", "SELECT MAX(pay) FROM e WHERE rank > 1 GROUP BY boss"),
    ("GROUP BY of single rows removed", "SELECT rank, SUM(pay) FROM e GROUP BY rank", "SELECT rank, pay FROM e"),
    ("GROUP BY of single rows removed", "SELECT x.m / 2 FROM (SELECT id, AVG(rank) AS m FROM e GROUP BY id) x", "SELECT rank / 2 FROM e"),
    ("redundant DISTINCT removed", "SELECT DISTINCT e.pay, d.name FROM e JOIN d ON e.d_id = d.id", "SELECT e.pay, d.name FROM e, d WHERE d.id = e.d_id"),
    ("redundant DISTINCT removed", "SELECT COUNT(a) FROM (SELECT DISTINCT a FROM n) x", "SELECT COUNT(a) FROM n"),
    ("redundant DISTINCT removed", "SELECT id FROM e WHERE EXISTS (SELECT 1 FROM (SELECT DISTINCT a FROM n) x GROUP BY a HAVING COUNT(*) > 1)", "SELECT id FROM e WHERE EXISTS (SELECT 1 FROM n GROUP BY a HAVING COUNT(*) > 1)"),
    ("aggregate simplified", "SELECT COUNT(DISTINCT rank), COUNT(pay) FROM e", "SELECT COUNT(*), COUNT(*) FROM e"),
    ("aggregate simplified", "SELECT a, SUM(a) FROM n GROUP BY a", "SELECT a, a FROM n GROUP BY a"),
    ("tables paired, conditions and columns compared", "SELECT SUM(pay), COUNT(*) FROM e WHERE pay IS NOT NULL", "SELECT SUM(pay), COUNT(*) FROM e"),
    ("tables paired, conditions and columns compared", "SELECT SUM(pay) FROM e WHERE pay IS NOT NULL GROUP BY rank", "SELECT SUM(pay) FROM e GROUP BY rank"),
    ("tables paired, conditions and columns compared", "SELECT COUNT(*) FROM (SELECT DISTINCT a FROM n) x", "SELECT COUNT(DISTINCT a) FROM n"),
    ("tables paired, conditions and columns compared", "SELECT COUNT(x.a) FROM (SELECT DISTINCT a, b FROM n) x", "SELECT COUNT(DISTINCT a) FROM n"),
    ("dependent column added to GROUP BY", "SELECT e.pay, COUNT(*) FROM d JOIN e ON e.d_id = d.id GROUP BY d.id", "SELECT MAX(e.pay), COUNT(*) FROM d JOIN e ON e.d_id = d.id GROUP BY d.id"),
    ("nested aggregates merged", "SELECT SUM(x.k) FROM (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x", "SELECT COUNT(*) FROM n"),
    ("nested aggregates merged", "SELECT AVG(x.m) FROM (SELECT AVG(a) AS m FROM n GROUP BY b) x", "SELECT AVG(a) FROM n"),
    ("nested aggregates merged", "SELECT COUNT(x.m) FROM (SELECT MAX(a) AS m FROM n GROUP BY b) x", "SELECT COUNT(a) FROM n"),
    ("UNION ALL moved out of a derived table", "SELECT x.v FROM (SELECT pay AS v FROM e UNION SELECT a FROM n) x WHERE x.v > 1", "SELECT a FROM n WHERE a > 1 UNION ALL SELECT pay FROM e WHERE pay > 1"),
    ("query without rows emptied", "SELECT COUNT(*), SUM(a) FROM n WHERE b <> b GROUP BY c", "SELECT 0, NULL"),
    ("empty UNION arm removed", "SELECT a FROM n UNION SELECT pay FROM e WHERE 1 = 2", "SELECT a FROM n"),
    ("UNION arms over the same tables merged", "SELECT pay FROM e WHERE pay > 5 UNION SELECT pay FROM e WHERE d_id = 3", "SELECT pay FROM e WHERE pay > 5 OR d_id = 3"),
    ("EXISTS to join", "SELECT COUNT(DISTINCT boss) FROM e WHERE pay > 1", "SELECT COUNT(*) FROM d WHERE id IN (SELECT boss FROM e WHERE pay > 1)"),
    ("row that is there anyway", "SELECT e.id, k FROM e JOIN (SELECT boss, COUNT(*) AS k FROM e GROUP BY boss) x ON x.boss = e.boss", "SELECT id, (SELECT COUNT(*) FROM e x WHERE x.boss = e.boss) FROM e"),
    ("condition of a subquery known around it removed", "SELECT id FROM (SELECT id, boss, RANK() OVER (PARTITION BY boss ORDER BY rank DESC) AS r FROM e) x WHERE r = 1", "SELECT id FROM e WHERE rank = (SELECT MAX(rank) FROM e x WHERE x.boss = e.boss)"),
    ("HAVING to EXISTS", "SELECT d_id FROM e GROUP BY d_id HAVING SUM(CASE WHEN pay = 1 THEN 1 ELSE 0 END) = 0", "SELECT DISTINCT d_id FROM e WHERE pay <> 1"),
    ("INTERSECT or EXCEPT to EXISTS", "SELECT a FROM n INTERSECT SELECT pay FROM e", "SELECT DISTINCT a FROM n WHERE EXISTS (SELECT 1 FROM e WHERE e.pay = n.a)"),
    ("EXCEPT of a query from itself emptied", "SELECT pay FROM e EXCEPT SELECT pay FROM e WHERE rank > 1", "SELECT a FROM n WHERE 1 = 0"),
    ("unused columns removed", "SELECT x.p, x.k FROM (SELECT a AS p, b AS q, COUNT(*) AS k FROM n GROUP BY a, b) x JOIN e ON e.id = x.q", "SELECT x.q, x.k FROM (SELECT a AS p, b AS q, COUNT(*) AS k FROM n GROUP BY a, b) x JOIN e ON e.id = x.p"),
    ("INTERSECT or EXCEPT to EXISTS", "SELECT a FROM n EXCEPT SELECT pay FROM e", "SELECT DISTINCT a FROM n WHERE a NOT IN (SELECT pay FROM e)"),
    ("tables paired, conditions and columns compared", "SELECT id FROM d WHERE (SELECT COUNT(pay) FROM e WHERE e.d_id = d.id) > 0", "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM e WHERE e.d_id = d.id)"),
    ("tables paired, conditions and columns compared", "SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.d_id = d.id) > 1", "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM e WHERE e.d_id = d.id)"),
    ("IS NULL of a scalar subquery to NOT EXISTS", "SELECT id FROM e WHERE (SELECT size FROM d WHERE d.id = e.boss) IS NOT NULL", "SELECT id FROM e WHERE EXISTS (SELECT 1 FROM d WHERE d.id = e.boss)"),
    ("tables paired, conditions and columns compared", "SELECT id FROM e WHERE rank > 1 ORDER BY id LIMIT 2", "SELECT id FROM e WHERE rank > 0 ORDER BY id LIMIT 2"),
    ("LIMIT moved out of a derived table", "SELECT x.b FROM (SELECT DISTINCT b, a FROM n ORDER BY b, a LIMIT 2) x", "SELECT b FROM n ORDER BY b, a LIMIT 2"),
    ("LIMIT moved out of a derived table", "SELECT DISTINCT x.pay FROM (SELECT pay FROM e ORDER BY id LIMIT 2) x", "SELECT pay FROM e ORDER BY id LIMIT 2"),
    ("LIMIT moved out of a derived table", "SELECT 1 FROM (SELECT MAX(pay) FROM e LIMIT 1) x", "SELECT 1 FROM e LIMIT 1"),
    ("tables paired, conditions and columns compared", "SELECT id FROM e WHERE pay >= (SELECT pay FROM e ORDER BY pay LIMIT 1)", "SELECT id FROM e WHERE pay >= (SELECT MIN(pay) FROM e)"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT size FROM d ORDER BY size LIMIT 2", "SELECT size FROM d ORDER BY size LIMIT 2"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT size FROM d ORDER BY size LIMIT 1 OFFSET 1", "SELECT size FROM d ORDER BY size LIMIT 1 OFFSET 1"),
    ("tables paired, conditions and columns compared", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE NOT EXISTS (SELECT 1 FROM n WHERE n.a = e.id AND d.id IS NOT NULL)", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE NOT EXISTS (SELECT 1 FROM n WHERE n.a = e.id)"),
    ("tables paired, conditions and columns compared", "SELECT e.id, (SELECT COUNT(*) FROM n WHERE d.id = d.id) FROM e FULL JOIN d ON e.boss = d.id", "SELECT e.id, (SELECT COUNT(*) FROM n) FROM e FULL JOIN d ON e.boss = d.id"),
    ("tables paired, conditions and columns compared", "SELECT d.id FROM e RIGHT JOIN d ON e.boss = d.id WHERE d.size IN (SELECT a FROM n WHERE e.rank = e.rank)", "SELECT d.id FROM e RIGHT JOIN d ON e.boss = d.id WHERE d.size IN (SELECT a FROM n)"),
    ("tables paired, conditions and columns compared", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE EXISTS (SELECT 1 FROM (SELECT b FROM n WHERE d.id IS NOT NULL) x WHERE x.b = e.pay)", "SELECT e.id FROM e LEFT JOIN d ON e.boss = d.id WHERE EXISTS (SELECT 1 FROM (SELECT b FROM n) x WHERE x.b = e.pay)"),
    ("LIMIT of a single row removed", "SELECT MAX(pay) FROM e GROUP BY rank LIMIT 1", "SELECT MAX(pay) FROM e GROUP BY rank"),
    ("tables paired, conditions and columns compared", "SELECT id FROM e ORDER BY pay LIMIT 2", "SELECT id FROM e ORDER BY pay, id LIMIT 2"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT b FROM n ORDER BY a LIMIT 2", "SELECT b FROM n ORDER BY a LIMIT 2"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT a FROM n ORDER BY a LIMIT 2", "SELECT a FROM n ORDER BY a LIMIT 2"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT a FROM n ORDER BY a LIMIT 1 OFFSET 1", "SELECT a FROM n ORDER BY a LIMIT 1 OFFSET 1"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT a FROM n ORDER BY b LIMIT 1", "SELECT a FROM n ORDER BY b LIMIT 1"),
    ("tables paired, conditions and columns compared", "SELECT id FROM e WHERE pay = (SELECT a FROM n WHERE b > 1)", "SELECT id FROM e WHERE pay = (SELECT a FROM n WHERE b > 0)"),
    ("tables paired, conditions and columns compared", "SELECT id, SUM(rank) OVER (ORDER BY pay ROWS UNBOUNDED PRECEDING) FROM e", "SELECT id, SUM(rank) OVER (ORDER BY pay) FROM e"),
    ("tables paired, conditions and columns compared", "SELECT id, RANK() OVER (ORDER BY pay) FROM e", "SELECT id, DENSE_RANK() OVER (ORDER BY pay) FROM e"),
    ("tables paired, conditions and columns compared", "SELECT pay, COUNT(pay) OVER () FROM e", "SELECT pay, COUNT(*) OVER () FROM e"),
    ("unused columns removed", "SELECT x.a FROM (SELECT a, COUNT(*) OVER (PARTITION BY a) AS k FROM n) x WHERE x.k > 1", "SELECT a FROM n"),
    ("tables paired, conditions and columns compared", "SELECT x.pay FROM (SELECT pay, d_id, RANK() OVER (ORDER BY rank) AS k FROM e) x WHERE x.k <= 3 AND x.d_id = 1", "SELECT x.pay FROM (SELECT pay, RANK() OVER (ORDER BY rank) AS k FROM e WHERE d_id = 1) x WHERE x.k < 4"),
    ("tables paired, conditions and columns compared", "SELECT x.id FROM (SELECT id, RANK() OVER (PARTITION BY d_id ORDER BY pay DESC) AS k FROM e) x WHERE x.k = 1", "SELECT x.id FROM (SELECT id, pay, MAX(pay) OVER (PARTITION BY d_id) AS m FROM e) x WHERE x.pay = x.m"),
    ("tables paired, conditions and columns compared", "SELECT x.a FROM (SELECT a, RANK() OVER (ORDER BY a) AS k FROM n) x WHERE x.k <= 2", "SELECT x.a FROM (SELECT a, DENSE_RANK() OVER (ORDER BY a) AS k FROM n) x WHERE x.k < 3"),
    ("tables paired, conditions and columns compared", "SELECT x.id FROM (SELECT id, RANK() OVER (PARTITION BY boss ORDER BY rank) AS k FROM e) x WHERE x.k = 1", "SELECT e.id FROM e JOIN (SELECT boss, MIN(rank) AS m FROM e GROUP BY boss) y ON e.boss = y.boss AND e.rank = y.m"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT b, a, SUM(b) OVER (PARTITION BY a) FROM n", "SELECT b, a, SUM(b) FROM n GROUP BY a, b"),
    ("tables paired, conditions and columns compared", "SELECT DISTINCT COUNT(*) OVER () FROM n", "SELECT COUNT(*) FROM n"),
    ("tables paired, conditions and columns compared", "SELECT id, (SELECT MAX(x.pay) FROM e x WHERE x.boss = e.boss) FROM e", "SELECT id, MAX(pay) OVER (PARTITION BY boss) FROM e"),
    ("tables paired, conditions and columns compared", "SELECT id FROM e WHERE (SELECT COUNT(x.pay) FROM e x WHERE x.boss = e.boss) = 0", "SELECT e.id FROM e JOIN (SELECT boss, COUNT(pay) AS m FROM e GROUP BY boss) y ON y.boss = e.boss AND y.m = 0"),
    ("tables paired, conditions and columns compared", "SELECT pay FROM e WHERE rank IN (SELECT MAX(rank) FROM e GROUP BY boss)", "SELECT x.pay FROM (SELECT pay, rank, MAX(rank) OVER (PARTITION BY boss) AS m FROM e) x WHERE x.m = x.rank"),
    ("tables paired, conditions and columns compared", "SELECT d.id, COUNT(*) FROM d LEFT JOIN e ON e.d_id = d.id GROUP BY d.id", "SELECT d.id, (SELECT COUNT(*) FROM e WHERE e.d_id = d.id) FROM d"),
    ("tables paired, conditions and columns compared", "SELECT d.name, x.k FROM d LEFT JOIN (SELECT d_id, COUNT(pay) AS k FROM e GROUP BY d_id) x ON x.d_id = d.id", "SELECT d.name, COUNT(e.pay) FROM d LEFT JOIN e ON e.d_id = d.id GROUP BY d.id"),
    ("tables paired, conditions and columns compared", "SELECT d.name, COUNT(e.id) FROM d LEFT JOIN e ON e.d_id = d.id GROUP BY d.name", "SELECT d.name, (SELECT COUNT(*) FROM e WHERE e.d_id = d.id) FROM d"),
    ("tables paired, conditions and columns compared", "SELECT name FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.d_id = d.id) < 2", "SELECT d.name FROM d JOIN e ON e.d_id = d.id GROUP BY d.id HAVING COUNT(*) < 2"),
    ("nested aggregates merged", "SELECT d.size, COUNT(x.k) FROM d JOIN (SELECT d_id, COUNT(*) AS k FROM e GROUP BY d_id) x ON x.d_id = d.id GROUP BY d.size", "SELECT d.size, COUNT(*) FROM d JOIN e ON e.d_id = d.id GROUP BY d.size"),
    ("tables paired, conditions and columns compared", "SELECT x.id FROM e x, e y WHERE x.pay = y.rank AND y.rank > 2", "SELECT x.id FROM e x, e y WHERE y.pay = x.rank AND y.rank > 2"),
]  # fmt: skip


def _databases() -> Iterator[sqlite3.Connection]:
    """Yield small random databases, whose rows SQLite holds against the constraints."""
    rng = random.Random(7)
    for _ in range(60):
        found = sqlite3.connect(":memory:")
        found.execute("PRAGMA foreign_keys = ON")
        found.executescript(SCHEMA)
        numbers = (None, 0, 1, 2, 3)
        ids = rng.sample(range(5), rng.randrange(1, 5))
        for i in ids:
            found.execute(
                "INSERT INTO d VALUES (?, ?, ?)", (i, rng.choice("xy"), rng.choice(numbers))
            )
        known: list[int | None] = [None]
        for i in rng.sample(range(6), rng.randrange(6)):
            row = (i, rng.choice(ids), rng.choice(known), rng.choice(numbers), rng.randrange(4))
            found.execute("INSERT INTO e VALUES (?, ?, ?, ?, ?)", row)
            known.append(i)
        for _ in range(rng.choice((0, 1, 4, 7))):
            cells = (rng.choice(numbers), rng.randrange(4), rng.choice((None, "x", "y")))
            found.execute("INSERT INTO n VALUES (?, ?, ?)", cells)
        yield found


@lru_cache(maxsize=1)
def _all_databases() -> tuple[sqlite3.Connection, ...]:
    return tuple(_databases())


def _differ(first: str, second: str) -> bool:
    """Say whether some database gives two queries different rows."""
    return any(
        Counter(one.execute(first).fetchall()) != Counter(one.execute(second).fetchall())
        for one in _all_databases()
    )


REFUSED = (
    ("FULL JOIN", "postgres"),
    ("GROUP BY e.d_id", "sqlite"),
    ("ORDER BY COUNT(*) LIMIT 2) x", "duckdb"),
)
"""Words of queries that not each database takes, and a dialect whose database does."""


@pytest.mark.parametrize(("step", "first", "second"), EQUAL)
def test_a_step_proves_what_no_database_contradicts(step: str, first: str, second: str) -> None:
    """Oracle: SQLite, over random databases that keep to the constraints."""
    dialect = next((one for words, one in REFUSED if words in first), None)
    for pair in ((first, second), (second, first)):
        result = sql_equivalence(*pair, schema=SCHEMA, dialect=dialect, n_databases=1)
        assert result.verdict == "proved", result
        names = [name.split(": ", 1)[-1] for name in result.proof]
        assert step in names, result.proof
    assert not _differ(first, second)


@pytest.mark.parametrize(("step", "first", "second"), DIFFERENT)
def test_a_near_miss_of_a_step_is_not_proved(step: str, first: str, second: str) -> None:
    """Where the condition of the step fails, some database shows it."""
    assert any(step == name for name, *_ in EQUAL)
    assert _differ(first, second), "no database tells them apart: no near miss"
    assert sql_equivalence(first, second, schema=SCHEMA, n_databases=1).verdict != "proved"


@pytest.mark.parametrize(("first", "second", "proved"), [
    ("pay, id FROM e WHERE rank > 1", "id, pay FROM e WHERE NOT rank <= 1", True),
    ("d_id, MAX(id) FROM e WHERE rank > 1 GROUP BY d_id", "MAX(id), d_id FROM e WHERE rank > 1 AND rank > 0 GROUP BY d_id", True),
    ("id, pay, rank FROM e WHERE pay = rank AND rank > 1", "pay, rank, id FROM e WHERE pay = rank AND pay > 1", True),
    ("id, pay, pay FROM e WHERE rank > 1", "id, id, pay FROM e WHERE NOT rank <= 1", False),
    ("pay, boss FROM e WHERE rank > 1", "boss, rank FROM e WHERE NOT rank <= 1", False),
])  # fmt: skip
def test_columns_are_put_in_order_where_their_order_is_ignored(
    first: str, second: str, *, proved: bool
) -> None:
    """Each of one query must be one of the other, none twice."""
    pair = f"SELECT {first}", f"SELECT {second}"
    result = sql_equivalence(*pair, schema=SCHEMA, column_order="ignored", n_databases=1)
    assert (result.verdict == "proved") is proved
    assert sql_equivalence(*pair, schema=SCHEMA, n_databases=1).verdict != "proved"
    if proved:
        assert result.proof[-1] == "columns put in order"
        assert "columns in another order" in result.reason


def test_a_condition_that_holds_by_not_null_rests_on_it() -> None:
    """Nothing joins, as n.b is never NULL; no proof may leave that out."""
    never = "CASE WHEN n.b < 5 THEN 0 WHEN n.b >= 5 THEN 0 ELSE 1 END = 1"
    queries = (f"SELECT d.name, n.c FROM d LEFT JOIN n ON {one}" for one in (never, "1 = 0"))
    result = sql_equivalence(*queries, schema=SCHEMA)
    assert result.verdict == "proved"
    assert "n.b is never NULL (schema)" in result.assumptions


@pytest.mark.parametrize(
    ("over", "other"),
    [
        ("ROW_NUMBER() OVER (ORDER BY pay)", "ROW_NUMBER() OVER (ORDER BY pay, rank)"),
        ("LAG(rank) OVER (ORDER BY pay)", "LAG(rank, 1) OVER (PARTITION BY 1 ORDER BY pay)"),
        ("NTILE(2) OVER (ORDER BY pay)", "NTILE(2) OVER (ORDER BY pay ASC, 1)"),
    ],
)
def test_rows_that_tie_in_a_window_prove_nothing(over: str, other: str) -> None:
    """Any of them may come first, each time another."""
    pair = f"SELECT id, {over} FROM e", f"SELECT id, {other} FROM e"
    assert sql_equivalence(*pair, schema=SCHEMA, n_databases=1).verdict == "unknown"
    renamed = f"SELECT x.id, {over} AS k FROM e x"
    assert sql_equivalence(pair[0], renamed, schema=SCHEMA).verdict == "proved"


def test_a_text_is_no_row_number() -> None:
    """SQLite converts a text for a column of a table, but not for what a window computes."""
    query = "SELECT x.id FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS k FROM e) x WHERE {}"
    pair = query.format("x.k = '1'"), query.format("x.k = 1")
    assert sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite").verdict == "refuted"


@pytest.mark.parametrize(("time", "dialect", "assumed"), [
    ("c", "sqlite", ("n.c holds ISO dates",)),
    ("'now'", "sqlite", ("both queries are run at one moment",)),
    ("'now'", "mysql", None),
    ("'now', 'localtime'", "sqlite", None),
])  # fmt: skip
def test_the_time_of_day_is_one(time: str, dialect: str, assumed: tuple[str, ...] | None) -> None:
    """In SQLite the clock stands still while a query is run; no clock tells a given time."""
    query = "SELECT a FROM n WHERE STRFTIME('%Y', {}) > '2000' AND {}"
    pair = query.format(time, "a > 1"), query.format(time, "a > 1 AND a > 0")
    result = sql_equivalence(*pair, schema=SCHEMA, dialect=dialect, n_databases=1)
    assert (result.assumptions if result.verdict == "proved" else None) == assumed


def test_a_function_of_a_time_that_is_null_is_null() -> None:
    """So that a comparison with it refuses what an outer join fills up."""
    pair = (
        "SELECT e.id FROM e LEFT JOIN n ON e.boss = n.a WHERE STRFTIME('%Y', n.c) = '2013'",
        "SELECT e.id FROM e JOIN n ON e.boss = n.a WHERE STRFTIME('%Y', n.c) = '2013'",
    )
    assert sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite").verdict == "proved"


TIED = "of rows that tie at LIMIT any may be taken"


@pytest.mark.parametrize(("first", "second"), [
    ("e", "e WHERE rank IS NOT NULL"),
    ("e JOIN d ON e.d_id = d.id", "d JOIN e ON d.id = e.d_id"),
    ("e JOIN d ON e.d_id = d.id", "e LEFT JOIN d ON d.id = e.d_id"),
    ("e JOIN d ON e.boss = d.id WHERE d.size IN (1, 2)", "e LEFT JOIN d ON e.boss = d.id WHERE d.size = 1 OR d.size = 2"),
    ("e LEFT JOIN d ON e.boss = d.id WHERE d.size IS NOT NULL", "e LEFT JOIN d ON e.boss = d.id WHERE CASE WHEN d.size IS NULL THEN 0 ELSE 1 END = 1"),
    ("(SELECT DISTINCT id, pay, rank FROM e) e", "e"),
])  # fmt: skip
def test_what_does_not_change_the_rows_does_not_change_what_a_limit_may_take(
    first: str, second: str
) -> None:
    """The order of joins, an index, DISTINCT: all results that the order allows are the query's."""
    query = "SELECT e.pay, e.rank FROM {} ORDER BY e.rank LIMIT 1"
    result = sql_equivalence(query.format(first), query.format(second), schema=SCHEMA)
    assert result.verdict == "proved", result
    assert TIED in result.assumptions


def test_the_same_groups_in_the_same_order_are_the_same_first_one() -> None:
    """Whichever table comes first; with a key, a name is that of the group."""
    schema = "CREATE TABLE s (id INT PRIMARY KEY, name TEXT); CREATE TABLE c (sid INT)"
    query = "SELECT s.name FROM {} GROUP BY c.sid ORDER BY COUNT(*) DESC LIMIT 1"
    pair = query.format("s JOIN c ON s.id = c.sid"), query.format("c JOIN s ON c.sid = s.id")
    result = sql_equivalence(*pair, schema=schema, dialect="sqlite")
    assert result.verdict == "proved", result
    assert {TIED, "s (id) is a key"} <= {*result.assumptions}


@pytest.mark.parametrize(("first", "second", "proved"), [
    ("SELECT id FROM d WHERE size IN (SELECT pay FROM e WHERE pay > 1 ORDER BY rank LIMIT 1)", "SELECT id FROM d WHERE size IN (SELECT pay FROM e WHERE NOT pay <= 1 ORDER BY rank LIMIT 1)", True),
    ("SELECT x.pay, y.pay FROM (SELECT pay FROM e LIMIT 1) x, (SELECT pay FROM e LIMIT 1) y", "WITH w AS (SELECT pay FROM e LIMIT 1) SELECT x.pay, y.pay FROM w x, w y", False),
    ("SELECT x.pay, y.pay FROM (SELECT pay FROM e LIMIT 1) x, (SELECT pay FROM e LIMIT 1) y", "SELECT x.pay, x.pay FROM (SELECT pay FROM e LIMIT 1) x", False),
    ("SELECT id FROM d WHERE size = (SELECT pay FROM e LIMIT 1) AND id = (SELECT pay FROM e LIMIT 1)", "SELECT id FROM d WHERE size = (SELECT pay FROM e LIMIT 1) AND id = size", False),
    ("SELECT d.id, x.pay FROM d, (SELECT pay FROM e LIMIT 1) x UNION ALL SELECT n.a, y.pay FROM n, (SELECT pay FROM e LIMIT 1) y", "SELECT z.v, x.pay FROM (SELECT id AS v FROM d UNION ALL SELECT a FROM n) z, (SELECT pay FROM e LIMIT 1) x", False),
    ("SELECT (SELECT MIN(x.a) FROM (SELECT a FROM n LIMIT 2) x), (SELECT MAX(x.a) FROM (SELECT a FROM n LIMIT 2) x)", "SELECT x.p, x.q FROM (SELECT MIN(a) AS p, MAX(a) AS q FROM (SELECT a FROM n LIMIT 2) y) x, (SELECT COUNT(*) AS k FROM n) z", False),
    ("SELECT pay, rank FROM (SELECT pay, rank FROM e ORDER BY pay) x ORDER BY rank LIMIT 1", "SELECT pay, rank FROM e ORDER BY rank LIMIT 1", False),
    ("SELECT pay FROM e ORDER BY rank LIMIT 1", "SELECT pay FROM e ORDER BY rank LIMIT 1 OFFSET 1", False),
    ("SELECT pay FROM e ORDER BY rank LIMIT 1", "SELECT pay FROM e ORDER BY rank DESC LIMIT 1", False),
    ("SELECT pay FROM e LIMIT 1", "SELECT pay FROM e ORDER BY rank LIMIT 1", False),
    ("SELECT pay FROM e LIMIT 1 + 0", "SELECT pay FROM e LIMIT 1", False),
    ("SELECT pay FROM e LIMIT -1", "SELECT pay FROM e", False),
])  # fmt: skip
def test_a_query_chooses_once_among_rows_that_tie(
    first: str, second: str, *, proved: bool
) -> None:
    """Two queries that are alike may choose otherwise; one that is named twice may not."""
    for pair in ((first, second), (second, first)):
        assert (sql_equivalence(*pair, schema=SCHEMA, n_databases=1).verdict == "proved") is proved


def test_more_ties_are_told_from_fewer() -> None:
    """What sorts by more columns allows a part of what sorts by fewer; neither is refuted."""
    few, many = (f"SELECT pay FROM e ORDER BY rank{more} LIMIT 1" for more in (", pay", ""))
    for pair, wide in (((few, many), "b"), ((many, few), "a")):
        result = sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite")
        assert (result.verdict, result.includes) == ("unknown", wide)
        assert result.reason.endswith(
            "they allow the second query results that the first query does not allow"
            if wide == "b"
            else "they allow the first query results that the second query does not allow"
        )


@pytest.mark.parametrize("dialect", ["sqlite", "mysql"])
@pytest.mark.parametrize(("first", "second", "equal"), [
    ("SUM(CASE WHEN d.id >= 0 THEN d.size ELSE 0 END) / COUNT(d.id) FROM n LEFT JOIN d ON n.a = d.id", "SUM(CASE WHEN d.id >= 0 THEN d.size ELSE 0 END) / COUNT(d.id) FROM n JOIN d ON n.a = d.id", False),
    ("SUM(CASE WHEN pay = 1 THEN 1 ELSE 0 END) FROM e WHERE pay IS NOT NULL", "SUM(CASE WHEN pay = 1 THEN 1 ELSE 0 END) FROM e", False),
    ("COALESCE(COUNT(d.id) - SUM(CASE WHEN d.id >= 0 THEN d.size ELSE 0 END), 0) FROM n LEFT JOIN d ON n.a = d.id", "COALESCE(COUNT(d.id) - SUM(CASE WHEN d.id >= 0 THEN d.size ELSE 0 END), 0) FROM n JOIN d ON n.a = d.id", False),
    ("CASE WHEN SUM(CASE WHEN pay = 1 THEN 1 ELSE 0 END) >= 0 THEN 'y' ELSE 'n' END FROM e WHERE pay < 3", "CASE WHEN SUM(CASE WHEN pay = 1 THEN 1 ELSE 0 END) >= 0 THEN 'y' ELSE 'n' END FROM e", False),
    ("SUM(CASE WHEN d.size = 1 THEN 1 ELSE 0 END) * 100 / COUNT(e.id) FROM e LEFT JOIN d ON e.boss = d.id", "SUM(CASE WHEN d.size = 1 THEN 1 ELSE 0 END) * 100 / COUNT(e.id) FROM e JOIN d ON e.boss = d.id", False),
    ("AVG(CASE WHEN d.size = 1 THEN 1 ELSE 0 END) FROM e LEFT JOIN d ON e.boss = d.id", "AVG(CASE WHEN d.size = 1 THEN 1 ELSE 0 END) FROM e JOIN d ON e.boss = d.id", False),
])  # fmt: skip
def test_rows_that_add_nothing_to_a_sum(
    first: str, second: str, dialect: str, *, equal: bool
) -> None:
    """A sum of noughts is 0, one of nothing NULL; a quotient of both is NULL."""
    pair = f"SELECT {first}", f"SELECT {second}"
    assert _differ(*pair) is not equal
    for one, other in (pair, pair[::-1]):
        result = sql_equivalence(one, other, schema=SCHEMA, dialect=dialect, n_databases=1)
        assert (result.verdict == "proved") is equal, result
    result = sql_equivalence(*pair, schema=SCHEMA, dialect="postgres", n_databases=1)
    assert result.verdict != "proved" or "/" not in first


def test_sums_of_one_row_depend_on_columns_that_hold_numbers() -> None:
    """SQLite stores text in any column, and sums it as a number."""
    pair = "SELECT SUM(pay) FROM e GROUP BY id", "SELECT pay FROM e"
    database = sqlite3.connect(":memory:")
    database.executescript("CREATE TABLE e (id INT, pay INT); INSERT INTO e VALUES (1, 'a')")
    assert [database.execute(one).fetchall() for one in pair] == [[(0.0,)], [("a",)]]
    assert sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite").verdict == "unknown"
    assert "e.pay holds numbers" in sql_equivalence(*pair, schema=SCHEMA).assumptions
    strict = sql_equivalence(*pair, schema=SCHEMA, dialect="postgres")
    assert (strict.verdict, strict.assumptions) == ("proved", ("e (id) is a key",))


@pytest.mark.parametrize(("query", "proved"), [
    ("SELECT DISTINCT pay FROM e{} ORDER BY rank, pay LIMIT 2", False),
    ("SELECT DISTINCT pay FROM e{} ORDER BY id LIMIT 2", False),
    ("SELECT DISTINCT id, pay FROM e{} ORDER BY id LIMIT 2", True),
    ("SELECT DISTINCT pay, rank FROM e{} ORDER BY rank, pay LIMIT 2", True),
])  # fmt: skip
@pytest.mark.parametrize("dialect", [None, "sqlite", "duckdb"])
def test_no_limit_after_distinct_in_an_order_of_other_columns(
    query: str, dialect: str | None, *, proved: bool
) -> None:
    """Where a row that has copies stands is decided by the copy that DISTINCT keeps."""
    pair = query.format(" WHERE pay > 1"), query.format(" WHERE NOT pay <= 1")
    result = sql_equivalence(*pair, schema=SCHEMA, dialect=dialect, n_databases=1)
    assert (result.verdict == "proved") is proved


def test_an_arm_without_rows_stays_where_it_makes_a_type() -> None:
    """In MySQL the numbers of the first arm become texts."""
    pair = "SELECT a FROM n UNION ALL SELECT c FROM n WHERE 1 = 0", "SELECT a FROM n"
    assert sql_equivalence(*pair, schema=SCHEMA, dialect="mysql").verdict != "proved"


def test_a_proof_names_its_steps() -> None:
    """Nothing else does: what is refuted or unknown has no proof."""
    joined = "SELECT e.pay FROM e JOIN d ON e.d_id = d.id"
    result = sql_equivalence(joined, "SELECT pay FROM e", schema=SCHEMA)
    assert result.proof == (
        "first query: foreign key join removed",
        "tables paired, conditions and columns compared",
    )
    assert "e (d_id) refers to d (id)" in result.assumptions
    first, *_ = str(result).splitlines()
    assert first == "proved: both queries have the same tables, conditions and columns"
    assert sql_equivalence("SELECT a FROM n", "SELECT x.a FROM n x").proof == (
        "tables paired, conditions and columns compared",
    )
    assert sql_equivalence("SELECT a FROM n", "SELECT a FROM n").proof == ("identical text",)
    assert sql_equivalence("SELECT a FROM n", "SELECT b FROM n", schema=SCHEMA).proof == ()


@pytest.mark.parametrize("n", [8, 40])
def test_a_search_that_explodes_ends(n: int) -> None:
    """Tables that nothing tells apart have too many pairings; steps are bounded."""
    tables = ", ".join(f"n n{i}" for i in range(n))
    chain = " AND ".join(f"n{i}.a = n{i + 1}.b" for i in range(n - 1))
    first = f"SELECT n0.a FROM {tables} WHERE {chain}"
    result = sql_equivalence(first, f"{first} AND n3.a > 1 - 1", schema=SCHEMA, n_databases=1)
    assert result.verdict == "unknown"
    assert result.reason.endswith("; the search for a proof ended after too many steps")


def test_a_query_that_grows_as_it_is_put_together_ends() -> None:
    """Each table of the WITH names the one before three times: the whole has 3 ** 12 columns."""
    tables = ", ".join(f"w{i} AS (SELECT a * a + a AS a FROM w{i - 1})" for i in range(1, 13))
    query = f"WITH w0 AS (SELECT a FROM n), {tables} SELECT a FROM w12"
    result = sql_equivalence(query, f"{query} WHERE 1 = 1", schema=SCHEMA, n_databases=1)
    assert result.reason.endswith("; the search for a proof ended after too many steps")
