import {
  add,
  compare,
  decimal,
  plainText,
  subtract,
  sum,
  ZERO,
} from '../../platform/money/decimal.ts'
import { isOfTransfer, referencesIn } from '../reference.ts'
import { readDays } from './days.ts'
import { reasonOf } from './reasons.ts'
import { type AnswerRow, type EachRow, isAmount, PLAIN_ROW, type Stated } from './row.ts'
import { allAt, amountsAt, type Element, type Handlers, textAt, textsIn } from './xml.ts'

// Statements (camt.052, camt.053) and notifications (camt.054) of accounts, of any version.

/** Where an entry or its details state other amounts than the booked one: as it was ordered, or in another currency. */
const OTHERS = ['AmtDtls/InstdAmt/Amt', 'AmtDtls/TxAmt/Amt', 'AmtDtls/CntrValAmt/Amt']

/** Where a transfer in an entry states what it is of it. Old versions have no `Amt`. */
const OF_PART = ['Amt', 'AmtDtls/TxAmt/Amt']

/** A bank that numbers the entries of each file gives them no references. */
const IS_POSITION = /^\d{1,5}$/

const textOf = (element: Element) => textsIn(element).join(' ')

/** Returns the charges that an entry or its details state. */
function chargesOf(element: Element | undefined): Stated | null {
  const totals = amountsAt(element, 'Chrgs/TtlChrgsAndTaxAmt')
  const single = amountsAt(element, 'Chrgs/Rcrd/Amt', 'Chrgs/Amt')
  const all = (totals.length > 0 ? totals : single).filter(isAmount)
  const amount = plainText(sum(all.map((one) => decimal(one.amount))))
  return all[0] ? { ...all[0], amount } : null
}

const directionOf = (element: Element) => textAt(element, 'CdtDbtInd')

/** Returns what an entry says, if its money moves in a direction. */
function saysOf(entry: Element, direction: string | null): Pick<AnswerRow, 'says' | 'never'> {
  if (!['BOOK', null].includes(textAt(entry, 'Sts/Cd', 'Sts'))) {
    return { says: 'pending', never: 'the bank has not booked it' }
  }
  if (direction === 'CRDT') return { says: 'returned', never: null }
  if (direction !== 'DBIT') {
    return { says: 'paid', never: 'the row does not say whether the money came or went' }
  }
  const isReversal = ['true', '1'].includes(textAt(entry, 'RvslInd') ?? '')
  return { says: 'paid', never: isReversal ? 'the bank has taken a credit back' : null }
}

/** Returns the transfers that an entry lists. What they state counts only if all of it is within what was booked. */
function partsOf(entry: Element, whole: AnswerRow, details: readonly Element[]): AnswerRow[] {
  const { amount, charges, says } = whole
  const ofEntry = directionOf(entry)
  const inCurrency = (one: Stated | null) =>
    one !== null && isAmount(one) && one.currency === amount?.currency
  const amountOf = (one: Element) => amountsAt(one, ...OF_PART).find(inCurrency) ?? null
  const listed = details.reduce((all, one) => {
    const own = amountOf(one)
    if (!own) return all
    const isAgainst = (directionOf(one) ?? ofEntry) !== ofEntry
    return (isAgainst ? subtract : add)(all, decimal(own.amount))
  }, ZERO)
  // Of what came back, the bank may have kept the charges.
  const booked = [amount, says === 'returned' ? charges : null].filter(inCurrency)
  const isWithin = compare(listed, sum(booked.map((one) => decimal(one?.amount ?? '0')))) <= 0
  return details.flatMap((one) => {
    const references = referencesIn(textOf(one))
    if (!references.some(isOfTransfer)) return []
    return {
      ...whole,
      ...saysOf(entry, directionOf(one) ?? ofEntry),
      ...reasonOf(one, 'RtrInf'),
      references,
      amount: isWithin ? amountOf(one) : null,
      charges: chargesOf(one),
      others: amountsAt(one, ...OTHERS),
    }
  })
}

/** Returns the handler of the entries of statements and notifications. */
export function readCamt(each: EachRow): Handlers {
  let row = 0
  return {
    Ntry(entry, statement) {
      row += 1
      const details = allAt(entry, 'NtryDtls/TxDtls')
      const [only] = details.length === 1 ? details : []
      const about = only ?? entry
      const position = textAt(entry, 'NtryRef')
      const says = saysOf(entry, (only && directionOf(only)) ?? directionOf(entry))
      const whole: AnswerRow = {
        ...PLAIN_ROW,
        ...says,
        ...(says.says === 'returned' && reasonOf(about, 'RtrInf')),
        row,
        references: referencesIn(textOf(entry)),
        amount: amountsAt(entry, 'Amt')[0] ?? null,
        charges: chargesOf(entry) ?? chargesOf(only),
        others: [entry, only].flatMap((one) => amountsAt(one, ...OTHERS)),
        days: readDays(textAt(entry, 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm')),
        account: textAt(statement, 'Acct/Id/IBAN', 'Acct/Id/Othr/Id'),
        bankReference:
          textAt(entry, 'AcctSvcrRef') ??
          textAt(about, 'Refs/AcctSvcrRef') ??
          (position && !IS_POSITION.test(position) ? position : null),
      }
      const parts = partsOf(entry, whole, details)
      const listed = parts.flatMap(({ references }) => references)
      each({ ...whole, parts, references: [...new Set([...whole.references, ...listed])] })
    },
  }
}
