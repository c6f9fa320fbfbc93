// Files as banks write them, with the fields of the standards.

/** The IBAN of the payer `main`. */
export const IBAN = 'IE29AIBK93115212345678'

/** The day on which the bank has booked: before it is confirmed, nothing of a batch moves. */
export const BOOKED_ON = new Date().toISOString().slice(0, 10)

const [YEAR = '', MONTH = '', DAY = ''] = BOOKED_ON.split('-')

type Content = string | undefined | readonly Content[] | { readonly [name: string]: Content }

/** Writes elements by their names, several by an array; nothing of what is undefined. */
const xml = (content: Content): string =>
  typeof content === 'object'
    ? Object.entries(content)
        .flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const))
        .filter(([, one]) => one !== undefined)
        .map(([name, one]) => `<${name}>${xml(one)}</${name.split(' ')[0]}>`)
        .join('')
    : (content ?? '')

const amt = (amount?: string, currency = 'EUR') => ({ [`Amt Ccy="${currency}"`]: amount })

const reason = ({ code, words }: { code?: string | undefined; words?: Tx['words'] | undefined }) =>
  (code || words) && { Rsn: code && { Cd: code }, AddtlInf: words }

/** What a bank says of one transfer. */
export interface Tx {
  readonly reference?: string
  readonly text?: string
  readonly amount?: string
  readonly currency?: string
  readonly instructed?: readonly [amount: string, currency: string]
  readonly status?: string
  readonly code?: string
  readonly words?: string | readonly string[]
  /** What the bank has charged. */
  readonly charges?: string
}

/** An entry of a statement. */
export interface Ntry extends Pick<Tx, 'currency' | 'text' | 'charges'> {
  readonly amount: string
  readonly direction?: 'DBIT' | 'CRDT' | ''
  readonly status?: 'BOOK' | 'PDNG'
  readonly isReversal?: boolean
  readonly day?: string
  /** How the bank calls the entry. */
  readonly bankReference?: string
  readonly batch?: string
  readonly txs?: readonly Tx[]
}

const transferOf = (tx: Tx, direction: string) => ({
  Refs: { EndToEndId: tx.reference ?? 'NOTPROVIDED' },
  ...amt(tx.amount, tx.currency),
  CdtDbtInd: direction,
  Chrgs: tx.charges && { TtlChrgsAndTaxAmt: tx.charges },
  AmtDtls: tx.instructed && { InstdAmt: amt(...tx.instructed) },
  RmtInf: { Ustrd: tx.text ?? 'Commission' },
  RtrInf: reason(tx),
})

const entryOf = ({ direction = 'DBIT', txs = [], ...entry }: Ntry) => ({
  ...amt(entry.amount, entry.currency),
  CdtDbtInd: direction,
  RvslInd: entry.isReversal ? 'true' : undefined,
  Sts: { Cd: entry.status ?? 'BOOK' },
  BookgDt: { Dt: entry.day ?? BOOKED_ON },
  AcctSvcrRef: entry.bankReference,
  Chrgs: entry.charges && { Rcrd: amt(entry.charges) },
  NtryDtls: {
    Btch: entry.batch && { PmtInfId: entry.batch },
    TxDtls: txs.map((tx) => transferOf(tx, direction)),
  },
  AddtlNtryInf: entry.text,
})

/** Writes a report (camt.052), a statement (camt.053) or a notification (camt.054) with entries of an account. */
export function camt(entries: readonly Ntry[], { iban = IBAN, kind = '053' } = {}): string {
  const Stmt = { Id: 'S1', Acct: { Id: { IBAN: iban } }, Ntry: entries.map(entryOf) }
  const bodies: Record<string, Content> = {
    '052': { BkToCstmrAcctRpt: { Rpt: Stmt } },
    '053': { BkToCstmrStmt: { Stmt } },
    '054': { BkToCstmrDbtCdtNtfctn: { Ntfctn: Stmt } },
  }
  const body = bodies[kind]
  const root = `Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${kind}.001.08"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n${xml({ [root]: body })}`
}

/** Writes a report about the status of a batch (pain.002), and of its transfers. Its names have a prefix. */
export function pain002(
  batch: string,
  group: string,
  txs: readonly Tx[],
  { code, words, payment }: { code?: string; words?: Tx['words']; payment?: string } = {},
): string {
  const root = 'Document xmlns:p="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"'
  const TxInfAndSts = txs.map((tx) => ({
    OrgnlEndToEndId: tx.reference,
    TxSts: tx.status,
    StsRsnInf: reason(tx),
    OrgnlTxRef: tx.amount && { Amt: { 'InstdAmt Ccy="EUR"': tx.amount } },
  }))
  const CstmrPmtStsRpt = {
    OrgnlGrpInfAndSts: { OrgnlMsgId: batch, GrpSts: group, StsRsnInf: reason({ code, words }) },
    OrgnlPmtInfAndSts: { OrgnlPmtInfId: batch, PmtInfSts: payment, TxInfAndSts },
  }
  return xml({ [root]: { CstmrPmtStsRpt } }).replaceAll(/<(\/?)(?=[A-Z])/g, '<$1p:')
}

/** A movement of a transfer: out of the account, unless it came back. */
export interface Movement {
  readonly reference: string
  readonly amount: string
  readonly isBack?: boolean
}

/** Returns a writer of a CSV. Its last line is that of a movement, with words for its values in English and German. */
const csv = (file: string) => (moved: readonly Movement[]) => {
  const [line = '', ...above] = file.split('\n').reverse()
  const lines = moved.map(({ reference, amount, isBack }) => {
    const grouped = `${isBack ? '' : '-'}${amount}`.replace(/\d(?=(\d{3})+\.)/g, '$&,')
    const german = grouped.replace(/[.,]/g, (mark) => (mark === '.' ? ',' : '.'))
    const SIGNED = `${isBack ? '-' : ''}${amount}`
    const days = {
      ISO: BOOKED_ON,
      POINTS: `${DAY}.${MONTH}.${YEAR}`,
      SHORT: `${DAY}.${MONTH}.${YEAR.slice(2)}`,
      SLASHES: `${MONTH}/${DAY}/${YEAR}`,
      DASHES: `${MONTH}-${DAY}-${YEAR}`,
      DAYFIRST: `${DAY}-${MONTH}-${YEAR}`,
    }
    const [DEBIT, CREDIT] = isBack ? ['', german] : [german, '0,00']
    const BARE = `${isBack ? '' : '-'}${amount}`
    const sums = { PLAIN: amount, SIGNED, BARE, AMOUNT: grouped, BETRAG: german, DEBIT, CREDIT }
    const values = { REF: reference, SIDE: isBack ? 'H' : 'S', ...sums, ...days }
    const words: Record<string, string> = {
      ...values,
      ...(isBack && { COMPLETED: 'REFUNDED', DBIT: 'CRDT' }),
    }
    return line.replace(/[A-Z]+/g, (word) => words[word] ?? word)
  })
  return [...above.reverse(), ...lines].join('\r\n')
}

/** The CSV of banks and payment services, with their headings. Odd lines stand among them. */
export const CSVS: Readonly<Record<string, (moved: readonly Movement[]) => string>> = {
  'CSV-CAMT': csv(
    `"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Glaeubiger ID";"Kundenreferenz (End-to-End)";"Sammlerreferenz";"Beguenstigter/Zahlungspflichtiger";"Kontonummer/IBAN";"Betrag";"Waehrung";"Info"\n"${IBAN}";"26.11.26";"26.11.26";"ENTGELT";"Kontoführung";"";"";"";"Bank";"";"-4,90";"EUR";"Umsatz gebucht"\n"${IBAN}";"SHORT";"SHORT";"ÜBERWEISUNG";"Provision";"";"REF";"";"Müller & Söhne";"DE89";"BETRAG";"EUR";"Umsatz gebucht"`,
  ),
  Wise: csv(
    'ID,Status,Direction,"Created on","Finished on","Source fee amount","Source amount (after fees)","Source currency","Target name","Target amount (after fees)","Target currency",Reference,Batch\nTRANSFER-1,COMPLETED,OUT,"2026-11-26 09:00:00","ISO 10:00:00",0.61,PLAIN,EUR,Ada,PLAIN,EUR,"REF",',
  ),
  Revolut: csv(
    'Date started (UTC),Date completed (UTC),ID,Type,State,Description,Reference,Payer,Orig currency,Orig amount,Payment currency,Amount,Fee,Balance,Account,Beneficiary IBAN\n2026-11-27,,1,TRANSFER,PENDING,To Ada,PENDING,,EUR,-1.00,EUR,-1.00,0,0,Main,\n2026-11-26,ISO,1,TRANSFER,COMPLETED,To Ada,Pay REF,,EUR,"AMOUNT",EUR,"AMOUNT",0.20,0,Main,DE89',
  ),
  Mercury: csv(
    'Date (UTC),Description,Amount,Status,Source Account,Bank Description,Reference,Note,Timestamp,Original Currency\nDASHES,Ada,"AMOUNT",Sent,Mercury Checking xx1,Send Money,,REF,DASHES 10:00:00,',
  ),
  PayPal: csv(
    '\ufeff"Date","Time","TimeZone","Name","Type","Status","Currency","Gross","Fee","Net","Transaction ID","Note"\n"SLASHES","10:00:00","PST","Ada","Mass Pay Payment","Completed","EUR","AMOUNT","-0.25","0","1AB","REF"',
  ),
  'PayPal in German': csv(
    '"Datum","Uhrzeit","Zeitzone","Name","Typ","Status","Währung","Brutto","Entgelt","Netto","Hinweis"\n"POINTS","10:00:00","CET","Ada","Sammelzahlung","Abgeschlossen","EUR","BETRAG","-0,25","0","REF"',
  ),
  'VR-Bank': csv(
    `Bezeichnung Auftragskonto;IBAN Auftragskonto;BIC Auftragskonto;Bankname Auftragskonto;Buchungstag;Valutadatum;Name Zahlungsbeteiligter;IBAN Zahlungsbeteiligter;Buchungstext;Verwendungszweck;Betrag;Waehrung;Saldo nach Buchung\nGiro;${IBAN};AIBKIE2DXXX;VR-Bank;POINTS;POINTS;Ada;DE89;Überweisung;Provision REF;BETRAG;EUR;1,00`,
  ),
  'Deutsche Bank': csv(
    'Umsätze Girokonto;;;Zeitraum: 30 Tage\nLetzter Kontostand;;;;5.000,00;EUR\nBuchungstag;Wert;Umsatzart;Verwendungszweck;Betrag;Soll;Haben;Währung\nPOINTS;POINTS;Überweisung;REF;;DEBIT;CREDIT;EUR',
  ),
  'Wise balance statement': csv(
    'TransferWise ID,Date,Date Time,Amount,Currency,Description,Payment Reference,Running Balance\nTRANSFER-1,DAYFIRST,DAYFIRST 10:00:00,BARE,EUR,Sent money to Ada,REF,1.00',
  ),
  'a bank that writes no signs': csv(
    'Booking date,Description,Amount,Currency,Debit/Credit\nISO,Pay REF,PLAIN,EUR,DBIT',
  ),
  'VR-Bank before 2020': csv(
    'Buchungstag;Verwendungszweck;Währung;Umsatz; \nPOINTS;Provision REF;EUR;PLAIN;SIDE',
  ),
  'our own': csv('affiliate_id,Currency,Amount,reference,Paid on\na,EUR,SIGNED,REF,POINTS'),
}

/** Writes a text in Windows-1252, whose letters beyond ASCII are those of Latin-1. */
export const latin1 = (text: string) =>
  Uint8Array.from(text, (letter) => letter.charCodeAt(0) & 255)
