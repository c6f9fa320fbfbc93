import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { kindsOf } from '../../src/fraud/kinds.ts'
import { firstRules } from '../../src/fraud/rule-sets.ts'
import { RULE_LIMITS } from '../../src/fraud/rules.ts'
import type { Role } from '../../src/platform/auth/roles.ts'
import { askAs, keyOfRole } from '../members.ts'
import { askAdmin, json, register } from '../partner.ts'
import { storeRules } from './evaluated-cases.ts'

// `…/fraud-rules`: rules are versioned like plans (contract §17).

const DAY = 24 * 60 * 60 * 1000
const dayFromNow = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10)
const [YESTERDAY, TODAY, TOMORROW] = [dayFromNow(-1), dayFromNow(0), dayFromNow(1)]

const burst = (more: object = {}) => ({
  name: 'Bursts',
  kind: 'signup_burst',
  effective_from: YESTERDAY,
  severity: 'medium',
  ...more,
})
const BURST = {
  ...burst(),
  action: 'flag',
  scope: { affiliates: ['*'] },
  parameters: { min: 20, times: '5' },
  disabled: false,
}

const at = (path = '', account = 'acme-forex') => `accounts/${account}/fraud-rules${path}`
const put = (rule: string, body: unknown, account?: string) =>
  askAdmin(at(`/${rule}`, account), 'PUT', body)
const read = (path = '', account?: string) => json(askAdmin(at(path, account)))
const remove = (path: string) => askAdmin(at(path), 'DELETE')

// biome-ignore lint/suspicious/noExplicitAny: tests compare it whole
const answer = async (response: Promise<Response>): Promise<[number, any]> => {
  const answered = await response
  return [answered.status, await json(answered)]
}

const audit = async (account = 'acme-forex') =>
  (await json(askAdmin(`audit-log?account=${account}`))).data.map(
    ({ action, details }: { action: string; details: object }) => [action, details],
  )

const statusAs = async (role: Role, method: string, path: string, body?: unknown) =>
  (await askAs(await keyOfRole(role), path, method, body)).status

describe('versions', () => {
  beforeEach(() => register('forex'))

  test('a put creates the next version with all defaults, and the same body again creates none', async () => {
    const created = { rule: 'bursts', version: 1, effective_from: YESTERDAY }
    expect(await answer(put('bursts', burst()))).toEqual([201, { ...created, outcome: 'created' }])
    const same = [200, { ...created, outcome: 'unchanged' }]
    expect(await answer(put('bursts', burst()))).toEqual(same)
    expect(await answer(put('bursts', BURST))).toEqual(same)
    const [status, second] = await answer(
      put('bursts', burst({ effective_from: TODAY, parameters: { min: 30 } })),
    )
    expect([status, second.version, second.outcome]).toEqual([201, 2, 'created'])
    const head = {
      ...{ rule: 'bursts', name: 'Bursts', kind: 'signup_burst', severity: 'medium' },
      ...{ action: 'flag', disabled: false, in_force: 2 },
    }
    const words = [
      'Opens a case when at least 30 customers signed up on one day or within an hour, more than 5 times what is usual.',
      'Usual is the median of the affiliate’s last 28 days with signups.',
      'It reads the records of all affiliates.',
      'Its cases are of medium severity.',
    ]
    const listed = { ...head, effective_from: TODAY, words }
    expect(await read()).toEqual({ data: [listed] })
    const created_at = expect.any(String)
    const next = { ...BURST, effective_from: TODAY, parameters: { min: 30, times: '5' } }
    expect(await read('/bursts')).toEqual({
      ...listed,
      versions: [
        { version: 2, effective_from: TODAY, terms: next, created_at },
        { version: 1, effective_from: YESTERDAY, terms: BURST, created_at },
      ],
    })
    const details = { rule: 'bursts', name: 'Bursts', action: 'flag', disabled: false }
    expect(await audit()).toEqual([
      ['fraud-rule.put', { ...details, version: 2, effective_from: TODAY }],
      ['fraud-rule.put', { ...details, version: 1, effective_from: YESTERDAY }],
    ])
  })

  test('a put of what the rule is shown as names each member that is too much', async () => {
    await put('bursts', burst())
    const shown = await read('/bursts')
    const [status, { errors }] = await answer(put('bursts', shown))
    const unknown = errors.filter(({ code }: { code: string }) => code === 'unknown_field')
    expect([status, unknown.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      422,
      ['/rule', '/in_force', '/words', '/versions'],
    ])
    expect((await answer(put('bursts', shown.versions[0].terms)))[0]).toBe(200)
  })

  test('a put is refused after a version that the sender has not seen', async () => {
    await put('bursts', burst())
    const later = burst({ effective_from: TODAY })
    expect(await answer(put('bursts?after=0', later))).toMatchObject([
      409,
      { code: 'newer_version' },
    ])
    expect((await put('bursts?after=0', burst())).status).toBe(200)
    expect((await put('bursts?after=1', later)).status).toBe(201)
  })

  test('no version ever changes in the database', async () => {
    await put('bursts', burst())
    for (const change of ["terms = '{}'", "effective_from = '2000-01-01'", 'version = 9']) {
      const sql = `update fraud_rule_versions set ${change}`
      await expect(env.DB.exec(sql)).rejects.toThrow('a version of a fraud rule never changes')
    }
  })

  test('a rule is disabled from today on; what it found before stays', async () => {
    for (const effective_from of [YESTERDAY, TOMORROW]) {
      await put('bursts', burst({ effective_from }))
    }
    for (const _ of [1, 2]) expect((await remove('/bursts')).status).toBe(204)
    const { versions, ...rule } = await read('/bursts')
    expect(rule).toMatchObject({ disabled: true, in_force: 3 })
    expect(versions).toHaveLength(3)
    const terms = { ...BURST, effective_from: TODAY, disabled: true }
    expect(versions[0]).toMatchObject({ effective_from: TODAY, terms })
    const actions = (await audit()).map(([action]: [string]) => action)
    expect(actions.filter((action: string) => action === 'fraud-rule.disable')).toHaveLength(1)
    expect((await remove('/other')).status).toBe(404)
  })

  test('an account has at most so many rules', async () => {
    const { kind, parameters, effective_from } = BURST
    const rule = (_: unknown, i: number) => ({
      ...{ rule: `r-${i}`, version: 1, kind, parameters, effective_from },
    })
    await storeRules('acme-forex', Array.from({ length: RULE_LIMITS.rules }, rule))
    expect(await answer(put('more', burst()))).toMatchObject([409, { code: 'conflict' }])
    expect((await put('r-1', burst({ effective_from: TODAY }))).status).toBe(201)
  })
})

describe('mistakes', () => {
  beforeEach(() => register('forex'))

  const errorsOf = async (body: unknown) => {
    const [status, { errors }] = await answer(put('bursts', body))
    expect(status).toBe(422)
    expect(errors.every(({ message }: { message?: string }) => message)).toBe(true)
    return errors.map(({ pointer, code, hint }: Record<string, string>) => [pointer, code, hint])
  }
  const KINDS = kindsOf('forex').map(({ kind }) => `\`${kind}\``)
  const USE = `Use one of ${KINDS.join(', ')}.`

  test.each<[string, unknown, (string | undefined)[][]]>([
    ['no object', [], [['', 'type', undefined]]],
    ['a kind that does not exist', burst({ kind: 'magic' }), [['/kind', 'enum', USE]]],
    [
      'a misspelt kind',
      burst({ kind: 'signup_bursts' }),
      [['/kind', 'enum', 'Did you mean `signup_burst`?']],
    ],
    ['a kind of another vertical', burst({ kind: 'resets' }), [['/kind', 'enum', USE]]],
    [
      'a parameter that does not exist',
      burst({ parameters: { tims: '5' } }),
      [['/parameters/tims', 'unknown_field', 'Did you mean `times`?']],
    ],
    [
      'a parameter of another kind',
      burst({ parameters: { lots_percent: '5' } }),
      [['/parameters/lots_percent', 'unknown_field', 'Use one of `min`, `times`.']],
    ],
    [
      'a window of 401 days',
      burst({ kind: 'lot_churn', parameters: { days: 401 } }),
      [['/parameters/days', 'maximum', undefined]],
    ],
    [
      'windows of 401 days together',
      burst({ kind: 'minimum_deposit', parameters: { days: 390, idle_days: 11 } }),
      [['/parameters/days', 'maximum', 'Choose fewer days.']],
    ],
  ])('%s is refused', async (_, body, errors) => {
    expect(await errorsOf(body)).toEqual(errors)
    expect([await read(), await audit()]).toEqual([{ data: [] }, []])
  })

  test('missing members are named, also without a kind', async () => {
    const missing = (name: string) => [`/${name}`, 'required', undefined]
    const names = ['name', 'effective_from', 'severity']
    const found = await errorsOf({})
    expect(found.map(([pointer]: string[]) => pointer)).toEqual(
      ['kind', ...names].map((name) => `/${name}`),
    )
    expect(await errorsOf({ kind: 'lot_churn' })).toEqual(names.map(missing))
  })

  test('a rule keeps its kind', async () => {
    await put('bursts', burst())
    expect(await errorsOf(burst({ kind: 'country_mix' }))).toMatchObject([
      ['/kind', 'not_applicable', expect.stringContaining('`signup_burst`')],
    ])
  })

  test.each(['IB', '-ib', 'a'.repeat(64)])('%j is not the id of a rule', async (rule) => {
    expect(await answer(put(rule, burst()))).toMatchObject([422, { errors: [{ code: 'pattern' }] }])
  })
})

describe('accounts', () => {
  const create = (account: string, vertical: string, more: object = {}) =>
    askAdmin('accounts', 'POST', { account, name: account, vertical, mode: 'test', ...more })

  test.each([
    ['prop-trading', 12],
    ['forex', 13],
    ['igaming', 9],
  ] as const)('a new account of %s starts with its set', async (vertical, count) => {
    expect((await create('new', vertical)).status).toBe(201)
    const { data } = await read('', 'new')
    const set = Object.entries(firstRules(vertical, TODAY))
    expect(set).toHaveLength(count)
    expect(Object.fromEntries(data.map((one: { rule: string }) => [one.rule, one]))).toEqual(
      Object.fromEntries(
        set.map(([rule, { name, kind, severity }]) => [
          rule,
          {
            ...{ rule, name, kind, severity, action: 'flag', disabled: false, in_force: 1 },
            ...{ effective_from: TODAY, words: expect.any(Array) },
          },
        ]),
      ),
    )
    // The same rule again stores nothing.
    const [rule, terms] = set[0]!
    const [status, { outcome }] = await answer(put(rule, terms, 'new'))
    expect([status, outcome]).toEqual([200, 'unchanged'])
  })

  test('the day of its creation is that of the account', async () => {
    await create('far', 'igaming', { time_zone: 'Pacific/Kiritimati' })
    const { versions } = await read('/signup-burst', 'far')
    const day = new Date(Date.now() + 14 * 60 * 60 * 1000).toISOString().slice(0, 10)
    expect(versions).toMatchObject([{ version: 1, effective_from: day }])
  })
})

describe('roles', () => {
  beforeEach(() => register('forex'))

  test('viewers read, managers flag, and approvers change what holds payouts', async () => {
    const hold = burst({ effective_from: TODAY, action: 'hold' })
    expect(await statusAs('viewer', 'PUT', at('/bursts'), burst())).toBe(403)
    expect(await statusAs('manager', 'PUT', at('/bursts'), burst())).toBe(201)
    expect(await statusAs('viewer', 'GET', at('/bursts'))).toBe(200)
    expect(await statusAs('viewer', 'DELETE', at('/bursts'))).toBe(403)
    expect(await statusAs('manager', 'PUT', at('/bursts'), hold)).toBe(403)
    expect(await statusAs('approver', 'PUT', at('/bursts'), hold)).toBe(201)
    // Each of these would end the hold.
    const flag = burst({ effective_from: TOMORROW })
    expect(await statusAs('manager', 'PUT', at('/bursts'), flag)).toBe(403)
    expect(await statusAs('manager', 'DELETE', at('/bursts'))).toBe(403)
    // It is stored already.
    expect(await statusAs('manager', 'PUT', at('/bursts'), hold)).toBe(200)
    expect(await statusAs('approver', 'DELETE', at('/bursts'))).toBe(204)
  })
})
