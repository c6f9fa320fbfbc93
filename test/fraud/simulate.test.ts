import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BACK_TEST_LIMITS } from '../../src/fraud/limits.ts'
import { storeWorld } from '../commission/stored-world.ts'
import { ask, askAdmin, json } from '../partner.ts'
import { WORLD } from './fees.ts'
import { changeCase } from './stored-cases.ts'

// The back-test of a rule by its route, with figures that can be checked by hand.

const LIMITS = { ...BACK_TEST_LIMITS }
afterEach(() => {
  Object.assign(BACK_TEST_LIMITS, LIMITS)
})

const PATH = 'accounts/acme/fraud-rules/resets/simulate'
const VERSION = { kind: 'resets', action: 'hold', parameters: { count: 3, days: 3 } }
const BODY = { from: '2026-08-25', to: '2026-09-30', version: VERSION }

const simulate = (body: object, query = '') => askAdmin(`${PATH}${query}`, 'POST', body)

/** Stores an approved statement. */
const approved = (affiliate: string, period: string, payable: string, payable_on: string) =>
  env.DB.prepare(
    `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest, payable,
       closing, statement, lines, parts, state, read_at, computed_at, approval, approved_at)
     values ('acme', ?1, ?2, 'p', ?3, 'draft', ?4, ?4, ?5, '0.00', ?6, '[]', 1, '{}', 0, '2026-01-01',
       null, null)`,
  ).bind(
    period,
    affiliate,
    `stm_${affiliate}_${period}`,
    '0'.repeat(64),
    payable,
    JSON.stringify({ currency: 'EUR', total: payable, payable, payable_on }),
  )

const approve = env.DB.prepare(
  `update statements set status = 'approved', approval = 'apr_1', approved_at = 1 where account = 'acme'`,
)

beforeEach(() => storeWorld(WORLD, 'acme'))

describe('a back-test', () => {
  test('says which payable statements each case would have held', async () => {
    await env.DB.batch([
      approved('a', '2026-07', '100.00', '2026-08-14'),
      approved('a', '2026-08', '250.50', '2026-09-14'),
      approved('a', '2026-09', '70.00', '2026-10-14'),
      approved('b', '2026-08', '900.00', '2026-09-14'),
    ])
    await approve.run()
    const held = async (version: object) => (await json(simulate({ ...BODY, version }))).would_hold
    // Not that of September, which is payable after the last day, and not that of another affiliate.
    const all = { currency: 'EUR', amount: '350.50', statements: 2 }
    expect(await held(VERSION)).toEqual([all])
    // A part holds the latest statements, as a stored case does: as few as reach it.
    const latest = { currency: 'EUR', amount: '250.50', statements: 1 }
    expect(await held({ ...VERSION, reserve_percent: '10' })).toEqual([latest])
    expect(await held({ ...VERSION, reserve_percent: '71.47' })).toEqual([all])
    expect(await held({ ...VERSION, action: 'flag' })).toEqual([])
    await env.DB.prepare(
      `insert into payments (account, reference, affiliate_id, currency, amount, paid_on, statements,
         actor, at, folded_reference)
       values ('acme', 'r', 'a', 'EUR', '100.00', '2026-09-03', '["stm_a_2026-07"]', 'me', '2026', 'r')`,
    ).run()
    await env.DB.prepare(
      `update statements set status = 'paid', payment = 'r' where id = 'stm_a_2026-07'`,
    ).run()
    expect(await held(VERSION)).toEqual([{ ...all, amount: '250.50', statements: 1 }])
  })

  test('says what persons decided of the stored case of the same kind and subject', async () => {
    const outcomes = async () => {
      const { data, outcomes: all } = await json(simulate(BODY))
      return [data.map(({ outcome }: { outcome: unknown }) => outcome), all]
    }
    const none = { confirmed: 0, dismissed: 0, reversed: 0 }
    expect(await outcomes()).toEqual([[null], none])
    await askAdmin('accounts/acme/fraud-rules/other-id', 'PUT', {
      ...{ name: 'Resets', severity: 'low', effective_from: '2026-09-01' },
      ...{ kind: 'resets', action: 'hold', parameters: { count: 3, days: 3 } },
    })
    await askAdmin('accounts/acme/fraud-rules/run', 'POST')
    expect(await outcomes()).toEqual([[null], none])
    const { data } = await json(askAdmin('accounts/acme/cases?customer_id=c-a'))
    const decide = (body: object) =>
      askAdmin(`accounts/acme/cases/${data[0].case_id}/decide`, 'POST', {
        ...{ decision: 'confirmed', reason: 'Farmed' },
        ...body,
      })
    expect((await decide({ keep_hold: true })).status).toBe(200)
    expect(await outcomes()).toEqual([['confirmed'], { ...none, confirmed: 1 }])
    expect((await decide({})).status).toBe(200)
    expect(await outcomes()).toEqual([['reversed'], { ...none, reversed: 1 }])
    // A case of other days is another one.
    await changeCase(data[0].case_id, 'last_day', 20_000)
    expect(await outcomes()).toEqual([[null], none])
  })

  test('tests one affiliate, or the scope of the version', async () => {
    const affiliatesOf = async (version: object, query = '') => {
      const { data, affiliates } = await json(simulate({ ...BODY, version }, query))
      return [data.length, affiliates]
    }
    expect(await affiliatesOf(VERSION, '?affiliate_id=b')).toEqual([0, 1])
    expect(await affiliatesOf({ ...VERSION, scope: { affiliates: ['a', 'b'] } })).toEqual([1, 2])
    const scope = { affiliates: ['*'], not_affiliates: ['a'] }
    expect(await affiliatesOf({ ...VERSION, scope })).toEqual([0, 2])
  })
})

const put = (effective_from: string, more: object = {}) =>
  askAdmin('accounts/acme/fraud-rules/resets', 'PUT', {
    ...{ name: 'Resets', severity: 'low', effective_from },
    ...{ kind: 'resets', parameters: { count: 3, days: 3 }, ...more },
  })

describe('a back-test of the stored versions', () => {
  const { version: _, ...days } = BODY

  test('a disabled version finds nothing, unless it is sent', async () => {
    await put('2026-08-01', { disabled: true })
    expect((await json(simulate(days))).data).toEqual([])
    const sent = await json(simulate({ ...BODY, version: { ...VERSION, disabled: true } }))
    expect(sent.data).toHaveLength(1)
  })
})

describe('what is wrong with a request', () => {
  const errorsOf = async (body: object) => {
    const response = await simulate(body)
    expect(response.status).toBe(422)
    const { errors } = await json(response)
    return errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code])
  }

  test.each<[string, object, string, string]>([
    ['the days in the wrong order', { ...BODY, to: '2026-08-01' }, '/to', 'minimum'],
    ['a day that is not over', { ...BODY, to: '2099-01-01' }, '/to', 'maximum'],
    ['more than 400 days', { ...BODY, from: '2025-08-01' }, '/to', 'maximum'],
    ['a version that is null', { ...BODY, version: null }, '/version', 'type'],
    ['no kind', { ...BODY, version: {} }, '/version/kind', 'required'],
    ['an unknown kind', { ...BODY, version: { kind: 'hunch' } }, '/version/kind', 'enum'],
    [
      'a kind of another vertical',
      { ...BODY, version: { kind: 'lot_churn' } },
      '/version/kind',
      'enum',
    ],
    [
      'an unknown parameter',
      { ...BODY, version: { ...VERSION, parameters: { counts: 3 } } },
      '/version/parameters/counts',
      'unknown_field',
    ],
  ])('%s', async (_, body, pointer, code) => {
    expect(await errorsOf(body)).toContainEqual([pointer, code])
  })

  test('no version, and no rule that is stored', async () => {
    const { version: _, ...days } = BODY
    expect((await simulate(days)).status).toBe(404)
  })

  test('an account that does not exist, and a caller who is nobody', async () => {
    const other = await askAdmin('accounts/none/fraud-rules/resets/simulate', 'POST', BODY)
    expect(other.status).toBe(404)
    const anyone = await ask(`/admin/v1/${PATH}`, { method: 'POST', body: JSON.stringify(BODY) })
    expect(anyone.status).toBe(401)
  })
})

test('more records than one back-test can read are refused', async () => {
  BACK_TEST_LIMITS.facts = 2
  const refused = await simulate(BODY)
  expect(refused.status).toBe(422)
  expect(await json(refused)).toMatchObject({ code: 'validation_failed' })
})
