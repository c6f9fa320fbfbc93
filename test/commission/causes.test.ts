import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/commission/plans/types.ts'
import type { Adjustment } from '../../src/commission/run/draft.ts'
import { correctionSentence } from '../../src/commission/why/cause-words.ts'
import {
  adjustmentsOf,
  approve,
  closePeriod,
  customer,
  firm,
  PATH,
  refresh,
  TENTH,
} from '../books/closed.ts'
import { askAdmin, traded } from '../partner.ts'
import { monthly, publish } from './stored.ts'

// A correction names what changed since the approval, looked up in what the batch of the change has noted.

const AFFILIATES = ['aff-7', 'aff-8', 'aff-9']

/** Each affiliate pays aff-9 a tenth of the tenths. */
const MASTER: Rule = {
  ...{ id: 'master', kind: 'override', level: 1, of: { lines: ['share'] }, percent: '10' },
}

/** Paid once for deposits of 150, and taken back by withdrawals of as much within 60 days. */
const ONCE: Rule = {
  ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'] }, amount: '50.00' },
  qualify: [{ sum: [{ transactions: ['deposit'] }], min: '150' }],
  void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 60 },
}

/** A version of a plan from September on. */
const TERMS = { ...monthly([{ ...TENTH, percent: '20' } as Rule]), effective_from: '2026-09-01' }

const putParent = (parent: string | null) =>
  askAdmin(`${PATH}/affiliates`, 'PUT', [{ affiliate_id: 'aff-7', parent, from: '2026-01-01' }])

const correct = (id: string, affiliate_id: string) =>
  askAdmin(`${PATH}/customers/${id}/affiliations`, 'PUT', {
    ...{ reason: 'Corrected', affiliations: [{ from: null, affiliate_id }] },
  })

/** Approves a period as it is computed now. */
async function settle(period: string) {
  // What changed in the millisecond in which a computation begins is named, although it has read it.
  await scheduler.wait(2)
  await refresh(period, AFFILIATES)
  await approve(period)
  await closePeriod(period)
}

/** Closes August with a deposit of 200 of aff-7's customer c-1. */
async function august(rules: Rule[] = [TENTH]) {
  const acme = await firm(rules)
  await acme.post('customers', [{ ...customer('c-2'), affiliate_id: 'aff-8' }])
  if (rules.includes(MASTER) || rules.some((rule) => rule.id === 'funded')) await putParent('aff-9')
  await acme.paid('t-1', '2026-08-10', 200)
  await settle('2026-08')
  return acme
}

type August = Awaited<ReturnType<typeof august>>

const record = (id: string, day: string, customer_id: string, change: string) => ({
  ...{ kind: 'record', resource: 'transactions', id, customer_id, day, change },
})

const person = (id: string, day: string, change: string) => ({
  ...record(id, day, id, change),
  resource: 'customers',
})

const setting = (action: string, of: object = {}) => ({
  ...{ kind: 'setting', action, customer_id: null, affiliate_id: null },
  ...of,
})

const OWN = record('t-1', '2026-08-10', 'c-1', 'amount')
const MOVED = { ...OWN, change: 'changed' }

/** What differs each time. */
const UNTOLD = {
  ...{ delivery_id: undefined, audit_id: undefined, at: undefined },
  ...{ before: undefined, after: undefined, type: undefined },
}

/** Returns the causes of an affiliate's corrections in September, by the scopes of their lines. */
async function causesOf(affiliate: string) {
  const found = await adjustmentsOf('2026-09', affiliate)
  return Object.fromEntries(
    found.map(({ rule, scope, causes }: Adjustment) => [
      `${rule} ${scope}`,
      causes.map((cause) => ({ ...cause, ...UNTOLD })),
    ]),
  )
}

/** Closes August with a deposit of c-4 half an hour before the signup on 1 September; a version begins on 2 September. */
async function early() {
  const acme = await firm()
  await acme.post('customers', [{ ...customer('c-4'), signup_date: '2026-09-01T00:30:00Z' }])
  await acme.paid('t-4', '2026-08-31', 100, { customer_id: 'c-4' })
  const from = { ...TERMS, effective_from: '2026-09-02' }
  expect((await askAdmin(`${PATH}/plans/ib`, 'PUT', from)).status).toBe(201)
  await settle('2026-08')
  return acme
}

const EARLY: readonly {
  readonly title: string
  readonly change: (acme: August) => Promise<unknown>
  readonly expected: object
}[] = [
  {
    title: 'an assignment',
    change: () =>
      askAdmin(`${PATH}/assignments`, 'PUT', [
        { affiliate_id: 'aff-7', plan: 'ib', from: '2026-09-01', customers: 'new' },
      ]),
    expected: setting('assignments.put'),
  },
  {
    title: 'a version of a plan',
    change: () => askAdmin(`${PATH}/plans/ib`, 'PUT', TERMS),
    expected: setting('plan.put'),
  },
  {
    title: 'the signup day',
    change: ({ post }) =>
      post('customers', [{ ...customer('c-4'), signup_date: '2026-09-02T00:30:00Z' }]),
    expected: { kind: 'record', resource: 'customers', customer_id: 'c-4', change: 'changed' },
  },
]

test.each(EARLY)(
  '§16.8 $title that governs a record before the signup is its cause, though its day is after the period',
  async ({ change, expected }) => {
    const acme = await early()
    await change(acme)
    const found = await causesOf('aff-7')
    expect(found).not.toEqual({})
    for (const causes of Object.values(found)) {
      expect(causes).toContainEqual(expect.objectContaining(expected))
    }
  },
)

const CHANGES: readonly {
  readonly title: string
  readonly rules?: Rule[]
  readonly change: (acme: August) => Promise<unknown>
  /** By affiliate, then by rule and scope of the line. */
  readonly expected: Readonly<Record<string, Readonly<Record<string, readonly object[]>>>>
}[] = [
  {
    title: 'a record of another kind and a record of an open period are no causes',
    change: async ({ paid }) => {
      await paid('t-1', '2026-08-10', 210)
      await paid('t-2', '2026-08-11', 30, { transaction_type: 'withdrawal' })
      await paid('t-3', '2026-09-01', 70)
    },
    expected: { 'aff-7': { 'tenth affiliate': [OWN] } },
  },
  {
    title: 'a record that moves to another customer is a cause where it lay and where it lies',
    change: ({ paid }) => paid('t-1', '2026-08-12', 200, { customer_id: 'c-2' }),
    expected: {
      'aff-7': { 'tenth affiliate': [MOVED] },
      'aff-8': { 'tenth affiliate': [record('t-1', '2026-08-12', 'c-2', 'changed')] },
    },
  },
  {
    title: 'a record that moves to an open period is a cause where it lay',
    change: ({ paid }) => paid('t-1', '2026-09-02', 200),
    expected: { 'aff-7': { 'tenth affiliate': [MOVED] } },
  },
  {
    title: 'records that waited for a customer are causes once the customer is sent',
    change: async ({ paid, post }) => {
      await askAdmin(`${PATH}`, 'PATCH', { unknown_customer: 'hold' })
      await paid('t-4', '2026-08-20', 40, { customer_id: 'c-4' })
      await post('customers', [{ ...customer('c-4'), affiliate_id: 'aff-8' }])
    },
    expected: { 'aff-8': { 'tenth affiliate': [record('t-4', '2026-08-20', 'c-4', 'added')] } },
  },
  {
    title: 'a day of trading is a cause by its instrument and currency',
    rules: [{ id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '1.00' }],
    change: ({ post }) => post('trading-activity', [{ ...traded, date: '2026-08-15' }]),
    expected: {
      'aff-7': {
        'lots affiliate': [
          {
            ...{ kind: 'record', resource: 'trading-activity', customer_id: 'c-1' },
            ...{ id: '2026-08-15|c-1|EURUSD|USD', day: '2026-08-15', change: 'added' },
          },
        ],
      },
    },
  },
  {
    title: 'a customer is a cause if the signup comes late, or a field becomes known',
    rules: [
      { ...TENTH, when: { countries: ['DE'] } } as Rule,
      { id: 'lead', kind: 'once', trigger: { signup: true }, amount: '5.00' },
    ],
    change: ({ post }) =>
      post('customers', [
        { ...customer('c-1'), country_code: 'DE' },
        { ...customer('c-3'), signup_date: '2026-08-03T08:00:00Z' },
      ]),
    expected: {
      'aff-7': {
        'tenth affiliate': [person('c-1', '2026-01-05', 'changed')],
        'lead customer:c-3': [person('c-3', '2026-08-03', 'added')],
      },
    },
  },
  {
    title: '§16.35 a line that the downline funds has the causes of the lines below',
    rules: [TENTH, { ...MASTER, id: 'funded', funded_by: 'downline' } as Rule],
    change: ({ paid }) => paid('t-1', '2026-08-10', 300),
    expected: {
      'aff-7': { 'tenth affiliate': [OWN], 'funded affiliate:aff-9': [OWN] },
      'aff-9': { 'funded affiliate:aff-7': [OWN] },
    },
  },
  {
    title: 'what takes a line back later is its cause, although its period is open',
    rules: [ONCE],
    change: ({ paid }) => paid('t-5', '2026-09-05', 200, { transaction_type: 'withdrawal' }),
    expected: { 'aff-7': { 'cpa customer:c-1': [record('t-5', '2026-09-05', 'c-1', 'added')] } },
  },
  {
    title: 'another affiliate is a cause for both, a parent for those above',
    rules: [TENTH, MASTER],
    change: async () => {
      await correct('c-1', 'aff-8')
      await putParent(null)
    },
    expected: {
      'aff-7': { 'tenth affiliate': [setting('affiliations.put', { customer_id: 'c-1' })] },
      'aff-8': { 'tenth affiliate': [setting('affiliations.put', { customer_id: 'c-1' })] },
      'aff-9': {
        'master affiliate:aff-7': [
          setting('affiliations.put', { customer_id: 'c-1' }),
          setting('affiliates.put', { affiliate_id: 'aff-7' }),
        ],
      },
    },
  },
  {
    title: 'a refusal is a cause, and the status map of all lines that count transactions',
    change: async ({ paid, post }) => {
      // Somebody without records changes, too.
      await post('customers', [customer('c-6')])
      await post('customers', [{ ...customer('c-6'), country_code: 'DE' }])
      await askAdmin(`${PATH}/customers/c-6/refusal`, 'PUT', { reason: 'Fraud' })
      await askAdmin(`${PATH}/customers/c-1/refusal`, 'PUT', { reason: 'Fraud' })
      await paid('t-2', '2026-08-12', 30, { customer_id: 'c-2', status: 'odd' })
      await askAdmin(`${PATH}/status-map`, 'PUT', { odd: 'approved' })
    },
    expected: {
      'aff-7': {
        'tenth affiliate': [setting('refusal.put', { customer_id: 'c-1' }), setting('status.put')],
      },
      'aff-8': {
        'tenth affiliate': [record('t-2', '2026-08-12', 'c-2', 'added'), setting('status.put')],
      },
    },
  },
  {
    title: 'an import of strangers is no cause, nor are the plans of others',
    rules: [TENTH, MASTER],
    change: async ({ paid }) => {
      await paid('t-1', '2026-08-10', 210)
      const strangers = Array.from({ length: 300 }, (_, i) => ({ affiliate_id: `s-${i}` }))
      await askAdmin(`${PATH}/affiliates`, 'PUT', strangers)
      await askAdmin(`${PATH}/affiliates`, 'PUT', [
        { affiliate_id: 'aff-7', display_name: 'Seven' },
      ])
      await askAdmin(`${PATH}/plans/other`, 'PUT', TERMS)
      const assignment = { plan: 'other', from: '2026-08-01', customers: 'all' }
      await askAdmin(`${PATH}/assignments`, 'PUT', [{ ...assignment, affiliate_id: 's-1' }])
    },
    expected: {
      'aff-7': { 'tenth affiliate': [OWN] },
      'aff-9': { 'master affiliate:aff-7': [OWN] },
    },
  },
  {
    title: 'an affiliate that is configured later is a cause of its own lines',
    change: async ({ paid, post }) => {
      await post('customers', [{ ...customer('c-5'), affiliate_id: 'aff-late' }])
      await paid('t-5', '2026-08-20', 40, { customer_id: 'c-5' })
      await askAdmin(`${PATH}/affiliates`, 'PUT', [{ affiliate_id: 'aff-late' }])
    },
    expected: {
      'aff-late': {
        'tenth affiliate': [
          record('t-5', '2026-08-20', 'c-5', 'added'),
          setting('affiliates.put', { affiliate_id: 'aff-late' }),
        ],
      },
    },
  },
]

describe('a correction names what changed, and nothing else', () => {
  test.each(CHANGES)('$title', async ({ rules, change, expected }) => {
    await change(await august(rules))
    for (const affiliate of [...AFFILIATES, 'aff-late']) {
      expect([affiliate, await causesOf(affiliate)]).toEqual([affiliate, expected[affiliate] ?? {}])
    }
  })
})

test('a correction says what a record was and is', async () => {
  const { paid } = await august()
  await paid('t-1', '2026-08-10', 300, { status: 'pending' })
  await paid('t-1', '2026-08-10', 300)
  // What changed of the same record of another account is not its cause.
  await env.DB.prepare(
    `insert into late_changes
     select 'other', at + 1, seq, resource, customer_id, day, id, kind, delivery, before, '{}'
     from late_changes`,
  ).run()
  const [correction] = await adjustmentsOf('2026-09', 'aff-7')
  expect(correctionSentence(correction!)).toBe(
    'The deposit of 10 Aug 2026 was changed from 200.00 EUR to 300.00 EUR.',
  )
})

test('rates that were published later are a cause', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100, { currency: 'USD' })
  await settle('2026-08')
  await publish('2026-08-10', { USD: '2', GBP: '1' }, Date.now())
  expect(await causesOf('aff-7')).toEqual({
    'tenth affiliate': [{ kind: 'rate', currency: 'USD' }],
  })
})

/** Returns a function that chooses one of some values. */
function chooser(seed: number) {
  let state = seed + 1
  return <T>(values: readonly T[]): T => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return values[(state >>> 8) % values.length]!
  }
}

/** A place of a record: its id, its customer and its day. */
interface Place {
  readonly id: string
  readonly customer_id: string
  readonly day: string
}

const textOf = ({ id, customer_id, day }: Place) => JSON.stringify([id, customer_id, day])

/** A random sequence of changes of late records and settings. */
async function history(seed: number) {
  const choose = chooser(seed)
  const { paid, post } = await firm([TENTH, MASTER, ONCE])
  await putParent('aff-9')
  const people = ['c-1', 'c-2', 'c-3']
  const owners = new Map<string, string>()
  for (const id of people) {
    owners.set(id, choose(AFFILIATES))
    await post('customers', [{ ...customer(id), affiliate_id: owners.get(id) }])
  }
  const places = new Map<string, Place>()
  /** The places that changed since the last approval, and the customers and affiliates of other changes. */
  const touched = new Set<string>()
  /** The figures of each record as they are now, and as they were at the last approval. */
  const figures = { now: new Map<string, object>(), before: new Map<string, object>() }
  const some = async () => {
    const id = choose(['t-1', 't-2', 't-3', 't-4', 't-5', 't-6'])
    const day = choose(['2026-05-04', '2026-06-12', '2026-07-15'])
    const place = { id, day, customer_id: choose(people) }
    const amount_currency = choose([10, 60, 200])
    const status = choose(['approved', 'approved', 'declined', 'unusual'])
    await paid(id, day, amount_currency, { customer_id: place.customer_id, status })
    figures.now.set(id, { amount_currency, currency: 'EUR', status })
    for (const one of [place, places.get(id)]) if (one) touched.add(textOf(one))
    places.set(id, place)
  }
  const ofCustomer = (kind: string, change: (id: string) => Promise<unknown>) => async () => {
    const id = choose(people)
    await change(id)
    touched.add(`${kind} ${id}`)
  }
  const move = async (id: string) => {
    const affiliate = choose(AFFILIATES)
    await correct(id, affiliate)
    owners.set(id, affiliate)
  }
  const refusal = (id: string) => `${PATH}/customers/${id}/refusal`
  const changes = [
    ...[some, some, some],
    ofCustomer('affiliations.put', move),
    ofCustomer('refusal.put', (id) => askAdmin(refusal(id), 'PUT', { reason: 'Fraud' })),
    ofCustomer('refusal.delete', (id) => askAdmin(refusal(id), 'DELETE')),
    async () => {
      await askAdmin(`${PATH}/status-map`, 'PUT', choose([{ unusual: 'approved' }, {}]))
      touched.add('status.put')
    },
    async () => {
      await putParent(choose([null, 'aff-8', 'aff-9']))
      touched.add('affiliates.put aff-7')
    },
  ]
  return { some, change: () => choose(changes)(), owners, touched, figures }
}

test('every correction of a random sequence names causes, each of which changed something for it', async () => {
  const { some, change, ...known } = await history(env.SEED)
  let corrections = 0
  for (let i = 0; i < 6; i++) await some()
  for (const period of ['2026-07', '2026-08', '2026-09', '2026-10']) {
    await scheduler.wait(2)
    const read = async () => {
      await refresh(period, AFFILIATES)
      return Promise.all(AFFILIATES.map((affiliate) => adjustmentsOf(period, affiliate)))
    }
    const drafts = await read()
    if (period === '2026-10') expect(await read()).toEqual(drafts)
    for (const [i, found] of drafts.entries()) {
      corrections += found.length
      for (const adjustment of found) checkCauses(adjustment, AFFILIATES[i]!, known)
    }
    await settle(period)
    known.touched.clear()
    known.figures.before = new Map(known.figures.now)
    for (let i = 0; i < 3; i++) await change()
  }
  expect(corrections).toBeGreaterThan(0)
}, 60_000)

function checkCauses(
  adjustment: Awaited<ReturnType<typeof adjustmentsOf>>[number],
  affiliate: string,
  { owners, touched, figures }: Omit<Awaited<ReturnType<typeof history>>, 'some' | 'change'>,
) {
  const { causes, causes_total, scope, rule, of } = adjustment
  const text = JSON.stringify(adjustment)
  expect(causes_total, text).toBeGreaterThan(0)
  expect(causes.length).toBe(Math.min(20, causes_total))
  for (const cause of causes) {
    if (cause.kind === 'record') {
      expect(touched, text).toContain(textOf(cause))
      expect(cause.after, text).toEqual(figures.now.get(cause.id))
      expect(cause.before, text).toEqual(figures.before.get(cause.id) ?? null)
      if (rule !== 'cpa') expect(cause.day.slice(0, 7), text).toBe(of.period)
      if (scope.startsWith('customer:')) expect(`customer:${cause.customer_id}`).toBe(scope)
      else expect(owners.get(cause.customer_id)).toBe(scope.split(':')[1] ?? affiliate)
    } else {
      const of = cause.customer_id ?? cause.affiliate_id
      const expected = of === null ? cause.action : `${cause.action} ${of}`
      expect(touched, text).toContain(expected)
    }
  }
}
