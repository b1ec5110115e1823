'use strict';
// The life of the product tables through Oracle's NoSQL driver for Node.js.
//
//   node life.js ENDPOINT begin|end FILE
//
// FILE has the statements and rows (life.json). "begin" makes tables and rows, "end" goes on with
// them. Prints one JSON object with what was seen; what is right is for the tests to say.

const fs = require('fs');
const { NoSQLClient, ServiceType, Consistency, CapacityMode } = require('oracle-nosqldb');

const [endpoint, phase, file] = process.argv.slice(2);
const given = JSON.parse(fs.readFileSync(file, 'utf8'));
const client = new NoSQLClient({
  serviceType: ServiceType.CLOUDSIM, endpoint, consistency: Consistency.ABSOLUTE,
  ddlTimeout: 60000, // a change waits for a server that was killed
});
const DAY = 24 * 60 * 60 * 1000;
const PRODUCTS = 'myProducts';
const STOCK = 'myProducts.stock';
const LIMITS = { readUnits: 50, writeUnits: 50, storageGB: 1, mode: CapacityMode.PROVISIONED };

async function refusal(call) {
  try {
    await call();
  } catch (error) {
    return error.errorCode ? error.errorCode.name : String(error);
  }
  return 'no error';
}

// The states of a statement's table: as it was answered, and when it was done.
async function define(statement) {
  const opt = statement.startsWith('CREATE TABLE') && !statement.includes('.')
    ? { tableLimits: LIMITS } : {};
  const first = await client.tableDDL(statement, opt);
  const answered = first.tableState.name;
  return [answered, (await client.forCompletion(first, { delay: 50 })).tableState.name];
}

// Whether a row expires at the end of a UTC day, so many days after it was written.
async function expires(days, write) {
  const before = Date.now();
  await write();
  const after = Date.now();
  const { expirationTime } = await client.get(PRODUCTS, given.cap);
  const time = expirationTime.getTime();
  return time % DAY === 0 && before + days * DAY <= time && time <= after + (days + 1) * DAY;
}

async function put() {
  const done = [];
  for (const row of given.products) {
    done.push((await client.put(PRODUCTS, row)).success);
  }
  const generated = [];
  for (const note of ['first', 'second']) {
    generated.push(Number((await client.put('orders', { note })).generatedValue));
  }
  return { done, generated };
}

async function conditions() {
  const { cap, none, changedCap } = given;
  const absent = await client.putIfAbsent(PRODUCTS, changedCap, { returnExisting: true });
  const found = await client.get(PRODUCTS, cap);
  const changed = await client.putIfVersion(PRODUCTS, changedCap, found.version);
  const stale = await client.putIfVersion(
    PRODUCTS, changedCap, found.version, { returnExisting: true });
  return {
    absent: [absent.success, absent.existingRow],
    present: [
      (await client.putIfPresent(PRODUCTS, changedCap)).success,
      (await client.putIfPresent(PRODUCTS, { ...none, color: 'red' })).success,
    ],
    found: found.row,
    changed: changed.success,
    stale: [stale.success, stale.existingRow],
    deleted: [
      (await client.delete(PRODUCTS, none)).success,
      (await client.deleteIfVersion(PRODUCTS, cap, found.version)).success,
    ],
    units: found.consumedCapacity.readUnits,
  };
}

async function expiry() {
  return [
    await expires(5, () => client.put(PRODUCTS, given.changedCap, { updateTTLToDefault: true })),
    await expires(3, () => client.put(PRODUCTS, given.changedCap, { ttl: { days: 3 } })),
  ];
}

async function refused() {
  const seen = {};
  for (const [name, statement] of Object.entries(given.refusedStatements)) {
    seen[name] = await refusal(() => define(statement));
  }
  for (const [name, statement] of Object.entries(given.refusedQueries)) {
    seen[name] = await refusal(() => client.query(statement));
  }
  const { cap, pinkCap, longKey, strangers, changedCap } = given;
  const calls = {
    'get of no table': () => client.get('nosuch', { id: 1 }),
    'no such index': () => client.getIndex(PRODUCTS, 'nosuch'),
    'no such color': () => client.put(PRODUCTS, pinkCap),
    'unknown column': () => client.put(PRODUCTS, { ...cap, price: 5 }, { exactMatch: true }),
    'half a key': () => client.get(PRODUCTS, given.bowlers),
    'half a shard key': () => client.deleteRange(PRODUCTS, { productType: 'hat' }),
    'long key': () => client.put(PRODUCTS, longKey),
    'large row': () => client.put(PRODUCTS, { ...changedCap, details: 'x'.repeat(600_000) }),
    'two shards': () => client.putMany(PRODUCTS, strangers),
  };
  for (const [name, call] of Object.entries(calls)) {
    seen[name] = await refusal(call);
  }
  return seen;
}

async function begin() {
  const states = [];
  for (const statement of given.tables) {
    states.push(await define(statement));
  }
  return {
    states,
    put: await put(),
    conditions: await conditions(),
    expires: await expiry(),
    refused: await refused(),
  };
}

async function definitions() {
  const table = await client.getTable('MYPRODUCTS');
  const limits = await client.setTableLimits('orders', { ...LIMITS, readUnits: 60 });
  await client.forCompletion(limits, { delay: 50 });
  return {
    tables: (await client.listTables()).tables,
    table: [table.tableState.name, table.tableLimits.readUnits],
    limits: (await client.getTable('orders')).tableLimits.readUnits,
    indexes: (await client.getIndexes(PRODUCTS)).map((each) => [each.indexName, each.fields]),
    usage: (await client.getTableUsage(PRODUCTS)).usageRecords.length,
  };
}

// Rows of one shard key, of a table and its child: all of them, or none.
async function together() {
  const { fullBrim, shelves, firstShelf } = given;
  const puts = shelves.map((put) => ({ tableName: STOCK, put }));
  const written = await client.writeMany(
    [{ tableName: PRODUCTS, put: fullBrim }, ...puts], { abortOnFail: true });
  const aborted = await client.writeMany([
    { tableName: STOCK, delete: firstShelf },
    { tableName: STOCK, put: shelves[1], ifAbsent: true },
  ], { abortOnFail: true });
  const rest = await client.get(STOCK, firstShelf);
  return [
    written.results.map((each) => each.success), aborted.failedOpIndex, rest.row,
  ];
}

// The pages of a query that was prepared, and the rows of each.
async function pages({ statement, variables, limit }) {
  const prepared = await client.prepare(statement);
  for (const [name, value] of Object.entries(variables || {})) {
    prepared.set(name, value);
  }
  const seen = [];
  const opt = { limit };
  do {
    const { rows, continuationKey } = await client.query(prepared, opt);
    seen.push(rows);
    opt.continuationKey = continuationKey;
  } while (opt.continuationKey);
  return seen;
}

async function removed() {
  let deleted = 0;
  let batches = 0;
  const opt = { maxWriteKB: 1 };
  do {
    const done = await client.deleteRange(PRODUCTS, given.bowlers, opt);
    deleted += done.deletedCount;
    batches += 1;
    opt.continuationKey = done.continuationKey;
  } while (opt.continuationKey);
  const { version } = await client.get(PRODUCTS, given.cap);
  const last = await client.deleteIfVersion(PRODUCTS, given.cap, version);
  const again = await client.delete(PRODUCTS, given.cap, { returnExisting: true });
  return [deleted, batches > 1, last.success, again.success];
}

async function end() {
  const seen = {
    kept: (await client.get(PRODUCTS, given.cap)).row,
    generated: Number((await client.put('orders', { note: 'third' })).generatedValue) > 2,
    definitions: await definitions(),
    together: await together(),
    queries: [],
  };
  for (const query of given.queries) {
    seen.queries.push(await pages(query));
  }
  seen.removed = await removed();
  seen.dropped = [];
  for (const statement of given.drops) {
    seen.dropped.push(await define(statement));
  }
  seen.gone = await refusal(() => client.get('orders', { id: 1 }));
  return seen;
}

(phase === 'begin' ? begin() : end())
  .then((seen) => process.stdout.write(JSON.stringify(seen)))
  .catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  })
  .finally(() => client.close());
