'use strict';
// SQL statements through the vendor's Node SDK.
//
//   node sql.js ENDPOINT INSTANCE
//
// Prints one JSON object with what the scenario "sql" saw; if it did not come to its end, it says
// why under "panic". What is right is for the tests to say, not for this program.

const TableStore = require('tablestore');

const { Long, Condition, RowExistenceExpectation: Rows } = TableStore;
const [endpoint, instancename] = process.argv.slice(2);
const client = new TableStore.Client({
  endpoint, instancename, accessKeyId: 'widerow', secretAccessKey: 'widerow', maxRetries: 0,
});
const int = (number) => Long.fromNumber(number);
const asked = (query) => client.sqlQuery({ query });

async function written() {
  await client.createTable({
    tableMeta: {
      tableName: 'stated',
      primaryKey: [{ name: 'pk', type: 'STRING' }, { name: 'n', type: 'INTEGER' }],
    },
    reservedThroughput: { capacityUnit: { read: 0, write: 0 } },
    tableOptions: { timeToLive: -1, maxVersions: 1 },
  });
  const put = (pk, n, attributeColumns) => client.putRow({
    tableName: 'stated',
    condition: new Condition(Rows.IGNORE, null),
    primaryKey: [{ pk }, { n: int(n) }],
    attributeColumns,
  });
  await put('a', 1, [
    { i: int(7) }, { d: 0.5 }, { b: true }, { s: 'é 值' }, { x: Buffer.from([0, 255]) },
  ]);
  await put('a', 2, [
    { i: int(-1) }, { d: 2 }, { b: false }, { s: 'other' }, { x: Buffer.from([1]) },
  ]);
  await put('b', 1, []);
}

// --- what came back ------------------------------------------------------------------------------

const PRINTED = {
  LONG: (value) => Number(value.toFloat64()),
  DOUBLE: (value) => ({ double: value }),
  BINARY: (value) => ({ binary: Buffer.from(value.valueArray()).toString('hex') }),
};

// By the names that the other SDKs have for types.
const typeOf = ({ typeName }) => (typeName === 'LONG' ? 'INTEGER' : typeName);
const statementOf = ({ type }) => (
  Object.keys(TableStore.SQLStatementType).find((name) => TableStore.SQLStatementType[name] === type));

// Which statement was answered, columns with their types, and rows.
function resultOf(answer) {
  const rows = answer.sqlRows;
  const { schemas } = rows.sqlTableMeta;
  const cell = (row, column) => {
    const value = rows.get(row, column);
    const print = PRINTED[schemas[column].typeName];
    return value === null || !print ? value : print(value);
  };
  return {
    statement: statementOf(answer),
    columns: schemas.map((schema) => [schema.name, typeOf(schema)]),
    rows: Array.from({ length: rows.rowCount.toFloat64() }, (_, row) => (
      schemas.map((_column, column) => cell(row, column)))),
  };
}

// The SDK hands over the bytes of the error's message: a code and a text, each behind its length.
async function refusal(query) {
  try {
    await asked(query);
  } catch (error) {
    const [body] = error.message.split(' requestId:');
    const bytes = Buffer.from(body);
    const end = 2 + bytes[1];
    return {
      status: error.code,
      code: bytes.toString('utf8', 2, end),
      message: bytes.toString('utf8', end + 2, end + 2 + bytes[end + 1]),
    };
  }
  return 'no error';
}

// --- what is asked -------------------------------------------------------------------------------

async function sql() {
  await written();
  const result = async (query) => resultOf(await asked(query));
  const seen = {};
  const created = await asked('CREATE TABLE stated (pk VARCHAR(1024), n BIGINT(20), i BIGINT(20),'
    + ' d DOUBLE, b BOOL, s MEDIUMTEXT, x MEDIUMBLOB, PRIMARY KEY (pk, n))');
  const everything = await asked('SELECT * FROM stated');
  seen.everything = resultOf(everything);
  seen.consumed = everything.consumes.map(({ tableName, consumed: { capacityUnit } }) => (
    [tableName, capacityUnit.read, capacityUnit.write]));
  seen.nothing = await result('SELECT i, s FROM stated WHERE n > 5');
  seen.groups = await result('SELECT pk, count(*) AS number, sum(i) AS total, max(d) FROM stated'
    + ' GROUP BY pk ORDER BY pk');
  seen.last = await result('SELECT n, s FROM stated ORDER BY i DESC LIMIT 1');
  seen.times = await result('SELECT from_unixtime(1668585138.995),'
    + ' timediff(from_unixtime(1668585138.995),from_unixtime(1668585013.712)),'
    + ' date(from_unixtime(1668585138.995))');
  seen.tables = await result('SHOW TABLES');
  seen.described = await result('DESCRIBE stated');
  await asked("INSERT INTO stated (pk, n, i) VALUES ('c', 1, 40), ('c', 2, 50)");
  await asked("UPDATE stated SET i = i + 2, s = 'new' WHERE pk = 'c' AND n = 1");
  await asked("DELETE FROM stated WHERE pk = 'c' AND n = 2");
  seen.changed = await result("SELECT n, i, s FROM stated WHERE pk = 'c'");
  seen.refused = await refusal('SELECT nope FROM stated');
  const dropped = await asked('DROP MAPPING TABLE stated');
  seen.without = [created, dropped].map((answer) => (
    [statementOf(answer), answer.sqlRows ? answer.sqlRows.columnCount : 0]));
  seen.left = await result('DESCRIBE stated');
  return seen;
}

sql()
  .catch((error) => ({ panic: String(error.stack || error) }))
  .then((seen) => process.stdout.write(JSON.stringify({ sql: seen })));
