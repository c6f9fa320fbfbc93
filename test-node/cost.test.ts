import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { lineOf, linesAboveFloor } from '../bench/cost/bill.ts'
import { type Costs, measure } from '../bench/cost/measure.ts'
import { formatCosts } from '../bench/cost/print.ts'
import { measureObjects } from '../bench/objects/measure.ts'
import { dollars, ZERO_USAGE } from '../scripts/capacity/prices.ts'

// `npm run cost` with few records: the counts matter, not the costs.

const N = 20
/** Rows per request: the delivery, its counts, its held count, its arrival, and two totals. */
const OTHER_ROWS = 6
const RECORDS = ['customers', 'transactions', 'activity', 'events', 'clicks']

describe('npm run cost', { timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-cost-'))
  let costs: Costs
  before(async () => {
    costs = await measure(folder, N, N, 0)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const rows = (written: Record<string, number>) =>
    RECORDS.reduce((all, table) => all + (written[table] ?? 0), 0)

  test('all work writes exactly its floor, and at most six rows per request', () => {
    assert.equal(costs.measured.length, 24)
    for (const { work, records, ours } of costs.measured) {
      const { resource, phase, floor } = work
      assert.equal(rows(ours.written), floor * records, `${resource}, ${phase}`)
      assert.ok(ours.usage.rowsWritten <= floor * records + OTHER_ROWS, `${resource}, ${phase}`)
    }
  })

  test('a record that moves to another day writes as many rows as a new one', () => {
    const moved = costs.measured.filter(({ work }) => work.phase === 'another day')
    assert.equal(moved.length, 4)
    for (const { work, records, ours } of moved) {
      const isNew = ({ work: { resource, phase } }: Costs['measured'][number]) =>
        resource === work.resource && phase === 'insert'
      const { floor } = costs.measured.find(isNew)!.work
      // The row that finds a customer by the affiliate stays.
      const kept = work.resource === 'partner customers' ? 1 : 0
      assert.equal(rows(ours.written), (floor - kept) * records, work.resource)
    }
  })

  test('a bulk is one request to the Worker and one to an object', () => {
    const bulks = costs.measured.filter(({ work }) => work.phase !== 'follow')
    for (const { ours } of bulks) {
      assert.equal(ours.usage.requests, 1)
      assert.equal(ours.usage.objectRequests, 1)
      assert.equal(ours.usage.objectRowsRead, 4)
    }
    const written = bulks.reduce((all, { ours }) => all + ours.usage.objectRowsWritten, 0)
    // One lease per token, and the true count of tokens that have paused since.
    assert.ok(written >= bulks.length && written <= 2 * bulks.length, String(written))
    assert.equal(costs.token.objectRequests, 3)
  })

  test('a click is written to the queue, read and deleted, without a request to an object', () => {
    const { ours } = costs.measured.find(({ work }) => work.phase === 'follow')!
    assert.equal(ours.usage.queueOperations, 3 * N)
    assert.equal(ours.usage.objectRequests, 0)
  })

  test('the naive design writes every index each time, and a row for its rate', () => {
    const { naive } = costs.measured.find(
      ({ work }) => work.resource === 'partner transactions' && work.phase === 'replay',
    )!
    assert.deepEqual(naive!.written, { transactions: 2 * N, token_requests: 1 })
  })

  test('the table lists all kinds of work, and rows above the floor are found', () => {
    const text = formatCosts(costs, N, N)
    for (const { work } of costs.measured)
      assert.ok(text.includes(`${work.resource}: ${work.phase}`), work.resource)
    assert.match(text, /^all +\$\d+\.\d{4} +\$\d+\.\d{4}$/m)

    const [first] = costs.measured
    const left = structuredClone({ ...first!, work: { ...first!.work, record: null } }) as never
    const line = lineOf(left)
    line.ours.objectRowsWritten = 0
    line.ours.rowsWritten = (line.floor * 11) / 10
    assert.deepEqual(linesAboveFloor([line]), [])
    line.ours.rowsWritten += 1
    assert.deepEqual(linesAboveFloor([line]), [line])
  })
})

test('a bill is the usage times the price per million', () => {
  const used = { ...ZERO_USAGE, requests: 1e6, rowsWritten: 3e6, objectRowsWritten: 1e6 }
  assert.equal(dollars({ ...used, queueOperations: 3e6, cpuMs: 5e6 }).toFixed(6), '5.600000')
})

test('exports and archives read and write a few rows a record', {
  timeout: 600_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-objects-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const { costs } = await measureObjects(folder, 6000)
  const rows = costs.map(({ title, records, usage: { rowsRead, rowsWritten } }) => [
    title,
    Math.round(rowsRead / records),
    Math.round(rowsWritten / records),
  ])
  assert.deepEqual(rows, [
    ['exported', 1, 0],
    ['exported again, unchanged', 0, 0],
    ['transactions: archived', 9, 2],
    ['trading-activity: archived', 8, 1],
    ['transactions: restored', 7, 3],
    ['trading-activity: restored', 3, 1],
  ])
  // An object each, and a list of those that are there.
  assert.deepEqual(
    costs.map(({ objects, usage: { r2Writes, r2Reads } }) => [objects, r2Writes, r2Reads]),
    [
      [3, 4, 3],
      [0, 0, 0],
      [1, 1, 2],
      [1, 1, 2],
      [0, 0, 1],
      [0, 0, 1],
    ],
  )
})
