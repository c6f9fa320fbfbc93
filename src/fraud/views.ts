import type { AccountBeginnings } from '../commission/db/facts.ts'
import type { Account } from '../commission/engine/account.ts'
import { convertFact } from '../commission/engine/convert.ts'
import { evaluateCustomer } from '../commission/engine/customer.ts'
import {
  amountOf,
  type Customer,
  type Fact,
  type FactResource,
  valueOn,
} from '../commission/engine/facts.ts'
import { type EvaluatedCustomer, judge, ownEntries, type Sink } from '../commission/engine/judge.ts'
import { overrideVersion } from '../commission/engine/plans-in-force.ts'
import type { CompiledUnitRule } from '../commission/engine/rules.ts'
import type { StoredAccount } from '../commission/run/stored-account.ts'
import { compareText } from '../platform/compare-text.ts'
import { nextPeriod, type PeriodKind, parsePeriod } from '../platform/money/calendar.ts'
import {
  type Decimal,
  decimal,
  fromFact,
  integer,
  multiply,
  PLACES,
  quotient,
  sum,
} from '../platform/money/decimal.ts'
import { convertAmount, type LoadedRates } from '../platform/money/exchange.ts'
import type { StatementSums } from './db/view.ts'
import type { PeriodEarning, Reach, Seen, UnitEarning, View } from './kind.ts'
import { qualificationsOf } from './qualifications.ts'

// What rules see of affiliates, made from their customers. What a view shows of a day follows from the records and
// histories of the days up to it, so that it is the same whenever it is made. Refusals and what takes a
// qualification back are left out: a case must not go when its customers are refused.

/** What views of an account are read from. */
export interface ViewSource {
  readonly source: StoredAccount
  readonly beginnings: Pick<AccountBeginnings, 'days'>
  readonly account: Account
  readonly rates: LoadedRates
  /** The digest of the settings and plans. */
  readonly form: string
  /** From where changes are read that are made after the views; null if nothing is kept of them. */
  readonly position: number | null
  /** The number of customers of the account. */
  readonly customers: number
}

/** What a rule reads, and the days whose findings are wanted, in days since 1970. */
export interface WantedDays {
  readonly reach: Reach
  readonly first: number
  readonly last: number
}

const LONGEST_PERIOD = 31

/** Returns a day from which all periods are known that end from a day on, or are read with these. */
export const firstPeriodDay = ({ periods = 0 }: Reach, first: number): number =>
  first - periods * LONGEST_PERIOD

/** Returns the first day that is read of each source; Infinity: none. */
export function windowsOf(reach: Reach, first: number): Readonly<Record<FactResource, number>> {
  const start = (days: number | undefined) => (days ? first - days + 1 : Number.POSITIVE_INFINITY)
  return {
    customers: start(reach.customers),
    transactions: start(reach.transactions),
    'trading-activity': start(reach['trading-activity']),
    activities: start(reach.activities),
  }
}

/** The identity of a customer who is like no other. */
export const UNIQUE: Pick<Seen, 'earlier' | 'isContact'> = {
  earlier: { email: { count: 0, first: [] }, name: { count: 0, first: [] } },
  isContact: false,
}

/** Returns what each affiliate of a customer sees of them, without clicks and identity; those who see nothing are left out. */
export function seenBy(
  account: Account,
  stored: Customer,
  { reach, first, last }: WantedDays,
): [affiliate: string, Seen][] {
  const windows = windowsOf(reach, first)
  const customer = {
    ...stored,
    refusedFrom: null,
    facts: stored.facts.filter(({ day }) => day <= last),
  }
  const evaluated =
    reach.qualified || reach.unitEarnings ? evaluateCustomer(account, customer) : null
  const qualified = reach.qualified && evaluated ? qualificationsOf(account, evaluated) : []
  const affiliates = new Set(customer.affiliates.map(({ value }) => value))
  return [...affiliates].flatMap((affiliate): [string, Seen][] => {
    if (affiliate === null) return []
    const facts = customer.facts.filter(
      ({ resource, day }) =>
        day >= windows[resource] && valueOn(customer.affiliates, day) === affiliate,
    )
    const own = qualified.filter((one) => one.affiliate === affiliate)
    if (facts.length === 0 && own.length === 0) return []
    const unitEarnings =
      reach.unitEarnings && evaluated ? earningsOf(account, evaluated, facts, affiliate) : []
    const seen = { ...customer, facts, qualified: own, unitEarnings, clickedAt: null, ...UNIQUE }
    return [[affiliate, seen]]
  })
}

/**
 * Returns what the records of a customer earn by volume on each day: units ÷ `each` × rate, rounded to 12 places. Tiers
 * count at their first step, and limits of the rule are left out: both depend on other records.
 */
function earningsOf(
  account: Account,
  evaluated: EvaluatedCustomer,
  facts: readonly Fact[],
  affiliate: string,
): UnitEarning[] {
  const { currency } = planOf(account, affiliate)
  const pays: OwnAmount[] = []
  const sink: Sink = {
    entriesOf: (owner) => (owner.affiliate === affiliate ? ownEntries(owner) : []),
    counts({ rule, version }, _term, fact) {
      if (rule.kind !== 'unit') return
      pays.push({ day: fact.day, amount: payFor(rule, fact), currency: version.currency })
    },
    refuses() {},
  }
  for (const fact of facts) judge(account, evaluated, fact, sink)
  return [...Map.groupBy(pays, ({ day }) => day)].map(([day, own]) => ({
    day,
    amount: sumIn(account, currency, own),
  }))
}

function payFor({ unit, tiers, rate, each }: CompiledUnitRule, fact: Fact): Decimal {
  const units = unit.counts ? integer(fact.count) : fromFact(amountOf(fact, unit.field))
  return quotient(multiply(units, tiers?.steps[0].rate ?? rate), each, PLACES)
}

/** The last day of the calendar. */
const LAST_DAY = 2_932_896

/** Returns the currency of an affiliate's figures and the kind of its periods: those of its latest plan. */
function planOf({ inForce }: Account, affiliate: string): { currency: string; period: PeriodKind } {
  return overrideVersion(inForce, affiliate, LAST_DAY) ?? { currency: 'EUR', period: 'month' }
}

/** An amount of a day in its own currency. */
interface OwnAmount {
  readonly day: number
  readonly amount: Decimal
  readonly currency: string
}

/** Adds up amounts in another currency. Amounts without a rate are left out. */
const sumIn = ({ rates }: Account, to: string, amounts: readonly OwnAmount[]): Decimal =>
  sum(
    amounts
      .map(({ amount, currency, day }) => convertAmount(amount, currency, to, day, rates))
      .filter((one) => typeof one !== 'string'),
  )

const sentCurrency = ({ currency }: Fact): string | null => currency

/** Returns the view of an affiliate. */
export function viewOf(
  account: Account,
  affiliate_id: string,
  customers: readonly Seen[],
  statements: readonly StatementSums[],
  { reach, first, last }: WantedDays,
  payees: View['payees'] = [],
): View {
  const { currency, period: kind } = planOf(account, affiliate_id)
  const ended = statements.filter(({ period }) => {
    const one = parsePeriod(period)
    return one?.kind === kind && one.first >= firstPeriodDay(reach, first) && one.last <= last
  })
  return {
    affiliate_id,
    currency,
    customers: customers.toSorted((a, b) => compareText(a.customer_id, b.customer_id)),
    convert(fact, field) {
      const converted = convertFact(
        fact,
        { field, currencyOf: sentCurrency },
        currency,
        account.rates,
      )
      return typeof converted === 'string' ? null : converted
    },
    periods: periodsOf(ended, (amounts) => sumIn(account, currency, amounts)),
    payees,
  }
}

/** Returns the periods from the first with a statement to the last. */
function periodsOf(
  statements: readonly StatementSums[],
  sumOf: (amounts: readonly OwnAmount[]) => Decimal,
): PeriodEarning[] {
  const byPeriod = Map.groupBy(statements, ({ period }) => period)
  const known = [...byPeriod.keys()]
    .flatMap((id) => parsePeriod(id) ?? [])
    .sort((a, b) => a.first - b.first)
  const [first] = known
  const end = known.at(-1)
  if (!first || !end) return []
  const periods: PeriodEarning[] = []
  for (let one = first; one.first <= end.first; one = nextPeriod(one, 1)) {
    const own = byPeriod.get(one.id) ?? []
    const earned = sumOf(
      own.map((row) => ({ amount: decimal(row.earned), currency: row.currency, day: one.last })),
    )
    const statements = own.map(({ id }) => id)
    periods.push({ ...one, statements, earned, revenue: null })
  }
  return periods
}
