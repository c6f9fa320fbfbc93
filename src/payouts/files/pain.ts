import { sumOfMoney } from '../../platform/money/sums.ts'
import type { Address, Details, Paid, PaymentOrder } from '../model.ts'
import { remittanceOf } from './remittance.ts'
import { sepaText } from './sepa-text.ts'

// The credit transfer initiation of ISO 20022, `pain.001.001.09`, as the EPC wants it since November 2026: addresses in
// parts, and the letters of banks alone.

/** Returns an element with what it has; nothing if it has nothing. */
function element(name: string, ...content: readonly string[]): string {
  const inner = content.join('')
  return inner === '' ? '' : `<${name}>${inner}</${name}>`
}

/** Returns an element with a text in the letters of banks, none of which XML escapes; nothing without a text. */
const text = (name: string, value: string | undefined, max: number): string =>
  element(name, sepaText(value ?? '', max))

/** @see EPC153-22: structured addresses. */
const addressOf = ({ street, building, postcode, city, country }: Address) =>
  element(
    'PstlAdr',
    text('StrtNm', street, 70),
    text('BldgNb', building, 16),
    text('PstCd', postcode, 16),
    text('TwnNm', city, 35),
    text('Ctry', country, 2),
  )

/** Returns a name, which is never empty. */
const nameOf = ({ name }: Details) => text('Nm', name, 70) || element('Nm', 'NOTPROVIDED')

const party = (name: string, details: Details) =>
  element(name, nameOf(details), addressOf(details.address))

const other = (id = 'NOTPROVIDED') => element('Othr', text('Id', id, 34))

const accountOf = ({ iban, account }: Details) =>
  element('Id', iban ? text('IBAN', iban, 34) : other(account))

/** Returns whether the clearing house of the United States carries a payment. */
export const isAch = ({ routing }: Details, currency: string) =>
  routing !== undefined && currency === 'USD'

/** Returns the type of an account; nothing if banks need not know it. */
const accountTypeOf = (details: Details, currency: string) => {
  const { account_type: type = isAch(details, currency) ? 'checking' : undefined } = details
  return type ? element('Tp', element('Cd', type === 'savings' ? 'SVGS' : 'CACC')) : ''
}

/** Returns the rules by which the clearing house carries a payment: to a person, or to a company. */
const instrumentOf = ({ kind }: Details) =>
  element('PmtTpInf', element('LclInstrm', element('Cd', kind === 'person' ? 'PPD' : 'CCD')))

/** The code of the clearing system of the United States, in which `routing` names a bank. */
const US_CLEARING = element('ClrSysId', element('Cd', 'USABA'))

/** Returns the bank of an account; nothing if it is not known. */
const bankOf = ({ bic, routing }: Details) =>
  element(
    'FinInstnId',
    text('BICFI', bic, 11),
    routing ? element('ClrSysMmbId', US_CLEARING, text('MmbId', routing, 35)) : '',
  )

const transferOf = (paid: Paid, { currency, payer }: PaymentOrder) => {
  const { id, amount, details } = paid
  return element(
    'CdtTrfTxInf',
    element('PmtId', element('EndToEndId', id)),
    isAch(details, currency) ? instrumentOf(details) : '',
    element('Amt', `<InstdAmt Ccy="${currency}">${amount}</InstdAmt>`),
    element('CdtrAgt', bankOf(details)),
    party('Cdtr', details),
    element('CdtrAcct', accountOf(details), accountTypeOf(details, currency)),
    element('RmtInf', text('Ustrd', remittanceOf(paid, sepaText(payer.name, 70)), 140)),
  )
}

/** Writes an order as XML. */
export function writePain(order: PaymentOrder): string {
  const { id, currency, payer, execute_on, created_at, transfers } = order
  const total = sumOfMoney(transfers, currency)
  const counts = element('NbOfTxs', String(transfers.length)) + element('CtrlSum', total)
  const isSepa = order.method === 'sepa'
  const document = element(
    'CstmrCdtTrfInitn',
    element(
      'GrpHdr',
      element('MsgId', id),
      element('CreDtTm', new Date(created_at).toISOString().slice(0, 19)),
      counts,
      element('InitgPty', nameOf(payer)),
    ),
    element(
      'PmtInf',
      element('PmtInfId', id),
      element('PmtMtd', 'TRF'),
      element('BtchBookg', 'true'),
      counts,
      isSepa ? element('PmtTpInf', element('SvcLvl', element('Cd', 'SEPA'))) : '',
      element('ReqdExctnDt', element('Dt', execute_on)),
      party('Dbtr', payer),
      element('DbtrAcct', accountOf(payer)),
      element('DbtrAgt', bankOf(payer) || element('FinInstnId', other())),
      element('ChrgBr', isSepa ? 'SLEV' : 'SHAR'),
      ...transfers.map((one) => `\n${transferOf(one, order)}`),
    ),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">${document}</Document>
`
}
