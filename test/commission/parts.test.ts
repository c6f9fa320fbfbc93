import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { type ClosedPart, readClosedStatements } from '../../src/commission/db/closings.ts'
import { draftBatches } from '../../src/commission/db/draft-batches.ts'
import { readDigests } from '../../src/commission/db/drafts.ts'
import { PART_LIMITS } from '../../src/commission/limits.ts'
import { statementOfLine } from '../../src/commission/run/ids.ts'
import { beginRun, makeStep } from '../../src/commission/run/runs.ts'
import { watchDatabase } from '../ingest/watched.ts'
import { restoring } from '../limits.ts'
import { askAdmin, json, partner } from '../partner.ts'
import { assign, monthly, storePlan } from './stored.ts'
import { storeStarted } from './stored-runs.ts'

restoring(PART_LIMITS)

const CUSTOMERS = 100

/** Stores customers who each earn their affiliate one line. */
async function firm(customers = CUSTOMERS) {
  PART_LIMITS.lines = 40
  const acme = await partner('forex')
  const rule = { id: 'lead', kind: 'once', trigger: { signup: true }, amount: '1' } as const
  await storePlan(acme.account, 'cpa', monthly([rule]))
  await assign(acme.account, 'cpa')
  await insertCustomers(0, customers)
}

const insertCustomers = (from: number, count: number) =>
  env.DB.prepare(
    `with recursive n(i) as (select ?1 union all select i + 1 from n where i + 1 < ?1 + ?2)
     insert into customers (account, customer_id, signup_date, affiliate_id, day, delivery, idx, revision)
     select 'acme-forex', printf('c-%05d', i), 20728 * 86400000 + i, 'aff-7', 20728, 'dlv_1', 0, 1 from n`,
  )
    .bind(from, count)
    .run()

const run = async (id: string) => {
  const parameters = await storeStarted('acme-forex', '2026-10', id)
  await beginRun(env as Env, parameters, Date.now())
  let written = 0
  const DB = watchDatabase(env.DB, (answers) => {
    for (const { meta } of answers) written += meta.rows_written
  })
  await makeStep({ ...env, DB } as Env, parameters, 1, Date.now())
  return written
}

const LIST = 'accounts/acme-forex/statements'

test('a long statement is stored and read in parts', async () => {
  await firm()
  await run('run_1')
  const [head] = (await json(askAdmin(LIST))).data
  expect(head).toMatchObject({ total: '100.00', lines_total: CUSTOMERS })
  const scopes: string[] = []
  for (const part of [1, 2, 3]) {
    const whole = await json(askAdmin(`${LIST}/${head.id}?part=${part}`))
    expect(whole).toMatchObject({ hash: head.hash, part, parts: 3 })
    for (const { id, scope } of whole.lines) {
      expect(statementOfLine(id)).toBe(head.id)
      scopes.push(scope)
    }
  }
  expect(scopes).toHaveLength(CUSTOMERS)
  expect(scopes).toEqual(scopes.toSorted())
  expect((await askAdmin(`${LIST}/${head.id}?part=4`)).status).toBe(404)
  const { lines } = await json(askAdmin(`${LIST}/${head.id}?part=3`))
  const explained = await json(askAdmin(`accounts/acme-forex/lines/${lines.at(-1).id}/explain`))
  expect(explained.line.scope).toBe('customer:c-00099')
  expect(explained.steps[0]).toMatchObject({ step: 'trigger', record: { id: 'c-00099' } })
})

test('steps that need more rows than their lines are all found', async () => {
  PART_LIMITS.stepBytes = 1
  await firm(4)
  await run('run_1')
  const [{ id }] = (await json(askAdmin(LIST))).data
  const { lines, parts } = await json(askAdmin(`${LIST}/${id}`))
  expect([lines.length, parts]).toEqual([4, 1])
  for (const line of lines) {
    const { steps } = await json(askAdmin(`accounts/acme-forex/lines/${line.id}/explain`))
    expect(`customer:${steps[0].record.id}`).toBe(line.scope)
  }
})

test('parts follow their statement, and an unchanged one writes nothing', async () => {
  await firm()
  await run('run_1')
  // The run, its step and their progress.
  expect(await run('run_2')).toBe(4)
  await env.DB.prepare(`delete from customers where customer_id >= 'c-00060'`).run()
  await run('run_3')
  const [head] = (await json(askAdmin(LIST))).data
  expect(await json(askAdmin(`${LIST}/${head.id}?part=2`))).toMatchObject({
    lines_total: 60,
    parts: 2,
  })
  expect((await askAdmin(`${LIST}/${head.id}?part=3`)).status).toBe(404)
  await env.DB.prepare('delete from customers').run()
  await run('run_4')
  const { n } = (await env.DB.prepare(
    'select (select count(*) from statements) + (select count(*) from statement_lines) as n',
  ).first<{ n: number }>())!
  expect(n).toBe(0)
})

test('the parts of a statement that is approved while a run finds nothing earned stay', async () => {
  await firm()
  await run('run_1')
  const drop = await readDigests(env.DB, 'acme-forex', '2026-10', ['aff-7'])
  await env.DB.prepare(`update statements set status = 'approved', approved_at = 0`).run()
  const step = { account: 'acme-forex', id: 'run_1', step: 1 }
  const changes = { put: [], drop, step, readAt: Date.now(), computedAt: '' }
  await env.DB.batch(draftBatches(env.DB, changes).flat())
  const parts = env.DB.prepare('select count(*) as n from statement_lines')
  expect(await parts.first('n')).toBe(2)
})

test('the lines of an approved statement in parts are all read', async () => {
  await firm()
  await run('run_1')
  await env.DB.prepare(`update statements set status = 'approved', approved_at = 0`).run()
  const parts: ClosedPart[] = []
  for await (const part of readClosedStatements(env.DB, 'acme-forex', ['aff-7'])) {
    parts.push(part)
  }
  expect(parts).toHaveLength(3)
  const scopes = parts.flatMap(({ items }) => items.map(([, , scope]) => scope))
  expect(new Set(scopes).size).toBe(CUSTOMERS)
})

test('the id of another kind is not that of a line', () => {
  expect(statementOfLine('stm_000000000000000000000001')).toBeNull()
  expect(statementOfLine(`lin_${'x'.repeat(40)}`)).toBeNull()
})
