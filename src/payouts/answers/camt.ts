import { isOfTransfer, referencesIn } from '../reference.ts'
import { dayOf } from './csv.ts'
import { reasonOf } from './reasons.ts'
import { type EachRow, EMPTY_ROW, type Says, type Stated } from './row.ts'
import { allAt, type Element, fullText, type Handlers, textAt } from './xml.ts'

// Statements (camt.053) and notifications (camt.054) of accounts, of any version.

/** Where an entry or its details state an amount of a transfer: with fees, without them, and as it was ordered. */
const AMOUNTS = ['Amt', 'AmtDtls/InstdAmt/Amt', 'AmtDtls/TxAmt/Amt', 'AmtDtls/CntrValAmt/Amt']

const statedIn = (element: Element): Stated[] =>
  AMOUNTS.flatMap((path) => allAt(element, path)).map(({ text, currency = null }) => ({
    amount: text.trim(),
    currency,
  }))

/** What the details of an entry say of one transfer. */
interface Details {
  readonly text: string
  readonly stated: readonly Stated[]
  readonly direction: string | null
  readonly returned: ReturnType<typeof reasonOf>
}

const detailsOf = (element: Element): Details => ({
  text: fullText(element),
  stated: statedIn(element),
  direction: textAt(element, 'CdtDbtInd'),
  returned: reasonOf(element, 'RtrInf'),
})

/** Returns what an entry says, if its money moves in a direction. */
function saysOf(entry: Element, direction: string | null): Says {
  const isReversed = direction !== 'CRDT' && ['true', '1'].includes(textAt(entry, 'RvslInd') ?? '')
  if (isReversed || !['BOOK', null].includes(textAt(entry, 'Sts/Cd', 'Sts'))) return 'pending'
  return direction === 'CRDT' ? 'returned' : 'paid'
}

const namesTransfer = ({ text }: Details) => referencesIn(text).some(isOfTransfer)

/** Returns the handlers of the elements of statements and notifications. */
export function readCamt(each: EachRow): Handlers {
  let row = 0
  let found: Details[] = []
  return {
    TxDtls: (element) => {
      found.push(detailsOf(element))
    },
    Ntry: (entry, [statement]) => {
      const account = textAt(statement, 'Acct/Id/IBAN', 'Acct/Id/Othr/Id')
      const day = textAt(entry, 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm')
      const emit = ({ text, stated, direction, returned }: Details) => {
        row += 1
        const says = saysOf(entry, direction ?? textAt(entry, 'CdtDbtInd'))
        each({
          ...{ ...EMPTY_ROW, row, text, says, stated, account, day: dayOf(day ?? '') },
          ...(says === 'returned' && returned),
        })
      }
      // Details of one transfer each stand for themselves. Otherwise the entry is one transfer, or a batch.
      if (found.length > 1 && found.some(namesTransfer)) found.forEach(emit)
      else {
        const whole = detailsOf(entry)
        const [one, second] = found
        emit({
          ...(one ?? whole),
          text: [whole, ...found].map(({ text }) => text).join(' '),
          stated: [...whole.stated, ...((!second && one?.stated) || [])],
        })
      }
      found = []
    },
  }
}
