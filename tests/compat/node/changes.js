'use strict';
// Secondary indexes and local transactions through the vendor's Node SDK.
//
//   node changes.js ENDPOINT INSTANCE
//
// Prints one JSON object, from the name of a scenario to what it saw; one that did not come to its
// end says why under "panic". The SDK has no calls for streams, tunnels and bulk requests. What is
// right is for the tests to say, not for this program.

const TableStore = require('tablestore');

const { Long, Condition, RowExistenceExpectation: Rows, Direction } = TableStore;
const [endpoint, instancename] = process.argv.slice(2);
const client = new TableStore.Client({
  endpoint, instancename, accessKeyId: 'widerow', secretAccessKey: 'widerow', maxRetries: 0,
});
const condition = new Condition(Rows.IGNORE, null);
const KEY_TYPES = { 1: 'INTEGER', 2: 'STRING', 3: 'BINARY' };
const COLUMN_TYPES = { 1: 'INTEGER', 2: 'DOUBLE', 3: 'BOOLEAN', 4: 'STRING', 5: 'BLOB' };
const BUILD_PATIENCE_MS = 150000; // for a machine under load

const int = (number) => Long.fromNumber(number);
const key = (pk, n) => [{ pk }, { n: int(n) }];

// --- what came back ------------------------------------------------------------------------------

function printed(value) {
  if (value !== null && typeof value === 'object') return Number(value.toString());
  return typeof value === 'number' ? { double: value } : value;
}

const printedKey = (row) => (row.primaryKey || []).map(({ name, value }) => [name, printed(value)]);
const printedCells = (row) => (row.attributes || [])
  .map(({ columnName, columnValue }) => [columnName, printed(columnValue)]);
const printedRow = (row) => [printedKey(row), printedCells(row)];

// The SDK hands over the bytes of the error's message: a code and a text, each behind its length.
function refusalOf(error) {
  const [body] = error.message.split(' requestId:');
  const bytes = Buffer.from(body);
  const codeEnd = 2 + bytes[1];
  return {
    status: error.code,
    code: bytes.toString('utf8', 2, codeEnd),
    message: bytes.toString('utf8', codeEnd + 2, codeEnd + 2 + bytes[codeEnd + 1]),
  };
}

async function refusal(call) {
  try {
    await call;
  } catch (error) {
    return refusalOf(error);
  }
  return 'no error';
}

// --- what is asked -------------------------------------------------------------------------------

const put = (tableName, primaryKey, attributeColumns, more = {}) => client.putRow({
  tableName, condition, primaryKey, attributeColumns, ...more,
});
const update = (tableName, primaryKey, updateOfAttributeColumns, more = {}) => client.updateRow({
  tableName, condition, primaryKey, updateOfAttributeColumns, ...more,
});
const remove = (tableName, primaryKey, more = {}) => client.deleteRow({
  tableName, condition, primaryKey, ...more,
});
const get = async (tableName, primaryKey, more = {}) => (
  (await client.getRow({ tableName, primaryKey, ...more })).row
);

async function scan(tableName, direction, start, end, more = {}) {
  const rows = [];
  let from = start;
  while (from) {
    const page = await client.getRange({
      tableName,
      direction,
      inclusiveStartPrimaryKey: from,
      exclusiveEndPrimaryKey: end,
      limit: 2,
      ...more,
    });
    rows.push(...page.rows.map(printedRow));
    const next = page.nextStartPrimaryKey;
    from = next && next.map(({ name, value }) => ({ [name]: value }));
  }
  return rows;
}

const bounds = (names, value) => names.map((name) => ({ [name]: value }));

async function entries(index, ...names) {
  const least = bounds(names, TableStore.INF_MIN);
  const most = bounds(names, TableStore.INF_MAX);
  return [
    await scan(index, Direction.FORWARD, least, most),
    await scan(index, Direction.BACKWARD, most, least),
  ];
}

const tableOf = (tableName, more = {}) => ({
  tableMeta: {
    tableName,
    primaryKey: [{ name: 'pk', type: 'STRING' }, { name: 'n', type: 'INTEGER' }],
    ...more,
  },
  reservedThroughput: { capacityUnit: { read: 0, write: 0 } },
  tableOptions: { timeToLive: -1, maxVersions: 1 },
});

// --- indexes (change §A) -------------------------------------------------------------------------

async function describedIndexes() {
  const described = await client.describeTable({ tableName: 'indexed' });
  return described.indexMetas.map((index) => [
    index.name,
    index.primaryKey,
    index.definedColumn,
    index.indexType === TableStore.IndexType.IT_LOCAL_INDEX ? 'LOCAL' : 'GLOBAL',
    index.indexSyncPhase === TableStore.SyncPhase.INCR ? 'INCR' : 'FULL',
  ]);
}

const createIndexed = () => client.createTable({
  ...tableOf('indexed', {
    definedColumn: [
      { name: 's', type: TableStore.DefinedColumnType.DCT_STRING },
      { name: 'i', type: TableStore.DefinedColumnType.DCT_INTEGER },
      { name: 'd', type: TableStore.DefinedColumnType.DCT_DOUBLE },
    ],
  }),
  indexMetas: [
    { name: 'indexed_by_s', primaryKey: ['s', 'pk'], definedColumn: ['i', 'd'] },
    {
      name: 'indexed_by_i',
      primaryKey: ['pk', 'i'],
      definedColumn: ['s'],
      indexUpdateMode: TableStore.IndexUpdateMode.IUM_SYNC_INDEX,
      indexType: TableStore.IndexType.IT_LOCAL_INDEX,
    },
  ],
});

const createIndex = (name, includeBaseData) => client.createIndex({
  mainTableName: 'indexed',
  includeBaseData,
  indexMeta: { name, primaryKey: ['i'], definedColumn: ['s'] },
});
const drop = (indexName) => client.dropIndex({ mainTableName: 'indexed', indexName });

async function whenBuilt(name) {
  const deadline = Date.now() + BUILD_PATIENCE_MS;
  while (!(await describedIndexes()).some((index) => index[0] === name && index[4] === 'INCR')) {
    if (Date.now() > deadline) throw new Error('the index is not built');
  }
  return entries(name, 'i', 'pk', 'n');
}

async function described() {
  const { tableMeta } = await client.describeTable({ tableName: 'indexed_by_s' });
  return {
    described: await describedIndexes(),
    'as table': [
      tableMeta.primaryKey.map(({ name, type }) => [name, KEY_TYPES[type]]),
      tableMeta.definedColumn.map(({ name, type }) => [name, COLUMN_TYPES[type]]),
    ],
    listed: (await client.listTable({})).tableNames.filter((name) => name.startsWith('indexed')),
  };
}

async function read() {
  await put('indexed', key('a', 1), [{ s: 'x' }, { i: int(7) }, { d: 0.5 }, { free: 'in no index' }]);
  await put('indexed', key('a', 2), [{ s: 'w' }, { i: int(7) }]);
  await put('indexed', key('b', 1), [{ i: int(9) }]);
  const batch = await client.batchGetRow({
    tables: [{
      tableName: 'indexed_by_s',
      primaryKey: [[{ s: 'x' }, ...key('a', 1)], [{ s: 'nothing' }, ...key('a', 1)]],
    }],
  });
  return {
    global: await entries('indexed_by_s', 's', 'pk', 'n'),
    local: await entries('indexed_by_i', 'pk', 'i', 'n'),
    'global row': printedRow(await get('indexed_by_s', [{ s: 'x' }, ...key('a', 1)])),
    'local row': printedRow(await get('indexed_by_i', [{ pk: 'a' }, { i: int(7) }, { n: int(2) }])),
    batch: batch.tables[0].map(printedRow),
  };
}

async function followed() {
  await update('indexed', key('a', 1), [{ PUT: [{ s: 'y' }] }]);
  const moved = await entries('indexed_by_s', 's', 'pk', 'n');
  await remove('indexed', key('a', 2));
  return {
    moved,
    'after delete': [
      await entries('indexed_by_s', 's', 'pk', 'n'),
      await entries('indexed_by_i', 'pk', 'i', 'n'),
    ],
  };
}

async function madeLater() {
  await createIndex('indexed_later', false);
  const later = await entries('indexed_later', 'i', 'pk', 'n');
  await update('indexed', key('b', 1), [{ PUT: [{ d: 1.5 }] }]);
  const again = await entries('indexed_later', 'i', 'pk', 'n');
  await createIndex('indexed_whole', true);
  const whole = await whenBuilt('indexed_whole');
  return {
    later, 'later, row written again': again, whole, 'described later': await describedIndexes(),
  };
}

async function dropped() {
  const direct = [{ s: 'x' }, ...key('a', 1)];
  const write = await refusal(put('indexed_by_s', direct, [{ i: int(1) }]));
  await drop('indexed_by_s');
  await drop('indexed_later');
  const again = await refusal(drop('indexed_by_s'));
  const left = (await describedIndexes()).map(([name]) => name);
  const gone = await refusal(get('indexed_by_s', [{ s: 'y' }, ...key('a', 1)]));
  await client.deleteTable({ tableName: 'indexed' });
  return {
    write,
    left,
    'dropped again': again,
    'read of the dropped': gone,
    gone: await refusal(client.describeTable({ tableName: 'indexed_by_i' })),
  };
}

async function indexes() {
  await createIndexed();
  const seen = {};
  for (const part of [described, read, followed, madeLater, dropped]) {
    Object.assign(seen, await part());
  }
  return seen;
}

// --- local transactions (change §B) --------------------------------------------------------------

const TABLE = 'transactions';
const begin = async () => (
  await client.startLocalTransaction({ tableName: TABLE, primaryKey: [{ pk: 'a' }] })
).transactionId;

async function numbers(more) {
  const rows = await scan(TABLE, Direction.FORWARD, key('a', 0), key('a', 9), more);
  return rows.map(([[, [, number]]]) => number);
}

const state = async (more = {}) => [
  printedCells(await get(TABLE, key('a', 1), more)), await numbers(more),
];

// The put and the delete by themselves, the update in a batch.
async function writeInside(transactionId, value) {
  await put(TABLE, key('a', 1), [{ c: value }], { transactionId });
  await remove(TABLE, key('a', 2), { transactionId });
  const row = {
    type: 'UPDATE', condition, primaryKey: key('a', 3), attributeColumns: [{ PUT: [{ c: value }] }],
  };
  const written = await client.batchWriteRow({
    tables: [{ tableName: TABLE, rows: [row] }], transactionId,
  });
  if (!written.tables[0].isOk) throw new Error(written.tables[0].errorMessage);
}

async function transactions() {
  await client.createTable(tableOf(TABLE));
  const seen = {};
  for (const end of ['abort', 'commit']) {
    await put(TABLE, key('a', 1), [{ c: 'old' }]);
    await put(TABLE, key('a', 2), [{ c: 'old' }]);
    const transactionId = await begin();
    await writeInside(transactionId, end);
    seen[`${end} inside`] = await state({ transactionId });
    seen[`${end} outside`] = await state();
    seen[`${end} others`] = [
      await refusal(begin()), await refusal(put(TABLE, key('a', 4), [{ c: 'others' }])),
    ];
    await client[`${end}Transaction`]({ transactionId });
    seen[`${end} after`] = await state();
    seen[`${end} again`] = await refusal(client.commitTransaction({ transactionId }));
  }
  const forged = { transactionId: 'not existed transaction id' };
  seen.forged = await refusal(client.commitTransaction(forged));
  return seen;
}

async function main() {
  const seen = {};
  for (const [name, scenario] of Object.entries({ indexes, transactions })) {
    try {
      seen[name] = await scenario();
    } catch (error) {
      seen[name] = { panic: String(error.stack || error) };
    }
  }
  process.stdout.write(JSON.stringify(seen));
}

main();
