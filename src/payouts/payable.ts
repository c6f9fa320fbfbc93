import { ENGLISH } from '../commission/words/words.ts'
import { DAY_MS } from '../platform/durations.ts'
import type { Call } from '../platform/http/operation.ts'
import { compare, decimal, integer, multiply, sum } from '../platform/money/decimal.ts'
import { sumOfMoney } from '../platform/money/sums.ts'
import { type CameBack, type DuePayee, type DueStatement, readDue } from './db/payable.ts'
import { decryptDetails, maskDetails } from './details.ts'
import { type Details, type DoubtCode, type Method, type Reason, STOPPING } from './model.ts'

// What has to be paid: a row for each payee and currency, with every reason why it cannot be paid, and everything that a
// person should look at before.

/** Something that a person should look at. A waiver is of what it is about: anything else of that kind is another doubt. */
export interface Doubt {
  readonly code: DoubtCode
  readonly detail: string
  readonly about: string
}

/** A row of what has to be paid. */
export interface PayableRow {
  readonly id: string
  readonly affiliate_id: string
  readonly currency: string
  /** The sum of its statements that have no reason of their own. */
  readonly amount: string
  /** The version of the bank details; 0 if there are none. */
  readonly version: number
  readonly details: Details | null
  readonly statements: readonly (Pick<DueStatement, 'id' | 'period' | 'amount'> & {
    readonly reasons: readonly Reason[]
  })[]
  readonly reasons: readonly Reason[]
  readonly doubts: readonly Doubt[]
}

/** Returns the id of a row, which begins with that of its affiliate. */
export const rowIdOf = ({
  affiliate_id,
  currency,
}: Pick<PayableRow, 'affiliate_id' | 'currency'>): string => `${affiliate_id}:${currency}`

/** Returns the affiliate of a row. */
export const affiliateOfRow = (id: string): string => id.slice(0, id.lastIndexOf(':'))

/** Returns why one statement cannot be paid, whatever is known of its payee. */
const reasonsOfStatement = (one: DueStatement): Reason[] =>
  (['no_agreement', 'no_treatment'] as const).filter((reason) => one[reason] === 1)

/** The currencies of methods that have one. Coins of wallets are paid one for each USD. */
const CURRENCIES: Partial<Record<Method, string>> = { sepa: 'EUR', wallet: 'USD' }

/** Returns why nothing can be paid to an affiliate in a currency. */
function reasonsOf(payee: DuePayee, details: Details | null, currency: string, now: number) {
  const { state } = payee
  const takes = details?.currency ?? CURRENCIES[details?.method ?? 'manual']
  const reasons: Readonly<Partial<Record<Reason, unknown>>> = {
    held: payee.is_held,
    no_payee: !details,
    not_approved: state === 'entered' || state === 'returned',
    changed: state === 'approved' && (payee.payable_from ?? 0) > now,
    blocked: state === 'blocked',
    suspended: payee.is_suspended,
    other_currency: takes && takes !== currency,
  }
  return Object.entries(reasons).flatMap(([code, is]) => (is ? [code as Reason] : []))
}

const CHANGED_DAYS = 30

const { day: dayWords } = ENGLISH

/** Of how many payments the median is taken, from how many on, and how often the next one may be as much. */
const USUAL = { latest: 6, least: 3, times: 3 }

/** Returns twice the median of the latest payments of a currency; null if there are too few. */
function twiceUsual(
  payments: readonly (readonly [currency: string, amount: string])[],
  own: string,
) {
  const latest = payments.filter(([currency]) => currency === own).slice(0, USUAL.latest)
  if (latest.length < USUAL.least) return null
  const ordered = latest.map(([, amount]) => decimal(amount)).sort(compare)
  const middle = [(ordered.length - 1) >> 1, ordered.length >> 1]
  return sum(middle.flatMap((at) => ordered[at] ?? []))
}

/** Returns whether an amount is much more than usual. */
function isMuchMore(payments: Parameters<typeof twiceUsual>[0], amount: string, currency: string) {
  const twice = twiceUsual(payments, currency)
  if (!twice) return false
  return compare(multiply(decimal(amount), integer(2)), multiply(twice, integer(USUAL.times))) > 0
}

/** Returns what a person should look at before they pay a row. */
function doubtsOf(
  payee: DuePayee,
  own: readonly DueStatement[],
  amount: string,
  currency: string,
  now: number,
) {
  const doubts: Doubt[] = []
  const add = (code: DoubtCode, detail: string, about = '') => doubts.push({ code, detail, about })
  const back = own.flatMap(({ came_back }): CameBack[] =>
    came_back ? [JSON.parse(came_back)] : [],
  )
  for (const { payment, day, words } of new Map(back.map((one) => [one.payment, one])).values())
    add('came_back', `${words || 'No reason given'}, on ${dayWords(day)}`, payment)
  if (payee.state === 'returned' && back.length === 0)
    add('came_back', payee.reason ?? 'A bank refused the account', `version ${payee.version}`)
  for (const { id, name } of JSON.parse(payee.open_cases) as {
    id: string
    name: string | null
  }[])
    add('open_case', name ?? id, id)
  for (const reference of JSON.parse(payee.paid_twice) as string[])
    add('paid_twice', `Under ${reference}`, reference)
  const entered = payee.entered_at ?? 0
  if (payee.is_changed && entered > now - CHANGED_DAYS * DAY_MS)
    add('details_changed', `Since ${dayWords(new Date(entered).toISOString().slice(0, 10))}`)
  const payments: [currency: string, amount: string][] = JSON.parse(payee.payments)
  if (payments.length === 0) add('first_payment', 'Nothing was paid before')
  const same: string[] = JSON.parse(payee.same_account)
  if (same.length > 0) add('same_account', `The same account as ${same.join(', ')}`)
  if (isMuchMore(payments, amount, currency))
    add('much_more', `More than ${USUAL.times} times as much as usual`)
  return doubts
}

/** Returns what has to be paid by a day (`YYYY-MM-DD`): to some affiliates, if these are named. */
export async function readPayable(
  { env, db, account }: Pick<Call, 'env' | 'db' | 'account'>,
  day: string,
  affiliates: readonly string[] | null = null,
): Promise<PayableRow[]> {
  const now = Date.now()
  const [statements, payees] = await readDue(db, account.id, day, affiliates)
  const details = new Map<string, Details>()
  for (const { id, version, details: encrypted } of payees.values()) {
    if (version === null) continue
    const of = { party: 'payee', id, version, details: encrypted, tax: '{}' } as const
    const own = await decryptDetails(env, account.id, of)
    if (own) details.set(id, own)
  }
  return [...Map.groupBy(statements, rowIdOf)].flatMap(([id, due]) => {
    const [{ affiliate_id, currency } = { affiliate_id: '', currency: '' }] = due
    const payee = payees.get(affiliate_id)
    // Approved between the two reads.
    if (!payee) return []
    const own = details.get(affiliate_id) ?? null
    const parts = due.map((one) => ({ ...one, reasons: reasonsOfStatement(one) }))
    const free = parts.filter(({ reasons }) => reasons.length === 0)
    const amount = sumOfMoney(free, currency)
    const ofStatements = free.length === 0 ? parts.flatMap(({ reasons }) => reasons) : []
    return {
      id,
      affiliate_id,
      currency,
      amount,
      version: payee.version ?? 0,
      details: own,
      statements: parts.map(({ id, period, amount, reasons }) => ({ id, period, amount, reasons })),
      reasons: [...new Set([...reasonsOf(payee, own, currency, now), ...ofStatements])],
      doubts: doubtsOf(payee, due, amount, currency, now),
    }
  })
}

/** Returns the account to which a row is paid, masked; null if there is none. */
export function accountOf(details: Details | null | undefined): string | null {
  const { iban, account, wallet_address, email } = details ? maskDetails(details) : {}
  return (
    iban ?? account ?? wallet_address ?? (details?.method === 'manual' ? null : (email ?? null))
  )
}

/** Returns whether a row is paid unless a person decides otherwise. */
export const isTicked = ({ reasons, doubts }: Pick<PayableRow, 'reasons' | 'doubts'>): boolean =>
  reasons.length === 0 && !doubts.some(({ code }) => STOPPING.includes(code))
