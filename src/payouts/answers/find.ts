import { dayInFirstZone } from '../../commission/shapes/book-fields.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import {
  add,
  compare,
  type Decimal,
  decimal,
  subtract,
  sum,
  ZERO,
} from '../../platform/money/decimal.ts'
import { moneyText } from '../../platform/money/money.ts'
import type { FoundTransfer } from '../db/transfers.ts'
import type { TransferState } from '../model.ts'
import { isOfTransfer } from '../reference.ts'
import type { Movement } from './movements.ts'
import { type PayerNumber, payersNamed } from './payer.ts'
import { type AnswerRow, isAmount, refused, type Stated } from './row.ts'

// What a row is about. Only an exact match counts: reference, booked amount, currency, payer.

/** What rows are matched with. */
export interface Known {
  /** The transfers that references name: one, or all of a batch. */
  readonly named: ReadonlyMap<string, readonly FoundTransfer[]>
  /** The movements of these that were booked or noted before. */
  readonly movements: readonly Movement[]
  readonly payers: readonly PayerNumber[]
  /** The payer that a person has named. */
  readonly chosen: string | undefined
  /** The payer of the rows that name no account; undefined if there are several. */
  readonly only: string | undefined
  /** The numbers of the payee of a transfer, which words are masked with; undefined if its details are erased. */
  readonly numbersOf: (transfer: FoundTransfer) => readonly string[] | undefined
}

/** What a row is about: a reference, and its transfers. */
export interface Target {
  readonly name: string
  readonly transfers: readonly FoundTransfer[]
  /** The sums of which one may move. */
  readonly dues: readonly Decimal[]
}

/** What a row is found to say. */
export interface Found {
  readonly targets: readonly Target[]
  /** Why nothing is booked of it; null: it is exact. */
  readonly problem: string | null
  readonly day: string | null
  /** What moved, if it is not the amount of its transfers: another amount is another movement. */
  readonly other: string
  /** What moved, if it is that amount but for charges: a person who books it sees no charges. */
  readonly charged: string | null
  /** It is of less than its transfers. */
  readonly isLess: boolean
}

/** The states of transfers of which nothing leaves any more. */
export const OVER: readonly TransferState[] = ['rejected', 'cancelled']

const sumOf = (transfers: readonly FoundTransfer[]) =>
  sum(transfers.map(({ amount }) => decimal(amount)))

/** Returns what a reference names. Of a batch, the bank pays what is not over, or nevertheless all. */
function targetOf(name: string, transfers: readonly FoundTransfer[]): Target {
  const going = transfers.filter(({ state }) => !OVER.includes(state))
  const dues = isOfTransfer(name) ? [sumOf(transfers)] : [sumOf(going), sumOf(transfers)]
  return { name, transfers, dues }
}

/** Returns the first day on which something of a transfer may have moved: days begin last in UTC-12. */
export const firstDayOf = ({ confirmed_at }: Pick<FoundTransfer, 'confirmed_at'>): string =>
  new Date(confirmed_at - 12 * HOUR_MS).toISOString().slice(0, 10)

/** Returns a function that finds what a row is about, and why it is not exactly that; null if it names nothing of ours. */
export function finder(known: Known) {
  const targets = new Map([...known.named].map(([name, all]) => [name, targetOf(name, all)]))
  return (row: AnswerRow): Found | null => {
    const named = row.references.flatMap((name) => targets.get(name) ?? [])
    const own = named.filter(({ name }) => isOfTransfer(name))
    const batches = named.filter(({ name }) => !isOfTransfer(name))
    const about = own.length > 0 ? own : batches.slice(0, 1)
    const [first] = about[0]?.transfers ?? []
    if (!first) return null
    const sent = sentBy(row, first.currency)
    const due = sum(about.map(({ dues: [one = ZERO] }) => one))
    const fits = (dues: readonly Decimal[]) =>
      sent.some((one) => dues.some((other) => compare(one, other) === 0))
    const batch = batches.find(({ dues }) => fits(dues))
    const exact = batch ? [batch] : fits([due]) ? about : null
    const less = subtract(due, sent.at(-1) ?? due)
    const [booked] = sent
    const moved = booked ? moneyText(booked, first.currency) : String(row.amount?.amount)
    const isCharged = exact && booked && compare(booked, sumOf(exact[0]?.transfers ?? [])) !== 0
    const begin = firstDayOf(first)
    const readings = row.days.filter((day) => day >= begin && day <= dayInFirstZone(1))
    return {
      targets: exact ?? about,
      problem:
        problemOf(row, exact ?? about, readings, begin, known) ??
        (exact ? null : mismatchOf(row, about, due, less)),
      day: readings[0] ?? row.days[0] ?? null,
      other: exact ? '' : moved,
      charged: isCharged ? moved : null,
      isLess: compare(less, ZERO) > 0,
    }
  }
}

/**
 * Returns what moved in the currency of a transfer, as it is booked and without charges: of a debit, the bank may have
 * added them; of a credit, it may have kept them. Nothing if it cannot be read.
 */
function sentBy({ says, amount, charges }: AnswerRow, currency: string): readonly Decimal[] {
  const [booked, charged] = [amount, charges].map((one) =>
    one && isAmount(one) && (one.currency ?? currency) === currency ? decimal(one.amount) : null,
  )
  if (!booked || !charged) return booked ? [booked] : []
  return [booked, says === 'paid' ? subtract(booked, charged) : add(booked, charged)]
}

/** Returns why nothing is booked of a row, whatever its amount; null if nothing speaks against it. */
function problemOf(
  { says, never, account, amount, days: [day] }: AnswerRow,
  targets: readonly Target[],
  readings: readonly string[],
  begin: string,
  known: Known,
): string | null {
  const called = namesOf(targets)
  const isMovement = says === 'paid' || says === 'returned' || says === 'failed'
  if (never !== null) return `${called}: ${never}.`
  if (!isMovement && account === null) return null
  if (account === null && (known.chosen ?? known.only) === undefined) {
    throw refused('The file does not say from which account it is: name the `payer`.')
  }
  if (readings.length > 1) {
    throw refused(
      'The days of the file can be read in two ways: send `day_order`, which says whether the day or the month stands first.',
    )
  }
  if (!isFrom(account, targets, known)) {
    return `${called} is paid from another account than that of the row.`
  }
  if (!isMovement) return null
  if (!amount || !isAmount(amount) || day === undefined) {
    return `${called}: the amount, its currency or the day cannot be read.`
  }
  if (readings.length === 1) return null
  return `${called}: ${day} is ${day < begin ? 'before the batch was confirmed' : 'after tomorrow'}.`
}

/** Returns whether a file is of the account from which transfers are paid. */
function isFrom(account: string | null, targets: readonly Target[], known: Known): boolean {
  const { payers, chosen, only } = known
  const accounts = account === null ? [] : payersNamed(account, payers)
  return targets.every(({ transfers: [one] }) =>
    chosen !== undefined || account === null
      ? one?.payer === (chosen ?? only)
      : accounts.some((of) => of.payer === one?.payer && of.version === one.payer_version),
  )
}

/** Returns why an amount is not that of what a row is about; null for a status of one that states none. */
function mismatchOf(
  { says, amount, others }: AnswerRow,
  about: readonly Target[],
  due: Decimal,
  less: Decimal,
): string | null {
  const called = about.length > 1 ? `It names several: ${namesOf(about)}` : namesOf(about)
  if (!amount) return about.length > 1 ? `${called}.` : null
  const currency = about[0]?.transfers[0]?.currency ?? ''
  const text = (one: Stated) => `${one.amount} ${one.currency ?? currency}`
  const states = others.length > 0 ? ` (it also states ${others.map(text).join(', ')})` : ''
  const isBack = says === 'returned' && compare(less, ZERO) > 0
  const back = isBack ? ` came back less ${moneyText(less, currency)} ${currency}` : ''
  return `${called}${back}: the row has ${text(amount)}${states}, and not ${moneyText(due, currency)} ${currency}.`
}

const namesOf = (targets: readonly Target[]) => targets.map(({ name }) => name).join(', ')
