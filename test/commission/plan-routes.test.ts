import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import { readStoredPlans } from '../../src/commission/plans/stored-plans.ts'
import { brand } from '../brand.ts'
import { askAdmin, json, register } from '../partner.ts'
import { planWith, rules } from './plan-values.ts'

const later = (day: string, more: object = {}) => ({ ...perLot, effective_from: day, ...more })
const FUTURE = '9998-01-01'

/** Creates an account and returns the requests on its plans and assignments. */
async function firm(settings: Parameters<typeof register>[1] = {}) {
  const { account } = await register('forex', settings)
  const at = `accounts/${account}`
  return {
    account,
    put: (plan: string, body: unknown) => askAdmin(`${at}/plans/${plan}`, 'PUT', body),
    plans: (path = '') => askAdmin(`${at}/plans${path}`),
    withdraw: (path: string) => askAdmin(`${at}/plans/${path}`, 'DELETE'),
    assign: (...body: object[]) => askAdmin(`${at}/assignments`, 'PUT', body),
    assigned: (query = '') => json(askAdmin(`${at}/assignments${query}`)),
    unassign: (query: string) => askAdmin(`${at}/assignments${query}`, 'DELETE'),
    audit: async () => {
      const { data } = await json(askAdmin(`audit-log?account=${account}`))
      return data.map(({ action, details }: { action: string; details: object }) => [
        action,
        details,
      ])
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests compare it whole
const answer = async (response: Promise<Response>): Promise<[number, any]> => {
  const answered = await response
  return [answered.status, await json(answered)]
}

const everybody = { affiliate_id: '*', plan: 'ib', from: '2026-12-01', customers: 'new' }

describe('§12 plans', () => {
  test('a put is refused after a version that the sender has not seen', async () => {
    const { put, plans } = await firm()
    expect((await put('ib?after=0', perLot)).status).toBe(201)
    const second = later(FUTURE, { hold_days: 6 })
    // Also a version that begins on the same day as the unseen one.
    for (const body of [second, later('2026-12-01', { hold_days: 6 })]) {
      const [status, { code, detail }] = await answer(put('ib?after=0', body))
      expect([status, code]).toEqual([409, 'newer_version'])
      expect(detail).toContain('The name is taken')
    }
    expect((await put('ib?after=0', perLot)).status).toBe(200)
    expect((await put('ib?after=1', second)).status).toBe(201)
    expect((await put('ib?after=first', second)).status).toBe(400)
    const stale = await answer(put('ib?after=1', later(FUTURE, { hold_days: 7 })))
    expect(stale[1].detail).toContain('Version 2 was stored since')
    expect((await json(plans('/ib'))).versions).toHaveLength(2)
  })

  test('a put creates the next version, and the same terms again create none', async () => {
    const { put, plans, audit } = await firm()
    const first = later('9997-01-01')
    const { effective_from } = first
    const put1 = { plan: 'ib', version: 1, effective_from, warnings: [] }
    expect(await answer(put('ib', first))).toEqual([201, { ...put1, outcome: 'created' }])
    const { rules: own, ...members } = first
    const reordered = { rules: own, ...members }
    expect(await answer(put('ib', reordered))).toEqual([200, { ...put1, outcome: 'unchanged' }])
    const second = await answer(put('ib', later(FUTURE, { hold_days: 6 })))
    expect(second).toEqual([
      201,
      { ...put1, version: 2, effective_from: FUTURE, outcome: 'created' },
    ])
    const head = {
      ...{ plan: 'ib', name: perLot.name, currency: 'USD', period: 'month', terms: 'current' },
      // Its first version begins later.
      in_force: null,
      next: { version: 1, from: effective_from },
    }
    expect(await json(plans())).toEqual({ data: [head] })
    const at = { created_at: expect.any(String), withdrawn_at: null }
    expect(await json(plans('/ib'))).toEqual({
      ...head,
      versions: [
        { version: 2, effective_from: FUTURE, terms: later(FUTURE, { hold_days: 6 }), ...at },
        { version: 1, effective_from, terms: first, ...at },
      ],
    })
    const details = { plan: 'ib', name: perLot.name }
    expect(await audit()).toEqual([
      ['plan.put', { ...details, version: 2, effective_from: FUTURE }],
      ['plan.put', { ...details, version: 1, effective_from }],
    ])
  })

  test('an invalid plan is refused whole with pointer, code and hint', async () => {
    const { put, plans, audit } = await firm()
    const response = await put('ib', { ...perLot, perod: 'week' })
    expect(response.status).toBe(422)
    expect(await json(response)).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/perod', code: 'unknown_field', hint: 'Did you mean `period`?' }],
      errors_total: 1,
    })
    expect([await json(plans()), await audit()]).toEqual([{ data: [] }, []])
  })

  test.each(['IB', '-ib', 'a'.repeat(64), 'a b'])('%j is not the id of a plan', async (plan) => {
    const { put } = await firm()
    const [status, { errors }] = await answer(put(encodeURIComponent(plan), perLot))
    expect([status, errors[0].code]).toEqual([422, 'pattern'])
  })

  test('period, currency and terms are those of earlier versions, and no first day occurs twice', async () => {
    const { put } = await firm()
    await put('ib', perLot)
    const { errors } = await json(put('ib', { ...perLot, currency: 'EUR', hold_days: 1 }))
    expect(errors).toMatchObject([
      { pointer: '/currency', code: 'fixed_by_plan' },
      { pointer: '/effective_from', code: 'duplicate' },
    ])
  })

  test('a version that never was in force is withdrawn, and its number is not used again', async () => {
    const { put, plans, withdraw, audit } = await firm()
    await put('ib', later('2026-01-01'))
    await put('ib', later(FUTURE))
    expect((await withdraw('ib/versions/2')).status).toBe(204)
    expect((await withdraw('ib/versions/2')).status).toBe(204)
    expect((await json(put('ib', later(FUTURE)))).version).toBe(3)
    const { versions } = await json(plans('/ib'))
    expect(versions.map(({ withdrawn_at }: { withdrawn_at: unknown }) => withdrawn_at)).toEqual([
      null,
      expect.any(String),
      null,
    ])
    expect(versions[1].terms).toEqual(later(FUTURE))
    expect((await audit()).map(([action]: [string]) => action)).toEqual([
      'plan.put',
      'plan.withdraw',
      'plan.put',
      'plan.put',
    ])
  })

  test('a version that is in force cannot be withdrawn', async () => {
    const { put, withdraw, audit } = await firm()
    await put('ib', later('2026-01-01'))
    expect(await answer(withdraw('ib/versions/1'))).toMatchObject([409, { code: 'conflict' }])
    expect(await audit()).toHaveLength(1)
  })

  test('the first version of a plan with assignments stays, because it governs earlier days', async () => {
    const { put, withdraw, assign } = await firm()
    await put('ib', later(FUTURE))
    await assign(everybody)
    expect((await withdraw('ib/versions/1')).status).toBe(409)
    await put('ib', later('9998-02-01'))
    expect((await withdraw('ib/versions/1')).status).toBe(409)
    expect((await withdraw('ib/versions/2')).status).toBe(204)
  })

  test('after all its versions are withdrawn, a plan may have another currency', async () => {
    const { put, withdraw, plans } = await firm()
    await put('ib', later(FUTURE))
    await withdraw('ib/versions/1')
    expect((await json(plans())).data).toMatchObject([{ plan: 'ib', in_force: null, next: null }])
    expect((await put('ib', later(FUTURE, { currency: 'EUR' }))).status).toBe(201)
  })

  test('the database refuses to change a version', async () => {
    const { put } = await firm()
    await put('ib', perLot)
    for (const change of [`terms = '{}'`, `effective_from = '2026-01-01'`, 'version = 2']) {
      const update = env.DB.prepare(`update plan_versions set ${change}`).run()
      await expect(update).rejects.toThrow('a version of a plan never changes')
    }
  })

  test('a brand names its events, and its days are those of its time zone', async () => {
    const { account } = await brand({ time_zone: 'Pacific/Kiritimati' })
    const share = { ...rules.share, base: [{ event: 'Deposit' }] }
    const put = await json(askAdmin(`accounts/${account}/plans/s`, 'PUT', planWith(share)))
    expect(put.warnings).toEqual([
      {
        code: 'unknown_event',
        pointer: '/rules/0/base/0/event',
        message: 'The account has no definition of the event `Deposit`.',
      },
    ])
    const today = new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10)
    const next = { ...planWith(share), effective_from: today }
    await askAdmin(`accounts/${account}/plans/t`, 'PUT', next)
    const path = `accounts/${account}/plans/t/versions/1`
    expect((await askAdmin(path, 'DELETE')).status).toBe(409)
  })

  test('a plan of another account is a 404', async () => {
    const { put } = await firm()
    await put('ib', perLot)
    const other = await firm({ account: 'other' })
    expect((await other.plans('/ib')).status).toBe(404)
    expect((await other.withdraw('ib/versions/1')).status).toBe(404)
  })

  test('the database of the account keeps its plans', async () => {
    const { account, put, assign } = await firm({ binding: 'DB_2' })
    await put('ib', perLot)
    await assign(everybody)
    expect(await readStoredPlans(env.DB, account)).toEqual({ versions: [], assignments: [] })
    expect(await readStoredPlans(env.DB_2, account)).toEqual({
      versions: [{ plan: 'ib', version: 1, effective_from: '2026-12-01', terms: perLot }],
      assignments: [everybody],
    })
  })
})

describe('assignments', () => {
  test('assignments are upserted by affiliate and first day, and listed by both', async () => {
    const { put, assign, assigned, audit } = await firm({ affiliates: ['aff-7', 'aff-8'] })
    await put('ib', perLot)
    await put('master', perLot)
    const own = { ...everybody, affiliate_id: 'aff-7' }
    const next = { ...own, from: '2027-01-01', plan: 'master', customers: 'all' }
    expect(await answer(assign(next, own, everybody))).toEqual([200, { received: 3, changed: 3 }])
    expect(await json(assign(own, { ...next, customers: 'new' }))).toEqual({
      ...{ received: 2, changed: 1 },
    })
    expect((await assigned()).data).toEqual([everybody, own, { ...next, customers: 'new' }])
    expect(await assigned('?affiliate_id=aff-7&per_page=1')).toMatchObject({
      data: [own],
      meta: { total: 2 },
    })
    expect((await audit())[0]).toEqual(['assignments.put', { affiliate_id: 'aff-7' }])
  })

  test('a cursor leads through all assignments', async () => {
    const { put, assign, assigned } = await firm()
    await put('ib', perLot)
    const days = ['2026-12-01', '2026-12-02', '2026-12-03']
    await assign(...days.map((from) => ({ ...everybody, from })))
    const first = await assigned('?per_page=2')
    const rest = await assigned(`?per_page=2&cursor=${first.meta.next_cursor}`)
    const all = [...first.data, ...rest.data]
    expect(all.map(({ from }: { from: string }) => from)).toEqual(days)
    expect(rest.meta.next_cursor).toBeNull()
  })

  test('a plan that does not exist, is withdrawn or is of another account is refused', async () => {
    const { put, withdraw, assign, assigned, audit } = await firm()
    const other = await firm({ account: 'other' })
    await other.put('theirs', perLot)
    await put('standard', perLot)
    await put('gone', later(FUTURE))
    await withdraw('gone/versions/1')
    const before = await audit()
    const plans = ['standard', 'standart', 'theirs', 'gone']
    const [status, { errors }] = await answer(
      assign(...plans.map((plan, i) => ({ ...everybody, affiliate_id: `a-${i}`, plan }))),
    )
    expect(status).toBe(422)
    const code = 'unknown_reference'
    expect(errors).toEqual([
      {
        ...{ pointer: '/1/plan', code, message: '`standart` is not a plan of this account.' },
        hint: 'Did you mean `standard`?',
      },
      {
        ...{ pointer: '/2/plan', code, message: '`theirs` is not a plan of this account.' },
        hint: 'Use `standard`.',
      },
      {
        ...{ pointer: '/3/plan', code, message: '`gone` is not a plan of this account.' },
        hint: 'Use `standard`.',
      },
    ])
    expect([(await assigned()).data, await audit()]).toEqual([[], before])
  })

  const refused: [string, unknown, string, string][] = [
    ['no array', everybody, '', 'type'],
    ['no assignments', [], '', 'record_count'],
    ['1001 assignments', Array(1001).fill(everybody), '', 'record_count'],
    ['an unknown member', [{ ...everybody, form: 1 }], '/0/form', 'unknown_field'],
    ['a missing plan', [{ ...everybody, plan: undefined }], '/0/plan', 'required'],
    ['a wrong day', [{ ...everybody, from: '2026-02-30' }], '/0/from', 'date'],
    ['other customers', [{ ...everybody, customers: 'old' }], '/0/customers', 'enum'],
    ['one key twice', [everybody, { ...everybody, customers: 'all' }], '/1', 'duplicate_key'],
  ]
  test.each(refused)('%s is refused', async (_, body, pointer, code) => {
    const { account, put, assigned } = await firm()
    await put('ib', perLot)
    const [status, { errors }] = await answer(
      askAdmin(`accounts/${account}/assignments`, 'PUT', body),
    )
    expect([status, errors[0].pointer, errors[0].code]).toEqual([422, pointer, code])
    expect((await assigned()).data).toEqual([])
  })

  test('all wrong assignments of a request are listed at once', async () => {
    const { account, put, assigned } = await firm()
    const send = (body: unknown) => askAdmin(`accounts/${account}/assignments`, 'PUT', body)
    const [, none] = await answer(send([everybody]))
    expect(none.errors[0].hint).toBe('The account has no plan. Put one first.')
    await put('ib', perLot)
    const body = [
      everybody,
      { ...everybody, from: '1999-12-31' },
      { ...everybody, affiliate_id: 'a', plan: 'nobody' },
      { ...everybody, affiliate_id: 'b', customers: 'old' },
      { ...everybody, affiliate_id: 'a', plan: 'nobody' },
      7,
    ]
    const [status, { errors, errors_total }] = await answer(send(body))
    expect([status, errors_total]).toEqual([422, 6])
    expect(errors.map(({ pointer, code }: Record<string, string>) => [pointer, code])).toEqual([
      ['/3/customers', 'enum'],
      ['/4', 'duplicate_key'],
      ['/5', 'type'],
      ['/1/from', 'date'],
      ['/2/plan', 'unknown_reference'],
      ['/4/plan', 'unknown_reference'],
    ])
    expect((await assigned()).data).toEqual([])
  })

  test('an assignment is deleted by affiliate and first day', async () => {
    const { put, assign, assigned, unassign, audit } = await firm()
    await put('ib', perLot)
    const assignment = { ...everybody, affiliate_id: 'a b' }
    await assign(assignment, everybody)
    expect((await unassign('?affiliate_id=a%20b&from=2026-12-01')).status).toBe(204)
    expect((await assigned()).data).toEqual([everybody])
    expect((await audit())[0]).toEqual(['assignment.delete', assignment])
    expect((await unassign('?affiliate_id=a%20b&from=2026-12-01')).status).toBe(404)
    expect((await unassign('?affiliate_id=a%20b')).status).toBe(400)
    expect((await unassign('?affiliate_id=a%20b&from=2026-02-30')).status).toBe(400)
  })
})
