"""`widerow search`: queries as people write them, why a row is found, and a real server."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import tablestore as sdk
from click.testing import CliRunner, Result

from widerow.cli import search
from widerow.cli.main import app
from widerow.cli.search_answer import RowFound
from widerow.cli.search_json import QueryUnreadable, query_of_json
from widerow.cli.search_text import placed_fields, query_of_text
from widerow.cli.search_why import SearchFinding, explain
from widerow.client.connection import Endpoint
from widerow.client.failures import Unreachable
from widerow.model.search import query as q
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema, TextAnalyzer
from widerow.model.values import Value
from widerow.testing import WiderowServer
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.search.queries import decode_query
from widerow.wire.tablestore.operations.search.unfolding import Unfolding

T = SearchFieldType
SCHEMA = SearchSchema(
    (
        SearchField("title", T.TEXT, analyzer=TextAnalyzer()),
        SearchField("price", T.LONG),
        SearchField("tag", T.KEYWORD),
        SearchField("sold", T.BOOLEAN),
        SearchField("day", T.DATE, date_formats=("yyyy-MM-dd",)),
        SearchField("child", T.NESTED, fields=(SearchField("word", T.KEYWORD),)),
    )
)
FIELDS = placed_fields(SCHEMA.fields)


def model(message: m.Query) -> q.Query:
    return decode_query(Unfolding(), message)


def read(text: str) -> q.Query:
    return model(query_of_text(text, FIELDS))


GREEN_TEA = q.MatchPhraseQuery("title", "green tea")
PRICE = q.RangeQuery("price", 10, 20, include_start=True, include_stop=True)
TAGS = q.BoolQuery(should=(q.TermQuery("tag", "a"), q.TermQuery("tag", "b")))
SOLD = q.TermQuery("sold", term=True)


def test_a_line_becomes_the_query_that_it_says() -> None:
    line = 'title:"green tea" AND price:[10 TO 20] tag:(a b) -sold:true'
    assert read(line) == q.BoolQuery(must=(GREEN_TEA, PRICE, TAGS), must_not=(SOLD,))


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("", q.MatchAllQuery()),
        ("tea", q.MatchQuery("title", "tea")),
        ('"green tea"', GREEN_TEA),
        ("title:tea^2.5", q.MatchQuery("title", "tea", weight=2.5)),
        ("price:-5", q.TermQuery("price", -5)),
        ("price:>-5", q.RangeQuery("price", -5)),
        ("price:<=7", q.RangeQuery("price", stop=7, include_stop=True)),
        ("price:{1 TO *]", q.RangeQuery("price", 1, include_stop=True)),
        ("tag:a*", q.WildcardQuery("tag", "a*")),
        ("tag:*", q.ExistsQuery("tag")),
        (r"tag:a\*", q.TermQuery("tag", "a*")),
        ('tag:"a b"', q.TermQuery("tag", "a b")),
        ("day:2024-05-01", q.TermQuery("day", "2024-05-01")),
        ("NOT sold:true", q.BoolQuery(must_not=(SOLD,))),
        ("-sold:true", q.BoolQuery(must_not=(SOLD,))),
        (
            "child.word:x",
            q.NestedQuery("child", q.TermQuery("child.word", "x"), q.NestedScoreMode.MAX),
        ),
        (
            "tag:a OR tag:b sold:true",
            q.BoolQuery(
                should=(q.TermQuery("tag", "a"), q.BoolQuery(must=(q.TermQuery("tag", "b"), SOLD)))
            ),
        ),
        (
            "(tag:a OR tag:b) sold:true",
            q.BoolQuery(must=(TAGS, SOLD)),
        ),
    ],
)
def test_each_form_is_read(line: str, query: q.Query) -> None:
    assert read(line) == query


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("colour:red", "no field colour"),
        ("price:cheap", "cheap is not of type LONG, as price is"),
        ("price:[1 2]", "is not a range"),
        ("(tag:a", "closing parenthesis at character 7"),
        ("tag:a )", "an end, or AND, OR at character 7"),
        ("tag:()", "values in parentheses"),
        ("tag:a AND", "a field, a word or a parenthesis at character 10"),
        ("sold:maybe", "maybe is not of type BOOLEAN, as sold is"),
        ('tag:"a', "fits nothing"),
        ("(" * 40 + "tag:a" + ")" * 40, "parentheses within each other"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(line: str, part: str) -> None:
    with pytest.raises(QueryUnreadable) as caught:
        read(line)
    assert part in str(caught.value)


def test_json_has_the_vendors_names() -> None:
    document = {
        "BoolQuery": {
            "must_queries": [
                {"MatchQuery": {"field_name": "title", "text": "tea", "operator": "AND"}},
                {"RangeQuery": {"field_name": "price", "range_from": 10, "include_lower": True}},
            ],
            "must_not_queries": [{"TermsQuery": {"field_name": "tag", "terms": ["a", "b"]}}],
        }
    }
    assert model(query_of_json(json.dumps(document))) == q.BoolQuery(
        must=(
            q.MatchQuery("title", "tea", q.QueryOperator.AND),
            q.RangeQuery("price", 10, include_start=True),
        ),
        must_not=(q.TermsQuery("tag", ("a", "b")),),
    )


def test_json_of_functions_is_read() -> None:
    decay = {
        "field_name": "price",
        "math_function": "GAUSS",
        "param_type": 2,
        "param": {"origin": 5, "scale": 2.0},
    }
    document = {
        "FunctionsScoreQuery": {
            "query": {"MatchAllQuery": {}},
            "functions": [{"decay": decay, "weight": 2.0}],
            "combine_mode": "SUM",
        }
    }
    found = model(query_of_json(json.dumps(document)))
    assert isinstance(found, q.FunctionsScoreQuery)
    assert found.combine_mode is q.FunctionCombineMode.SUM
    (function,) = found.functions
    assert function.function == q.DecayFunction(
        "price", q.DecayMath.GAUSS, q.DecayNumericParam(5.0, 2.0)
    )


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "not JSON"),
        ("[]", "not a query"),
        ('{"Term": {}}', "there is no Term"),
        ('{"TermQuery": {"field": "a"}}', "TermQuery has no field; it has field_name"),
        ('{"TermQuery": {"field_name": 5}}', "5 does not fit field_name of TermQuery"),
        ('{"TermsQuery": {"terms": "a"}}', "terms is a list"),
        ('{"TermQuery": {"term": null}}', "null does not fit term of"),
        ('{"MatchQuery": {"operator": "XOR"}}', "there is no operator XOR; write OR, AND"),
        ('{"BoolQuery": 7}', "7 does not fit BoolQuery"),
        ("[" * 100_000, "too deep"),
    ],
)
def test_json_that_is_no_query_is_told(text: str, part: str) -> None:
    with pytest.raises(QueryUnreadable) as caught:
        query_of_json(text)
    assert part in str(caught.value)


# --- why ------------------------------------------------------------------------------------------


def why(
    columns: dict[str, Value], query: q.Query | None = None, *, seconds: int = -1
) -> list[SearchFinding]:
    return explain(SCHEMA, RowFound((("k", "a"),), columns, 1000), query, (seconds, 61_000))


def test_a_row_that_is_not_there_is_not_found() -> None:
    (found,) = explain(SCHEMA, None, None, (-1, 0))
    assert (found.good, found.text[:27]) == (False, "the table has no such row, ")


def test_a_value_of_another_type_is_named_with_what_the_field_needs() -> None:
    told = [each.text for each in why({"price": "12", "title": 5}) if each.good is False]
    assert told == [
        "title: INTEGER 5 is not indexed; TEXT needs a STRING column of at most 2 MB",
        "price: STRING '12' is not indexed; LONG needs an INTEGER column",
    ]


def test_a_date_is_told_its_formats() -> None:
    (told,) = [each.text for each in why({"day": "2024-5-1"}) if each.good is False]
    assert told.endswith("reads, from 1970 to 2262 (yyyy-MM-dd)")


def test_the_tokens_of_the_row_and_of_the_query_are_told() -> None:
    found = why({"title": "Green Tea"}, q.MatchQuery("title", "GREEN cup", q.QueryOperator.AND))
    assert [each.text for each in found if "tokens" in each.text] == [
        "tokens: green tea",
        "tokens: green cup",
    ]
    assert found[-1] == SearchFinding(0, "the query does not find it", good=False)


def test_each_clause_says_whether_it_matches() -> None:
    query = q.BoolQuery(must=(q.TermQuery("tag", "a"), q.TermQuery("price", 7)), must_not=(SOLD,))
    found = why({"tag": "a", "price": 8, "sold": True}, query)
    clauses = {each.text: each.good for each in found if "Query(" in each.text}
    assert clauses == {
        "BoolQuery()": False,
        "TermQuery(field='tag', term='a')": True,
        "TermQuery(field='price', term=7)": False,
        "TermQuery(field='sold', term=True)": True,
    }


def test_a_row_older_than_the_index_keeps_is_not_found() -> None:
    assert [each.text for each in why({}, seconds=50) if each.good is False] == [
        "the index's time to live of 50 s passed 10 s ago"
    ]
    assert "the index keeps it for 40 more seconds" in [e.text for e in why({}, seconds=100)]


# --- a server -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    with WiderowServer(instance="shop") as running:
        client: sdk.OTSClient = running.client()
        meta = sdk.TableMeta("items", [("k", "STRING"), ("n", "INTEGER")])
        nothing = sdk.ReservedThroughput(sdk.CapacityUnit(0, 0))
        client.create_table(meta, sdk.TableOptions(), nothing)
        fields = [
            sdk.FieldSchema("title", sdk.FieldType.TEXT, index=True, enable_highlighting=True),
            sdk.FieldSchema("price", sdk.FieldType.LONG, index=True),
            sdk.FieldSchema("tag", sdk.FieldType.KEYWORD, index=True, enable_sort_and_agg=True),
        ]
        client.create_search_index("items", "find", sdk.SearchIndexMeta(fields))
        for number, (title, tag) in enumerate(
            (("green tea", "a"), ("black tea", "b"), ("a tea cup", "a"))
        ):
            columns = [("title", title), ("price", number * 10), ("tag", tag)]
            client.put_row("items", sdk.Row([("k", "row"), ("n", number)], columns))
        yield running


def run(server: WiderowServer, *arguments: str, code: int = 0, width: int = 200) -> str:
    flags = ("--endpoint", server.endpoint, "--instance", "shop")
    result = CliRunner().invoke(app, ["search", *arguments, *flags], env={"COLUMNS": str(width)})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


def test_rows_are_found_sorted_grouped_and_marked(server: WiderowServer) -> None:
    flags = ("--sort=-price", "--columns", "price", "--group-by", "tag", "--highlight", "title")
    found: dict[str, Any] = json.loads(
        run(server, "items", "find", "title:tea price:<20", *flags, "--output", "json")
    )
    assert found["total"] == 2
    assert [each["key"] for each in found["hits"]] == [{"k": "row", "n": 1}, {"k": "row", "n": 0}]
    assert found["hits"][0]["columns"] == {"price": 10}
    assert found["hits"][0]["highlights"] == {"title": ["black «tea»"]}
    assert found["groups"] == [{"key": "a", "row_count": 1}, {"key": "b", "row_count": 1}]


def test_each_row_may_be_a_line(server: WiderowServer) -> None:
    lines = run(server, "items", "find", "--limit", "2", "--output", "jsonl").splitlines()
    assert [json.loads(each)["key"]["n"] for each in lines] == [0, 1]


def test_a_table_shows_scores(server: WiderowServer) -> None:
    text = run(server, "items", "find", "tea cup", "--sort=-_score", "--columns=*")
    assert "1 found, 1 shown" in text
    assert "a tea cup" in text


def test_the_columns_of_the_index_are_shown_as_far_as_they_fit(server: WiderowServer) -> None:
    found = run(server, "items", "find", "title:cup")
    assert found.startswith("1 found, 1 shown\n")
    assert [word in found for word in ("a tea cup", "price", "tag", "not shown")] == [
        *(True, True, True, False)
    ]
    narrow = run(server, "items", "find", "title:cup", width=40)
    assert narrow.startswith("1 found, 1 shown\n")
    assert "a tea cup" in narrow
    assert "not shown: tag (--columns tag)" in narrow
    document = json.loads(run(server, "items", "find", "title:cup", "--output", "json"))
    assert document["hits"][0]["columns"] == {"price": 20, "tag": "a", "title": "a tea cup"}


def test_nothing_found_is_said_in_a_line(server: WiderowServer) -> None:
    assert run(server, "items", "find", "title:coffee") == "0 found, 0 shown\n"


def test_a_table_with_search_indexes_is_dropped_with_them(server: WiderowServer) -> None:
    """Search §1.5: the indexes have to go first; the command says so, and does it if asked."""
    flags = ("--endpoint", server.endpoint, "--instance", "shop")

    def table(*words: str) -> Result:
        return CliRunner().invoke(app, ["table", *words, *flags])

    assert table("create", "gone", "k:string").exit_code == 0
    client: sdk.OTSClient = server.client()
    fields = [sdk.FieldSchema("title", sdk.FieldType.TEXT)]
    client.create_search_index("gone", "one", sdk.SearchIndexMeta(fields))
    refused = table("drop", "gone", "--yes")
    assert "`widerow table drop gone --with-indexes`" in str(refused.exception)
    assert run(server, "list", "gone") == "gone  one\n"
    assert table("drop", "gone", "--yes", "--with-indexes").exit_code == 0
    assert "gone" not in table("list").output


def test_the_vendors_commands_list_describe_and_drop(server: WiderowServer) -> None:
    """`list_search_index`, `describe_search_index -n`, `drop_search_index -n` (ts-cli)."""
    flags = ("--endpoint", server.endpoint, "--instance", "shop")

    def ts(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["ts", *flags, *words])
        assert result.exit_code == code, result.output
        return str(result.output)

    client: sdk.OTSClient = server.client()
    client.create_table(
        sdk.TableMeta("notes", [("k", "STRING")]),
        sdk.TableOptions(),
        sdk.ReservedThroughput(sdk.CapacityUnit(0, 0)),
    )
    assert "No search index of notes." in ts("list_search_index", "-t", "notes")
    fields = [
        sdk.FieldSchema("words", sdk.FieldType.TEXT, index=True),
        sdk.FieldSchema(
            "child",
            sdk.FieldType.NESTED,
            sub_field_schemas=[sdk.FieldSchema("n", sdk.FieldType.LONG, is_array=True)],
        ),
    ]
    client.create_search_index("notes", "find", sdk.SearchIndexMeta(fields))
    assert "find" in ts("list_search_index", "-t", "notes")
    document = json.loads(ts("describe_search_index", "-t", "notes", "-n", "find"))
    assert document["IndexSetting"] == {"RoutingFields": None}
    words, child = document["FieldSchemas"]
    assert (words["FieldName"], words["FieldType"], words["Index"]) == ("words", "TEXT", True)
    assert [each["FieldType"] for each in child["FieldSchemas"]] == ["LONG"]
    assert "drop_search_index -t notes -n find" in ts("drop", "-t", "notes", "-y", code=2)
    assert "Dropped the search index find" in ts("drop_search_index", "-t", "notes", "-n", "find")
    ts("drop", "-t", "notes", "-y")
    assert "`widerow search TABLE INDEX QUERY`" in ts("search", "-n", "find", code=2)


def test_why_asks_the_server_for_the_row(server: WiderowServer) -> None:
    text = run(server, "why", "items", "find", '["row", 1]', "title:green", code=1)
    assert "no  the query does not find it" in text
    assert "tokens: black tea" in text
    assert "yes the query finds it" in run(
        server, "why", "items", "find", '["row", 0]', "title:green"
    )
    assert "no such row" in run(server, "why", "items", "find", '["row", 9]', code=1)


def test_indexes_are_listed_and_shown(server: WiderowServer) -> None:
    assert run(server, "list", "items") == "items  find\n"
    found = json.loads(run(server, "show", "items", "find", "--json"))
    assert found["rows"] == 3
    assert [each["name"] for each in found["fields"]] == ["title", "price", "tag"]
    assert "items.find: 3 rows, ready" in run(server, "show", "items", "find")


def test_a_temporary_key_goes_with_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with every command that asks a server (wire §1.2)."""
    asked: list[Endpoint] = []

    def connect(endpoint: Endpoint, **_: float) -> None:
        asked.append(endpoint)
        raise Unreachable("enough")

    monkeypatch.setattr(search, "Client", connect)
    CliRunner().invoke(app, ["search", "list", "items", "--security-token", "of an hour"])
    assert [each.security_token for each in asked] == ["of an hour"]


def test_a_key_of_other_columns_is_refused(server: WiderowServer) -> None:
    with pytest.raises(QueryUnreadable, match=r"the key has 2 columns \(k, n\)"):
        run(server, "why", "items", "find", "row")
