"""What functions mean, as data: a row for each name and meaning, and what databases have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from scorekit._sql.databases import computed as c

Computed: TypeAlias = str | Callable[..., object]

VERSIONS: Final = {
    "sqlite": "SQLite 3.54",
    "duckdb": "DuckDB 2.0",
    "postgres": "PostgreSQL 18",
    "mysql": "MySQL 8.4, where MariaDB 10.11 agrees",
}
"""
The databases that are described, by dialect; older ones lack what `SINCE` says.

A text that comes without a dialect is read as each of these.
"""


def database_of(dialect: str) -> str:
    """Return the name of a dialect's database, that of the dialect where it is not described."""
    return VERSIONS.get(dialect, dialect).partition(" ")[0]


SINCE: Final = {
    "sqlite": {
        "SQLite 3.44": "concat concat_ws json_error_position octet_length string_agg timediff"
        " unhex",
        "SQLite 3.46": "json_pretty jsonb jsonb_array jsonb_extract jsonb_group_array"
        " jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace"
        " jsonb_set",
        "SQLite 3.51": "if median percentile percentile_cont percentile_disc unistr unistr_quote",
    },
    "postgres": {
        "PostgreSQL 16": "any_value date_add date_subtract array_sample array_shuffle erf erfc"
        " random_normal system_user json_array json_arrayagg json_objectagg",
        "PostgreSQL 17": "to_bin to_oct json_exists json_query json_value json_table json_scalar"
        " json_serialize uuid_extract_version uuid_extract_timestamp",
        "PostgreSQL 18": "array_reverse array_sort casefold crc32 crc32c gamma lgamma uuidv4"
        " uuidv7",
    },
}
"""What not every version in use has: the first version, and the functions it brought."""


class Function(NamedTuple):
    """What a function means in some dialects."""

    name: str
    """In lower case."""
    dialects: str
    """Those that have it with this meaning, apart by spaces."""
    arguments: str
    """Their kinds, apart by spaces; in brackets what may be left out, ``...`` for repetitions."""
    returns: str
    """The kind of its value; a number says whose argument's kind it is."""
    null: str = "any"
    """When it is NULL: if ``any`` argument is, if ``all`` are, ``never``, or ``unclear``."""
    compute: Computed | None = None
    """How the sandbox computes it: an expression of SQLite, in which ``{0}`` stands for the first
    argument, or a function that is registered with it; None where it is not run."""
    aggregate: bool = False


ALL: Final = "sqlite postgres mysql duckdb"
_PG, _MY, _LITE, _DUCK = "postgres", "mysql", "sqlite", "duckdb"
_PG_DUCK, _MY_DUCK = "postgres duckdb", "mysql duckdb"
_NOT_LITE, _NOT_MY, _NOT_PG = (
    "postgres mysql duckdb",
    "sqlite postgres duckdb",
    "sqlite mysql duckdb",
)

# fmt: off
FUNCTIONS: Final = (
    # Aggregates: NULLs are skipped, and no rows give NULL.
    Function("count", ALL, "[any]", "integer", "never", "COUNT({0})", aggregate=True),
    Function("sum", ALL, "number", "number", "all", "SUM({0})", aggregate=True),
    Function("avg", ALL, "number", "number", "all", "AVG({0})", aggregate=True),
    Function("min", ALL, "any", "0", "all", "MIN({0})", aggregate=True),
    Function("max", ALL, "any", "0", "all", "MAX({0})", aggregate=True),
    Function("total", _LITE, "number", "real", "never", "TOTAL({0})", aggregate=True),
    Function("group_concat", "sqlite duckdb", "any [text]", "text", "all", aggregate=True),
    Function("group_concat", _MY, "any ...", "text", "all", aggregate=True),
    Function("string_agg", "sqlite postgres", "text text", "text", "all", aggregate=True),
    Function("string_agg", _DUCK, "any [text]", "text", "all", aggregate=True),
    Function("bool_and", _PG_DUCK, "boolean", "boolean", "all", aggregate=True),
    Function("bool_or", _PG_DUCK, "boolean", "boolean", "all", aggregate=True),
    Function("every", _PG, "boolean", "boolean", "all", aggregate=True),
    Function("any_value", _PG_DUCK, "any", "0", "all", aggregate=True),
    Function("stddev", _PG_DUCK, "number", "real", "unclear", aggregate=True),
    Function("stddev", _MY, "number", "real", "all", aggregate=True),
    Function("stddev_samp", _NOT_LITE, "number", "real", "unclear", aggregate=True),
    Function("stddev_pop", _NOT_LITE, "number", "real", "all", aggregate=True),
    Function("variance", _PG_DUCK, "number", "real", "unclear", aggregate=True),
    Function("variance", _MY, "number", "real", "all", aggregate=True),
    Function("var_samp", _NOT_LITE, "number", "real", "unclear", aggregate=True),
    Function("var_pop", _NOT_LITE, "number", "real", "all", aggregate=True),
    Function("median", "sqlite duckdb", "number", "real", "all", aggregate=True),
    Function("mode", _DUCK, "any", "0", "all", aggregate=True),
    # Choices.
    Function("coalesce", _LITE, "any any ...", "0", "all", "COALESCE({0})"),
    Function("coalesce", _NOT_LITE, "any ...", "0", "all", "COALESCE({0})"),
    Function("nullif", ALL, "any any", "0", "unclear", "NULLIF({0}, {1})"),
    Function("ifnull", _NOT_PG, "any any", "0", "all", "IFNULL({0}, {1})"),
    Function("iif", _LITE, "boolean any any", "1", "unclear", "IIF({0}, {1}, {2})"),
    Function("if", _LITE, "boolean any ...", "1", "unclear", "IIF({0}, {1}, {2})"),
    Function("if", _MY_DUCK, "boolean any any", "1", "unclear", "IIF({0}, {1}, {2})"),
    Function("greatest", _MY, "any any ...", "0", "any", c.greatest),
    Function("greatest", _PG_DUCK, "any ...", "0", "all", c.greatest),
    Function("least", _MY, "any any ...", "0", "any", c.least),
    Function("least", _PG_DUCK, "any ...", "0", "all", c.least),
    # Text.
    Function("lower", ALL, "text", "text", "any", "LOWER({0})"),
    Function("upper", ALL, "text", "text", "any", "UPPER({0})"),
    Function("lcase", _MY_DUCK, "text", "text", "any", "LOWER({0})"),
    Function("ucase", _MY_DUCK, "text", "text", "any", "UPPER({0})"),
    Function("initcap", _PG, "text", "text"),
    Function("length", _NOT_MY, "text", "integer", "any", "LENGTH({0})"),
    Function("length", _MY, "text", "integer", "any", "LENGTH({0})"),
    Function("len", _DUCK, "text", "integer", "any", "LENGTH({0})"),
    Function("char_length", _NOT_LITE, "text", "integer", "any", "LENGTH({0})"),
    Function("character_length", _NOT_LITE, "text", "integer", "any", "LENGTH({0})"),
    Function("octet_length", "sqlite postgres mysql", "text", "integer", "any", "LENGTH({0})"),
    Function("octet_length", _DUCK, "any", "integer"),
    Function("bit_length", _NOT_LITE, "text", "integer"),
    Function("substr", ALL, "text integer [integer]", "text", "any", c.substr),
    Function("substring", ALL, "text integer [integer]", "text", "any", c.substr),
    Function("mid", _MY, "text integer [integer]", "text", "any", c.substr),
    Function("left", _NOT_LITE, "text integer", "text", "any", c.left),
    Function("right", _NOT_LITE, "text integer", "text", "any", c.right),
    Function("trim", _NOT_MY, "text [text]", "text", "any", c.trim),
    Function("trim", _MY, "text", "text", "any", c.trim),
    Function("ltrim", _NOT_MY, "text [text]", "text", "any", c.ltrim),
    Function("rtrim", _NOT_MY, "text [text]", "text", "any", c.rtrim),
    Function("ltrim", _MY, "text", "text", "any", c.ltrim),
    Function("rtrim", _MY, "text", "text", "any", c.rtrim),
    Function("btrim", _PG, "text [text]", "text", "any", c.trim),
    Function("replace", _NOT_MY, "text text text", "text", "any", c.replace),
    Function("replace", _MY, "text text text", "text", "unclear", c.replace),
    Function("translate", _PG_DUCK, "text text text", "text"),
    Function("reverse", _NOT_LITE, "text", "text"),
    Function("repeat", _NOT_LITE, "text integer", "text"),
    Function("lpad", _PG, "text integer [text]", "text", "any", c.lpad),
    Function("rpad", _PG, "text integer [text]", "text"),
    Function("lpad", _MY_DUCK, "text integer text", "text", "any", c.lpad),
    Function("rpad", _MY_DUCK, "text integer text", "text"),
    Function("concat", _MY, "any ...", "text", "any", c.concat),
    Function("concat", _NOT_MY, "any ...", "text", "never", c.concat),
    Function("concat_ws", ALL, "text any ...", "text", "unclear", c.concat_ws),
    Function("instr", _NOT_PG, "text text", "integer", "any", c.position),
    Function("strpos", _PG_DUCK, "text text", "integer", "any", c.position),
    Function("locate", _MY, "text text [integer]", "integer", "any", c.locate),
    Function("split_part", _PG_DUCK, "text text integer", "text", "any", c.split_part),
    Function("substring_index", _MY, "text text integer", "text", "any", c.substring_index),
    Function("starts_with", _PG_DUCK, "text text", "boolean"),
    Function("ascii", _NOT_LITE, "text", "integer"),
    Function("chr", _PG_DUCK, "integer", "text"),
    Function("printf", "sqlite duckdb", "text ...", "text", "unclear"),
    # Numbers.
    Function("abs", ALL, "number", "0", "any", "ABS({0})"),
    Function("sign", ALL, "number", "integer"),
    Function("round", ALL, "number [integer]", "0", "any", c.round_),
    Function("ceil", ALL, "number", "0", "any", c.ceil),
    Function("ceiling", ALL, "number", "0", "any", c.ceil),
    Function("floor", ALL, "number", "0", "any", c.floor),
    Function("trunc", _PG_DUCK, "number [integer]", "0", "any", c.trunc),
    Function("trunc", _LITE, "number", "0"),
    Function("truncate", _MY, "number integer", "0", "any", c.trunc),
    Function("mod", ALL, "number number", "number", "unclear"),
    Function("power", ALL, "number number", "number", "any", c.power),
    Function("pow", ALL, "number number", "number", "any", c.power),
    Function("sqrt", ALL, "number", "real", "any", c.sqrt),
    Function("exp", ALL, "number", "real"),
    Function("ln", ALL, "number", "real"),
    # Times.
    Function("date_trunc", _PG_DUCK, "text time", "time", "any", c.date_trunc),
    Function("date_part", _PG_DUCK, "text time", "real", "any", c.date_part),
    Function("to_char", _PG, "any text", "text", "any", c.format_time),
    Function("to_date", _PG, "text text", "time", "any", c.to_date),
    Function("make_date", _PG_DUCK, "integer integer integer", "time"),
    Function("age", _PG_DUCK, "time [time]", "time"),
    Function("strftime", _LITE, "text [time] [text] ...", "text", "unclear"),
    Function("strftime", _DUCK, "any any", "text", "any", c.format_time),
    Function("date", _LITE, "[time] [text] ...", "text", "unclear"),
    Function("time", _LITE, "[time] [text] ...", "text", "unclear"),
    Function("datetime", _LITE, "[time] [text] ...", "text", "unclear"),
    Function("julianday", _LITE, "[time] [text] ...", "real", "unclear"),
    Function("unixepoch", _LITE, "[time] [text] ...", "integer", "unclear"),
    Function("date", _MY, "time", "time", "any", c.as_date),
    Function("date", _PG_DUCK, "any", "time"),
    Function("year", _MY_DUCK, "time", "integer", "any", c.year),
    Function("quarter", _MY_DUCK, "time", "integer", "any", c.quarter),
    Function("month", _MY_DUCK, "time", "integer", "any", c.month),
    Function("day", _MY_DUCK, "time", "integer", "any", c.day),
    Function("dayofmonth", _MY_DUCK, "time", "integer", "any", c.day),
    Function("dayofweek", _MY_DUCK, "time", "integer"),
    Function("dayofyear", _MY_DUCK, "time", "integer"),
    Function("hour", _MY_DUCK, "time", "integer", "any", c.hour),
    Function("minute", _MY_DUCK, "time", "integer", "any", c.minute),
    Function("second", _MY_DUCK, "time", "integer", "any", c.second),
    Function("monthname", _MY_DUCK, "time", "text", "any", c.monthname),
    Function("dayname", _MY_DUCK, "time", "text", "any", c.dayname),
    Function("last_day", _MY_DUCK, "time", "time"),
    Function("datediff", _MY, "time time", "integer", "any", c.datediff),
    Function("datediff", _DUCK, "text time time", "integer", "any", c.boundaries),
    Function("date_diff", _DUCK, "text time time", "integer", "any", c.boundaries),
    Function("timestampdiff", _MY, "any time time", "integer", "any", c.whole_units),
    Function("date_format", _MY, "time text", "text", "any", c.format_time),
    Function("str_to_date", _MY, "text text", "time", "unclear", c.str_to_date),
    Function("now", _MY, "[integer]", "time", "never"),
    Function("now", _PG_DUCK, "", "time", "never"),
    # Windows.
    Function("row_number", ALL, "", "integer", "never", "ROW_NUMBER()"),
    Function("rank", ALL, "", "integer", "never", "RANK()"),
    Function("dense_rank", ALL, "", "integer", "never", "DENSE_RANK()"),
    Function("percent_rank", ALL, "", "real", "never", "PERCENT_RANK()"),
    Function("cume_dist", ALL, "", "real", "never", "CUME_DIST()"),
    Function("ntile", ALL, "integer", "integer", "never", "NTILE({0})"),
    Function("lag", _NOT_MY, "any [integer] [any]", "0", "unclear"),
    Function("lag", _MY, "any [integer]", "0", "unclear"),
    Function("lead", _NOT_MY, "any [integer] [any]", "0", "unclear"),
    Function("lead", _MY, "any [integer]", "0", "unclear"),
    Function("first_value", ALL, "any", "0", "unclear", "FIRST_VALUE({0})"),
    Function("last_value", ALL, "any", "0", "unclear", "LAST_VALUE({0})"),
    Function("nth_value", ALL, "any integer", "0", "unclear", "NTH_VALUE({0}, {1})"),
)
# fmt: on

CALLS: Final = {
    "substring": ("substr", "this start length"),
    "left": ("left", "this expression"),
    "right": ("right", "this expression"),
    "replace": ("replace", "this expression replacement"),
    "pad": ("lpad", "this expression fill_pattern"),
    "concat": ("concat", "expressions"),
    "concatws": ("concat_ws", "expressions"),
    "strposition": ("strpos instr", "this substr"),
    "splitpart": ("split_part", "this delimiter part_index"),
    "substringindex": ("substring_index", "this delimiter count"),
    "round": ("round", "this decimals"),
    "ceil": ("ceil", "this"),
    "floor": ("floor", "this"),
    "trunc": ("trunc truncate", "this decimals"),
    "pow": ("power", "this expression"),
    "sqrt": ("sqrt", "this"),
    "greatest": ("greatest", "this expressions"),
    "least": ("least", "this expressions"),
    "extract": ("date_part", "this expression"),
    "timestamptrunc": ("date_trunc", "unit this"),
    "datetrunc": ("date_trunc", "unit this"),
    "timetostr": ("to_char date_format strftime", "this format"),
    "tsordstodate": ("date", "this"),
    "strtodate": ("to_date str_to_date", "this format"),
    "year": ("year", "this"),
    "quarter": ("quarter", "this"),
    "month": ("month", "this"),
    "day": ("day", "this"),
    "dayofmonth": ("dayofmonth", "this"),
    "hour": ("hour", "this"),
    "minute": ("minute", "this"),
    "second": ("second", "this"),
    "monthname": ("monthname", "this"),
    "dayname": ("dayname", "this"),
    "datediff": ("date_diff datediff", "unit expression this"),
    "timestampdiff": ("timestampdiff", "unit expression this"),
}
"""Calls by the names that trees have for them: those of the function, of which a dialect has one,
and its arguments."""
_OPERATORS: Final = {
    "dpipe": "concat", "groupconcat": "group_concat", "logicaland": "bool_and",
    "logicalor": "bool_or", "stddevpop": "stddev_pop", "stddevsamp": "stddev_samp",
    "variancepop": "var_pop", "currentdate": "now", "currenttimestamp": "now",
    "anyvalue": "any_value",
}  # fmt: skip
"""What else trees have other names for."""

# What else each database has, by how many arguments it takes; `+` stands for any further number.
# PostgreSQL: Functions and Operators, less geometry, network addresses, text search and
# administration. MySQL: Built-In Function and Operator Reference. SQLite: its pages on functions.
# DuckDB: duckdb_functions(), less what is there for other systems' sake.
_OTHERS: Final = {
    "sqlite": """
        0: changes last_insert_rowid pi random sqlite_source_id sqlite_version total_changes
        1: acos acosh asin asinh atan atanh cos cosh degrees hex json json_error_position
           json_group_array json_quote jsonb jsonb_group_array likely log10 log2 quote radians
           randomblob sin sinh tan tanh typeof unicode unistr unistr_quote unlikely zeroblob
        1-2: json_array_length json_each json_pretty json_tree json_type json_valid load_extension
           log unhex
        2: atan2 glob json_group_object json_patch jsonb_group_object jsonb_patch likelihood match
           percentile percentile_cont percentile_disc timediff
        2+: max min
        2-3: like
        0+: char json_array json_object jsonb_array jsonb_object
        1+: format json_extract json_insert json_remove json_replace json_set jsonb_extract
           jsonb_insert jsonb_remove jsonb_replace jsonb_set
    """,
    "postgres": """
        0: clock_timestamp current_database current_query gen_random_uuid lastval pi random
           statement_timestamp timeofday transaction_timestamp uuidv4 version
        0-1: current_schema uuidv7
        1: abbrev acos acosd acosh array_agg array_dims array_ndims array_reverse array_shuffle
           asin asind asinh atan atanh bit_and bit_count bit_or bit_xor cardinality casefold cbrt
           cos cosd cosh cot cotd crc32 crc32c currval degrees erf erfc factorial gamma isempty
           isfinite json_agg json_array_elements json_array_elements_text json_array_length
           json_each json_each_text json_object_keys json_strip_nulls json_typeof jsonb_agg
           jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_each
           jsonb_each_text jsonb_object_keys jsonb_pretty jsonb_strip_nulls jsonb_typeof
           justify_days justify_hours justify_interval lgamma log10 lower_inc lower_inf md5
           min_scale nextval pg_typeof quote_ident quote_literal quote_nullable radians scale
           setseed sha224 sha256 sha384 sha512 sin sind sinh tan tand tanh to_bin to_hex to_json
           to_jsonb to_oct trim_scale unistr unnest upper_inc upper_inf uuid_extract_timestamp
           uuid_extract_version xmlagg
        1-2: array_sort array_to_json enum_range json_object jsonb_object log normalize
           parse_ident row_to_json to_ascii to_timestamp
        2: array_append array_cat array_length array_lower array_positions array_prepend
           array_remove array_sample array_upper atan2 atan2d convert_from convert_to corr
           covar_pop covar_samp decode div encode gcd get_bit get_byte json_object_agg
           jsonb_object_agg lcm regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
           regr_sxx regr_sxy regr_syy timezone to_number trim_array
        2-3: array_fill array_position array_to_string date_add date_subtract daterange
           generate_series generate_subscripts int4range int8range numrange regexp_match
           regexp_matches regexp_split_to_array regexp_split_to_table setval string_to_array
           string_to_table tsrange tstzrange
        2-4: jsonb_path_exists jsonb_path_query jsonb_path_query_array jsonb_path_query_first
           regexp_count width_bucket
        2-6: regexp_substr
        2-7: regexp_instr
        3: array_replace date_bin make_time set_bit set_byte
        3-4: jsonb_insert jsonb_set overlay
        3-6: regexp_replace
        0-7: make_interval
        6: make_timestamp
        6-7: make_timestamptz
        0-2: random_normal
        0+: json_build_array json_build_object jsonb_build_array jsonb_build_object
        1+: format grouping mode num_nonnulls num_nulls percentile_cont percentile_disc
        2+: json_extract_path json_extract_path_text jsonb_extract_path jsonb_extract_path_text
    """,
    "mysql": """
        0: connection_id curdate current_date current_user database found_rows last_insert_id
           localtime localtimestamp pi row_count schema session_user system_user user utc_date
           uuid uuid_short version
        0-1: current_time current_timestamp curtime rand sysdate unix_timestamp utc_time
           utc_timestamp
        1: acos asin atan bin bit_and bit_count bit_or bit_xor charset coercibility collation
           compress cos cot crc32 degrees from_base64 from_days hex inet6_aton inet6_ntoa
           inet_aton inet_ntoa is_ipv4 is_ipv6 isnull json_arrayagg json_depth json_pretty
           json_quote json_type json_unquote json_valid log10 log2 md5 microsecond oct ord quote
           radians random_bytes sec_to_time sha sha1 sin sleep soundex space std tan time
           time_to_sec to_base64 to_days to_seconds uncompress unhex weekday weekofyear
        1-2: atan from_unixtime json_keys json_length log timestamp week yearweek
        2: adddate addtime atan2 convert date_add date_sub find_in_set from_unixtime
           json_objectagg json_overlaps makedate nullif period_add period_diff regexp sha2 strcmp
           subdate subtime time_format timediff
        2-3: format json_contains json_search
        2-4: regexp_instr regexp_substr
        3: conv convert_tz maketime timestampadd
        3-6: regexp_replace
        4: insert
        0+: json_array json_object
        1+: char
        2+: elt field interval json_array_append json_array_insert json_contains_path json_extract
           json_insert json_merge_patch json_merge_preserve json_remove json_replace json_set
           json_value
    """,
    "duckdb": """
        0: current_database current_date current_query current_schema current_user gen_random_uuid
           get_current_time get_current_timestamp pi random today transaction_timestamp user uuid
           uuidv4 uuidv7 version
        0-2: map
        0+: list_pack list_value
        1: acos acosh approx_count_distinct arbitrary array_agg array_distinct array_reverse
           array_unique asin asinh atan atanh base64 bin bit_and bit_count bit_or bit_xor cbrt
           century cos cosh cot count_if countif current_schemas current_setting currval
           days_in_month decade degrees entropy enum_code enum_first enum_last enum_range epoch
           epoch_ms epoch_ns epoch_us era even factorial favg first flatten format_bytes
           formatreadablesize from_base64 from_hex fsum gamma geometric_mean hex isfinite isinf
           isnan isodow isoyear json json_group_array json_group_structure json_pretty
           json_structure json_valid julian kahan_sum kurtosis kurtosis_pop last lgamma list
           list_any_value list_avg list_count list_distinct list_first list_last list_max
           list_median list_min list_mode list_reverse list_sum list_unique log10 log2 mad
           map_entries map_from_entries map_keys map_values md5 mean microsecond millennium
           millisecond nanosecond nextval nfc_normalize ord product quarter radians sem setseed
           sha1 sha256 signbit sin sinh skewness strip_accents strlen struct_keys sum_no_overflow
           sumkahan tan tanh timezone_hour timezone_minute to_base64 to_binary to_centuries
           to_days to_decades to_hex to_hours to_json to_microseconds to_millennia to_milliseconds
           to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years typeof unbin
           unhex unicode unnest url_decode url_encode week weekday weekofyear yearweek
        1-2: array_length array_reverse_sort decode histogram json_array_length json_each
           json_keys json_type list_reverse_sort listagg log max min quantile quantile_disc
           timezone
        1-3: array_sort generate_series list_sort make_timestamptz range
        1-6: make_timestamp
        2: apply approx_quantile approx_top_k array_append array_apply array_contains
           array_cosine_distance array_cosine_similarity array_cross_product array_distance
           array_extract array_filter array_has array_has_all array_has_any array_indexof
           array_inner_product array_intersect array_position array_prepend array_push_back
           array_push_front array_to_string array_transform array_where atan2 contains corr
           covar_pop covar_samp damerau_levenshtein date_add datepart datetrunc divide editdist3
           element_at encode ends_with equi_width_bins fdiv filter fmod gcd generate_subscripts
           get_bit greatest_common_divisor hamming ilike_escape jaccard json_contains json_exists
           json_extract json_extract_path json_extract_path_text json_extract_string
           json_group_object json_transform json_value lcm least_common_multiple levenshtein
           list_append list_apply list_contains list_cosine_distance list_cosine_similarity
           list_distance list_element list_extract list_filter list_has list_has_all list_has_any
           list_indexof list_inner_product list_intersect list_position list_prepend list_select
           list_transform list_where map_contains map_extract mismatches nextafter prefix
           quantile_cont regexp_split_to_table regr_avgx regr_avgy regr_count regr_intercept
           regr_r2 regr_slope regr_sxx regr_sxy regr_syy round_even roundbankers split str_split
           string_split string_to_array strptime struct_extract suffix try_strptime weighted_avg
           xor
        2-3: arg_max arg_min argmax argmin array_reduce array_resize jaro_similarity
           jaro_winkler_similarity list_reduce list_resize max_by min_by reduce regexp_full_match
           regexp_matches regexp_split_to_array setval str_split_regex string_split_regex
           time_bucket
        2-4: regexp_extract regexp_extract_all
        3: date_sub datesub make_time reservoir_quantile set_bit
        3-4: array_slice bar list_slice overlay regexp_replace
        1+: aggregate array_aggr array_aggregate array_cat array_concat array_to_json array_value
           array_zip concat format grouping grouping_id hash json_array json_merge_patch
           json_object list_aggr list_aggregate list_cat list_concat list_zip map_concat
           percentile_cont percentile_disc row row_to_json struct_insert struct_pack union_value
    """,
}

MANY: Final = 1_000
"""Stands for no limit to the number of arguments."""


def arity(arguments: str) -> tuple[int, int]:
    """Return the least and the most arguments that a row of `FUNCTIONS` allows."""
    words = arguments.split()
    repeated = "..." in words
    words = [word for word in words if word != "..."]
    least = sum(not word.startswith("[") for word in words)
    return least, MANY if repeated else len(words)


@cache
def arities(dialect: str) -> dict[str, tuple[int, int]]:
    """Return the functions of a dialect, each with the least and the most arguments it takes."""
    found: dict[str, tuple[int, int]] = {}

    def add(name: str, least: int, most: int) -> None:
        known = found.get(name, (least, most))
        found[name] = min(least, known[0]), max(most, known[1])

    for counts, names in _listed(_OTHERS[dialect]):
        least, _, most = counts.rstrip("+").partition("-")
        for name in names:
            add(name, int(least), MANY if "+" in counts else int(most or least))
    for row in FUNCTIONS:
        if dialect in row.dialects.split():
            add(row.name, *arity(row.arguments))
    return found


def _listed(text: str) -> Iterable[tuple[str, list[str]]]:
    """Yield the groups of a text of the form ``1-2: name name``."""
    counts, names = "", list[str]()
    for word in text.split():
        if word.endswith(":"):
            if names:
                yield counts, names
            counts, names = word[:-1], []
        else:
            names.append(word)
    yield counts, names


@cache
def meanings(dialect: str) -> dict[str, Function]:
    """Return the rows of `FUNCTIONS` for a dialect, by name."""
    return {row.name: row for row in FUNCTIONS if dialect in row.dialects.split()}


@cache
def since(dialect: str) -> dict[str, str]:
    """Return the functions that older versions of a dialect's database lack, with the first."""
    return {
        name: version
        for version, names in SINCE.get(dialect, {}).items()
        for name in names.split()
    }


@cache
def rows_of(name: str, dialect: str | None) -> tuple[Function, ...]:
    """
    Return what a call may mean, by the name that a tree or a text has for it.

    Of a dialect that is not described these are the meanings that any of the others have.
    """
    names = CALLS[name][0].split() if name in CALLS else [_OPERATORS.get(name, name)]
    described = dialect in VERSIONS
    return tuple(
        row
        for row in FUNCTIONS
        if row.name in names and (not described or dialect in row.dialects.split())
    )


def returned(name: str, dialect: str | None) -> str:
    """Return the kind of what a call returns, as a row has it; empty where it is not sure."""
    kinds = {row.returns for row in rows_of(name, dialect)}
    return kinds.pop() if len(kinds) == 1 else ""
