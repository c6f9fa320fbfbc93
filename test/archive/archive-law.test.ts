import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import openapi from '../../openapi.json'
import { dayNumber } from '../../src/platform/db/column-types.ts'
import { readStatements } from '../books/check-books.ts'
import { day } from '../brand.ts'
import { planWith, rules } from '../commission/plan-values.ts'
import { bothWays, OPEN, randomPartner } from '../commission/random-firms.ts'
import { assign } from '../commission/stored.ts'
import { randomSource } from '../commission/worlds.ts'
import { addFinding, storeCases, storeRule } from '../fraud/stored-cases.ts'
import { ada, ask, askAdmin, json, partner, traded } from '../partner.ts'
import { asks, ROUTES, type Route } from '../sweep/routes.ts'
import { normalized } from '../sweep/state.ts'
import { asSender, baseOf, prepare, type World } from '../sweep/worlds.ts'
import { archive, load, october } from './archive-steps.ts'

// §19.3 Nothing computes over an archived month.

/** Sends a request that reads. Returns its status and its answer, without what differs from call to call. */
async function answerOf(route: Route, world: World) {
  const context = createExecutionContext()
  const response = await asks(route, world, env as Env, context)
  const text = await response.text()
  await waitOnExecutionContext(context)
  const lasting = text.replaceAll(/"(?:lag_seconds|storage_bytes)":\d+/g, '')
  return [response.status, normalized(lasting, world)] as const
}

const READERS = ['account', 'affiliate', 'team']

/** The list of archived months, and what looks at the last 30 days: no month of these may leave. */
const OTHERWISE = /Feeds?$|^listArchives$/

test.each([
  ['forex', 'trading-activity', ['listForexTradingActivity', 'getReport']],
  ['igaming', 'activities', ['listIgamingActivities', 'getIgamingReport']],
] as const)(
  '§19.3 an operation that reads answers as before, or refuses with the months to load: %s',
  async (vertical, resource, needing) => {
    const world = await prepare(vertical, true, { archived: false })
    if (vertical === 'igaming') {
      const body = JSON.stringify([day])
      const sent = { method: 'POST', headers: asSender(world), body }
      expect((await ask(`${baseOf(world)}/activities`, sent)).status).toBe(200)
    }
    const routes = ROUTES.filter(
      (one) =>
        READERS.includes(one.as) &&
        !one.writes &&
        one.vertical === vertical &&
        !OTHERWISE.test(one.id),
    )
    const before = new Map<Route, readonly [number, string]>()
    for (const route of routes) before.set(route, await answerOf(route, world))
    const month = october(world.account, resource)
    await archive(month)
    const refused: string[] = []
    const changed: unknown[] = []
    for (const [route, answer] of before) {
      const after = await answerOf(route, world)
      if (after[0] === 409 && JSON.parse(after[1]).code === 'month_archived') {
        expect(after[1]).toContain('2026-10')
        refused.push(route.id)
      } else if (after.join() !== answer.join()) changed.push([route.id, answer, after])
    }
    expect(changed).toEqual([])
    expect(refused).toEqual(expect.arrayContaining([...needing]))
    await load(month)
    for (const route of routes.filter(({ id }) => refused.includes(id)))
      expect(await answerOf(route, world)).toEqual(before.get(route))
  },
)

/** Changes that take effect in October, by operation: method, path and body. */
const CHANGES: Record<string, readonly [string, string, unknown?]> = {
  putAffiliations: [
    'PUT',
    'customers/c-1/affiliations',
    { reason: 'r', affiliations: [{ from: null, affiliate_id: 'aff-9' }] },
  ],
  refuseCustomer: ['PUT', 'customers/c-1/refusal', { reason: 'fraud' }],
  decideFraudCase: [
    'POST',
    'cases/case_1/decide',
    { decision: 'confirmed', reason: 'One device', refuse: ['c-1'] },
  ],
  putAffiliates: [
    'PUT',
    'affiliates',
    [{ affiliate_id: 'aff-7', parent: 'aff-8', from: '2026-10-31' }],
  ],
  putAssignments: [
    'PUT',
    'assignments',
    [{ affiliate_id: 'aff-9', plan: 'stored', from: '2026-10-31', customers: 'all' }],
  ],
  deleteAssignment: ['DELETE', 'assignments?affiliate_id=*&from=2026-01-01'],
  putPlan: ['PUT', 'plans/cpa', planWith(rules.once)],
  putFraudRule: [
    'PUT',
    'fraud-rules/burst',
    { name: 'Burst', kind: 'signup_burst', effective_from: '2026-10-31', severity: 'low' },
  ],
  putStatusMap: ['PUT', 'status-map', { Paid: 'approved' }],
  changeAccount: ['PATCH', '', { amount_signs: 'signed' }],
}

/** What names a day, but computes nothing over its records, or only reads. */
const OTHERS = /^(?:send|simulate|replay)/

test('§19.3 every operation that changes something from a day on is among these changes', () => {
  const text = (part: unknown): string =>
    JSON.stringify(part).replaceAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g, (_, kind, name) => {
      const parts = openapi.components as unknown as Record<string, Record<string, unknown>>
      return `"of":${text(parts[kind]?.[name])}`
    })
  const dated = Object.values(openapi.paths).flatMap((methods) =>
    Object.entries(methods as Record<string, Record<string, unknown>>).flatMap(
      ([method, { operationId, requestBody, parameters }]) =>
        method !== 'get' && /"(?:effective_)?from"/.test(text([requestBody, parameters]))
          ? [String(operationId)]
          : [],
    ),
  )
  expect(dated.length).toBeGreaterThan(8)
  expect(dated.filter((id) => !OTHERS.test(id) && !(id in CHANGES))).toEqual([])
})

test('§19.3 a change whose effect begins in an archived month is 409, and passes once it is loaded', async () => {
  const acme = await partner('forex', { account: 'acme' })
  await acme.post('customers', [
    ada,
    { ...ada, customer_id: 'C-2', signup_date: '2026-11-02T08:30:00Z' },
  ])
  expect((await acme.post('trading-activity', [traded])).status).toBe(200)
  const affiliates = ['aff-8', 'aff-9'].map((affiliate_id) => ({ affiliate_id }))
  await askAdmin('accounts/acme/affiliates', 'PUT', affiliates)
  await askAdmin('accounts/acme/plans/stored', 'PUT', planWith(rules.share))
  await assign('acme', 'stored')
  await storeRule('acme')
  await storeCases({ id: 'case_1', account: 'acme', affiliate: 'aff-7', lastDay: 20_000 })
  await addFinding(20_000, [['t-1', 'c-1']], { account: 'acme' })
  const month = october('acme', 'trading-activity')
  await archive(month)
  for (const isArchived of [true, false]) {
    for (const [id, [method, path, body]] of Object.entries(CHANGES)) {
      const answer = await askAdmin(`accounts/acme${path && `/${path}`}`, method, body)
      if (isArchived) {
        expect(answer.status, id).toBe(409)
        expect(await json(answer), id).toMatchObject({ code: 'month_archived' })
      } else expect(answer.ok, `${id} ${await answer.text()}`).toBe(true)
    }
    // Another customer signed up later.
    const [method, path, body] = CHANGES.refuseCustomer!
    const other = path.replace('c-1', 'C-2')
    expect((await askAdmin(`accounts/acme/${other}`, method, body)).status).toBe(200)
    if (isArchived) await load(month)
  }
})

/** Returns the lines and corrections of the drafts of an account, by statement. */
const draftsOf = async (account: string) =>
  (await readStatements(account))
    .filter(({ status }) => status === 'draft')
    .map(({ id, own, adjustments, head }) => [id, own, adjustments, head?.total])

test('§19.3 open statements beside archived months are those once all are loaded, whatever changes', async () => {
  const refused = /month_archived/
  let [passed, stopped] = [0, 0]
  for (let seed = env.SEED * 1000; seed < env.SEED * 1000 + (env.MODEL_RUNS || 1); seed++) {
    const from = randomSource(seed)
    const account = `twin-${seed}`
    const firm = await randomPartner(account, from)
    for (let n = 0; n < 40; n++) await firm.change()
    // No record of a month that leaves waits for its customer.
    const customers = Array.from({ length: 10 }, (_, i) => ({ ...ada, customer_id: `c-${i}` }))
    expect((await firm.post('customers', customers)).ok).toBe(true)
    for (let n = 0; n < 6; n++) await firm.close()
    await firm.run(OPEN)
    const months = ['2030-06', '2030-05'].map((month) => ({
      ...{ account, resource: 'trading-activity' as const, first_day: dayNumber(`${month}-01`) },
      last_day: dayNumber(`${month}-${month === '2030-06' ? 30 : 31}`),
    }))
    const { unread } = await bothWays(account)
    if (unread < months[0]!.last_day) continue
    for (const month of months) await archive(month)
    // No affiliate of a customer with records is replaced from the signup on any more.
    await env.DB.prepare('update customers set first_seen_at = 0').run()
    for (let n = 0; n < 40; n++) {
      const isMade = await firm.change().catch((error) => {
        if (!refused.test(String(error))) throw error
        stopped += 1
      })
      if (isMade) passed += 1
    }
    await firm.run(OPEN)
    const beside = await draftsOf(account)
    for (const month of months) await load(month)
    await firm.run(OPEN)
    expect(beside, `seed ${seed}`).toEqual(await draftsOf(account))
  }
  expect(Math.min(passed, stopped)).toBeGreaterThan(3)
})
