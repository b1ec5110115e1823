'use strict';
// The actions on tables and rows of the vendor's Node SDK, step by step, against one endpoint.
//
//   node every_action.js ENDPOINT write    makes tables and rows, asks for them, and spoils things
//   node every_action.js ENDPOINT read     asks again for what `write` left behind
//
// Prints one JSON object: for each step what the SDK returned, or the error that it raised. Integers
// come out as {"int": "…"}, binaries as {"bytes": "…"} in hexadecimal; what holds in it is for the
// test beside this file to say.

const TableStore = require('tablestore');

const { Long, Condition, RowExistenceExpectation: Rows, ReturnType, Direction } = TableStore;
const { SingleColumnCondition: Column, CompositeCondition, ComparatorType: Is } = TableStore;
const [endpoint, phase] = process.argv.slice(2);
const int = (number) => Long.fromNumber(number);
const key = (text, number) => [{ s: text }, { n: int(number) }];
const ANY = new Condition(Rows.IGNORE, null);
const THERE = new Condition(Rows.EXPECT_EXIST, null);
const NOT_THERE = new Condition(Rows.EXPECT_NOT_EXIST, null);
const LOW = [{ s: TableStore.INF_MIN }, { n: TableStore.INF_MIN }];
const HIGH = [{ s: TableStore.INF_MAX }, { n: TableStore.INF_MAX }];
const VERSION = Date.now() - 60000;

function clientWith(changes) {
  return new TableStore.Client({
    endpoint,
    instancename: 'nodesdk',
    accessKeyId: 'widerow',
    secretAccessKey: 'widerow',
    maxRetries: 0,
    ...changes,
  });
}

const client = clientWith({});

function plain(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) {
    return { bytes: Buffer.from(value).toString('hex') };
  }
  if (value.buffer !== undefined && value.offset !== undefined) return { int: value.toString() };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value.low === 'number' && typeof value.high === 'number') {
    return { int: value.toString() };
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => typeof each !== 'function')
      .map(([name, each]) => [name, plain(each)]),
  );
}

const table = (tableName, primaryKey, tableOptions) => ({
  tableMeta: { tableName, primaryKey },
  reservedThroughput: { capacityUnit: { read: 0, write: 0 } },
  tableOptions,
});
const SCHEMA = [{ name: 's', type: 'STRING' }, { name: 'n', type: 'INTEGER' }];
const OPTIONS = { timeToLive: -1, maxVersions: 3 };
const COUNTED = [{ name: 's', type: 'STRING' }, { name: 'n', type: 'INTEGER', option: 'AUTO_INCREMENT' }];

const put = (primaryKey, attributeColumns, condition = ANY, more = {}) => client.putRow({
  tableName: 'rows', condition, primaryKey, attributeColumns, ...more,
});
const get = (primaryKey, more = {}) => client.getRow({ tableName: 'rows', primaryKey, ...more });
const update = (primaryKey, updateOfAttributeColumns, condition = ANY, more = {}) => client.updateRow({
  tableName: 'rows', condition, primaryKey, updateOfAttributeColumns, ...more,
});
const range = (start, end, more = {}) => client.getRange({
  tableName: 'rows',
  direction: Direction.FORWARD,
  inclusiveStartPrimaryKey: start,
  exclusiveEndPrimaryKey: end,
  ...more,
});
const backward = (more = {}) => range(HIGH, LOW, { direction: Direction.BACKWARD, ...more });
const change = (type, primaryKey, attributeColumns, condition = ANY, more = {}) => ({
  type, condition, primaryKey, attributeColumns, ...more,
});
const batch = (...rows) => client.batchWriteRow({ tables: [{ tableName: 'rows', rows }] });

function both(first, second) {
  const condition = new CompositeCondition(TableStore.LogicalOperator.AND);
  condition.addSubCondition(first);
  condition.addSubCondition(second);
  return condition;
}

const READ = {
  'list tables': () => client.listTable({}),
  'describe table': () => client.describeTable({ tableName: 'rows' }),
  'get all types': () => get(key('types', 1)),
  'get unicode': () => get(key('杭州', -1)),
  'get changed row': () => get(key('changed', 1), { maxVersions: 10 }),
  'get deleted row': () => get(key('deleted', 1)),
  'get counted rows': () => client.getRange({
    tableName: 'counted',
    direction: Direction.FORWARD,
    inclusiveStartPrimaryKey: LOW,
    exclusiveEndPrimaryKey: HIGH,
  }),
  'range forward': () => range(LOW, HIGH),
  'range backward': () => backward(),
};

const WRITE = {
  'create table': () => client.createTable(table('rows', SCHEMA, OPTIONS)),
  'create counting table': () => client.createTable(table('counted', COUNTED, OPTIONS)),
  'create doomed table': () => client.createTable(table('doomed', SCHEMA, OPTIONS)),
  'create table again': () => client.createTable(table('rows', SCHEMA, OPTIONS)),
  'update table': () => client.updateTable({ tableName: 'rows', tableOptions: { timeToLive: -1, maxVersions: 4 } }),
  'delete table': () => client.deleteTable({ tableName: 'doomed' }),
  'delete table again': () => client.deleteTable({ tableName: 'doomed' }),

  'put all types': () => put(key('types', 1), [
    { text: 'abc' },
    { empty: '' },
    { small: int(-7) },
    { large: Long.fromString('9223372036854775807') },
    { real: 1.5 },
    { yes: true },
    { no: false },
    { raw: Buffer.from([0, 1, 255]) },
  ]),
  'put unicode': () => put(key('杭州', -1), [{ city: '杭州 🏙' }], NOT_THERE, {
    returnContent: { returnType: ReturnType.Primarykey },
  }),
  'put where none may be': () => put(key('types', 1), [{ text: 'overwritten' }], NOT_THERE),
  'put where one must be': () => put(key('absent', 1), [{ text: 'made' }], THERE),
  'put counted': () => client.putRow({
    tableName: 'counted',
    condition: ANY,
    primaryKey: [{ s: 'a' }, { n: TableStore.PK_AUTO_INCR }],
    attributeColumns: [{ text: 'counted' }],
    returnContent: { returnType: ReturnType.Primarykey },
  }),

  'put row to change': () => put(key('changed', 1), [
    { kept: 'kept' },
    { gone: 'gone' },
    { dated: 'dated', timestamp: int(VERSION) },
    { count: int(40) },
  ]),
  'update put': () => update(key('changed', 1), [{ PUT: [{ added: int(5) }, { kept: 'kept again', timestamp: int(VERSION) }] }]),
  'update delete': () => update(key('changed', 1), [{ DELETE: [{ dated: int(VERSION) }] }]),
  'update delete all': () => update(key('changed', 1), [{ DELETE_ALL: ['gone'] }]),
  'update increment': () => update(key('changed', 1), [{ INCREMENT: [{ count: int(2) }] }], THERE, {
    returnContent: { returnType: ReturnType.AfterModify, returnColumns: ['count'] },
  }),
  'update everything at once': () => update(key('mixed', 1), [
    { PUT: [{ a: 'x' }, { b: int(1) }] },
    { DELETE_ALL: ['c', 'd'] },
    { DELETE: [{ e: int(VERSION) }] },
    { INCREMENT: [{ f: int(3) }] },
  ]),
  'get what was updated at once': () => get(key('mixed', 1)),
  'update where one must be': () => update(key('absent', 1), [{ PUT: [{ a: 'x' }] }], THERE),
  'update where a column is': () => update(key('changed', 1), [{ PUT: [{ checked: true }] }],
    new Condition(Rows.EXPECT_EXIST, both(new Column('added', int(5), Is.EQUAL), new Column('kept', 'a', Is.GREATER_THAN)))),
  'update where a column is not': () => update(key('changed', 1), [{ PUT: [{ checked: false }] }],
    new Condition(Rows.EXPECT_EXIST, new Column('added', int(6), Is.EQUAL, false))),

  'put row to delete': () => put(key('deleted', 1), [{ a: 'x' }]),
  'delete row': () => client.deleteRow({ tableName: 'rows', condition: THERE, primaryKey: key('deleted', 1) }),
  'delete row again': () => client.deleteRow({ tableName: 'rows', condition: THERE, primaryKey: key('deleted', 1) }),
  'delete mixed row': () => client.deleteRow({ tableName: 'rows', condition: ANY, primaryKey: key('mixed', 1) }),

  'batch write': () => batch(
    change('PUT', key('batch', 1), [{ a: 'x' }]),
    change('PUT', key('batch', 2), [{ a: 'y' }, { b: 2.5 }]),
    change('PUT', key('batch', 3), [{ a: 'z' }]),
    change('UPDATE', key('batch', 2), [{ PUT: [{ c: int(9) }] }, { DELETE_ALL: ['a'] }]),
    change('DELETE', key('batch', 3), null),
  ),
  'batch write in part': () => batch(
    change('PUT', key('batch', 4), [{ a: 'x' }]),
    change('PUT', key('batch', 5), [{ a: 'x' }], THERE),
  ),
  'batch write of no kind of row': () => batch(change('PUT', [{ s: TableStore.INF_MIN }, { n: int(1) }], [{ a: 'x' }])),
  'batch get': () => client.batchGetRow({
    tables: [
      { tableName: 'rows', primaryKey: [key('batch', 1), key('batch', 2), key('batch', 3)] },
      { tableName: 'rows', primaryKey: [key('batch', 2)], columnsToGet: ['b'] },
      { tableName: 'missing', primaryKey: [key('a', 1)] },
    ],
  }),

  'get some columns': () => get(key('types', 1), { columnsToGet: ['text', 'small', 'unknown'] }),
  'get with filter': () => get(key('types', 1), { columnFilter: new Column('text', 'abc', Is.EQUAL) }),
  'get with filter that fails': () => get(key('types', 1), { columnFilter: new Column('small', int(0), Is.GREATER_EQUAL) }),
  'get first columns': () => get(key('types', 1), { columnFilter: new TableStore.ColumnPaginationFilter(3, 1) }),
  'get one version': () => get(key('changed', 1), { columnsToGet: ['kept'] }),
  'get versions of a time': () => get(key('changed', 1), {
    columnsToGet: ['kept'],
    timeRange: { startTime: String(VERSION), endTime: String(VERSION + 1) },
  }),
  'range of one partition': () => range([{ s: 'batch' }, { n: TableStore.INF_MIN }], [{ s: 'batch' }, { n: TableStore.INF_MAX }]),
  'range with filter': () => range(LOW, HIGH, { columnFilter: new Column('b', 2.5, Is.EQUAL, false) }),
  'range page': () => range(LOW, HIGH, { limit: 2 }),
  'range next page': async () => {
    const first = await range(LOW, HIGH, { limit: 2 });
    return range(first.nextStartPrimaryKey.map(({ name, value }) => ({ [name]: value })), HIGH, { limit: 2 });
  },
  'range last page backward': () => backward({ limit: 2 }),

  'error: no table': () => client.getRow({ tableName: 'missing', primaryKey: key('a', 1) }),
  'error: no table name': () => client.getRow({ tableName: '3t', primaryKey: key('a', 1) }),
  'error: no key': () => client.getRow({ tableName: 'rows', primaryKey: [{ s: 'a' }] }),
  'error: another key': () => get([{ s: int(1) }, { n: int(1) }]),
  'error: another name': () => get([{ t: 'a' }, { n: int(1) }]),
  'error: infinity': () => get([{ s: 'a' }, { n: TableStore.INF_MAX }]),
  'error: range the wrong way': () => range(HIGH, LOW),
  // The SDK always asks for a number of versions, so it can never ask for one time alone.
  'error: a time and versions': () => get(key('a', 1), { timeRange: { specificTime: '1' } }),
  'error: old version': () => put(key('a', 1), [{ a: 'x', timestamp: int(1) }]),
  'error: an index of no column': () => client.createTable({
    ...table('indexed', SCHEMA, OPTIONS),
    indexMetas: [{ name: 'i', primaryKey: ['missing'], definedColumn: [] }],
  }),
  'error: wrong secret': () => clientWith({ secretAccessKey: 'guess' }).listTable({}),
  'error: unknown access key': () => clientWith({ accessKeyId: 'stranger' }).listTable({}),
  'error: an action that is not served': () => client.sqlQuery({ query: 'grant all' }),
};

async function take(steps) {
  const outcomes = {};
  for (const [name, step] of Object.entries(steps)) {
    try {
      outcomes[name] = { data: plain(await step()) };
    } catch (error) {
      outcomes[name] = { error: { code: error.code, message: String(error.message) } };
    }
  }
  return outcomes;
}

async function main() {
  const outcomes = phase === 'write' ? await take(WRITE) : {};
  Object.assign(outcomes, await take(READ));
  process.stdout.write(JSON.stringify({ version: VERSION, steps: outcomes }));
}

main();
