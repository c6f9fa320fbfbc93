import { nextPeriod, type PeriodKind, parsePeriod } from '../commission/engine/calendar.ts'
import type { Context } from '../commission/engine/context.ts'
import { convertAmount, convertFact } from '../commission/engine/convert.ts'
import { add, type Decimal, decimal, isZero, ZERO } from '../commission/engine/decimal.ts'
import { type EvaluatedCustomer, evaluateCustomer } from '../commission/engine/evaluate.ts'
import {
  type Customer,
  compareText,
  type Fact,
  type FactResource,
  valueOn,
} from '../commission/engine/facts.ts'
import { overrideVersion, type Version } from '../commission/engine/plans-in-force.ts'
import { unitPaysOf } from '../commission/engine/unit-earnings.ts'
import type { StatementSums } from './db/view.ts'
import type { Total } from './figures.ts'
import type { KnownQualified, PeriodEarning, Reach, Seen, UnitEarning, View } from './kind.ts'
import { qualificationsOf } from './qualifications.ts'

// What rules see of affiliates, made from their customers. A view of a day follows from the records,
// histories and plans of the days up to it, so that it is the same whenever it is made. Refusals are left
// out: a case must not go when its customers are refused.

/** What a rule reads, and the days whose findings are wanted, in days since 1970. */
export interface WantedDays {
  readonly reach: Reach
  readonly first: number
  readonly last: number
}

/** A view of an affiliate that is valid on some days: its currency is that of the plan in force. */
export interface ViewOfDays {
  readonly first: number
  readonly last: number
  readonly view: View
}

const LONGEST_PERIOD = 31

/** Returns a day from which all periods are known that end from a day on, or are read with these. */
export const firstPeriodDay = ({ periods = 0 }: Reach, first: number): number =>
  first - periods * LONGEST_PERIOD

/** The first day that is read of each source; Infinity: none. */
export type Windows = Readonly<Record<FactResource, number>>

/** Returns the windows of a rule. */
export function windowsOf(reach: Reach, first: number): Windows {
  const start = (days: number | undefined) => (days ? first - days + 1 : Number.POSITIVE_INFINITY)
  return {
    customers: start(reach.customers),
    transactions: start(reach.transactions),
    'trading-activity': start(reach['trading-activity']),
    activities: start(reach.activities),
  }
}

/** A customer as an affiliate had them. */
export interface Found {
  readonly affiliate: string
  readonly customer: Customer
  readonly qualified: readonly KnownQualified[]
  readonly pays: readonly OwnAmount[]
  readonly clickedAt: number | null
  readonly identity: Pick<Seen, 'earlier' | 'isContact'>
}

/** The identity of a customer who is like no other. */
export const UNIQUE: Found['identity'] = {
  earlier: { email: { count: 0, first: [] }, name: { count: 0, first: [] } },
  isContact: false,
}

/** Returns what the affiliates of a customer see of them; those who see nothing are left out. */
export function findOf(
  context: Context,
  stored: Customer,
  { reach, first, last }: WantedDays,
): Found[] {
  const windows = windowsOf(reach, first)
  const customer = {
    ...stored,
    refusedFrom: null,
    facts: stored.facts.filter(({ day }) => day <= last),
  }
  const evaluated =
    reach.qualified || reach.unitEarnings ? evaluateCustomer(context, customer) : null
  const qualified =
    reach.qualified && evaluated ? qualificationsOf(context, evaluated, { first, last }) : []
  const affiliates = new Set(customer.affiliates.map(({ value }) => value))
  return [...affiliates].flatMap((affiliate): Found[] => {
    if (affiliate === null) return []
    const facts = customer.facts.filter(
      ({ resource, day }) =>
        day >= windows[resource] && valueOn(customer.affiliates, day) === affiliate,
    )
    const own = qualified.map(
      (known): KnownQualified => ({
        ...known,
        qualified: known.qualified.filter((one) => one.affiliate === affiliate),
      }),
    )
    if (facts.length === 0 && own.every((known) => known.qualified.length === 0)) return []
    return [
      {
        affiliate,
        customer: { ...customer, facts },
        qualified: own,
        pays: reach.unitEarnings && evaluated ? paysOf(context, evaluated, facts, affiliate) : [],
        clickedAt: null,
        identity: UNIQUE,
      },
    ]
  })
}

const paysOf = (
  context: Context,
  evaluated: EvaluatedCustomer,
  facts: readonly Fact[],
  affiliate: string,
): Found['pays'] =>
  facts.flatMap((fact) =>
    unitPaysOf(context, evaluated, fact)
      .filter((one) => one.affiliate === affiliate)
      .map(({ amount, currency }) => ({ day: fact.day, amount, currency })),
  )

/** The currency of figures of an affiliate without a plan. */
const USUAL_CURRENCY = 'EUR'

/** Returns the views of an affiliate: one for each run of days with the same currency and kind of period. */
export function viewsOf(
  context: Context,
  affiliate: string,
  found: readonly Found[],
  statements: readonly StatementSums[],
  { reach, first, last }: WantedDays,
): ViewOfDays[] {
  const inOrder = found.toSorted((a, b) =>
    compareText(a.customer.customer_id, b.customer.customer_id),
  )
  const runs: { first: number; last: number; currency: string; kind: PeriodKind }[] = []
  for (let day = first; day <= last; day++) {
    const version: Version | null = overrideVersion(context.inForce, affiliate, day)
    const currency = version?.currency ?? USUAL_CURRENCY
    const kind = version?.period ?? 'month'
    const run = runs.at(-1)
    if (run?.currency === currency && run.kind === kind) run.last = day
    else runs.push({ first: day, last: day, currency, kind })
  }
  const ended = statements.filter(({ period }) => {
    const one = parsePeriod(period)
    return one !== null && one.first >= firstPeriodDay(reach, first) && one.last <= last
  })
  return runs.map((run) => ({
    first: run.first,
    last: run.last,
    view: viewIn(context, affiliate, inOrder, ended, run.currency, run.kind),
  }))
}

/** An amount of a day in its own currency. */
interface OwnAmount {
  readonly day: number
  readonly amount: Decimal
  readonly currency: string
}

function viewIn(
  { rates }: Context,
  affiliate_id: string,
  found: readonly Found[],
  statements: readonly StatementSums[],
  currency: string,
  kind: PeriodKind,
): View {
  const sumOn = (amounts: readonly OwnAmount[]): Total => {
    const leftOut: string[] = []
    let total = ZERO
    for (const { amount, currency: from, day } of amounts) {
      const converted = convertAmount(amount, from, currency, day, rates)
      if (typeof converted !== 'string') total = add(total, converted)
      else if (!isZero(amount)) leftOut.push(from)
    }
    return { sum: total, leftOut }
  }
  return {
    affiliate_id,
    currency,
    customers: found.map(
      ({ customer, clickedAt, identity, qualified, pays }): Seen => ({
        ...customer,
        clickedAt,
        ...identity,
        qualified,
        unitEarnings: [...Map.groupBy(pays, ({ day }) => day)].map(([day, own]): UnitEarning => {
          const { sum, leftOut } = sumOn(own)
          return { day, amount: sum, leftOut }
        }),
      }),
    ),
    convert(fact, field) {
      const converted = convertFact(fact, field, fact.currency, currency, rates)
      return typeof converted === 'string' ? null : converted
    },
    periods: periodsOf(statements, kind, sumOn),
  }
}

/** Returns the periods from the first with a statement to the last. */
function periodsOf(
  statements: readonly StatementSums[],
  kind: PeriodKind,
  sumOn: (amounts: readonly OwnAmount[]) => Total,
): PeriodEarning[] {
  const byPeriod = Map.groupBy(statements, ({ period }) => period)
  const known = [...byPeriod.keys()]
    .flatMap((id) => parsePeriod(id) ?? [])
    .filter((one) => one.kind === kind)
    .sort((a, b) => a.first - b.first)
  const [first] = known
  const end = known.at(-1)
  if (!first || !end) return []
  const periods: PeriodEarning[] = []
  for (let one = first; one.first <= end.first; one = nextPeriod(one, 1)) {
    const own = byPeriod.get(one.id) ?? []
    const { sum: earned, leftOut } = sumOn(
      own.map(({ total, currency }) => ({ amount: decimal(total), currency, day: one.last })),
    )
    periods.push({
      first: one.first,
      last: one.last,
      statements: own.map(({ id }) => id),
      earned,
      leftOut,
    })
  }
  return periods
}
