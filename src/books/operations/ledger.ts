import * as v from 'valibot'
import * as rows from '../../ledger/db/entries.ts'
import { type Grant, ownFilter } from '../../platform/auth/grant.ts'
import type { Connection } from '../../platform/db/database.ts'
import { LIST_ORDERS } from '../../platform/db/paginate.ts'
import { list } from '../../platform/http/operation.ts'
import { invalidQuery, readDays } from '../../platform/http/query.ts'
import { asCsv, csvWords } from '../../platform/money/csv-list.ts'
import { add, decimal, ZERO } from '../../platform/money/decimal.ts'
import { fromUnits, moneyText } from '../../platform/money/money.ts'
import { day, daysWanted, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { bookZoneOf, todayOf } from '../../platform/zone.ts'

/** The sum of what is booked and not paid to an affiliate in a currency, or of what of it has to be paid. */
export interface BalanceSum {
  readonly currency: string
  /** As `sumOf` returns it. */
  readonly units: string
  readonly what: 'balance' | 'due'
}

/** Returns the sums of an affiliate by currency. */
export function presentBalances(sums: readonly BalanceSum[]) {
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort()
  const sumOf = (currency: string, what: string) => {
    const found = sums.find((one) => one.currency === currency && one.what === what)
    return moneyText(fromUnits(found?.units ?? '0', currency), currency)
  }
  return currencies.map((currency) => ({
    currency,
    balance: sumOf(currency, 'balance'),
    due: sumOf(currency, 'due'),
  }))
}

const affiliate_id = member(v.string(), said('The id of the affiliate.', 'IB-07'))

/** The currency of an amount. */
export const currency = described(() => member(v.string(), 'An ISO 4217 code.'))

/** What is booked and not paid, by currency. */
export const balances = described(() =>
  v.array(
    v.object({
      currency,
      balance: member(money, 'The sum of all entries.'),
      due: member(money, 'What is approved, and neither paid nor under way in a batch.'),
    }),
  ),
)

const entry = component('LedgerEntry', () => ({
  affiliate_id: member(v.string(), 'The affiliate.'),
  id: member(v.string(), 'The id of the entry. Entries are listed in the order of time.'),
  kind: member(
    v.picklist([
      'earned',
      'adjusted',
      'manual',
      'dropped',
      'transferred',
      'vat',
      'paid',
      'returned',
    ]),
    'What was booked. `dropped` writes a negative balance off; `vat` is that of an invoice, or of its correction; `paid` is negative; `returned` is a payment that came back.',
  ),
  plan: member(v.string(), 'The plan.'),
  period: member(v.string(), 'The period.'),
  statement: member(v.string(), 'The id of the statement.'),
  currency,
  amount: member(money, 'The amount.'),
  balance: member(money, 'What the affiliate was owed in the currency after the entry.'),
  reference: nullable(
    v.string(),
    'The reference of the payment for `paid`, that of the return for `returned`, the other plan for `transferred`, the number of the invoice for `vat`; otherwise null.',
  ),
  actor: member(v.string(), 'The member of the integrations team.'),
  at: member(time, 'When.'),
  entered_on: member(day, 'The day on which it was booked.'),
  value_on: member(
    day,
    'The day to which it belongs: of earnings and adjustments the last one of the period, of payments and returns that on which the money moved, of others that on which they were booked.',
  ),
}))

const LEDGER_COLUMNS = [
  'entered_on',
  'value_on',
  'affiliate_id',
  'kind',
  'plan',
  'period',
  'currency',
  'amount',
  'balance',
  'reference',
  'statement',
]

export const listLedger = list({
  topic: 'statements',
  path: '/ledger',
  id: 'listLedger',
  shows: 'affiliate',
  callers: ['team', 'affiliate'],
  except: { affiliate: ['affiliate_id'] },
  params: {
    affiliate_id: v.optional(affiliate_id),
    ...daysWanted,
    order: optional(
      v.picklist(LIST_ORDERS),
      said('The `oldest` entry first, which is the default, or the `latest`.', 'latest'),
    ),
  },
  words: described(() => ({
    description:
      'Lists what was booked for all affiliates, or for one, each entry with the balance after it: the oldest first unless `order` is `latest`. An entry never changes and is never deleted.',
    answer: entry,
    files: csvWords(LEDGER_COLUMNS),
    command: { name: 'ledger', columns: LEDGER_COLUMNS },
  })),
  async list({ session, grant }, { order, ...filter }, page) {
    const isLatestFirst = order === 'latest'
    const found = await rows.listLedger(
      session,
      grant.account,
      { ...readDays(filter), ...ownFilter(grant) },
      isLatestFirst,
      page,
    )
    const entries = isLatestFirst ? found.data.toReversed() : found.data
    const data = await withBalances(session, grant.account, entries)
    return { ...found, data: isLatestFirst ? data.toReversed() : data }
  },
  files: asCsv('ledger', LEDGER_COLUMNS),
})

/** Returns entries, which are in the order of time, each with the balance of its affiliate and currency after it. */
async function withBalances(db: Connection, account: string, entries: readonly rows.LedgerEntry[]) {
  const [first] = entries
  if (!first) return []
  const affiliates = [...new Set(entries.map((one) => one.affiliate_id))]
  const before = await rows.sumBefore(db, account, affiliates, first)
  const keyOf = (one: Pick<rows.LedgerEntry, 'affiliate_id' | 'currency'>) =>
    JSON.stringify([one.affiliate_id, one.currency])
  const balances = new Map(before.map((one) => [keyOf(one), fromUnits(one.units, one.currency)]))
  return entries.map((one) => {
    const balance = add(balances.get(keyOf(one)) ?? ZERO, decimal(one.amount))
    balances.set(keyOf(one), balance)
    return { ...one, balance: moneyText(balance, one.currency) }
  })
}

const OWED_COLUMNS = ['affiliate_id', 'currency', 'balance']

/** By which of its days an entry counts. */
export const by = optional(
  v.picklist(['value', 'entry']),
  said(
    'By which day an entry counts. `value`, the default: earnings and adjustments by the last day of the period that books them, payments and returns by the day on which the money moved, others by the day on which they were booked. `entry`: all by the day on which they were booked; then an answer about days that are over never changes.',
    'entry' as const,
  ),
)

/**
 * Refuses a day that is to come: nothing is booked on it yet.
 *
 * @throws ApiError `invalid_query`
 */
export function refuseFuture(name: string, day: string, grant: Grant): void {
  const today = todayOf(grant)
  if (day > today) {
    throw invalidQuery(`\`${name}\` must not be after today, ${today} in ${bookZoneOf(grant)}.`)
  }
}

const owed = described(() => ({ currency, balance: member(money, 'What was owed.') }))

const presentSum = ({ currency, units }: Pick<BalanceSum, 'currency' | 'units'>) => ({
  currency,
  balance: moneyText(fromUnits(units, currency), currency),
})

export const listBalances = list({
  topic: 'statements',
  path: '/balances',
  id: 'listBalances',
  shows: 'account',
  params: {
    on: member(f.day, said('The day, in the time zone of the books.', '2026-10-31')),
    by,
  },
  words: described(() => ({
    description:
      'Lists what was owed to each affiliate at the end of a day: the sum of what was booked until then, a row for each affiliate and currency. Affiliates without entries until then are absent. A negative balance is carried to later periods.',
    answer: component('OwedBalance', () => ({
      affiliate_id: member(v.string(), 'The affiliate.'),
      ...owed,
    })),
    more: {
      sums: member(
        v.array(v.object(owed)),
        'What was owed to all affiliates, by currency. Empty on a page after a cursor.',
      ),
    },
    files: csvWords(OWED_COLUMNS),
    command: { name: 'balances', columns: OWED_COLUMNS },
  })),
  async list({ session, grant }, { on, by = 'value' }, page) {
    refuseFuture('on', on, grant)
    const { account } = grant
    const [found, sums] = await Promise.all([
      rows.listBooked(session, account, { on, by }, page),
      page.after ? [] : rows.sumBooked(session, account, { on, by }),
    ])
    const data = found.data.map(({ affiliate_id, ...sum }) => ({
      affiliate_id,
      ...presentSum(sum),
    }))
    return { ...found, data, more: { sums: sums.map(presentSum) } }
  },
  files: asCsv('balances', OWED_COLUMNS),
})

/** The operations on the ledger: its entries, and their sums. */
export const LEDGER_OPERATIONS = [listLedger, listBalances]
