import { add, decimal, ZERO } from '../../commission/engine/decimal.ts'
import { moneyText } from '../../commission/statements/money.ts'
import type { Address, Details, Paid, PaymentOrder } from '../model.ts'
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

const amount = (name: string, currency: string, value: string) =>
  `<${name} Ccy="${currency}">${value}</${name}>`

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

const accountOf = (name: string, { iban, account }: Details) =>
  element(
    name,
    element(
      'Id',
      iban ? text('IBAN', iban, 34) : element('Othr', text('Id', account ?? 'NOTPROVIDED', 34)),
    ),
  )

/** The code of the clearing system of the United States, in which `routing` names a bank. */
const US_CLEARING = element('ClrSysId', element('Cd', 'USABA'))

const clearingOf = ({ routing }: Details) =>
  routing ? element('ClrSysMmbId', US_CLEARING, text('MmbId', routing, 35)) : ''

/** Returns the bank of an account. */
const bankOf = (details: Details) =>
  element('FinInstnId', text('BICFI', details.bic, 11), clearingOf(details))

const UNKNOWN_BANK = element('FinInstnId', element('Othr', element('Id', 'NOTPROVIDED')))

/** Returns the text that the payee reads, of at most 140 letters. It begins with the reference. */
const remittance = (reference: string, payer: Details) => `${reference} ${payer.name}`

function transferOf({ reference, amount: sum, details }: Paid, { currency, payer }: PaymentOrder) {
  return element(
    'CdtTrfTxInf',
    element('PmtId', element('EndToEndId', reference)),
    element('Amt', amount('InstdAmt', currency, sum)),
    element('CdtrAgt', bankOf(details)),
    party('Cdtr', details),
    accountOf('CdtrAcct', details),
    element('RmtInf', text('Ustrd', remittance(reference, payer), 140)),
  )
}

/** Writes an order as XML. */
export function writePain(order: PaymentOrder): string {
  const { id, currency, payer, execute_on, confirmed_at, transfers } = order
  const sum = transfers.reduce((total, one) => add(total, decimal(one.amount)), ZERO)
  const counts =
    element('NbOfTxs', String(transfers.length)) + element('CtrlSum', moneyText(sum, currency))
  const isSepa = order.method === 'sepa'
  const document = element(
    'CstmrCdtTrfInitn',
    element(
      'GrpHdr',
      element('MsgId', id),
      element('CreDtTm', new Date(confirmed_at).toISOString().slice(0, 19)),
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
      accountOf('DbtrAcct', payer),
      element('DbtrAgt', bankOf(payer) || UNKNOWN_BANK),
      element('ChrgBr', isSepa ? 'SLEV' : 'SHAR'),
      ...transfers.map((one) => `\n${transferOf(one, order)}`),
    ),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">${document}</Document>
`
}
