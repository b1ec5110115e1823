'use strict';
// Search indexes through the vendor's Node SDK.
//
//   node search.js ENDPOINT INSTANCE
//
// Prints one JSON object, from the name of a scenario to what it saw; one that did not come to its
// end says why under "panic". What is right is for the tests to say, not for this program.

const TableStore = require('tablestore');

const {
  Long, Condition, RowExistenceExpectation: Rows, QueryType: Q, FieldType: F, AggregationType: A,
  GroupByType: G,
} = TableStore;
const [endpoint, instancename] = process.argv.slice(2);
const client = new TableStore.Client({
  endpoint, instancename, accessKeyId: 'widerow', secretAccessKey: 'widerow', maxRetries: 0,
});
const tableName = 'searched';
const indexName = 'x';
const condition = new Condition(Rows.IGNORE, null);
const int = (number) => Long.fromNumber(number);
const query = (queryType, fields) => ({ queryType, query: fields });

const text = (fieldName) => ({ fieldName, fieldType: F.TEXT, index: true, enableHighlighting: true });
const plain = (fieldName, fieldType) => ({ fieldName, fieldType, index: true, enableSortAndAgg: true });
const schema = {
  fieldSchemas: [
    plain('l', F.LONG), plain('d', F.DOUBLE), plain('k', F.KEYWORD), plain('b', F.BOOLEAN),
    plain('g', F.GEO_POINT), text('t'), plain('second', F.LONG),
    { fieldName: 'date', fieldType: F.DATE, index: true, dateFormats: ['yyyy-MM-dd'] },
    {
      fieldName: 'v',
      fieldType: F.VECTOR,
      index: true,
      vectorOptions: {
        dataType: TableStore.VectorDataType.VD_FLOAT_32,
        metricType: TableStore.VectorMetricType.VM_COSINE,
        dimension: 2,
      },
    },
    {
      fieldName: 'o ', // its suite names a field with a blank behind it
      fieldType: F.NESTED,
      fieldSchemas: [text('t'), { fieldName: 'm', fieldType: F.NESTED, fieldSchemas: [text('t')] }],
    },
  ],
};

async function written() {
  await client.createTable({
    tableMeta: { tableName, primaryKey: [{ name: 'id', type: 'INTEGER' }] },
    reservedThroughput: { capacityUnit: { read: 0, write: 0 } },
    tableOptions: { timeToLive: -1, maxVersions: 1, allowUpdate: false },
  });
  await client.createSearchIndex({ tableName, indexName, schema, timeToLive: 900000 });
  for (let n = 0; n < 12; n += 1) {
    await client.putRow({
      tableName,
      condition,
      primaryKey: [{ id: int(n) }],
      attributeColumns: [
        ...(n < 10 ? [{ l: int(n) }] : [{ second: int(n + 20) }]),
        { d: n + 0.5 }, { k: n % 2 ? 'odd' : 'even' }, { b: n < 4 }, { g: `${n},0` },
        { t: `hangzhou shanghai ${n}` }, { date: '2024-01-01' }, { v: `[1,${n}]` },
        { o: JSON.stringify([{ t: 'main street', m: [{ t: `inner street ${n}` }] }]) },
      ],
    });
  }
}

const search = (searchQuery, columnToGet = {}) => client.search({
  tableName,
  indexName,
  searchQuery: { limit: 20, getTotalCount: true, ...searchQuery },
  columnToGet: { returnType: TableStore.ColumnReturnType.RETURN_NONE, ...columnToGet },
});
const ids = (answer) => answer.rows.map((row) => Number(row.primaryKey[0].value));

const INCR = 2; // of the message; the SDK has no name for it

// A build over a shared store begins when all servers know of the index.
async function built() {
  for (let deadline = Date.now() + 200000; ;) {
    const { syncStat } = await client.describeSearchIndex({ tableName, indexName });
    if (syncStat.syncPhase === INCR) return;
    if (Date.now() > deadline) throw new Error('the index is not built');
    await new Promise((resume) => { setTimeout(resume, 50); });
  }
}

async function described() {
  const found = await client.describeSearchIndex({ tableName, indexName });
  await client.updateSearchIndex({ tableName, indexName, timeToLive: 8000000 });
  const later = await client.describeSearchIndex({ tableName, indexName });
  return {
    fields: found.schema.fieldSchemas.map((field) => field.fieldName),
    status: found.indexStatus.status,
    ttl: [found.timeToLive, later.timeToLive],
  };
}

async function queries() {
  const term = query(Q.TERM_QUERY, { fieldName: 'k', term: 'odd' });
  const asked = {
    all: query(Q.MATCH_ALL_QUERY),
    match: query(Q.MATCH_QUERY, { fieldName: 't', text: 'hangzhou 3', weight: 2 }),
    phrase: query(Q.MATCH_PHRASE_QUERY, { fieldName: 't', text: 'shanghai 5' }),
    term,
    terms: query(Q.TERMS_QUERY, { fieldName: 'l', terms: [int(1), int(2)] }),
    range: query(Q.RANGE_QUERY, {
      fieldName: 'd', rangeFrom: 8.5, includeLower: true, rangeTo: 10.5, includeUpper: true,
    }),
    prefix: query(Q.PREFIX_QUERY, { fieldName: 'k', prefix: 'ev' }),
    wildcard: query(Q.WILDCARD_QUERY, { fieldName: 'k', value: '*d' }),
    exists: query(Q.EXISTS_QUERY, { fieldName: 'l' }),
    bool: query(Q.BOOL_QUERY, { shouldQueries: [term], minimumShouldMatch: 0 }),
    const: query(Q.CONST_SCORE_QUERY, { filter: term }),
    function: query(Q.FUNCTION_SCORE_QUERY, { query: term, fieldValueFactor: { fieldName: 'd' } }),
    nested: query(Q.NESTED_QUERY, {
      path: 'o', query: query(Q.MATCH_QUERY, { fieldName: 'o.t', text: 'main' }),
    }),
    box: query(Q.GEO_BOUNDING_BOX_QUERY, { fieldName: 'g', topLeft: '2.5,-1', bottomRight: '0.5,1' }),
    distance: query(Q.GEO_DISTANCE_QUERY, { fieldName: 'g', centerPoint: '0,0', distance: 120000 }),
    polygon: query(Q.GEO_POLYGON_QUERY, { fieldName: 'g', points: ['-1,-1', '-1,1', '1.5,0'] }),
    nearest: query(Q.KNN_VECTOR_QUERY, {
      fieldName: 'v', topK: int(3), float32QueryVector: [1, 0], filter: term,
    }),
  };
  const seen = {};
  for (const [name, each] of Object.entries(asked)) {
    const answer = await search({ query: each, limit: name === 'nearest' ? 3 : 20 });
    seen[name] = [Number(answer.totalCounts), ids(answer).sort((x, y) => x - y)];
  }
  return seen;
}

async function orders() {
  const missing = await search({
    sort: {
      sorters: [{
        fieldSort: {
          fieldName: 'l', order: TableStore.SortOrder.SORT_ORDER_DESC, missingField: 'second',
        },
      }],
    },
    limit: 3,
    query: query(Q.MATCH_ALL_QUERY),
  });
  const collapsed = await search({ query: query(Q.MATCH_ALL_QUERY), collapse: { fieldName: 'l' } });
  const named = await search(
    { query: query(Q.TERM_QUERY, { fieldName: 'l', term: int(2) }) },
    { returnType: TableStore.ColumnReturnType.RETURN_SPECIFIED, returnNames: ['v'] },
  );
  const inner = await search({
    limit: 1,
    query: query(Q.NESTED_QUERY, {
      path: 'o',
      scoreMode: TableStore.ScoreMode.SCORE_MODE_AVG,
      query: query(Q.NESTED_QUERY, {
        path: 'o.m',
        query: query(Q.MATCH_QUERY, { fieldName: 'o.m.t', text: 'inner' }),
        innerHits: { highlight: { highlightParameters: [{ fieldName: 'o.m.t' }] } },
      }),
      innerHits: {},
    }),
  });
  const outer = inner.searchHits[0].searchInnerHits.get('o');
  const deep = outer.subSearchHits[0].searchInnerHits.get('o.m');
  return {
    missing: ids(missing),
    collapsed: ids(collapsed).length,
    named: named.rows[0].attributes.map((cell) => cell.columnName),
    unnamed: missing.rows[0].attributes.length,
    paths: [outer.path, deep.path],
    marked: deep.subSearchHits[0].highlightResultItem.highlightFields.get('o.m.t').fragments,
  };
}

async function breakdown() {
  const metric = (name, type, fieldName) => ({ name, type, body: { fieldName } });
  const answer = await search({
    limit: 0,
    query: query(Q.MATCH_ALL_QUERY),
    aggs: {
      aggs: [
        metric('avg', A.AGG_AVG, 'd'), metric('max', A.AGG_MAX, 'l'), metric('min', A.AGG_MIN, 'l'),
        metric('sum', A.AGG_SUM, 'l'), metric('count', A.AGG_COUNT, 'k'),
        metric('distinct', A.AGG_DISTINCT_COUNT, 'k'),
        {
          name: 'percentiles', type: A.AGG_PERCENTILES, body: { fieldName: 'd', percentiles: [50] },
        },
        { name: 'top', type: A.AGG_TOP_ROWS, body: { limit: 2 } },
      ],
    },
    groupBys: {
      groupBys: [
        {
          name: 'field',
          type: G.GROUP_BY_FIELD,
          body: {
            fieldName: 'k',
            minDocCount: int(1),
            subAggs: { aggs: [metric('least', A.AGG_MIN, 'd')] },
            subGroupBys: {
              groupBys: [{
                name: 'low',
                type: G.GROUP_BY_RANGE,
                body: { fieldName: 'l', ranges: [{ from: 0, to: 4 }] },
              }],
            },
          },
        },
        { name: 'filter', type: G.GROUP_BY_FILTER, body: { filters: [query(Q.MATCH_ALL_QUERY)] } },
      ],
    },
  });
  const [field, filter] = answer.groupBys.groupByResults.map((each) => each.groupByResult.items);
  return {
    metrics: answer.aggs.aggResults.slice(0, 6).map((each) => Number(each.aggResult.value)),
    percentiles: answer.aggs.aggResults[6].aggResult.items.map(({ item }) => [item.key, item.value]),
    top: answer.aggs.aggResults[7].aggResult.rows.map((row) => Number(row.primaryKey[0].value)),
    field: field.map((item) => [
      item.key,
      Number(item.rowCount),
      Number(item.subAggsResult.aggResults[0].aggResult.value),
      Number(item.subGroupBysResult.groupByResults[0].groupByResult.items[0].rowCount),
    ]),
    filter: filter.map((item) => Number(item.rowCount)),
  };
}

async function scanned() {
  const splits = await client.computeSplits({ tableName, searchIndexSplitsOptions: { indexName } });
  const scanQuery = {
    query: query(Q.MATCH_ALL_QUERY), limit: 7, aliveTime: 30, currentParallelId: 0, maxParallel: 1,
  };
  const pages = [];
  do {
    const page = await client.parallelScan({
      tableName,
      indexName,
      sessionId: splits.sessionId,
      scanQuery,
      columnToGet: { returnType: TableStore.ColumnReturnType.RETURN_NONE },
    });
    pages.push(page.rows.length);
    scanQuery.token = page.nextToken;
  } while (scanQuery.token && scanQuery.token.length > 0);
  return { splits: splits.splitsSize, pages };
}

async function removed() {
  await client.createSearchIndex({ tableName, indexName: 'x_reindex', schema });
  const before = await client.listSearchIndex({ tableName });
  await client.deleteSearchIndex({ tableName, indexName: 'x_reindex' });
  await client.deleteSearchIndex({ tableName, indexName });
  const after = await client.listSearchIndex({ tableName });
  await client.deleteTable({ tableName });
  return [before.indices.map((each) => each.indexName), after.indices];
}

async function main() {
  const seen = {};
  await written();
  await built();
  const scenarios = { described, queries, orders, breakdown, scanned, removed };
  for (const [name, scenario] of Object.entries(scenarios)) {
    try {
      seen[name] = await scenario();
    } catch (error) {
      seen[name] = { panic: String(error.stack || error) };
    }
  }
  process.stdout.write(JSON.stringify(seen));
}

main();
