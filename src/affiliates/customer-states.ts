import { readLineAmounts } from '../commission/db/stored-items.ts'
import type { Account } from '../commission/engine/account.ts'
import type { Customer } from '../commission/engine/facts.ts'
import type { QualificationReport } from '../commission/engine/once-report.ts'
import { governingVersion } from '../commission/engine/plans-in-force.ts'
import type { OpenAccount } from '../commission/run/account.ts'
import { lineId, statementId } from '../commission/run/ids.ts'
import type { AffiliateView } from '../platform/auth/affiliate-view.ts'
import type { Connection } from '../platform/db/database.ts'
import { dayNumber, periodOf } from '../platform/money/calendar.ts'

type Report = Omit<QualificationReport, 'customer_id' | 'affiliate_id' | 'status'>

/** What has become of a customer under one rule that pays once, as its affiliate sees it. */
export interface CustomerState extends Report {
  /** `already_counted`: the rule has paid for the customer under another affiliate. */
  readonly status: QualificationReport['status'] | 'already_counted'
  /** What the line of the customer pays; null unless a statement has it. */
  readonly amount: string | null
  readonly currency: string | null
}

/** A customer of an affiliate, with their states. */
export interface OwnCustomer {
  readonly customer: string
  readonly states: readonly CustomerState[]
}

const UNPAID = { amount: null, currency: null }

const NO_REPORT = {
  qualified_on: null,
  trigger: null,
  missing: [],
  closed: null,
  until: null,
  refused_by: null,
  conditions: [],
  waits_for: [],
  before_signup: [],
}

/**
 * Returns the states of a customer for the affiliate `own`, who last had them on `day`; null if never. Of what
 * another affiliate was paid for it says only that it was counted.
 */
export function statesOf(
  account: Account,
  { signupDay }: Customer,
  reports: readonly QualificationReport[],
  { own, day }: { readonly own: string; readonly day: number | null },
): CustomerState[] {
  const states = reports
    .filter(({ affiliate_id }) => affiliate_id === own)
    .map(({ customer_id: _, affiliate_id: __, ...state }) => ({ ...state, ...UNPAID }))
  const version = day === null ? null : governingVersion(account.inForce, own, signupDay, day)
  const counted = reports.flatMap(({ affiliate_id, status, rule }) =>
    affiliate_id !== own && status === 'qualified' ? [rule] : [],
  )
  const elsewhere = (version?.rules ?? []).filter(
    ({ id, kind }) => kind === 'once' && counted.includes(id),
  )
  return [
    ...states,
    ...elsewhere.map(({ id }) => ({
      plan: version?.plan ?? '',
      version: version?.version ?? 0,
      rule: id,
      status: 'already_counted' as const,
      ...NO_REPORT,
      ...UNPAID,
    })),
  ]
}

/** Where the line of a state is stored: a rule that pays once has a line for each customer. */
async function placeOf(
  { inForce }: OpenAccount,
  own: string,
  customer: string,
  { plan, version, rule, qualified_on }: CustomerState,
): Promise<{ statement: string; line: string } | null> {
  const found = inForce.plans.get(plan)?.versions.find((one) => one.version === version)
  if (!found || qualified_on === null) return null
  const period = periodOf(dayNumber(qualified_on), found.period)
  const statement = await statementId(own, plan, period.id)
  return {
    statement,
    line: await lineId(statement, { version, rule, scope: `customer:${customer}` }, 0),
  }
}

/** Returns customers with what the lines of their states pay, from the statements that are stored. */
export async function withAmounts<T extends OwnCustomer>(
  db: Connection,
  account: OpenAccount,
  { id: own, view: { drafts } }: { readonly id: string; readonly view: AffiliateView },
  customers: readonly T[],
): Promise<T[]> {
  const places = await Promise.all(
    customers.map(({ customer, states }) =>
      Promise.all(states.map((state) => placeOf(account, own, customer, state))),
    ),
  )
  const lines = await readLineAmounts(
    db,
    account.row.id,
    places.flat().flatMap((one) => one ?? []),
  )
  const amounts = new Map(
    lines.flatMap(({ id, status, ...paid }) =>
      drafts || status !== 'draft' ? [[id, paid] as const] : [],
    ),
  )
  return customers.map((one, i) => ({
    ...one,
    states: one.states.map((state, j) => ({
      ...state,
      ...amounts.get(places[i]?.[j]?.line ?? ''),
    })),
  }))
}
