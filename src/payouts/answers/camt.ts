import { isOfTransfer, referencesIn } from '../reference.ts'
import { dayOf } from './csv.ts'
import { reasonOf } from './reasons.ts'
import type { EachRow, Says } from './row.ts'
import { allAt, amountsAt, type Element, type Handlers, textAt, textsIn } from './xml.ts'

// Statements (camt.053) and notifications (camt.054) of accounts, of any version.

/** Where an entry or its details state an amount of a transfer: with fees, without them, and as it was ordered. */
const AMOUNTS = ['Amt', 'AmtDtls/InstdAmt/Amt', 'AmtDtls/TxAmt/Amt', 'AmtDtls/CntrValAmt/Amt']

const referencesOf = (element: Element) => referencesIn(textsIn(element).join(' '))

/** Returns what an entry says, if its money moves in a direction. */
function saysOf(entry: Element, direction: string | null): Says {
  const isReversed = direction !== 'CRDT' && ['true', '1'].includes(textAt(entry, 'RvslInd') ?? '')
  if (isReversed || !['BOOK', null].includes(textAt(entry, 'Sts/Cd', 'Sts'))) return 'pending'
  return direction === 'CRDT' ? 'returned' : 'paid'
}

/** Returns the handler of the entries of statements and notifications. */
export function readCamt(each: EachRow): Handlers {
  let row = 0
  return {
    Ntry(entry, statement) {
      const account = textAt(statement, 'Acct/Id/IBAN', 'Acct/Id/Othr/Id')
      const day = textAt(entry, 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm')
      const details = allAt(entry, 'NtryDtls/TxDtls')
      /** Emits a part of the entry, which `about` says more of. */
      const emit = (part: Element, about = part) => {
        const says = saysOf(entry, textAt(about, 'CdtDbtInd') ?? textAt(entry, 'CdtDbtInd'))
        const why = says === 'returned' ? reasonOf(about, 'RtrInf') : { code: null, reason: null }
        const stated = [part, about].flatMap((one) => amountsAt(one, ...AMOUNTS))
        row += 1
        const references = referencesOf(part)
        each({ row, references, says, stated, account, day: dayOf(day ?? ''), ...why })
      }
      // Details of one transfer each stand for themselves. Otherwise the entry is one transfer, or a batch.
      const isDivided =
        details.length > 1 && details.some((one) => referencesOf(one).some(isOfTransfer))
      if (isDivided) for (const one of details) emit(one)
      else emit(entry, details.length === 1 ? details[0] : entry)
    },
  }
}
