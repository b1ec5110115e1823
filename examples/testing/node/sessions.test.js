'use strict';

const TableStore = require('tablestore');
const { Widerow } = require('./widerow');

const INSTANCE = 'sessions';
const IGNORE = new TableStore.Condition(TableStore.RowExistenceExpectation.IGNORE, null);
const KEY = [{ id: 'a1' }];

const widerow = new Widerow();
let client;

beforeAll(async () => {
  await widerow.started();
  client = new TableStore.Client({
    endpoint: widerow.endpoint,
    instancename: INSTANCE,
    accessKeyId: 'widerow',
    secretAccessKey: 'widerow',
  });
});

afterAll(() => widerow.stop());

beforeEach(async () => {
  await widerow.reset(INSTANCE);
  await client.createTable({
    tableMeta: { tableName: 'session', primaryKey: [{ name: 'id', type: 'STRING' }] },
    reservedThroughput: { capacityUnit: { read: 0, write: 0 } },
    tableOptions: { timeToLive: 3600, maxVersions: 1 },
  });
});

const put = (card) =>
  client.putRow({
    tableName: 'session',
    condition: IGNORE,
    primaryKey: KEY,
    attributeColumns: [{ card }],
  });

const get = async () => {
  const { row } = await client.getRow({ tableName: 'session', primaryKey: KEY });
  return row.attributes === undefined ? undefined : row.attributes[0].columnValue;
};

test('a session expires after an hour', async () => {
  await put('6777');
  await widerow.ask('POST', 'clock', { advance: '59m59s' });
  expect(await get()).toBe('6777');

  await widerow.ask('POST', 'clock', { advance: 1 });
  expect(await get()).toBeUndefined();
});

test('nothing is left of the test before', async () => {
  expect(await get()).toBeUndefined();
});

test('the SDK asks again while a partition is away', async () => {
  await put('6777');
  const fault = { error: 'OTSPartitionUnavailable', action: 'GetRow', count: 2 };
  await widerow.ask('POST', 'faults', fault);

  expect(await get()).toBe('6777');
  const { faults } = await widerow.ask('GET', 'faults');
  expect(faults[0].struck).toBe(2);
});

test('a write that times out may have been made', async () => {
  const fault = { error: 'OTSTimeout', action: 'PutRow', when: 'after', count: 1 };
  await widerow.ask('POST', 'faults', fault);

  await expect(put('6777')).rejects.toThrow();
  expect(await get()).toBe('6777');
});
