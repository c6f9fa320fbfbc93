import * as v from 'valibot'
import * as rows from '../../ledger/db/entries.ts'
import { LIST_ORDERS } from '../../platform/db/paginate.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { list } from '../../platform/http/operation.ts'
import { asCsv, csvWords, objectsIn } from '../../platform/money/csv-list.ts'
import { fromUnits, moneyText } from '../../platform/money/money.ts'
import { money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { bookZoneOf, instantOfLocalTime } from '../../platform/zone.ts'

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

/** The order of a list by time. */
export const order = optional(
  v.picklist(LIST_ORDERS),
  said('The `oldest` entry first, which is the default, or the `latest`.', 'latest'),
)

/** The currency of an amount. */
export const currency = described(() => member(v.string(), 'An ISO 4217 code.'))

/** What is booked and not paid, by currency. */
export const balances = described(() =>
  v.array(
    v.object({
      currency,
      balance: member(money, 'The sum of all entries.'),
      due: member(money, 'What is approved and not yet paid.'),
    }),
  ),
)

/** An entry of the ledger. */
export const entry = component('LedgerEntry', () => ({
  affiliate_id: member(v.string(), 'The affiliate.'),
  id: member(v.string(), 'The id of the entry. Entries are listed in the order of time.'),
  kind: member(
    v.picklist(['earned', 'adjusted', 'manual', 'dropped', 'transferred', 'paid', 'returned']),
    'What was booked. `dropped` writes a negative balance off; `paid` is negative; `returned` is a payment that came back.',
  ),
  plan: member(v.string(), 'The plan.'),
  period: member(v.string(), 'The period.'),
  statement: member(v.string(), 'The id of the statement.'),
  currency,
  amount: member(money, 'The amount.'),
  reference: nullable(
    v.string(),
    'The reference of the payment for `paid`, that of the return for `returned`, the other plan for `transferred`; otherwise null.',
  ),
  actor: member(v.string(), 'The member of the integrations team.'),
  at: member(time, 'When.'),
}))

export const listLedger = list({
  topic: 'statements',
  path: '/affiliates/{affiliate_id}/ledger',
  id: 'listLedger',
  params: {
    affiliate_id,
    order,
  },
  words: described(() => ({
    description:
      'Lists what was booked for an affiliate, the oldest entry first unless `order` is `latest`. An entry never changes and is never deleted.',
    answer: entry,
    command: {
      name: 'ledger show',
      columns: [
        'at',
        'kind',
        'plan',
        'period',
        'currency',
        'amount',
        'reference',
        'statement',
        'actor',
      ],
    },
  })),
  list: ({ db, account }, { affiliate_id, order }, page) =>
    rows.listLedger(db, account.id, affiliate_id, order === 'latest', page),
})

const OWED_COLUMNS = ['affiliate_id', 'currency', 'balance']

export const listBalances = list({
  topic: 'statements',
  path: '/balances',
  id: 'listBalances',
  params: {
    on: member(f.day, said('The day, in the time zone of the books.', '2026-10-31')),
  },
  words: described(() => ({
    description:
      'Lists what was owed to each affiliate at the end of a day: the sum of what was booked until then, by currency. Affiliates without entries until then are absent. `Accept: text/csv` returns a row for each affiliate and currency, with a `Link` to the next page.',
    answer: component('OwedBalances', () => ({
      affiliate_id: member(v.string(), 'The affiliate.'),
      balances: member(
        v.array(v.object({ currency, balance: member(money, 'What was owed.') })),
        'By currency. A negative balance is carried to later periods.',
      ),
    })),
    files: csvWords(OWED_COLUMNS),
    command: { name: 'ledger balances', rows: 'balances', columns: OWED_COLUMNS },
  })),
  async list({ session, grant }, { on }, page) {
    const midnight = Date.parse(`${on}T00:00:00Z`) + DAY_MS
    const end = new Date(instantOfLocalTime(bookZoneOf(grant), midnight).instant).toISOString()
    const found = await rows.listBooked(session, grant.account, end, page)
    const data = found.data.map(({ affiliate_id, sums }) => ({
      affiliate_id,
      balances: (JSON.parse(sums) as [string, string][]).map(([code, units]) => ({
        currency: code,
        balance: moneyText(fromUnits(units, code), code),
      })),
    }))
    return { ...found, data }
  },
  files: asCsv('balances', OWED_COLUMNS, ({ affiliate_id, balances: owed }) =>
    objectsIn(owed).map((one) => ({ affiliate_id, ...one })),
  ),
})

/** The operations on the ledger: the entries of an affiliate, their sum, and the sums of all. */
export const LEDGER_OPERATIONS = [listLedger, listBalances]
