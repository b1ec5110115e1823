"""Random search indexes: schemas, rows with values good and bad, and requests of every kind."""

import json
from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st

from widerow.model.search import aggregation as a
from widerow.model.search import query as q
from widerow.model.search.highlight import (
    FragmentOrder,
    Highlight,
    HighlightEncoder,
    HighlightParameter,
)
from widerow.model.search.requests import Search
from widerow.model.search.schema import (
    AnalyzerName,
    JsonKind,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
    VectorMetric,
    VectorOptions,
)
from widerow.model.values import Value

T: Final = SearchFieldType
WORDS: Final = ("tea", "Green", "black", "cup", "of", "x1", "茶")
TEXTS: Final = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
SMALL: Final = st.integers(-3, 6)
HALVES: Final = st.integers(-6, 12).map(lambda number: number / 2)
KEYWORDS: Final = st.sampled_from(("", "a", "ab", "abc", "b", "é", "a*b", "Z", "𝄞", "\uffee"))
POINTS: Final = st.tuples(st.integers(-8, 8), st.integers(-17, 17)).map(
    lambda pair: f"{pair[0] * 10.5},{pair[1] * 10.25}"
)
ADDRESSES: Final = st.sampled_from(("10.0.0.1", "10.0.0.9", "10.1.0.1", "::1", "2001:db8::2"))
DAYS: Final = st.integers(1, 28).map(lambda day: f"2024-0{1 + day % 3}-{day:02}")
MILLISECONDS: Final = st.integers(0, 40).map(lambda step: 1_700_000_000_000 + step * 40_000_000)
BAD: Final[st.SearchStrategy[Value]] = st.sampled_from(
    ("nothing of the kind", True, 7, 2.5, b"\x00", "[1,", '{"a":1}', "[]", "91,0", "2024-02-30")
)
DIMENSION: Final = 2


def _text(name: str, analyzer: TextAnalyzer, *, is_array: bool = False) -> SearchField:
    marked = analyzer.name is AnalyzerName.SINGLE_WORD
    return SearchField(name, T.TEXT, analyzer=analyzer, is_array=is_array, highlighting=marked)


POOL: Final = (
    SearchField("long", T.LONG),
    SearchField("longs", T.LONG, is_array=True),
    SearchField("double", T.DOUBLE),
    SearchField("flag", T.BOOLEAN),
    SearchField("word", T.KEYWORD),
    SearchField("words", T.KEYWORD, is_array=True),
    SearchField("fuzzy_word", T.FUZZY_KEYWORD),
    _text("text", TextAnalyzer()),
    _text("cased", TextAnalyzer(case_sensitive=True, delimit_word=True)),
    _text("split", TextAnalyzer(AnalyzerName.SPLIT, delimiter=" of ")),
    _text("texts", TextAnalyzer(), is_array=True),
    _text("grams", TextAnalyzer(AnalyzerName.FUZZY, min_chars=1, max_chars=3)),
    SearchField("date", T.DATE, date_formats=("epoch_millis",)),
    SearchField("day", T.DATE, date_formats=("yyyy-MM-dd HH:mm", "yyyy-MM-dd")),
    SearchField("ip", T.IP),
    SearchField("point", T.GEO_POINT),
    SearchField("points", T.GEO_POINT, is_array=True),
    SearchField("as_text", T.KEYWORD, source="long"),
    SearchField("as_number", T.LONG, source="word"),
    SearchField(
        "child",
        T.NESTED,
        fields=(
            SearchField("long", T.LONG),
            SearchField("word", T.KEYWORD),
            _text("text", TextAnalyzer()),
            SearchField("deep", T.NESTED, fields=(SearchField("double", T.DOUBLE),)),
        ),
    ),
    SearchField(
        "json",
        T.JSON,
        json=JsonKind.OBJECT,
        fields=(SearchField("long", T.LONG), SearchField("word", T.KEYWORD)),
    ),
)
VECTOR: Final = SearchField(
    "vector", T.VECTOR, vector=VectorOptions(DIMENSION, VectorMetric.COSINE)
)

VALUES: Final[dict[SearchFieldType, st.SearchStrategy[Any]]] = {
    T.LONG: SMALL,
    T.DOUBLE: HALVES,
    T.BOOLEAN: st.booleans(),
    T.KEYWORD: KEYWORDS,
    T.FUZZY_KEYWORD: KEYWORDS,
    T.TEXT: TEXTS,
    T.IP: ADDRESSES,
    T.GEO_POINT: POINTS,
    T.VECTOR: st.lists(st.integers(-9, 9), min_size=DIMENSION, max_size=DIMENSION),
}

Named = tuple[str, SearchField]


@st.composite
def schemas(draw: st.DrawFn) -> SearchSchema:
    """Some of the pool, in any order, and sometimes vectors of some metric."""
    fields = draw(st.lists(st.sampled_from(POOL), min_size=4, unique_by=lambda each: each.name))
    if draw(st.booleans()):
        metric = draw(st.sampled_from(VectorMetric))
        fields.append(replace(VECTOR, vector=VectorOptions(DIMENSION, metric)))
    return SearchSchema(tuple(fields))


def leaves(schema: SearchSchema, path: str = "") -> list[Named]:
    """The fields of a level with their full names, those within JSON objects included."""
    level = schema.fields
    prefix = ""
    for part in path.split(".") if path else ():
        level = next(each for each in level if each.name == part).fields
        prefix += f"{part}."
    found = []
    for each in level:
        if each.json is JsonKind.OBJECT:
            found += [(f"{each.name}.{below.name}", below) for below in each.fields]
        elif each.type is not T.NESTED:
            found.append((prefix + each.name, each))
    return found


def paths(schema: SearchSchema) -> list[str]:
    """The nested paths."""
    there = any(each.name == "child" for each in schema.fields)
    return ["child", "child.deep"] if there else []


# --- rows -----------------------------------------------------------------------------------------


def values(field: SearchField) -> st.SearchStrategy[Any]:
    """Values that a field has, as JSON has them too."""
    if field.type is T.DATE:
        return MILLISECONDS if "epoch_millis" in field.date_formats else DAYS
    found = VALUES.get(field.type)
    return objects(field) if found is None else found


def objects(field: SearchField) -> st.SearchStrategy[Any]:
    """Objects with some of the fields below, or arrays of them."""
    one = st.fixed_dictionaries(
        {}, optional={each.name: json_values(each) for each in field.fields}
    )
    return st.lists(one, max_size=3) if field.type is T.NESTED else one | st.lists(one, max_size=2)


def json_values(field: SearchField) -> st.SearchStrategy[Any]:
    """Values within JSON: one, several, or none that the field can have."""
    good = values(field)
    if field.type is T.NESTED:
        return good
    return st.one_of(good, good, st.lists(good, max_size=3), st.sampled_from((None, 3.5, [])))


@st.composite
def columns(draw: st.DrawFn, schema: SearchSchema) -> dict[str, Value]:
    """A row: columns of the fields, or some of another type, and some missing."""
    found: dict[str, Value] = {}
    for each in schema.fields:
        if each.source is not None or draw(st.integers(0, 5)) == 0:
            continue
        if draw(st.integers(0, 9)) == 0:
            found[each.name] = draw(BAD)
        elif each.type in {T.NESTED, T.JSON, T.VECTOR}:
            found[each.name] = json.dumps(draw(values(each)))
        elif each.is_array:
            found[each.name] = json.dumps(draw(st.lists(values(each), max_size=3)))
        else:
            found[each.name] = draw(values(each))
    return found


# --- queries --------------------------------------------------------------------------------------


def _of_type(schema: SearchSchema, path: str, *types: SearchFieldType) -> list[Named]:
    return [(name, each) for name, each in leaves(schema, path) if each.type in types]


def _operands(field: SearchField) -> st.SearchStrategy[Value]:
    if field.type is T.TEXT:
        return st.sampled_from(WORDS)
    if field.type is T.LONG:
        return SMALL | SMALL.map(str) | SMALL.map(float)
    good: st.SearchStrategy[Value] = values(field)
    return good


@st.composite
def leaf_queries(draw: st.DrawFn, schema: SearchSchema, path: str, *, scored: bool) -> q.Query:
    """One condition on a field of a level."""
    ordinary = _of_type(schema, path, *(set(T) - {T.VECTOR, T.GEO_POINT}))
    exact = [each for each in ordinary if not _is_fuzzy(each[1])]
    texts = [each for each in (exact if scored else ordinary) if each[1].type is T.TEXT]
    worded = [each for each in exact if each[1].type in {T.KEYWORD, T.FUZZY_KEYWORD, T.TEXT}]
    weight = draw(st.sampled_from((1.0, 1.0, 2.5)))
    has_word = any(name == "word" for name, _ in leaves(schema, path))
    choices: list[tuple[list[Named], Any]] = [
        (leaves(schema, path), lambda named: st.just(q.ExistsQuery(named[0]))),
        (exact, lambda named: _value_queries(named, q.TermQuery, weight)),
        (exact, lambda named: _value_queries(named, q.TermsQuery, weight)),
        (exact, lambda named: _value_queries(named, q.RangeQuery, weight)),
        (texts, lambda named: _text_queries(named, weight, scored=scored)),
        (texts, lambda named: _text_queries(named, weight, scored=scored)),
        (worded, lambda named: _form_queries(named, weight)),
        (_of_type(schema, path, T.GEO_POINT), lambda named: _place_queries(named[0])),
        (
            _of_type(schema, path, T.VECTOR),
            lambda named: _vector_queries(named[0], weight, has_word=has_word),
        ),
    ]
    possible = [each for each in choices if each[0]]
    if not possible or draw(st.integers(0, 9)) == 0:
        return q.MatchAllQuery()
    fields, make = draw(st.sampled_from(possible))
    found: q.Query = draw(make(draw(st.sampled_from(fields))))
    return found


def _is_fuzzy(field: SearchField) -> bool:
    return field.analyzer is not None and field.analyzer.name is AnalyzerName.FUZZY


@st.composite
def _text_queries(draw: st.DrawFn, named: Named, weight: float, *, scored: bool) -> q.Query:
    name, _ = named
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True))
    if draw(st.booleans()):
        slop = 0 if scored else draw(st.sampled_from((0, 0, 1, 2)))
        return q.MatchPhraseQuery(name, " ".join(words), slop, weight)
    least = draw(st.sampled_from((None, None, "1", "2", "-1", "50%", "1<75%")))
    operator = draw(st.sampled_from(q.QueryOperator))
    return q.MatchQuery(name, " ".join(words), operator, least, weight)


@st.composite
def _form_queries(draw: st.DrawFn, named: Named, weight: float) -> q.Query:
    name, field = named
    if draw(st.booleans()):
        return q.PrefixQuery(name, draw(st.sampled_from(("a", "ab", "t", "gr", "茶", "é"))), weight)
    if field.type is not T.TEXT and draw(st.booleans()):
        return q.SuffixQuery(name, draw(st.sampled_from(("b", "c", "é"))), weight)
    form = st.sampled_from(("a*", "*b", "?", "*e*", "a\\*b", "??", "*", "t?a"))
    return q.WildcardQuery(name, draw(form), weight)


@st.composite
def _value_queries(draw: st.DrawFn, named: Named, kind: type, weight: float) -> q.Query:
    name, field = named
    operands = _operands(field)
    if kind is q.TermQuery:
        if field.type is T.IP and draw(st.booleans()):
            return q.TermQuery(name, "10.0.0.7/24", weight)
        return q.TermQuery(name, draw(operands), weight)
    if kind is q.TermsQuery:
        return q.TermsQuery(name, tuple(draw(st.lists(operands, max_size=4))), weight)
    if field.type is T.BOOLEAN:
        return q.ExistsQuery(name)
    if field.type is T.LONG:
        operands |= HALVES
    low, high = draw(st.none() | operands), draw(st.none() | operands)
    return q.RangeQuery(name, low, high, draw(st.booleans()), draw(st.booleans()))


@st.composite
def _place_queries(draw: st.DrawFn, name: str) -> q.Query:
    kind = draw(st.sampled_from((q.GeoBoundingBoxQuery, q.GeoDistanceQuery, q.GeoPolygonQuery)))
    if kind is q.GeoDistanceQuery:
        return q.GeoDistanceQuery(name, draw(POINTS), draw(st.floats(1, 1.5e7)))
    if kind is q.GeoPolygonQuery:
        corners = st.tuples(st.floats(-89, 89), st.floats(-179, 179))
        points = draw(st.lists(corners, min_size=3, max_size=5))
        return q.GeoPolygonQuery(name, tuple(f"{y},{x}" for y, x in points))
    one, other = (draw(POINTS).split(",") for _ in range(2))
    top, bottom = sorted((one[0], other[0]), key=float, reverse=True)
    return q.GeoBoundingBoxQuery(name, f"{top},{one[1]}", f"{bottom},{other[1]}")


@st.composite
def _vector_queries(draw: st.DrawFn, name: str, weight: float, *, has_word: bool) -> q.Query:
    vector = draw(st.lists(st.floats(-9, 9, width=16), min_size=DIMENSION, max_size=DIMENSION))
    if not any(vector):
        vector[0] = 1.0
    most, least = draw(st.integers(1, 20)), draw(st.sampled_from((None, None, 0.3)))
    kept = q.ExistsQuery("word") if has_word and draw(st.booleans()) else None
    return q.KnnVectorQuery(name, tuple(vector), most, kept, least, weight=weight)


@st.composite
def queries(
    draw: st.DrawFn, schema: SearchSchema, path: str = "", *, scored: bool = True, depth: int = 3
) -> q.Query:
    """A tree of conditions on a level. `scored`: with scores that the page determines."""
    if not depth or draw(st.integers(0, 2)) == 0:
        return draw(leaf_queries(schema, path, scored=scored))
    deeper = queries(schema, path, scored=scored, depth=depth - 1)
    unscored = queries(schema, path, scored=False, depth=depth - 1)
    several = st.lists(deeper, max_size=2).map(tuple)
    filters = st.lists(unscored, max_size=1).map(tuple)
    weight = draw(st.sampled_from((1.0, 3.0)))
    kinds = ["bool", "bool", "constant", "best", "function", "functions"]
    below = [each for each in paths(schema) if _is_below(each, path)]
    if below:
        kinds += ["nested", "nested"]
    match draw(st.sampled_from(kinds)):
        case "bool":
            found = q.BoolQuery(draw(several), draw(filters), draw(filters), draw(several))
            least = st.none() | st.integers(0, len(found.should)).map(str)
            if found.should:
                found = replace(found, minimum_should_match=draw(least))
            return replace(found, weight=weight)
        case "constant":
            return q.ConstScoreQuery(draw(unscored))
        case "best":
            tie = draw(st.sampled_from((0.0, 0.5)))
            return q.DisMaxQuery((draw(deeper), draw(deeper)), tie, weight)
        case "function":
            numbers = [
                n for n, each in _of_type(schema, path, T.LONG, T.DOUBLE) if not each.is_array
            ]
            numbers = [name for name in numbers if not name.startswith("json")]
            return (
                q.FunctionScoreQuery(draw(deeper), draw(st.sampled_from(numbers)))
                if numbers
                else draw(deeper)
            )
        case "functions":
            return draw(_function_scores(schema, path, draw(deeper)))
        case _:
            at = draw(st.sampled_from(below))
            inner = draw(queries(schema, at, scored=scored, depth=depth - 1))
            shown = draw(st.none() | inner_hits(schema, at)) if scored else None
            return q.NestedQuery(at, inner, draw(st.sampled_from(q.NestedScoreMode)), weight, shown)


@st.composite
def inner_hits(draw: st.DrawFn, schema: SearchSchema, path: str) -> q.InnerHits:
    """Which of the documents at a path are shown, in what order, with what marked."""
    order = st.sampled_from(q.SortOrder)
    sorters: list[q.Sorter] = []
    for kind in draw(st.lists(st.sampled_from(("score", "place", "field")), max_size=2)):
        if kind == "score":
            sorters.append(q.ScoreSort(draw(order)))
        elif kind == "place":
            sorters.append(q.DocSort(draw(order)))
        else:
            name = "child.long" if path == "child" else "child.deep.double"
            sorters.append(q.FieldSort(name, draw(order)))
    sort = q.SearchSort(tuple(sorters)) if sorters else None
    offset, limit = draw(st.integers(0, 1)), draw(st.integers(0, 3))
    return q.InnerHits(sort, offset, limit, draw(st.none() | highlights(schema, path)))


@st.composite
def highlights(draw: st.DrawFn, schema: SearchSchema, path: str = "") -> Highlight:
    """Marks in some of the texts of a level, mostly around whole texts."""
    names = [name for name, each in _of_type(schema, path, T.TEXT) if each.highlighting]
    asked = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    parameter = st.builds(
        HighlightParameter,
        st.just(""),
        st.integers(1, 3),
        st.sampled_from((100, 100, 5)),
        st.sampled_from(("<em>", "[")),
        st.sampled_from(("</em>", "]")),
        st.sampled_from(FragmentOrder),
    )
    parameters = tuple(replace(draw(parameter), field=name) for name in asked)
    return Highlight(parameters, draw(st.sampled_from(HighlightEncoder)))


def _is_below(path: str, above: str) -> bool:
    return path.startswith(f"{above}.") if above else True


@st.composite
def _function_scores(draw: st.DrawFn, schema: SearchSchema, path: str, query: q.Query) -> q.Query:
    numbers = [n for n, _ in _of_type(schema, path, T.LONG, T.DOUBLE)]
    distant = _of_type(schema, path, T.DATE, T.GEO_POINT)
    functions = []
    for _ in range(draw(st.integers(1, 3))):
        function: q.FieldValueFactor | q.DecayFunction | None = None
        of_number: bool = draw(st.booleans())
        if distant and draw(st.integers(0, 2)) == 0:
            function = draw(_decays(draw(st.sampled_from(distant))))
        elif numbers and of_number:
            name = draw(st.sampled_from(numbers))
            if draw(st.booleans()):
                function = q.FieldValueFactor(
                    name,
                    draw(st.sampled_from((1.0, 0.5))),
                    draw(st.sampled_from(q.FunctionModifier)),
                    draw(st.sampled_from((None, 2.0))),
                )
            else:
                function = q.DecayFunction(
                    name,
                    draw(st.sampled_from(q.DecayMath)),
                    q.DecayNumericParam(draw(HALVES), 2.0, draw(st.sampled_from((0.0, 1.0)))),
                    0.3,
                    draw(st.sampled_from(q.MultiValueMode)),
                )
        kept = draw(st.none() | leaf_queries(schema, path, scored=False))
        functions.append(q.ScoreFunction(function, draw(st.sampled_from((1.0, 2.0))), kept))
    return q.FunctionsScoreQuery(
        query,
        tuple(functions),
        draw(st.sampled_from(q.FunctionScoreMode)),
        draw(st.sampled_from(q.FunctionCombineMode)),
        max_score=draw(st.sampled_from((None, 3.0))),
    )


@st.composite
def _decays(draw: st.DrawFn, named: Named) -> q.DecayFunction:
    """How a date or a point is away from another one (search §4.5)."""
    name, field = named
    param: q.DecayDateParam | q.DecayGeoParam
    if field.type is T.GEO_POINT:
        param = q.DecayGeoParam(draw(POINTS), 3e6, draw(st.sampled_from((0.0, 5e5))))
    else:
        units = st.sampled_from((q.DateTimeUnit.MONTH, q.DateTimeUnit.WEEK, q.DateTimeUnit.DAY))
        span = st.builds(q.DateTimeValue, st.integers(1, 9), units)
        in_text = "epoch_millis" not in field.date_formats and draw(st.booleans())
        origin = draw(DAYS) if in_text else draw(MILLISECONDS) * 10**6
        param = q.DecayDateParam(origin, draw(span), draw(st.none() | span))
    return q.DecayFunction(
        name,
        draw(st.sampled_from(q.DecayMath)),
        param,
        0.3,
        draw(st.sampled_from(q.MultiValueMode)),
    )


# --- orders and groups ----------------------------------------------------------------------------


def _others(fields: list[Named], name: str, field: SearchField) -> list[str]:
    """The other fields of the same type."""
    return [other for other, each in fields if other != name and each.type is field.type]


@st.composite
def sorts(draw: st.DrawFn, schema: SearchSchema, *, scored: bool) -> q.SearchSort:
    """Up to three sorters, ending by the primary key."""
    order = st.sampled_from(q.SortOrder)
    plain = _of_type(
        schema, "", T.LONG, T.DOUBLE, T.KEYWORD, T.DATE, T.BOOLEAN, T.IP, T.FUZZY_KEYWORD
    )
    numbers = {name for name, each in plain if each.type in {T.LONG, T.DOUBLE}}
    found: list[q.Sorter] = []
    for name, field in draw(st.lists(st.sampled_from(plain), max_size=2)) if plain else ():
        modes = [None, q.SortMode.MIN, q.SortMode.MAX]
        missing: list[Any] = [None, "_first", "_last"]
        if name in numbers:
            modes.append(q.SortMode.AVG)
            missing.append(2 if field.type is T.LONG else 2.0)
        found.append(
            q.FieldSort(
                name,
                draw(order),
                draw(st.sampled_from(modes)),
                missing_value=draw(st.sampled_from(missing)),
                missing_field=draw(st.sampled_from((None, None, *_others(plain, name, field)))),
            )
        )
    places = _of_type(schema, "", T.GEO_POINT)
    by_place: bool = draw(st.booleans())
    if places and by_place:
        found.append(
            q.GeoDistanceSort(
                draw(st.sampled_from(places))[0],
                tuple(draw(st.lists(POINTS, min_size=1, max_size=2))),
                draw(order),
                draw(st.sampled_from((None, *q.SortMode))),
                draw(st.sampled_from(q.GeoDistanceType)),
            )
        )
    by_child: bool = draw(st.booleans())
    if paths(schema) and by_child:
        kept = draw(st.none() | leaf_queries(schema, "child", scored=False))
        nested = q.NestedFilter("child", kept) if kept is not None else None
        found.append(q.FieldSort("child.long", draw(order), None, nested))
    if scored and draw(st.booleans()):
        found.insert(0, q.ScoreSort(draw(order)))
    if draw(st.integers(0, 3)) == 0:
        found.append(q.PrimaryKeySort(draw(order)))
    return q.SearchSort(tuple(found), bool(found) and draw(st.integers(0, 4)) == 0)


@st.composite
def breakdowns(draw: st.DrawFn, schema: SearchSchema, depth: int = 2) -> a.Breakdown:
    """Metrics and groups of every kind."""
    fields = leaves(schema) + (
        [(n, f) for n, f in leaves(schema, "child")] if paths(schema) else []
    )
    countable = [
        (name, each)
        for name, each in fields
        if each.type in {T.LONG, T.DOUBLE, T.KEYWORD, T.BOOLEAN, T.DATE}
    ]
    if not countable:
        return a.NO_BREAKDOWN
    metrics: list[a.Aggregation] = []
    for at in range(draw(st.integers(0, 2))):
        name, field = draw(st.sampled_from(countable))
        kinds = list(a.MetricKind)
        if field.type is T.DATE:
            kinds.remove(a.MetricKind.SUM)
        if field.type not in {T.LONG, T.DOUBLE, T.DATE}:
            kinds = [a.MetricKind.COUNT, a.MetricKind.DISTINCT_COUNT]
        elif draw(st.integers(0, 3)) == 0:
            asked = tuple(
                draw(st.lists(st.sampled_from((0.0, 10.0, 50.0, 99.5)), min_size=1, unique=True))
            )
            metrics.append(a.PercentilesMetric(f"m{at}", name, asked))
            continue
        missing = None
        if field.type is T.LONG and not name.startswith("child"):
            missing = draw(st.sampled_from((None, 5)))
        metrics.append(a.Metric(f"m{at}", draw(st.sampled_from(kinds)), name, missing))
    if draw(st.integers(0, 3)) == 0:
        sort = draw(st.none() | st.builds(_by_key, st.sampled_from(q.SortOrder)))
        metrics.append(a.TopRows("top", draw(st.integers(1, 3)), sort))
    if draw(st.integers(0, 3)) == 0:
        metrics.append(a.Metric("rows", a.MetricKind.COUNT, "*"))
    groups = draw(st.lists(group_bys(schema, depth - 1), max_size=2)) if depth else []
    named = tuple(replace(each, name=f"g{at}") for at, each in enumerate(groups))
    return a.Breakdown(tuple(metrics), named)


def _by_key(order: q.SortOrder) -> q.SearchSort:
    return q.SearchSort((q.PrimaryKeySort(order),))


@st.composite
def _group_sorts(draw: st.DrawFn, below: a.Breakdown) -> a.GroupSort:
    """By keys, counts, or a metric of each group."""
    kinds = st.sampled_from((a.GroupSortKey.KEY, a.GroupSortKey.ROW_COUNT))
    sorter = st.builds(a.GroupSorter, kinds, st.sampled_from(q.SortOrder))
    sort = draw(st.lists(sorter, max_size=2))
    single = [
        each.name
        for each in below.aggregations
        if isinstance(each, a.Metric) and each.kind in {a.MetricKind.COUNT, a.MetricKind.MAX}
    ]
    by_metric: bool = draw(st.booleans())
    if single and by_metric:
        named, order = draw(st.sampled_from(single)), draw(st.sampled_from(q.SortOrder))
        sort.insert(0, a.GroupSorter(a.GroupSortKey.METRIC, order, named))
    return tuple(sort)


@st.composite
def _composites(
    draw: st.DrawFn, schema: SearchSchema, keyed: list[str], below: a.Breakdown
) -> a.CompositeGroupBy:
    """By values and by steps of numbers."""
    names = draw(st.lists(st.sampled_from(keyed), min_size=1, max_size=2, unique=True))
    sources: list[Any] = [a.FieldGroupBy(name, name) for name in names]
    numbers = [name for name, _ in _of_type(schema, "", T.LONG, T.DOUBLE)]
    by_steps: bool = draw(st.booleans())
    if numbers and by_steps:
        name = draw(st.sampled_from(numbers))
        whole = dict(leaves(schema))[name].type is T.LONG
        sources.append(a.HistogramGroupBy("steps", name, 2 if whole else 1.5))
    return a.CompositeGroupBy("", tuple(sources), 2000, below=below)


@st.composite
def group_bys(draw: st.DrawFn, schema: SearchSchema, depth: int) -> a.GroupBy:
    """One group-by over a field of rows, or the filters of rows."""
    below = draw(breakdowns(schema, depth)) if depth >= 0 else a.NO_BREAKDOWN
    numbers = [name for name, _ in _of_type(schema, "", T.LONG, T.DOUBLE)]
    keyed = [n for n, _ in _of_type(schema, "", T.LONG, T.KEYWORD, T.BOOLEAN, T.DOUBLE, T.DATE)]
    points = [name for name, _ in _of_type(schema, "", T.GEO_POINT)]
    dates = [name for name, _ in _of_type(schema, "", T.DATE)]
    kinds = ["filter"]
    kinds += ["field", "field", "composite"] if keyed else []
    kinds += ["range", "histogram"] if numbers else []
    kinds += ["distance", "grid"] if points else []
    kinds += ["date"] if dates else []
    match draw(st.sampled_from(kinds)):
        case "field":
            sort = draw(_group_sorts(below))
            size, least = draw(st.sampled_from((None, 2, 50))), draw(st.sampled_from((None, 1, 2)))
            return a.FieldGroupBy("", draw(st.sampled_from(keyed)), size, sort, least, below)
        case "composite":
            return draw(_composites(schema, keyed, below))
        case "range":
            bounds = st.tuples(st.none() | HALVES, st.none() | HALVES)
            ranges = draw(st.lists(bounds, min_size=1, max_size=3, unique=True))
            return a.RangeGroupBy("", draw(st.sampled_from(numbers)), tuple(ranges), below)
        case "histogram":
            name = draw(st.sampled_from(numbers))
            field = dict(leaves(schema))[name]
            interval, low, high = (2, -2, 5) if field.type is T.LONG else (1.5, -2.0, 5.0)
            edges = draw(st.sampled_from((None, (low, high))))
            least = draw(st.sampled_from((None, 1, 0) if edges else (None, 1)))
            return a.HistogramGroupBy(
                "", name, interval, min_doc_count=least, field_range=edges, below=below
            )
        case "distance":
            metres = ((None, 2e6), (1e6, 5e6), (5e6, None))
            return a.DistanceGroupBy("", draw(st.sampled_from(points)), (10.0, 20.0), metres, below)
        case "grid":
            return a.GeoGridGroupBy(
                "", draw(st.sampled_from(points)), draw(st.integers(1, 6)), below=below
            )
        case "date":
            unit = st.sampled_from(q.DateTimeUnit).filter(lambda each: each < q.DateTimeUnit.HOUR)
            span = q.DateTimeValue(1, draw(unit))
            zone = draw(st.sampled_from((None, "+05:30", "-03:00")))
            return a.DateHistogramGroupBy(
                "", draw(st.sampled_from(dates)), span, time_zone=zone, below=below
            )
        case _:
            filters = draw(st.lists(queries(schema, scored=False, depth=1), min_size=1, max_size=2))
            return a.FilterGroupBy("", tuple(filters), below)


@st.composite
def best_first(draw: st.DrawFn, schema: SearchSchema) -> Search:
    """A search for words, or for what a tree says, by score."""
    texts = [each for each in _of_type(schema, "", T.TEXT) if not _is_fuzzy(each[1])]
    query: q.Query = q.MatchAllQuery()
    if texts:
        query = draw(_text_queries(draw(st.sampled_from(texts)), 1.0, scored=True))
    sort = q.SearchSort((q.ScoreSort(), q.PrimaryKeySort()))
    return Search(
        "table", "index", query, limit=draw(st.integers(1, 5)), sort=sort, get_total_count=True
    )


@st.composite
def requests(draw: st.DrawFn, schema: SearchSchema) -> Search:
    """A search of all there is to it."""
    single = [
        name
        for name, each in leaves(schema)
        if each.type in {T.LONG, T.DOUBLE, T.KEYWORD}
        and not each.is_array
        and not name.startswith("json")
    ]
    scored = draw(st.booleans())
    collapse = draw(st.sampled_from(single)) if single and draw(st.integers(0, 4)) == 0 else None
    return Search(
        "table",
        "index",
        draw(queries(schema, scored=scored)),
        draw(st.none() | queries(schema, scored=False, depth=1)),
        limit=draw(st.integers(1, 5)),
        sort=draw(st.none() | sorts(schema, scored=scored))
        if scored or not paths(schema)
        else draw(sorts(schema, scored=False).filter(lambda each: bool(each.sorters))),
        get_total_count=True,
        collapse=collapse,
        highlight=draw(st.none() | highlights(schema)),
        breakdown=draw(breakdowns(schema)),
    )
