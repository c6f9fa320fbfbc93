import type { Fact } from '../../src/commission/engine/facts.ts'
import type { OnceRule, PlanTerms, Rule } from '../../src/commission/plans/types.ts'
import { evaluate, open } from './engine.ts'
import type { AccountInput } from './open-account.ts'
import type { OutcomeStatement, World, WorldCustomer } from './world.ts'

// Small worlds of one affiliate `A` and one plan `P` in EUR, for examples that change a part of them.

const DAY_MS = 86_400_000

/** Returns the start of a day as an instant. */
export const at = (day: string): number => Date.parse(`${day}T00:00:00Z`)

/** Returns the days since 1970 of a day. */
export const dayOf = (day: string): number => at(day) / DAY_MS

/** Builds a customer of `A` who signed up on the first of 2026. */
export const customer = (
  customer_id: string,
  more: Partial<WorldCustomer> = {},
): WorldCustomer => ({
  customer_id,
  signup: at('2026-01-01'),
  affiliates: [{ from: null, affiliate_id: 'A' }],
  fields: [],
  ...more,
})

/** Builds a deposit in EUR. Its id has the day first, so that ids stand in order of time. */
export const deposit = (
  customer_id: string,
  day: string,
  amount_currency: number,
  more: Partial<World['transactions'][number]> = {},
): World['transactions'][number] => ({
  transaction_id: `${day} ${customer_id} ${amount_currency}`,
  customer_id,
  transaction_type: 'deposit',
  amount_currency,
  currency: 'EUR',
  at: at(day),
  status: 'approved',
  ...more,
})

/** Builds a customer of an affiliate who signed up in August. */
export const customerOf = (customer_id: string, affiliate_id: string): WorldCustomer => ({
  customer_id,
  signup: Date.parse('2026-08-20T10:00:00Z'),
  affiliates: [{ from: null, affiliate_id }],
  fields: [{ from: null, values: {} }],
})

/** Builds the terms of a plan in EUR. */
export const terms = (rules: readonly Rule[], more: Partial<PlanTerms> = {}): PlanTerms => ({
  name: 'P',
  currency: 'EUR',
  period: 'month',
  effective_from: '2026-01-01',
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '0',
  hold_days: 0,
  rules,
  ...more,
})

/** Builds a plan with one version for each list of rules. */
export const plan = (name: string, ...versions: readonly PlanTerms[]): World['plans'][number] => ({
  plan: name,
  versions: versions.map((one, index) => ({ version: index + 1, terms: one })),
})

/** Builds a world in which every affiliate has the plan `P` from the first of 2026. */
export const world = (more: Partial<World>): World => ({
  vertical: 'forex',
  affiliates: [{ affiliate_id: 'A', parents: [] }],
  status_map: {},
  customers: [customer('c1')],
  transactions: [],
  activity: [],
  events: [],
  rates: [],
  plans: [],
  assignments: [{ affiliate_id: '*', plan: 'P', from: '2026-01-01', customers: 'all' }],
  ...more,
})

/** Builds a world with one rule. */
export const worldOf = (rules: readonly Rule[], more: Partial<World> = {}): World =>
  world({ plans: [plan('P', terms(rules))], ...more })

/** Returns the statements of a period. */
export const statements = (of: World, period: string): OutcomeStatement[] =>
  evaluate(of, [period])[0]!.statements

/** Returns the lines of all statements of a period, as `affiliate rule scope amount`. */
export const lines = (of: World, period: string): string[] =>
  statements(of, period).flatMap(({ affiliate_id, lines: all }) =>
    all.map(({ rule, scope, amount }) => `${affiliate_id} ${rule} ${scope} ${amount}`),
  )

/** Returns the state of each fact of a period but signups. */
export const states = (of: World, period: string): string[] =>
  evaluate(of, [period])[0]!.facts.flatMap(({ resource, id, state, rule }) =>
    resource === 'customers' ? [] : [`${id}: ${state} ${rule}`],
  )

/** Opens a world with other values of the input. */
export const input = (of: World, more: Partial<AccountInput> = {}): AccountInput => ({
  ...open(of).input,
  ...more,
})

/** Builds a deposit of 0 EUR on the first of 2026, as the engine reads it. */
export const fact = (more: Partial<Fact> = {}): Fact => ({
  resource: 'transactions',
  id: 't1',
  at: at('2026-01-01'),
  wholeDay: false,
  day: dayOf('2026-01-01'),
  state: 'approved',
  kind: 'deposit',
  subtype: null,
  currency: 'EUR',
  instrument: null,
  product: null,
  amounts: new Map(),
  count: 1,
  ...more,
})

/** A rule that pays once for a deposit. */
export const cpa = (more: Partial<OnceRule> = {}): OnceRule => ({
  id: 'cpa',
  kind: 'once',
  trigger: { transactions: ['deposit'] },
  amount: '10',
  ...more,
})
