"""Functions that databases have and whose meaning is not described here, by their names."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from scorekit._sql.databases.functions import arities

# pg_proc of PostgreSQL 15, duckdb_functions() of DuckDB 2.0, the manuals of MySQL 8.4 and MariaDB
# 10.11, and pragma_function_list with what SQLite can be compiled with.
_NAMES: Final = {
    "sqlite": """
        bm25 current_date current_time current_timestamp fts3_tokenizer fts5 fts5_source_id
        geopoly_area highlight matchinfo offsets optimize rtreecheck rtreedepth rtreenode
        snippet soundex sqlite_compileoption_get sqlite_compileoption_used sqlite_log
        sqlite_offset subtype
    """,
    "postgres": """
        aclcontains acldefault aclexplode aclinsert aclremove amvalidate area array_to_tsvector
        arraycontained arraycontains arrayoverlap atand bernoulli bit bitand bitnot bitor
        bitshiftleft bitshiftright bitxor bool bool_alltrue bool_anytrue booland_statefunc
        boolor_statefunc bound_box box box_above box_above_eq box_add box_below box_below_eq
        box_center box_contain box_contain_pt box_contained box_distance box_intersect box_left
        box_overabove box_overbelow box_overlap box_overleft box_overright box_right box_same
        box_sub bpchar bpchar_pattern_ge bpchar_pattern_gt bpchar_pattern_le bpchar_pattern_lt
        bpchariclike bpcharicnlike bpcharicregexeq bpcharicregexne bpcharlike bpcharnlike
        broadcast bytea_to_text bytealike byteanlike cash_div_cash cash_div_flt4 cash_div_flt8
        cash_div_int2 cash_div_int4 cash_div_int8 cash_mul_flt4 cash_mul_flt8 cash_mul_int2
        cash_mul_int4 cash_mul_int8 cash_words center char cidr circle circle_above
        circle_add_pt circle_below circle_center circle_contain circle_contain_pt
        circle_contained circle_distance circle_div_pt circle_left circle_mul_pt
        circle_overabove circle_overbelow circle_overlap circle_overleft circle_overright
        circle_right circle_same circle_sub_pt col_description convert current_schemas
        current_setting current_user currtid2 date_cmp_timestamp date_cmp_timestamptz
        date_eq_timestamp date_eq_timestamptz date_ge_timestamp date_ge_timestamptz
        date_gt_timestamp date_gt_timestamptz date_le_timestamp date_le_timestamptz
        date_lt_timestamp date_lt_timestamptz date_mi_interval date_mii date_ne_timestamp
        date_ne_timestamptz date_pl_interval date_pli datemultirange daterange_canonical
        daterange_subdiff dcbrt dexp diagonal diameter dlog1 dlog10 dpow dround dsqrt dtrunc
        elem_contained_by_multirange elem_contained_by_range enum_first enum_last
        event_trigger_in event_trigger_out extract family fdw_handler_in fdw_handler_out float4
        float4abs float8 float8_avg float8_combine float8_corr float8_covar_pop
        float8_covar_samp float8_regr_avgx float8_regr_avgy float8_regr_intercept float8_regr_r2
        float8_regr_slope float8_regr_sxx float8_regr_sxy float8_regr_syy float8_stddev_pop
        float8_stddev_samp float8_var_pop float8_var_samp float8abs flt4_mul_cash flt8_mul_cash
        fmgr_c_validator fmgr_internal_validator fmgr_sql_validator format_type
        get_current_ts_config getdatabaseencoding getpgusername gtsvectorin gtsvectorout
        has_largeobject_privilege hash_aclitem hash_aclitem_extended hash_array
        hash_array_extended hash_multirange hash_multirange_extended hash_numeric
        hash_numeric_extended hash_range hash_range_extended hash_record hash_record_extended
        height host hostmask in_range index_am_handler_in index_am_handler_out inet_client_addr
        inet_client_port inet_gist_compress inet_gist_consistent inet_gist_fetch
        inet_gist_penalty inet_gist_picksplit inet_gist_same inet_gist_union inet_merge
        inet_same_family inet_server_addr inet_server_port inet_spg_choose inet_spg_config
        inet_spg_inner_consistent inet_spg_leaf_consistent inet_spg_picksplit inetand
        inetmi_int8 inetnot inetor int2 int2_avg_accum int2_avg_accum_inv int2_mul_cash int2_sum
        int2abs int2and int2int4_sum int2mod int2not int2or int2shl int2shr int2vectorin
        int2vectorout int2vectorrecv int2vectorsend int2xor int4 int4_avg_accum
        int4_avg_accum_inv int4_avg_combine int4_mul_cash int4_sum int4abs int4and int4inc
        int4mod int4multirange int4not int4or int4range_canonical int4range_subdiff int4shl
        int4shr int4xor int8 int8_avg int8_avg_accum int8_avg_accum_inv int8_avg_combine
        int8_avg_deserialize int8_avg_serialize int8_mul_cash int8_sum int8abs int8and int8dec
        int8dec_any int8inc int8inc_any int8inc_float8_float8 int8mod int8multirange int8not
        int8or int8pl_inet int8range_canonical int8range_subdiff int8shl int8shr int8xor
        integer_pl_date internal_in internal_out interval interval_avg interval_combine
        interval_hash interval_hash_extended interval_pl_date interval_pl_time
        interval_pl_timestamp interval_pl_timestamptz interval_pl_timetz is_normalized isclosed
        ishorizontal isopen isparallel isperp isvertical json_array_element
        json_array_element_text json_object_field json_object_field_text json_populate_record
        json_populate_recordset json_serialize json_to_record json_to_recordset json_to_tsvector
        jsonb_array_element jsonb_array_element_text jsonb_concat jsonb_contained jsonb_contains
        jsonb_delete jsonb_delete_path jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_hash
        jsonb_hash_extended jsonb_object_field jsonb_object_field_text jsonb_path_exists_opr
        jsonb_path_exists_tz jsonb_path_match jsonb_path_match_opr jsonb_path_match_tz
        jsonb_path_query_array_tz jsonb_path_query_first_tz jsonb_path_query_tz
        jsonb_populate_record jsonb_populate_recordset jsonb_set_lax jsonb_to_record
        jsonb_to_recordset jsonb_to_tsvector language_handler_in language_handler_out like
        like_escape line line_distance line_horizontal line_interpt line_intersect line_parallel
        line_perp line_vertical loread lowrite lseg lseg_center lseg_distance lseg_horizontal
        lseg_interpt lseg_intersect lseg_length lseg_parallel lseg_perp lseg_vertical macaddr
        macaddr8 macaddr8_and macaddr8_not macaddr8_or macaddr8_set7bit macaddr_and macaddr_not
        macaddr_or makeaclitem masklen merge_action money mul_d_interval multirange
        multirange_adjacent_multirange multirange_adjacent_range multirange_after_multirange
        multirange_after_range multirange_before_multirange multirange_before_range
        multirange_contained_by_multirange multirange_contained_by_range
        multirange_contains_elem multirange_contains_multirange multirange_contains_range
        multirange_gist_compress multirange_gist_consistent multirange_intersect
        multirange_minus multirange_overlaps_multirange multirange_overlaps_range
        multirange_overleft_multirange multirange_overleft_range multirange_overright_multirange
        multirange_overright_range multirange_union mxid_age name nameconcatoid nameeqtext
        namegetext namegttext nameiclike nameicnlike nameicregexeq nameicregexne nameletext
        namelike namelttext namenetext namenlike netmask network network_overlap network_sub
        network_subeq network_sup network_supeq notlike npoints numeric numeric_abs numeric_add
        numeric_avg numeric_avg_accum numeric_avg_combine numeric_avg_deserialize
        numeric_avg_serialize numeric_combine numeric_deserialize numeric_div_trunc numeric_exp
        numeric_inc numeric_ln numeric_log numeric_mod numeric_pl_pg_lsn numeric_poly_avg
        numeric_poly_combine numeric_poly_deserialize numeric_poly_serialize
        numeric_poly_stddev_pop numeric_poly_stddev_samp numeric_poly_sum numeric_poly_var_pop
        numeric_poly_var_samp numeric_power numeric_serialize numeric_sqrt numeric_stddev_pop
        numeric_stddev_samp numeric_sub numeric_sum numeric_uminus numeric_uplus numeric_var_pop
        numeric_var_samp nummultirange numnode numrange_subdiff obj_description oid oidvectoreq
        oidvectorge oidvectorgt oidvectorin oidvectorle oidvectorlt oidvectorne oidvectorout
        oidvectorrecv oidvectorsend oidvectortypes ordered_set_transition
        ordered_set_transition_multi overlaps path path_add path_add_pt path_contain_pt
        path_distance path_div_pt path_inter path_length path_mul_pt path_n_eq path_n_ge
        path_n_gt path_n_le path_n_lt path_npoints path_sub_pt pclose pg_get_acl
        phraseto_tsquery plainto_tsquery plpgsql_validator point point_above point_add
        point_below point_distance point_horiz point_left point_right point_sub point_vert
        poly_above poly_below poly_center poly_contain poly_contain_pt poly_contained
        poly_distance poly_left poly_npoints poly_overabove poly_overbelow poly_overlap
        poly_overleft poly_overright poly_right poly_same polygon popen position
        postgresql_fdw_validator pt_contained_circle pt_contained_poly querytree radius
        range_adjacent range_adjacent_multirange range_after range_after_multirange range_agg
        range_before range_before_multirange range_contained_by range_contained_by_multirange
        range_contains range_contains_elem range_contains_multirange range_gist_consistent
        range_gist_penalty range_gist_picksplit range_gist_same range_gist_union range_intersect
        range_intersect_agg range_merge range_minus range_overlaps range_overlaps_multirange
        range_overleft range_overleft_multirange range_overright range_overright_multirange
        range_union record_image_eq record_image_ge record_image_gt record_image_le
        record_image_lt record_image_ne regclass regexp_like row_security_active
        satisfies_hash_partition session_user set_config set_masklen setweight shell_in
        shell_out shobj_description similar_escape similar_to_escape slope strip
        suppress_redundant_updates_trigger system table_am_handler_in table_am_handler_out text
        text_pattern_ge text_pattern_gt text_pattern_le text_pattern_lt texteqname textgename
        textgtname texticlike texticnlike texticregexeq texticregexne textlen textlename
        textlike textltname textnename textnlike time time_hash time_hash_extended
        time_mi_interval time_mi_time time_pl_interval timestamp timestamp_cmp_date
        timestamp_cmp_timestamptz timestamp_eq_date timestamp_eq_timestamptz timestamp_ge_date
        timestamp_ge_timestamptz timestamp_gt_date timestamp_gt_timestamptz timestamp_hash
        timestamp_hash_extended timestamp_le_date timestamp_le_timestamptz timestamp_lt_date
        timestamp_lt_timestamptz timestamp_mi_interval timestamp_ne_date
        timestamp_ne_timestamptz timestamp_pl_interval timestamptz timestamptz_cmp_date
        timestamptz_cmp_timestamp timestamptz_eq_date timestamptz_eq_timestamp
        timestamptz_ge_date timestamptz_ge_timestamp timestamptz_gt_date
        timestamptz_gt_timestamp timestamptz_le_date timestamptz_le_timestamp
        timestamptz_lt_date timestamptz_lt_timestamp timestamptz_mi_interval timestamptz_ne_date
        timestamptz_ne_timestamp timestamptz_pl_interval timetz timetz_hash timetz_hash_extended
        timetz_mi_interval timetz_pl_interval to_regclass to_regcollation to_regnamespace
        to_regoper to_regoperator to_regproc to_regprocedure to_regrole to_regtype to_regtypemod
        to_tsquery to_tsvector trigger_in trigger_out ts_debug ts_delete ts_filter ts_headline
        ts_lexize ts_match_qv ts_match_tq ts_match_tt ts_match_vq ts_parse ts_rank ts_rank_cd
        ts_rewrite ts_stat ts_token_type ts_typanalyze tsm_handler_in tsm_handler_out
        tsmultirange tsq_mcontained tsq_mcontains tsquery_and tsquery_not tsquery_or
        tsquery_phrase tsrange_subdiff tstzmultirange tstzrange_subdiff tsvector_concat
        tsvector_to_array tsvector_update_trigger tsvector_update_trigger_column
        unique_key_recheck unknownin unknownout unknownrecv unknownsend uuid_hash
        uuid_hash_extended varbit varchar websearch_to_tsquery width xid xideqint4 xidneq
        xidneqint4 xml xml_is_well_formed xml_is_well_formed_content xml_is_well_formed_document
        xmlcomment xmlconcat2 xmlexists xmlvalidate xpath xpath_exists
    """,
    "mysql": """
        add_months aes_decrypt aes_encrypt any_value area asbinary astext aswkb aswkt
        asymmetric_decrypt asymmetric_derive asymmetric_encrypt asymmetric_sign
        asymmetric_verify benchmark bin_to_uuid binlog_gtid_pos boundary buffer
        can_access_column can_access_database can_access_table can_access_user can_access_view
        centroid chr column_add column_check column_create column_delete column_exists
        column_get column_json contains convexhull crc32c crosses current_role decode
        decode_histogram decode_oracle default des_decrypt des_encrypt dimension disjoint encode
        encrypt endpoint envelope equals exteriorring extract extractvalue format_bytes
        format_pico_time geomcollection geomcollfromtext geometrycollection
        geometrycollectionfromtext geometryfromtext geometryn geometrytype geomfromtext
        geomfromwkb get_dd_column_privileges get_dd_create_options get_dd_index_sub_part_length
        get_format get_lock glength grouping gtid_subset gtid_subtract icu_version interiorringn
        intersects is_free_lock is_ipv4_compat is_ipv4_mapped is_used_lock is_uuid isclosed
        isempty isring issimple json_array_intersect json_compact json_detailed json_equals
        json_exists json_loose json_normalize json_object_filter_keys json_object_to_array
        json_query json_schema_valid json_schema_validation_report json_storage_free
        json_storage_size json_table kdf lastval lengthb linefromtext linefromwkb linestring
        linestringfromtext load_file make_set master_gtid_wait master_pos_wait match mbrcontains
        mbrcoveredby mbrcovers mbrdisjoint mbrequals mbrintersects mbroverlaps mbrtouches
        mbrwithin median mlinefromtext months_between mpointfromtext mpolyfromtext
        multilinestring multilinestringfromtext multipoint multipointfromtext multipolygon
        multipolygonfromtext name_const natural_sort_key nextval numgeometries numinteriorrings
        numpoints nvl nvl2 old_password overlaps password percentile_cont percentile_disc point
        pointfromtext pointfromwkb pointn polyfromtext polyfromwkb polygon polygonfromtext
        position ps_current_thread_id ps_thread_id regexp_like release_all_locks release_lock
        roles_graphml rownum setval sformat source_pos_wait spider_bg_direct_sql
        spider_copy_tables spider_direct_sql spider_flush_table_mon_cache srid startpoint
        statement_digest statement_digest_text sys_guid to_char to_date to_number touches
        trim_oracle trunc updatexml uuid_to_bin uuid_v4 uuid_v7 validate_password_strength
        values vec_distance vec_distance_cosine vec_distance_euclidean vec_fromtext vec_totext
        wait_for_executed_gtid_set weight_string within x xmltype y
    """,
    "duckdb": """
        add add_grammar_extension add_parquet_key ago alias arg_max_null arg_max_nulls_last
        arg_min_null arg_min_nulls_last array_dot_product array_grade_up
        array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front
        array_select array_to_string_comma_default arrow_scan arrow_scan_dumb assert_true binom
        bit_position bitstring bitstring_agg bitstring_byte_comparable can_cast_implicitly
        cardinality cast_to_type checkpoint col_description collations combine combine_aggr
        constant_or_null copy_database count_star create_external_resource create_sort_key
        current_catalog current_connection_id current_localtime current_localtimestamp
        current_query_id current_role current_transaction_id database_list database_size
        decimal_average decimal_division deregister_external_resource destroy_external_resource
        enum_range_boundary error extension_versions fill finalize force_checkpoint
        format_pg_type format_type formatreadabledecimalsize formatreadablesize from_binary
        from_json from_json_strict functions geomean get_block_size get_type getvariable glob
        grade_up histogram_exact histogram_values hive_partition_component import_database
        in_search_path index_key inet_client_addr inet_client_port inet_server_addr
        inet_server_port invoke is_histogram_other_bin json_copy_strftime_if_date
        json_copy_strftime_if_timestamp json_deep_merge json_deserialize_sql
        json_execute_serialized_sql json_insert json_merge_patch_diff json_normalize json_quote
        json_remove json_replace json_serialize_plan json_serialize_sql json_set
        json_strip_nulls json_transform_strict json_tree left_grapheme length_grapheme
        like_escape list_approx_count_distinct list_bit_and list_bit_or list_bit_xor
        list_bool_and list_bool_or list_dot_product list_entropy list_grade_up list_histogram
        list_kurtosis list_kurtosis_pop list_mad list_negative_dot_product
        list_negative_inner_product list_product list_sem list_skewness list_stddev_pop
        list_stddev_samp list_string_agg list_var_pop list_var_samp lttb make_timestamp_ms
        make_timestamp_ns make_type map_contains_entry map_contains_value map_extract_value
        map_to_pg_oid map_type_id_to_pg_oid md5_number md5_number_lower md5_number_upper
        metadata_info multiply normalized_interval not_ilike_escape not_like_escape
        obj_description pandas_scan parse_dirname parse_dirpath parse_duckdb_log_message
        parse_filename parse_formatted_bytes parse_path path_join platform position
        python_arrow_scan python_map_function query query_table rank_dense regexp_escape
        register_external_resource register_external_resource_type remap_struct
        remove_grammar_extension repeat_row replace_type right_grapheme seq_scan session_user
        shobj_description show show_databases show_tables show_tables_expanded sleep_ms
        sniff_csv stats storage_info struct_concat struct_contains struct_extract_at struct_has
        struct_indexof struct_position struct_update struct_values substring_grapheme subtract
        summary switch table_info test_all_types test_vector_types timetz_byte_comparable
        to_aggregate_state to_base truncate_duckdb_logs txid_current union_extract union_tag
        unpivot_list user_agent uuid_extract_timestamp uuid_extract_version vector_type
        verify_parallelism vertex_extract wavg which_secret write_log
    """,
}

_TYPES: Final = (
    r"aclitem|any\w*|array|bit|bool|box|bpchar|bytea|cash|char|cid|cidr|circle|cstring|date|domain"
    r"|enum|float(?:4|8|48|84)|flt[48]|inet|int(?:[248]|24|28|42|48|82|84)|interval|jsonb?|line"
    r"|lseg|macaddr8?|multirange|name|network|numeric|oid|path|point|poly|pt|range|record|reg\w+"
    r"|text|tid|time(?:stamp)?(?:tz)?|tsquery|tsvector|uuid|varbit|varchar|void|xid8?|xml"
)
_FAMILIES: Final = {
    # What types, operators and indexes of PostgreSQL are made of, and its administration.
    "postgres": re.compile(
        rf"(?:(?:{_TYPES})_?){{1,3}}(?:in|out|recv|send|eq|ne|lt|le|gt|ge|cmp|pl|mi|mul|div|cat|um"
        r"|up|larger|smaller|accum\w*|typmod(?:in|out)|support|sortsupport|typanalyze)"
        r"|(?:pg|lo|binary_upgrade|ri_fkey|d?simple|dispell|dsynonym|dsnowball|thesaurus|prsd|has"
        r"|close|dist|txid|to_reg|gtsquery|gtsvector|brin|gin|gist|spg|euc|utf8|mic|big5|sjis"
        r"|win\d*|koi8\w?|iso\w*|johab|uhc|latin\d|shift_jis|gbk?\d*|inter|on)_\w+"
        r"|(?:bt|hash|brin|gin|gist|spg)(?:array|text|int|float|handler|name|oid|bpchar|macaddr"
        r"|enum|char|inet|tid|varlena|bool|record|varstr|equal|query)\w*"
        r"|\w+(?:joinsel|sel|_handler|_transfn|_finalfn|_final|_support|_privilege|_to_xml\w*)"
    ),
    "mysql": re.compile(r"(?:st|mbr|internal|ps|asymmetric|gtid|wsrep|vec)_\w+"),
    "duckdb": re.compile(
        r"(?:(?:icu_)?collate|duckdb|pragma|pg|has|read|parquet|icu|enable|disable|st|variant"
        r"|__internal)_\w+"
    ),
    "sqlite": re.compile(r"(?:pragma|sqlite|fts\d|geopoly|rtree)_\w+"),
}


@cache
def _names(dialect: str) -> frozenset[str]:
    return frozenset(_NAMES[dialect].split())


def has_function(name: str, dialect: str) -> bool:
    """Say whether the database of a dialect that is described has a function of this name."""
    lower = name.lower()
    return (
        lower in arities(dialect)
        or lower in _names(dialect)
        or _FAMILIES[dialect].fullmatch(lower) is not None
    )
