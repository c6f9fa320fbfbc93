import { referencesIn } from '../reference.ts'
import { reasonOf } from './reasons.ts'
import type { EachRow, Says } from './row.ts'
import { allAt, amountsAt, type Element, type Handlers, textAt } from './xml.ts'

// Reports about the status of payments (pain.002), of any version.

/** The statuses of a group that say: look at each transaction. */
const MIXED = ['PART', 'RVCM', 'RVNC']

/** What the verification of the payee says. */
const NAME_CHECKS: Readonly<Record<string, string>> = {
  RCVC: 'match',
  RVMC: 'close match',
  RVNM: 'no match',
  RVNA: 'not checked',
}

/** Returns what a status says. Others than these say that nothing is decided yet. */
function saysOf(status: string): Says {
  if (status === 'RJCT') return 'rejected'
  if (Object.hasOwn(NAME_CHECKS, status)) return 'checked'
  return /^AC(?:CP|TC|SP|SC|WC)$/.test(status) ? 'accepted' : 'pending'
}

/** Returns the handlers of the elements of a report: of the group, of a payment, and of a transaction. */
export function readPain002(each: EachRow): Handlers {
  let row = 0
  const emit = (element: Element, status: string | null, ...references: readonly string[]) => {
    if (status === null || MIXED.includes(status)) return
    row += 1
    const says = saysOf(status)
    const { code, reason } = reasonOf(element, 'StsRsnInf')
    const [original] = allAt(element, 'OrgnlTxRef')
    each({
      row,
      says,
      day: null,
      account: textAt(original, 'DbtrAcct/Id/IBAN'),
      references: referencesIn(references.map((path) => textAt(element, path)).join(' ')),
      stated: amountsAt(original, 'Amt/InstdAmt'),
      code: says === 'rejected' ? code : null,
      reason: [NAME_CHECKS[status], reason].filter(Boolean).join(': ') || null,
    })
  }
  return {
    OrgnlGrpInfAndSts: (group) => emit(group, textAt(group, 'GrpSts'), 'OrgnlMsgId'),
    OrgnlPmtInfAndSts: (payment) => emit(payment, textAt(payment, 'PmtInfSts'), 'OrgnlPmtInfId'),
    TxInfAndSts: (transaction) =>
      emit(transaction, textAt(transaction, 'TxSts'), 'OrgnlEndToEndId', 'OrgnlInstrId'),
  }
}
