"""
The rules: ways to rewrite a node of a query so that it means the same.

In go a node and a view of what is known where it stands.  Out comes an equal node, or nothing
where the rule does not apply.  Each file holds the rules for one kind of idea, `parts.py` what
several of them use.

SQL's AND, OR and NOT are minimum, maximum and reflection on false < NULL < true, so whatever
holds in that lattice holds for them.  Where only truth matters (``filter``: WHERE, HAVING, ON,
WHEN), NULL and false are one.

Read `order.py` first, which lists all, then `conditions.py`.
"""
