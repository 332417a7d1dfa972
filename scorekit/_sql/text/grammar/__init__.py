"""
Whether PostgreSQL, MySQL or DuckDB takes a text: a reader over the words of the tokenizer.

The reader makes no tree.  It has three answers: it read the text, the database refuses the text at
a word, or it is not sure, since it met something that it does not know.  It refuses nothing but
what it knows to be refused by every version; SQLite is asked itself (`prepared`).

In go the tokens of a text and the name of a database.  Out comes a `Reading`.

Read `read.py` first, then `cursor.py` and `queries.py`.
"""
