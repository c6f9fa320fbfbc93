import { type CustomerHistory, readHistories } from '../../ingest/db/histories.ts'
import { memoize } from '../../platform/memoize.ts'
import type { Period } from '../../platform/money/calendar.ts'
import { type KeptFacts, readKeptFacts } from '../db/closed-states.ts'
import { type FoundIds, findCustomersOf } from '../db/customers-of.ts'
import type { FactSelection } from '../db/fact-tables.ts'
import {
  customersPerBatch,
  type FactQuery,
  type FactRow,
  type RowKind,
  readFactRows,
  readSignups,
  type SignupRow,
} from '../db/facts.ts'
import {
  type Customer,
  type CustomerFields,
  compareFacts,
  type Fact,
  NO_FIELDS,
} from '../engine/facts.ts'
import type { EvaluatedCustomer } from '../engine/judge.ts'
import { factsForOnce, oncePlansOf } from '../engine/once.ts'
import { assignedPlans, type Plan } from '../engine/plans-in-force.ts'
import { type FactNeeds, factNeeds } from '../plans/fact-needs.ts'
import type { PlanTerms } from '../plans/types.ts'
import type { OpenAccount } from './account.ts'
import type { Start } from './starts.ts'
import { dated, dayOrNull, type StoredAccount } from './stored-account.ts'
import { signupState, toFact } from './to-facts.ts'

/**
 * Returns a function that tells whether a query reads rows that count for a customer: rows that are
 * named by the plans of the customer's affiliates, or by overrides and network tiers of their uplines.
 */
export function neededQueries(
  { inForce, selection, tree }: OpenAccount,
  periods: readonly Period[],
): IsNeeded {
  const days = [...new Set(periods.map(({ last }) => last))]
  const versionsOf = (affiliate: string) =>
    assignedPlans(inForce, affiliate).flatMap(({ versions }) => versions)
  const kindsFor = memoize((affiliate: string): ReadonlySet<RowKind> => {
    const uplines = new Set(days.flatMap((day) => tree.uplines(affiliate, day)))
    return kindsOf(selection, [
      ...versionsOf(affiliate).map(({ source }) => source),
      ...[...uplines].flatMap(versionsOf).map(({ source }) => rulesOverOthers(source)),
    ])
  })
  return ({ affiliations }, { kind }) =>
    affiliations.some(({ affiliate_id: id }) => id !== null && kindsFor(id).has(kind))
}

/** Returns terms with only those rules that count facts of affiliates below. */
const rulesOverOthers = (terms: PlanTerms): PlanTerms => ({
  ...terms,
  rules: terms.rules.filter(({ kind, tiers }) => kind === 'override' || tiers?.over === 'network'),
})

/** Returns the kinds of rows that plans need, as an account's selection reads them. */
function kindsOf(selection: FactSelection, plans: readonly PlanTerms[]): Set<RowKind> {
  const needs: FactNeeds = factNeeds(plans)
  const isNamed = ({ single, summed }: FactNeeds['events'], names: readonly string[]): boolean =>
    names.some((name) => single.has(name) || summed.has(name))
  const { transactions, activity, events } = needs
  const kinds = new Set<RowKind>()
  if (isNamed(transactions, selection.transactions.single)) kinds.add('transactions')
  if (isNamed(transactions, selection.transactions.summed)) kinds.add('summed_transactions')
  if (activity.single.size + activity.summed.size > 0) {
    kinds.add('activity').add('summed_activity')
  }
  if (isNamed(events, selection.events.single)) kinds.add('events')
  if (isNamed(events, selection.events.summed)) kinds.add('summed_events')
  return kinds
}

/** A customer without facts. */
interface KnownCustomer extends CustomerHistory {
  readonly customer_id: string
  readonly signup: SignupRow
}

/** Returns whether the rows that a query reads are needed for a customer. */
export type IsNeeded = (
  customer: Pick<KnownCustomer, 'affiliations'>,
  query: Pick<FactQuery, 'kind'>,
) => boolean

/** What is read of days before those of the other queries: records, or the facts that are kept of them. */
interface EarlierFacts extends Pick<Start, 'ends' | 'last'> {
  /** The queries for what is read one by one, since customers qualify by it. */
  readonly queries: readonly FactQuery[]
}

/** A customer, and under which key its facts up to a day are to be kept; null: they are, or there are none. */
export interface ReadCustomer extends Customer {
  readonly unkept: Omit<KeptFacts, 'facts'> | null
}

/** Reads the earlier facts of customers: those after what is kept of them, and returns what is kept by stored id. */
async function readEarlier(
  { db, row, inForce, selection, form }: OpenAccount,
  { queries, ends }: EarlierFacts,
  known: readonly KnownCustomer[],
  share: number,
) {
  const kindsOfPlans = memoize((plans: string) =>
    kindsOf(
      selection,
      plans.split(' ').flatMap((plan) => onceTerms(inForce.plans.get(plan))),
    ),
  )
  const kept = new Map<string, Omit<KeptFacts, 'customer_id'>>()
  for (const { signup, affiliations } of known) {
    const affiliates = affiliations.map(({ affiliate_id }) => affiliate_id)
    const plans = oncePlansOf(inForce, affiliates).map(({ plan }) => plan)
    if (plans.length === 0) continue
    const key = `${form} ${plans.join(' ')}`
    kept.set(signup.customer_id, { last_day: -Infinity, form: key, facts: '[]' })
  }
  for (const one of await readKeptFacts(db, row.id, [...kept.keys()], ends)) {
    if (kept.get(one.customer_id)?.form === one.form) kept.set(one.customer_id, one)
  }
  const found: FoundRows[] = []
  const byDay = Map.groupBy(kept, ([, { last_day }]) => last_day)
  for (const [from, group] of byDay) {
    for (const query of queries) {
      const days = query.days.filter((day) => day > from)
      const own = group.flatMap(([id, { form: key }]) =>
        kindsOfPlans(key.slice(form.length + 1)).has(query.kind) ? [id] : [],
      )
      const size = customersPerBatch([{ ...query, days }])
      for (let i = 0; days.length > 0 && i < own.length; i += size) {
        const part = own.slice(i, i + size)
        const ofPart = new Set(part)
        const [rows = []] = await readFactRows(db, row.id, [
          { query: { ...query, days }, ids: part, share: (share * part.length) / known.length },
        ])
        found.push({ kind: query.kind, rowsOf: byCustomer(rows, (id) => ofPart.has(id)) })
      }
    }
  }
  return { kept, found }
}

/** Returns the terms of the versions of a plan with only their `once` rules. */
const onceTerms = (plan: Plan | undefined): PlanTerms[] =>
  (plan?.versions ?? []).map(({ source }) => ({
    ...source,
    rules: source.rules.filter(({ kind }) => kind === 'once'),
  }))

/** The most characters that are kept of a customer. The records of one with more are read again. */
const MAX_KEPT = 20_000

/** Returns what is kept of an evaluated customer; null if that is too much. */
export function keptFactsOf(
  account: OpenAccount,
  evaluated: EvaluatedCustomer,
  key: Omit<KeptFacts, 'facts'>,
): KeptFacts | null {
  const kept = factsForOnce(account, evaluated, key.last_day)
  const facts = JSON.stringify(
    kept.map((fact) => ({
      ...fact,
      amounts: [...fact.amounts].map(([field, units]) => [field, String(units)]),
    })),
  )
  return facts.length > MAX_KEPT ? null : { ...key, facts }
}

const readKept = (facts: string): Fact[] =>
  JSON.parse(facts).map((fact: Fact & { amounts: [string, string][] }) => ({
    ...fact,
    amounts: new Map(fact.amounts.map(([field, units]) => [field, BigInt(units)])),
  }))

/** What a run reads of customers: only what rules need, and of earlier days what is not kept. */
interface Reading {
  readonly account: OpenAccount
  readonly isNeeded: IsNeeded
  readonly earlier: EarlierFacts
}

/**
 * Yields the customers that these affiliates ever had, a few at a time; each customer once. Each batch can be iterated
 * only once.
 *
 * @param affiliates Null: all customers.
 * @param queries The queries that read their facts.
 */
export async function* customersOf(
  stored: StoredAccount,
  affiliates: readonly string[] | null,
  queries: readonly FactQuery[],
  reading: Reading | null = null,
): AsyncGenerator<Iterable<ReadCustomer>> {
  const size = customersPerBatch(queries)
  for await (const found of findCustomersOf(stored, stored.row.id, affiliates, size)) {
    yield await readCustomers(stored, queries, found, reading)
  }
}

/**
 * Reads customers with their histories and facts, and leaves out those who are not stored. The iterator
 * makes the facts of one customer at a time, so that the memory of the one before can be freed.
 *
 * @param found At most as many as `customersPerBatch` returns.
 */
export async function readCustomers(
  stored: StoredAccount,
  queries: readonly FactQuery[],
  { ids, share }: FoundIds,
  reading: Reading | null = null,
): Promise<Iterable<ReadCustomer>> {
  const { db, row } = stored
  const known = await readKnown(stored, ids)
  const needed = queries.flatMap((query) => {
    const own = known.flatMap((one) =>
      (reading?.isNeeded(one, query) ?? true) ? [one.signup.customer_id] : [],
    )
    return own.length > 0 ? [{ query, ids: own, share: (share * own.length) / known.length }] : []
  })
  const [rows, before] = await Promise.all([
    readFactRows(db, row.id, needed),
    reading && readEarlier(reading.account, reading.earlier, known, share),
  ])
  const found = needed.map(({ query: { kind } }, i) => ({
    kind,
    rowsOf: byCustomer(rows[i] ?? []),
  }))
  return toCustomers(stored, known, [...found, ...(before?.found ?? [])], (id) => {
    const kept = before?.kept.get(id)
    if (!kept || !reading) return { facts: [], unkept: null }
    const { last_day, form, facts } = kept
    const { ends, last: until } = reading.earlier
    const last = Math.max(...ends.map((end) => end.last))
    return {
      facts: readKept(facts).filter(({ day }) => day <= until),
      unkept: last_day < last ? { customer_id: id, last_day: last, form } : null,
    }
  })
}

/** Returns the facts that are kept of a stored id, and whether others are to be. */
type KeptOf = (id: string) => Pick<ReadCustomer, 'facts' | 'unkept'>

function* toCustomers(
  stored: StoredAccount,
  known: readonly KnownCustomer[],
  found: readonly FoundRows[],
  keptOf: KeptOf,
): Generator<ReadCustomer> {
  for (const one of known) yield toCustomer(stored, one, found, keptOf(one.signup.customer_id))
}

/** Reads the customers with these ids who are stored, in their order. */
async function readKnown(
  stored: StoredAccount,
  ids: readonly string[],
): Promise<readonly KnownCustomer[]> {
  const [histories, signups] = await Promise.all([
    readHistories(stored, stored.row.id, ids),
    readSignups(stored.db, stored.row.id, ids),
  ])
  return signups.flatMap((signup) => {
    const { customer_id } = signup
    const history = histories.get(customer_id)
    return history ? [{ customer_id, signup, ...history }] : []
  })
}

/** The rows of one kind by stored customer id. */
interface FoundRows {
  readonly kind: RowKind
  readonly rowsOf: ReadonlyMap<string, readonly FactRow[]>
}

/** Returns rows by stored customer id; those of others are left out. */
const byCustomer = (rows: readonly FactRow[], isWanted: (id: string) => boolean = () => true) =>
  Map.groupBy(
    rows.filter(({ customer_id }) => isWanted(String(customer_id))),
    ({ customer_id }) => String(customer_id),
  )

/** Returns a customer with all facts; the first fact that is added is the signup. */
function toCustomer(
  { settings }: StoredAccount,
  { customer_id, signup: row, affiliations, fields, refusal }: KnownCustomer,
  found: readonly FoundRows[],
  { facts: kept, unkept }: ReturnType<KeptOf>,
): ReadCustomer {
  const { day, signup_date, signup_day, delivery } = row
  const signup = signup_date ?? settings.dayStart(signup_day)
  const own: Fact = {
    ...SIGNUP,
    id: customer_id,
    // The day of a fact is that of control totals (contract §10), and its instant lies on that day.
    at: day === signup_day ? signup : settings.dayStart(day),
    wholeDay: signup_date === null || day !== signup_day,
    day,
    state: signupState(settings, day),
    delivery_id: delivery,
  }
  const facts: Fact[] = [own, ...kept]
  for (const { kind, rowsOf } of found) {
    for (const one of rowsOf.get(row.customer_id) ?? [])
      facts.push(toFact(kind, one, customer_id, settings))
  }
  return {
    customer_id,
    signup,
    signupDay: signup_day,
    affiliates: dated(affiliations, ({ affiliate_id }) => affiliate_id),
    fields: dated(fields, ({ values }): CustomerFields => ({ ...NO_FIELDS, ...values })),
    refusedFrom: refusal && (dayOrNull(refusal.from) ?? Number.NEGATIVE_INFINITY),
    facts: facts.sort(compareFacts),
    unkept,
  }
}

const SIGNUP = {
  resource: 'customers',
  kind: '',
  subtype: null,
  currency: null,
  instrument: null,
  product: null,
  amounts: new Map<string, bigint>(),
  count: 1,
} as const

/** Thrown if a computation reads more facts than its caller allows. */
export class TooManyFacts extends Error {}

/** The facts after which a computation yields to other requests. */
const FACTS_BETWEEN_YIELDS = 2000

/**
 * Returns a function to call with the number of facts of each customer before they are computed. It
 * returns a promise to await when other requests of the isolate should run, otherwise null: an isolate
 * has one thread, and 40,000 facts occupy it for half a second.
 */
export function yieldAfterFacts(): (facts: number) => Promise<void> | null {
  let sinceYield = 0
  return (facts) => {
    sinceYield += facts
    if (sinceYield < FACTS_BETWEEN_YIELDS) return null
    sinceYield = 0
    return scheduler.wait(0)
  }
}
