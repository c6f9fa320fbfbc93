import { referencesIn } from '../reference.ts'
import { readWords, reasonOf } from './reasons.ts'
import { type AnswerRow, type EachRow, PLAIN_ROW } from './row.ts'
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

const REJECTED = ['RJCT', 'CANC']
const ACCEPTED = ['ACCC', 'ACSC', 'ACFC', 'ACSP', 'ACCP']
const UNDECIDED = ['RCVD', 'PDNG', 'PATC', 'ACTC', 'ACWP']

/** Returns what a status says, by its meaning. */
function saysOf(status: string): Pick<AnswerRow, 'says' | 'never'> {
  if (REJECTED.includes(status)) return { says: 'rejected', never: null }
  if (ACCEPTED.includes(status)) return { says: 'accepted', never: null }
  if (Object.hasOwn(NAME_CHECKS, status)) return { says: 'checked', never: null }
  const letters = status.slice(0, 4)
  const never = UNDECIDED.includes(status)
    ? `the bank has not decided yet (${letters})`
    : `the bank says ${letters}, of which nothing is booked`
  return { says: 'pending', never }
}

/** Returns the words about one name check: some banks explain all results each time, in lines that begin with their codes. */
function checkWords(transaction: Element, status: string): string {
  let code = status
  const lines = allAt(transaction, 'StsRsnInf/AddtlInf').flatMap(({ text }) => {
    const [, begins, rest] = /^\s*(RCVC|RVMC|RVNM|RVNA)\b[\s:]*(.*)$/s.exec(text) ?? []
    code = begins ?? code
    return code === status ? [(rest ?? text).trim()] : []
  })
  return lines.join(' ')
}

/** Returns the handlers of the elements of a report: of the group, of a payment, and of a transaction. */
export function readPain002(each: EachRow): Handlers {
  let row = 0
  const emit = (
    level: number,
    element: Element,
    status: string | null,
    ...references: readonly string[]
  ) => {
    if (status === null || MIXED.includes(status)) return
    row += 1
    const says = saysOf(status)
    const { code, reason } = reasonOf(element, 'StsRsnInf')
    const check = NAME_CHECKS[status]
    // The words of a group say nothing of one payee, and a match needs none.
    const about = level === 0 && check !== 'match' ? checkWords(element, status) : ''
    const [original] = allAt(element, 'OrgnlTxRef')
    each({
      ...PLAIN_ROW,
      ...says,
      row,
      level,
      account: textAt(original, 'DbtrAcct/Id/IBAN'),
      references: referencesIn(references.map((path) => textAt(element, path)).join(' ')),
      amount: amountsAt(original, 'Amt/InstdAmt')[0] ?? null,
      code: says.says === 'rejected' ? code : null,
      reason: check ? readWords([check, about].filter(Boolean).join(': ')) : reason,
    })
  }
  return {
    OrgnlGrpInfAndSts: (group) => emit(2, group, textAt(group, 'GrpSts'), 'OrgnlMsgId'),
    OrgnlPmtInfAndSts: (payment) => emit(1, payment, textAt(payment, 'PmtInfSts'), 'OrgnlPmtInfId'),
    TxInfAndSts: (transaction) =>
      emit(0, transaction, textAt(transaction, 'TxSts'), 'OrgnlEndToEndId', 'OrgnlInstrId'),
  }
}
