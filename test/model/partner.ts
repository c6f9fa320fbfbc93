import type { Account, Data, Remark, Rules } from './oracle.ts'
import { text } from './text.ts'

// A re-send of a partner's record replaces it: members that it leaves out are gone.

const TYPES = {
  forex: ['deposit', 'withdrawal', 'bonus', 'adjustment', 'ib_rebate', 'other'],
  'prop-trading': ['challenge_fee', 'payout', 'reset_fee', 'refund', 'adjustment', 'other'],
}
const PERSONAL = ['first_name', 'last_name', 'email']

// The part of ISO 4217 that the generator uses.
const CURRENT = ['EUR', 'USD']
const WITHDRAWN = ['HRK']

const instant = (text: unknown) => new Date(text as string).toISOString()
const places = (value: unknown) => String(value).split('.')[1]?.length ?? 0

/** The required and the optional members of a resource. */
interface Members {
  required: string[]
  optional: string[]
}

function members(sent: Data, { required, optional }: Members): Remark[] {
  return [
    ...required.filter((name) => sent[name] === undefined).map((n): Remark => [n, 'required']),
    ...Object.keys(sent)
      .filter((name) => ![...required, ...optional].includes(name))
      .map((name): Remark => [name, 'unknown_field']),
  ]
}

function money({ currency }: Data): Remark[] {
  const ok = currency === undefined || [...CURRENT, ...WITHDRAWN].includes(currency as string)
  return ok ? [] : [['currency', 'currency']]
}

const withdrawn = ({ currency }: Data) =>
  WITHDRAWN.includes(currency as string) ? ['withdrawn_currency'] : []

/** Each generated type of transaction has a positive amount, also where money leaves. */
const transactionWarnings = (sent: Data) => {
  const [amount, usd] = [sent.amount_currency as number, sent.amount_usd as number | undefined]
  const isWrong = usd !== undefined && (amount < 0 || (sent.currency === 'USD' && usd !== amount))
  return [
    ...withdrawn(sent),
    ...(isWrong ? ['amount_usd'] : []),
    ...(amount < 0 ? ['negative_amount'] : []),
  ]
}

/** Returns a record as it is stored: instants in UTC, other members as sent. */
function utc(sent: Data): Data {
  const dates = ['signup_date', 'last_modified_date', 'transaction_date']
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [
      name,
      dates.includes(name) ? instant(value) : value,
    ]),
  )
}

/** The rules that all three resources share. */
const whole = {
  repeats: false,
  merge: (_: Data | undefined, sent: Data) => utc(sent),
  same: (a: Data, b: Data) => text(a) === text(b),
  stale: () => false,
}

/** Returns the identity by these members. */
const knownBy = (...names: string[]) => ({
  key: (sent: Data) => {
    const there = names.filter((name) => sent[name] !== undefined)
    return there.length > 0
      ? Object.fromEntries(there.map((name) => [name, sent[name]]))
      : undefined
  },
  identity: (sent: Data) => {
    if (names.some((name) => sent[name] === undefined)) return
    return names.length === 1
      ? (sent[names[0]!] as string)
      : JSON.stringify(names.map((name) => sent[name]))
  },
})

/** The rules of the two verticals of the partner API. */
export function partnerRules({ vertical, affiliates }: Account): Record<string, Rules> {
  const forex = vertical === 'forex'

  const customers: Rules = {
    ...whole,
    ...knownBy('customer_id'),
    customer: () => undefined,
    faults: (sent) =>
      members(sent, {
        required: ['customer_id', 'signup_date', 'affiliate_id', 'tracking_data'],
        optional: [
          'last_modified_date',
          'sales_status_id',
          ...PERSONAL,
          ...(forex ? ['leverage', 'trading_account_type'] : ['phase', 'account_size']),
        ],
      }),
    mask: (sent) =>
      Object.fromEntries(Object.entries(sent).filter(([name]) => !PERSONAL.includes(name))),
    // Compared only if both versions have a date; an equal date is not older.
    stale: (before, { last_modified_date }) =>
      before.last_modified_date !== undefined &&
      last_modified_date !== undefined &&
      instant(last_modified_date) < instant(before.last_modified_date),
    warnings: ({ affiliate_id }) =>
      affiliates.includes(affiliate_id as string) ? [] : ['unknown_affiliate'],
    changes: (before, after) =>
      before.affiliate_id === after.affiliate_id ? undefined : 'affiliation_changed',
    day: ({ signup_date }) => instant(signup_date).slice(0, 10),
    group: () => ({ by: {}, amounts: {} }),
  }

  const transactions: Rules = {
    ...whole,
    ...knownBy('transaction_id'),
    customer: ({ customer_id }) => customer_id as string | undefined,
    faults: (sent) => [
      ...members(sent, {
        required: [
          'transaction_id',
          'customer_id',
          'transaction_type',
          'amount_currency',
          'currency',
          'transaction_date',
          'status',
        ],
        optional: ['amount_usd', 'transaction_subtype', 'note'],
      }),
      ...money(sent),
      ...(places(sent.amount_currency) > 2 ? [['amount_currency', 'decimals'] as Remark] : []),
      ...(sent.transaction_type === undefined ||
      TYPES[vertical as 'forex'].includes(sent.transaction_type as string)
        ? []
        : [['transaction_type', 'enum'] as Remark]),
    ],
    warnings: transactionWarnings,
    day: ({ transaction_date }) => instant(transaction_date).slice(0, 10),
    group: ({ transaction_type, status, currency, amount_currency }) => ({
      by: { transaction_type, status, currency },
      amounts: { amount_currency },
    }),
  }

  const activity: Rules = {
    ...whole,
    ...knownBy('date', 'customer_id', 'instrument', 'currency'),
    customer: ({ customer_id }) => customer_id as string | undefined,
    faults: (sent) => [
      ...members(sent, {
        required: [
          'date',
          'customer_id',
          'instrument',
          'lots_traded',
          'currency',
          ...(forex ? [] : ['pnl']),
        ],
        optional: forex
          ? ['pnl', 'volume_usd', 'spread_cost', 'commission']
          : ['drawdown', 'max_drawdown'],
      }),
      ...money(sent),
      ...(places(sent.lots_traded) > 2 ? [['lots_traded', 'decimals'] as Remark] : []),
      ...((sent.lots_traded as number) < 0 ? [['lots_traded', 'minimum'] as Remark] : []),
    ],
    warnings: withdrawn,
    day: ({ date }) => date as string,
    // The drawdowns are percentages and have no sum.
    group: ({ currency, lots_traded, pnl, volume_usd, spread_cost, commission }) => ({
      by: { currency },
      amounts: { lots_traded, pnl, volume_usd, spread_cost, commission },
    }),
  }

  return { customers, transactions, 'trading-activity': activity }
}
