"""What the error messages of databases, parsers and validators mean: two tables, one lookup."""
# ruff: noqa: E501 - a long pattern reads better on one line

from __future__ import annotations

import re
from typing import NamedTuple

SYNTAX = "syntax error"
SCHEMA = "schema violation"
SAFETY = "safety violation"
RUNTIME = "runtime error"
UNKNOWN = "unknown"


class Row(NamedTuple):
    """One way in which one source says that something is wrong."""

    source: str
    category: str
    """The value of an `ErrorCategory`."""
    pattern: str
    """A regular expression on lower-case text with single spaces, starting where a word may."""


def _sqlstate(codes: str) -> str:
    """Match a SQLSTATE after its name, in brackets or quotes, or before a colon; never a port."""
    return (
        rf"sql ?state\W{{1,4}}(?:{codes})\b|['\"(\[](?:{codes})['\"\]),]"
        rf"|(?:(?<=: )|^)(?:{codes})(?:: |$)"
    )


def _mysql(codes: str) -> str:
    """Match an error number as the clients print it, ``1146 (42S02)`` or ``(1146, "``."""
    return rf"(?:{codes}) \(\w{{5}}\)|\((?:{codes}), ?['\"]"


def _sql_server(codes: str) -> str:
    """Match an error number as the clients print it: ``Msg 208``, ``(208, b"``, ``(208) (SQL``."""
    return rf"msg (?:{codes})\b|\((?:{codes})(?:, ?b?['\"]|\) \(sql)"


# Words for things in a database, and for what can be wrong with them.
_THINGS = (
    r"(?:aggregate|alias|catalog|column|database|dataset|field|function|index|object|procedure"
    r"|relation|role|schema|sequence|table|type|view)"
)
_WRITES = (
    r"(?:alter|create|ddl|delete|dml|drop|exec|execute|grant|insert|merge|revoke|truncate|update"
    r"|write)"
)
# What a refusal is about; DEFAULT or a conversion that is "not allowed" was refused by the grammar.
_REFUSED = (
    rf"(?:{_WRITES}|access|call|change|clause|column|command|comment|dataset|function|keyword"
    r"|modification|operation|pragma|quer(?:y|ie)|schema|select|semicolon|show|statement|table"
    r"|wildcard)s?"
)

# The match that starts first decides: a message names its diagnosis before it quotes the query.
# Where two rows start at the same place, the upper one does.
# A row: who says it, what it means, how it is recognised.  A real message for each, in the same
# order, stands in tests/data/error_messages.json.
# fmt: off
DIAGNOSES = (
    # Codes.  42000 says "syntax error or access rule violation" and so decides nothing.
    Row("SQLSTATE", SAFETY, _sqlstate(r"425\d\d|42kd1|25006|2f00[234]|3800[234]")),
    Row("SQLSTATE", SYNTAX, _sqlstate(r"37000|4260[2-9]|426[1-9]\d")),
    Row("SQLSTATE", RUNTIME,
        _sqlstate(r"08(?:00[013467]|p01|s01)|2(?:2011|201[efgwx]|2012|500[1-5]|5p0[123]|8000|8p01)"
                  r"|40(?:00[1-3]|p01)|53[1-4]00|5400[01]|55p03|55006|57(?:014|033|p0[1-5])"
                  r"|58(?:000|030)|70100|hyt0[01]|xx00[0-2]")),
    Row("SQLSTATE", SCHEMA,
        _sqlstate(r"42(?:[1-47-9]\d\d|[ps]\d\d|k\w\d)|3[df]000|21(?:000|s0[12])|2bp01|23(?:\d\d\d|p01)"
                  r"|22(?:00[1378]|018|p02)")),
    Row("MySQL", SYNTAX, _mysql(r"1064|1065|1096|1113|1149|1221|1234|1248")),
    Row("MySQL", SCHEMA,
        _mysql(r"100[578]|1022|1025|104[689]|105[0-68]|106[0-9]|107[0-5]|1082|109[01]|1101"
               r"|1109|111[0158]|1136|1138|1140|1146|1166|1170|1193|121[0567]|1222|1231|124[1-37]"
               r"|1250|1253|126[3-7]|127[13]|128[68]|1292|1305|1318|1327|135[36]|136[46]|1393"
               r"|1235|1394|1406|1411|1139|142[567]|1441|145[12]|1471|1525|1553|158[24]|1630|1690|182[2-6]"
               r"|1906|3065|314[0136]|368[5-9]|369\d|3819|40(?:0[1-59]|1[0-9]|25|3[6-9]|4[0-4]|7[89]|99)|4161")),
    Row("MySQL", SAFETY, _mysql(r"1044|114[23]|1175|1227|1290|1370|1410|1792|1836")),
    Row("MySQL", RUNTIME,
        _mysql(r"102[18]|103[078]|104[0-35]|1053|109[45]|1100|1114|1129|1130|115[2389]|116[01]|1180|120[356]"
               r"|1213|1226|1317|1365|1412|1424|1436|1456|169[89]|1927|1969|200[2-6]|2013|2026|2055"
               r"|3024|3058|3136|3572|3636")),
    Row("SQL Server", SYNTAX, _sql_server(r"10[25]|156|170|319|4145")),
    Row("SQL Server", SCHEMA,
        _sql_server(r"10[48]|1033|116|121|130|14[45]|147|164|189|195|20[5-9]|213|24[1258]|25[67]|260"
                    r"|264|306|402|51[25]|529|547|911|1088|2601|2627|2628|2714|2812|3701|3726|410[34]"
                    r"|4121|4902|5074|811[4-7]|812[017]|8152|8155")),
    Row("SQL Server", SAFETY, _sql_server(r"229|230|262|297|300|916|3906|15247")),
    Row("SQL Server", RUNTIME,
        _sql_server(r"-2|233|701|802|1105|120[45]|1222|1807|3960|4060|8134|8623|86(?:45|51)|9002"
                    r"|1005[34]|10060|17803|1845[26]|18470")),
    Row("Oracle", SYNTAX,
        r"ora-(?:0090[0-35-8]|0091[17]|0092[0-8]|0093[36]|00970|0174[02]|01756|0304[89])\b"
        r"|pls-00103"),
    Row("Oracle", SCHEMA,
        r"ora-(?:00001|0090[49]|00913|00918|0093[2478]|00942|00947|0095[57]|0097[29]|01400"
        r"|0142[2567]|01438|0147[29]|01722|0178[69]|018(?:4[0-9]|5[0-9]|6[0-9])|02289|0229[0-2]"
        r"|02449|0404[23]|06502|12899|18014)\b|pls-(?:00201|0030[26])"),
    Row("Oracle", SAFETY, r"ora-(?:01031|01456|01950|16000|4190[01])\b"),
    Row("Oracle", RUNTIME,
        r"ora-(?:000(?:18|20|28|5[14]|60)|010(?:1[237]|3[34]|89|90)|01428|01476|01555|0165[0-9]"
        r"|0311[34]|0403[01]|081(?:5[69]|7[67])|12[15]\d\d|2800[01]|30006)\b"),
    # PostgreSQL; its drivers leave the code out
    Row("PostgreSQL", SYNTAX, r"syntax error at (?:or near|end of input)"),
    # What is wrong with a value, in words that elsewhere are about the query.
    Row("PostgreSQL", SCHEMA,
        r"(?:invalid|malformed) (?:hexadecimal digit: |(?:array|range|record|multirange) literal)"
        r"|invalid regular expression|(?:unrecognized|unterminated) format\(\)"
        r"|too (?:few|many) arguments for format|syntax error at end of jsonpath"
        r"|unit \S{1,60} not recognized|distinct is not implemented for|op any/all"
        r"|arguments to grouping must be|\S{1,60} is out of range for type|is not a sequence\b"),
    Row("PostgreSQL", SYNTAX,
        r"unterminated |trailing junk after|non-integer constant in|zero-length delimited"
        r"|invalid (?:hexadecimal|octal|binary) (?:digit|integer)|invalid unicode escape"
        r"|is not a valid (?:hexadecimal|binary) digit|limit #,# syntax|improper qualified name"
        r"|positional argument cannot follow|conflicting or redundant options"
        r"|subquery in from must|no (?:language|function body) specified"),
    # As many columns as there should be: elsewhere a schema violation, here its code is 42601.
    Row("PostgreSQL", SCHEMA,
        r"each \w{5,9} query must have the same number of columns|values lists must all be"
        r"|insert has more |subquery (?:must return|has too) |unequal number of entries in"
        r"|more than (?:one|1) (?:row|value|element|record)\b|returns? more than one row"),
    Row("PostgreSQL", SCHEMA,
        r"\w{4,9} types [^;:]{1,100}? cannot be matched|cannot (?:cast|subscript) type"
        r"|column notation \S{1,60} applied to|cross-database references are not"
        r"|select distinct on expressions must match|invalid union/intersect/except order by"),
    Row("PostgreSQL", SCHEMA,
        r"cannot drop [^;]{1,140}? because other objects depend"
        r"|cannot (?:insert into|update|delete from|merge into) (?:view|column)|is not a (?:table|view)\b"),
    Row("PostgreSQL", SCHEMA, r"missing from-clause entry|invalid reference to from-clause entry"),
    Row("PostgreSQL", SCHEMA, r"operator does not exist|could not find a function named"
        r"|no (?:function|operator) matches the given"),
    Row("PostgreSQL", SCHEMA,
        r"invalid input (?:syntax|value) for|value too long for|argument of \S{2,9} must (?:be type|not)"
        r"|(?:bigint|date|field value|integer|interval|precision|smallint|time|timestamp)"
        r" (?:value )?(?:is )?out of range|numeric field overflow|invalid value [^;:]{1,60}? for "),
    Row("PostgreSQL", SCHEMA,
        r"(?:aggregate|window|set-returning|grouping) (?:functions?|operations?) "
        r"[^;:]{0,100}?(?:are not allowed|cannot|requires)"),
    Row("PostgreSQL", SCHEMA,
        r"(?:order by |group by )[^;:]{1,60}? (?:is not in|must appear in) (?:the )?select list"),
    Row("PostgreSQL", SCHEMA,
        r"(?:table name|with query name|column) [^;:]{1,100}? specified more than once|there is no parameter \$"
        r"|unrecognized configuration parameter"),
    Row("PostgreSQL", SCHEMA,
        r"null value in column|duplicate key|violates [^;:]{1,40}?constraint"),
    Row("PostgreSQL", SAFETY, r"permission denied (?:for|to) "),
    Row("PostgreSQL", SAFETY, r"must be (?:owner of|superuser|a? ?member of)"),
    Row("PostgreSQL", SAFETY, r"cannot execute [^;:]{1,40}? in a read-only transaction"),
    Row("PostgreSQL", SAFETY, r"cannot insert multiple commands"),
    Row("PostgreSQL", RUNTIME,
        r"division by (?:zero|0\b)|canceling statement|could not (?:obtain lock|serialize access)"
        r"|current transaction is aborted|terminating connection|connection to server"
        r"|server closed the connection|remaining connection slots|deadlock (?:detected|found)"
        r"|\S{2,20} authentication failed|no pg_hba\.conf entry|too many (?:clients|connections)"),
    Row("PostgreSQL", RUNTIME,
        r"out of (?:shared )?memory|ssl (?:syscall )?error: |stack depth limit|temporary file size exceeds"
        r"|requested length too large|invalid memory alloc|no space left on|could not extend file"
        r"|can only be used in transaction|cannot run inside a transaction"),
    Row("PostgreSQL", RUNTIME,
        r"(?:out of range error: )?cannot take (?:logarithm|square root)|zero raised to"
        r"|negative substring length|(?:limit|offset|row count) must not be negative"
        r"|input is out of range|value out of range: |argument of \S{1,60} must be greater|field position must"
        r"|(?:out of range error: )?factorial of|(?:lower|upper) bound cannot|character number must be|step size cannot|\w{1,30} of a negative"),
    # MySQL and MariaDB
    Row("MySQL", SYNTAX,
        r"you have an error in your sql syntax|query was empty|no tables used"
        r"|every derived table must have|a table must have at least|incorrect usage of"),
    Row("MySQL", SCHEMA, r"unknown (?:column|table|database|storage engine|system variable|character set:?|collation:?"
        r"|prepared statement) |incorrect table definition|invalid default value"
        r"|multiple primary key|too big (?:precision|scale)|variable [^;:]{1,60}? can.t be set"
        r"|the target table .{1,140}? is not|the value specified for generated column"),
    Row("MySQL", SCHEMA,
        r"(?:syntax error|unexpected end) (?:in|of) json |invalid json (?:text|path|data)|regex error '"
        r"|got error '[^']{1,100}' from regexp|unknown data type|duplicate query name|no anchors for|this version of \w{1,20} doesn.t yet support"),
    Row("MySQL", SCHEMA,
        r"incorrect (?:paramet|\w{3,9} value)|undeclared variable|data too long for column"
        r"|column (?:count does|length too big)|data truncated for column|out of range value"
        r"|different (?:column counts|number of)|incorrect number of arguments|operand should contain|can.t (?:create|drop) |illegal parameter data"),
    Row("MySQL", SCHEMA, r"invalid use of group function|window (?:function is allowed only|specification with)|mixing of group columns|isn.t in group by"
        r"|expression #\d{1,3} of \w{5,9} (?:list|by clause) is not in group by"),
    Row("MySQL", SCHEMA, r"duplicate (?:entry|column name|cte|key name|with)|column \S{1,80} specified twice|not unique table/alias"
        r"|(?:a )?foreign key constraint (?:fails|is incorrect)|constraint \S{1,140} failed for"
        r"|the used select statements have a different number|table \S{1,80} from one of the selects"),
    Row("MySQL", RUNTIME,
        r"lock wait timeout|(?:query )?execution was interrupted|connection was killed"
        r"|(?:can.t|cannot|could not|unable to|failed to) connect|lost connection|server has gone away"
        r"|was not locked with lock tables|unknown thread id|recursive stored functions|the table .{1,80}? is full"),
    Row("MySQL", RUNTIME, r"access denied for user [^;]{1,200}?\(using password"),
    Row("MySQL", SAFETY, r"command denied to user"),
    Row("MySQL", SAFETY, r"you are using safe update mode"),
    Row("MySQL", SAFETY,
        r"server is running with the \S{1,30} option|cannot execute statement in a read only"),
    # SQLite
    Row("SQLite", SYNTAX, r"near .{1,200}?: syntax error"),
    Row("SQLite", SYNTAX,
        r"unrecognized token: |incomplete input|no tables specified"
        r"|(?:order by|limit) clause should come|a natural join may not|variable number must be"),
    Row("SQLite", SCHEMA,
        r"no such (?:column|table|function|index|view|trigger|module|collation|database|window)"
        r"|circular reference|malformed json|(?:bad )?json path"),
    Row("SQLite", SCHEMA,
        r"wrong number of arguments to|\S{1,60} may not be used as a window|misuse of (?:aggregate|window)|row value misused"
        r"|argument of \S{1,60} must be a|distinct aggregates must|unable to use function"
        r"|may only be used within|escape expression must"),
    Row("SQLite", SCHEMA,
        r"table [^;:]{1,100}? has (?:no column named|\d{1,5} (?:columns|values))"
        r"|\d{1,5} values for \d{1,5} columns|expected \d{1,5} columns for|all values must have"
        r"|sub-?(?:select|query) returns \d{1,5} columns|selects to the left and right of"),
    Row("SQLite", SCHEMA, r"(?:1st|2nd|3rd|\d{1,3}th) \w{5} by term (?:out of range|does not match)"
        r"|cannot join using column|a group by clause is required|having clause on a non-aggregate"
        r"|cannot (?:drop|modify) [^;:]{1,60}?(?:: |because)|prohibited in"),
    Row("SQLite", SCHEMA,
        r"(?:unique|not null|check|foreign key|primary key) constraint failed|datatype mismatch"),
    Row("SQLite", RUNTIME,
        r"database (?:table |schema )?is locked|interrupted$|disk i/o error|database or disk is full"
        r"|database disk image is malformed|file is not a database|unable to open database"
        r"|integer overflow|string or blob too big|parser stack overflow|expression tree is too large"
        r"|cannot (?:commit|rollback|start a transaction)"),
    Row("SQLite", SAFETY, r"table sqlite_\w{1,20} may not be|attempt to write a readonly database"),
    Row("SQLite", SAFETY, r"you can only execute one statement"),
    Row("SQLite", SAFETY,
        r"access to [^;]{1,100}? (?:is|was) (?:denied|prohibited|forbidden|restricted)"),
    # SQL Server
    Row("SQL Server", SYNTAX, r"incorrect syntax near|unclosed quotation mark"
        r"|subqueries are not allowed in this context"
        r"|an expression of non-boolean type specified"),
    Row("SQL Server", SCHEMA, r"invalid (?:object|column) name"),
    Row("SQL Server", SCHEMA, r"the multi-part identifier|could not find stored procedure"
        r"|cannot find (?:the object|either column)|there is already an object named"),
    Row("SQL Server", SCHEMA,
        r"is not a recognized (?:built-in )?function|is invalid in the select list|the order by clause is invalid"
        r"|an aggregate may not appear|is incompatible with"),
    Row("SQL Server", SCHEMA,
        r"conversion failed when|error converting data type|operand type clash"
        r"|(?:im|ex)plicit conversion (?:from|of)|all queries combined using|conflicted with the"
        r"|conversion of an? .{1,80}? (?:resulted in|overflowed)|string or binary data would be"
        r"|arithmetic overflow|subquery returned more than|column name or number of supplied values"),
    Row("SQL Server", RUNTIME,
        r"divide by zero|was deadlocked on|lock request time|login failed for user|cannot open database"
        r"|insufficient system memory|transaction log for database"),
    Row("SQL Server", SAFETY, r"permission was denied on"),
    Row("SQL Server", SAFETY, r"failed to update database .{1,140}? read-only"),
    # Snowflake
    Row("Snowflake", SYNTAX, r"sql compilation error: (?:syntax|parse) error"),
    Row("Snowflake", SCHEMA, r"sql compilation error"),
    Row("Snowflake", SCHEMA,
        r"(?:object|table|schema|database|view) .{1,140}? does not exist or not authorized"),
    Row("Snowflake", SAFETY, r"sql access control error"),
    Row("Snowflake", SAFETY, r"actual statement count \d{1,5} did not match"),
    # BigQuery
    Row("BigQuery", SYNTAX, r"syntax error: (?:expected|unexpected|unclosed|illegal|missing)"),
    Row("BigQuery", SCHEMA, r"unrecognized name: "),
    Row("BigQuery", SCHEMA, r"not found: (?:table|dataset|project|routine|function|model)"
        r"|(?:function|type|table-valued function) not found: "),
    Row("BigQuery", SCHEMA,
        r"no matching signature for|could not cast literal|invalid cast from|name \S{1,100} not found inside"),
    Row("BigQuery", SCHEMA,
        r"select list expression references|table [^;:]{1,100}? must be qualified with"
        r"|(?:aggregate|analytic) function \S{1,60} not allowed in"),
    Row("BigQuery", SAFETY, r"access denied: "),
    Row("BigQuery", RUNTIME, r"query exceeded (?:limit for bytes billed|resource)"),
    # DuckDB
    Row("DuckDB", SAFETY, r"(?:(?:binder|invalid input) error: )?cannot (?:execute statement of type|enable external)"
        r"|(?:transaction ?context error: )?cannot write to database|configuration has been locked"),
    Row("DuckDB", SAFETY, r"permission error: "),
    Row("DuckDB", SCHEMA, r"parser error: (?:values lists must|duplicate |window \S{1,60} does not)"),
    Row("DuckDB", SYNTAX, r"parser error: "),
    Row("DuckDB", SCHEMA, r"(?:binder|catalog) error: "),
    Row("DuckDB", RUNTIME, r"out of range error: cannot create a string of size"),
    Row("DuckDB", SCHEMA, r"(?:constraint|conversion|dependency|mismatch type|out of range) error: "
        r"|could not (?:parse string|convert)|(?:io error: )?no files found that match"
        r"|invalid input error: (?:failed to parse format|malformed json|missing [\])]|invalid (?:perl|utf|escape)|argument index"
        r"|invalid input for hex)"),
    Row("DuckDB", RUNTIME,
        r"(?:out of memory|interrupt|io|http|transaction ?context|transaction|connection|internal|fatal)"
        r" error: "),
    # Spark and Databricks
    Row("Spark", SYNTAX,
        r"\[(?:parse_syntax_error|parse_empty_statement|unclosed_|invalid_sql_syntax)"
        r"|mismatched input |extraneous input |no viable alternative at input"),
    Row("Spark", SCHEMA,
        r"\[(?:table_or_view|schema|catalog|column|field|routine)_(?:not_found|already_exists)"
        r"|table or view not found"),
    Row("Spark", SCHEMA,
        r"\[(?:unresolved_|ambiguous_|missing_aggregation|missing_group_by|group_by_"
        r"|datatype_mismatch|wrong_num_args|num_columns_mismatch|cast_invalid_input|scalar_subquery_too_many"
        r"|numeric_value_out_of_range|incompatible_column)"
        r"|cannot resolve ['\"`]|undefined function"),
    Row("Spark", SAFETY, r"\[insufficient_permissions"),
    Row("Spark", RUNTIME, r"\w{0,20}outofmemory(?:error|exception)|\[(?:divide_by_zero|operation_canceled|concurrent_|arithmetic_overflow)"),
    # sqlfluff
    Row("sqlfluff", SYNTAX,
        r"(?:line \d{1,6}, position \d{1,6}: )?found unparsable section|unable to lex"
        r"|couldn.t find closing bracket|failed to parse jinja"),
    # sqlglot, its optimizer's complaints too
    Row("sqlglot", SYNTAX,
        r"invalid expression / unexpected token|error tokenizing|required keyword: "),
    Row("sqlglot", SYNTAX,
        r"expecting [()\[\]{}]|expected (?:[()\[\]{}]|\w{2,20} after |table name but got)"),
    Row("sqlglot", SCHEMA,
        r"the number of provided arguments|alias already used|cannot automatically join"
        r"|unknown (?:output )?(?:column|table): |invalid set operation due to"),
    # What validators, of whatever make, say
    Row("validators", SYNTAX,
        r"syntax error(?! or access)|invalid (?:sql )?syntax|(?:sql|query) (?:is|cannot be) empty"),
    Row("validators", SCHEMA,
        rf"{_THINGS}s? [^;:]{{0,140}}?(?:(?:does|do)(?: not|n.t) (?:exist|have a [cd])|not found"
        r"|not defined|not in (?:the )?(?:schema|database|group by)|is (?:ambiguous|not unique)"
        r"|already exists|(?:cannot|could not|can.t) be (?:found|resolved|bound|null)"
        r"|must appear in the group by)"),
    Row("validators", SCHEMA,
        r"not (?:allowed|permitted) (?:in (?:the )?(?:from|group|having|order|select|where)\b"
        r"|here|at \[)"),
    Row("validators", SCHEMA,
        rf"(?:unknown|undefined|missing|nonexistent|invalid) {_THINGS}|ambiguous \w{{3,12}}"
        r"|type mismatch|(?:incompatible|mismatched) (?:data ?)?types?"),
    Row("validators", SAFETY,
        r"(?<!-)only (?:select (?:statement|quer)|[^;:]{1,60}? (?:is|are) (?:allow|permit))"),
    Row("validators", SAFETY,
        r"(?:multiple|multi|stacked|chained|several)[ -](?:sql )?(?:statement|quer|command)"),
    Row("validators", SAFETY,
        rf"(?<!for ){_REFUSED}\b[^;:.]{{0,60}}?(?:(?:not|n.t) (?:be )?(?:allow|permit)\w{{0,6}}|prohibited)"
        r"(?! (?:in (?:the )?(?:from|group|having|order|select|where)\b|with\b|here|at \[))"),
    Row("validators", SAFETY,
        r"(?:not|isn.t|aren.t) (?:(?:in|on) (?:an? |the )?(?:allow|permit|white)|authori[sz]ed"
        r"|(?:allow|white)-?listed)|prohibited (?:sql )?(?:use of )?"
        rf"{_REFUSED}\b"),
    Row("validators", SAFETY,
        r"(?:forbidden|disallowed|dangerous|unsafe|destructive|malicious|harmful)\b"
        r"|blocked (?:command|function|keyword|operation|statement)|(?:is|are) blocked\b(?! by)"),
    Row("validators", SAFETY, r"sql[ -]injection|(?:possible|potential|suspected) injection"
        r"|injection (?:attack|attempt|detected|pattern|risk)"),
    Row("validators", SAFETY,
        r"[a-z]\w{0,40}_\w{1,40}(?:\(\))? (?:is|are) (?:not (?:allow|permit)\w{0,6}|forbidden|blocked)"
        r"(?! (?:in|with|here|at)\b)|non-select|must (?:be|start with|begin with) (?:an? )?(?:read-only|select|with)\b"),
    Row("validators", SAFETY,
        rf"contains (?:an? )?{_WRITES}\b|{_WRITES} (?:detected|(?:statement|operation|command"
        r"|keyword|access)s? (?:(?:is|are|was) )?(?:blocked|detected|disabled|refused|rejected))"),
    Row("validators", SAFETY,
        r"permission denied|access (?:is |was )?denied|insufficient (?:privilege|permission)"
        r"|(?:does not have|lacks?) (?:\S{1,60} )?(?:permission|privilege)"),
)

# Words too vague to outweigh a diagnosis that comes after them: asked when there is none.
HINTS = (
    # PostgreSQL gives it to other mistakes too, which their texts distinguish.
    Row("SQLSTATE", SYNTAX, _sqlstate("42601")),
    Row("validators", RUNTIME,
        r"tim(?:ed?[ -]?out|eouts?)\b|deadlock|connection (?:\w{1,12} ){0,2}(?:abort|broke|clos|fail|lost"
        r"|refused|reset|timed)|(?:login|logon|authentication) (?:denied|failed|failure)"
        r"|(?:out of|not enough|insufficient) memory|memory limit|resources? (?:exceed|exhaust)"
        r"|(?:\w{1,20}\.){0,6}(?:timeout|querycancell?ed)(?:error|exception)?(?:\(|$|:)"
        r"|(?:quota|rate limit) exceeded|disk (?:is )?full|broken pipe"
        r"|(?:statement|query|execution) (?:was |has been )?(?:abort|cancel|interrupt|kill)"),
    Row("validators", SYNTAX,
        r"pars(?:e|er|ing) error|error parsing|(?:failed to|could not|cannot|unable to) parse"
        r"|unparsable|malformed|unbalanced|unclosed"
        r"|unexpected (?:token|end|keyword|character|symbol|input)"),
    Row("validators", SCHEMA,
        r"schema (?:check|error|mismatch|validation|violation)|(?:does not|doesn.t) exist"),
    Row("validators", SAFETY,
        r"(?:safety|security|policy) (?:check|error|filter|policy|rule|validation|violation)"
        r"|blocked by (?:the |an? )?(?:filter|firewall|guard|polic|safety|security|validator)"),
    Row("validators", SAFETY,
        r"not read-?only|(?:is|in|opened) read-?only|read-?only (?:mode|violation)|modify data"
        r"|(?:without|missing) (?:a )?where"),
    Row("validators", SYNTAX, r"(?:invalid|not valid|not a valid) (?:sql|query|statement)"),
)
# fmt: on

MESSAGE_LIMIT = 2000
"""Characters of a message that are read; what is wrong stands at its beginning."""


def _scanner(rows: tuple[Row, ...]) -> re.Pattern[str]:
    # An empty group ends each row, so that `lastindex` is the one that matched.
    return re.compile(rf"(?<![a-z0-9_])(?:{'|'.join(f'(?:{row.pattern})()' for row in rows)})")


_SCANNERS = tuple((_scanner(rows), rows) for rows in (DIAGNOSES, HINTS))


def diagnose(message: str) -> Row | None:
    """Return the row of the tables that *message* matches, None if there is none."""
    text = message[:MESSAGE_LIMIT].replace("\\n", "\n")
    for query in ("\nLINE ", "[SQL: "):  # from here on some drivers repeat the query
        text = text.partition(query)[0]
    text = " ".join(text.lower().split())
    for scanner, rows in _SCANNERS:
        if match := scanner.search(text):
            assert match.lastindex is not None  # noqa: S101 - for the type checkers
            return rows[match.lastindex - 1]
    return None
