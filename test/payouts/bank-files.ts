// Files as banks write them, with the fields of the standards.

/** The IBAN of the payer `main`. */
export const IBAN = 'IE29AIBK93115212345678'

/** The day on which the bank has booked. */
export const BOOKED_ON = '2026-11-27'

/** An amount with its currency, and text, as elements. */
const amountOf = (text: string, currency: string, name = 'Amt') =>
  `<${name} Ccy="${currency}">${text}</${name}>`

/** One transaction of an entry. */
export interface Tx {
  readonly reference?: string
  readonly text?: string
  readonly batch?: string
  readonly amount?: string
  readonly currency?: string
  readonly instructed?: readonly [amount: string, currency: string]
  readonly direction?: 'DBIT' | 'CRDT'
  readonly code?: string
  readonly words?: string
}

/** An entry of a statement. */
export interface Ntry {
  readonly amount: string
  readonly currency?: string
  readonly direction?: 'DBIT' | 'CRDT'
  readonly status?: 'BOOK' | 'PDNG'
  readonly isReversal?: boolean
  readonly day?: string
  readonly batch?: string
  readonly count?: number
  readonly txs?: readonly Tx[]
  readonly text?: string
}

const txXml = (tx: Tx, entry: Ntry) =>
  `<TxDtls><Refs>${
    tx.batch ? `<PmtInfId>${tx.batch}</PmtInfId>` : ''
  }<EndToEndId>${tx.reference ?? 'NOTPROVIDED'}</EndToEndId></Refs>${
    tx.amount ? amountOf(tx.amount, tx.currency ?? 'EUR') : ''
  }<CdtDbtInd>${tx.direction ?? entry.direction ?? 'DBIT'}</CdtDbtInd>${
    tx.instructed ? `<AmtDtls><InstdAmt>${amountOf(...tx.instructed)}</InstdAmt></AmtDtls>` : ''
  }<RmtInf><Ustrd>${tx.text ?? 'Commission'}</Ustrd></RmtInf>${
    tx.code
      ? `<RtrInf><Rsn><Cd>${tx.code}</Cd></Rsn>${tx.words ? `<AddtlInf>${tx.words}</AddtlInf>` : ''}</RtrInf>`
      : ''
  }</TxDtls>`

const entryXml = (entry: Ntry) =>
  `<Ntry>${amountOf(entry.amount, entry.currency ?? 'EUR')}<CdtDbtInd>${
    entry.direction ?? 'DBIT'
  }</CdtDbtInd>${entry.isReversal ? '<RvslInd>true</RvslInd>' : ''}<Sts><Cd>${
    entry.status ?? 'BOOK'
  }</Cd></Sts><BookgDt><Dt>${entry.day ?? BOOKED_ON}</Dt></BookgDt><BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>${
    entry.batch || entry.txs
      ? `<NtryDtls>${entry.batch ? `<Btch><PmtInfId>${entry.batch}</PmtInfId><NbOfTxs>${entry.count ?? 2}</NbOfTxs></Btch>` : ''}${(
          entry.txs ?? []
        )
          .map((tx) => txXml(tx, entry))
          .join('')}</NtryDtls>`
      : ''
  }${entry.text ? `<AddtlNtryInf>${entry.text}</AddtlNtryInf>` : ''}</Ntry>`

/** Writes a statement (camt.053) or a notification (camt.054) with entries of an account. */
export function camt(entries: readonly Ntry[], { iban = IBAN, kind = '053' } = {}): string {
  const [root, part] =
    kind === '053' ? ['BkToCstmrStmt', 'Stmt'] : ['BkToCstmrDbtCdtNtfctn', 'Ntfctn']
  const balance = `<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp>${amountOf('1000.00', 'EUR')}<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${BOOKED_ON}</Dt></Dt></Bal>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${kind}.001.08"><${root}><GrpHdr><MsgId>M1</MsgId><CreDtTm>${BOOKED_ON}T20:00:00Z</CreDtTm></GrpHdr><${part}><Id>S1</Id><Acct><Id><IBAN>${iban}</IBAN></Id></Acct>${
    kind === '053' ? balance : ''
  }${entries.map(entryXml).join('\n')}</${part}></${root}></Document>`
}

/** A status of a transaction of a report. */
export interface Status {
  readonly reference: string
  readonly status: string
  readonly code?: string
  readonly words?: string
  readonly amount?: string
}

const reasonXml = (code?: string, words?: string) =>
  code
    ? `<StsRsnInf><Rsn><Cd>${code}</Cd></Rsn>${words ? `<AddtlInf>${words}</AddtlInf>` : ''}</StsRsnInf>`
    : ''

/** Writes a report about the status of a batch (pain.002). */
export const pain002 = (
  batch: string,
  {
    group,
    payment,
    code,
    txs = [],
  }: { group?: string; payment?: string; code?: string; txs?: readonly Status[] },
) => `<?xml version="1.0"?>
<p:Document xmlns:p="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><p:CstmrPmtStsRpt><p:GrpHdr><p:MsgId>R1</p:MsgId><p:CreDtTm>${BOOKED_ON}T20:00:00Z</p:CreDtTm></p:GrpHdr><p:OrgnlGrpInfAndSts><p:OrgnlMsgId>${batch}</p:OrgnlMsgId><p:OrgnlMsgNmId>pain.001.001.09</p:OrgnlMsgNmId>${
  group ? `<p:GrpSts>${group}</p:GrpSts>${payment ? '' : prefixed(reasonXml(code))}` : ''
}</p:OrgnlGrpInfAndSts><p:OrgnlPmtInfAndSts><p:OrgnlPmtInfId>${batch}</p:OrgnlPmtInfId>${
  payment ? `<p:PmtInfSts>${payment}</p:PmtInfSts>${prefixed(reasonXml(code))}` : ''
}${txs
  .map((tx) =>
    prefixed(
      `<TxInfAndSts><OrgnlEndToEndId>${tx.reference}</OrgnlEndToEndId><TxSts>${tx.status}</TxSts>${reasonXml(tx.code, tx.words)}${
        tx.amount
          ? `<OrgnlTxRef><Amt>${amountOf(tx.amount, 'EUR', 'InstdAmt')}</Amt></OrgnlTxRef>`
          : ''
      }</TxInfAndSts>`,
    ),
  )
  .join('')}</p:OrgnlPmtInfAndSts></p:CstmrPmtStsRpt></p:Document>`

const prefixed = (xml: string) => xml.replaceAll(/<(\/?)(?=[A-Z])/g, '<$1p:')

/** A movement as each bank writes it in its CSV: of a transfer, out of the account unless it came back. */
export interface Movement {
  readonly reference: string
  readonly amount: string
  readonly currency: string
  readonly isBack?: boolean
}

const german = (amount: string) =>
  amount.replace('.', ',').replace(/\d(?=(\d{3})+,)/g, (digit) => `${digit}.`)

const english = (amount: string) => amount.replace(/\d(?=(\d{3})+\.)/g, (digit) => `${digit},`)

const quoted = (cells: readonly string[], separator = ',') =>
  cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(separator)

/** The CSV of each bank and payment service: its headings, and a line of a movement. Odd lines stand around them. */
export const CSVS: Readonly<Record<string, (moved: readonly Movement[]) => string>> = {
  'CSV-CAMT': (moved) =>
    [
      '"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Glaeubiger ID";"Mandatsreferenz";"Kundenreferenz (End-to-End)";"Sammlerreferenz";"Lastschrift Ursprungsbetrag";"Auslagenersatz Ruecklastschrift";"Beguenstigter/Zahlungspflichtiger";"Kontonummer/IBAN";"BIC (SWIFT-Code)";"Betrag";"Waehrung";"Info"',
      quoted(
        [
          IBAN,
          '26.11.26',
          '26.11.26',
          'ENTGELT',
          'Kontoführung',
          '',
          '',
          '',
          '',
          '',
          '',
          'Bank',
          '',
          '',
          '-4,90',
          'EUR',
          'Umsatz gebucht',
        ],
        ';',
      ),
      ...moved.map(({ reference, amount, currency, isBack }) =>
        quoted(
          [
            IBAN,
            '27.11.26',
            '27.11.26',
            'ÜBERWEISUNG',
            'Provision Oktober',
            '',
            '',
            reference,
            '',
            '',
            '',
            'Müller & Söhne',
            'DE89370400440532013000',
            'COBADEFFXXX',
            `${isBack ? '' : '-'}${german(amount)}`,
            currency,
            'Umsatz gebucht',
          ],
          ';',
        ),
      ),
    ].join('\r\n'),
  Bank: (moved) =>
    [
      'Kontoumsätze;Geschäftskonto',
      ';',
      'Buchungstag;Valuta;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Betrag;Währung;Saldo',
      ...moved.map(
        ({ reference, amount, currency, isBack }) =>
          `27.11.2026;27.11.2026;Müller;Überweisung;Provision ${reference.toLowerCase()};${isBack ? '' : '-'}${german(amount)};${currency};1,00`,
      ),
    ].join('\n'),
  'Wise balance': (moved) =>
    [
      'TransferWise ID,Date,Amount,Currency,Description,Payment Reference,Running Balance,Exchange From,Exchange To,Exchange Rate,Payer Name,Payee Name,Payee Account Number,Merchant,Card Last Four Digits,Card Holder Full Name,Attachment,Note,Total fees,Exchange To Amount',
      ...moved.map(
        ({ reference, amount, currency, isBack }) =>
          `TRANSFER-1,27-11-2026,${isBack ? amount : `-${(Number(amount) + 0.61).toFixed(2)}`},${currency},Sent money to Ada,${reference},0,,,,,Ada,,,,,,,${isBack ? '0.00' : '0.61'},`,
      ),
    ].join('\n'),
  Wise: (moved) =>
    [
      'ID,Status,Direction,"Created on","Finished on","Source fee amount","Source fee currency","Target fee amount","Target fee currency","Source name","Source amount (after fees)","Source currency","Target name","Target amount (after fees)","Target currency","Exchange rate",Reference,Batch,"Created by",Category,Note',
      ...moved.map(
        ({ reference, amount, currency, isBack }) =>
          `TRANSFER-1,${isBack ? 'REFUNDED' : 'COMPLETED'},OUT,"2026-11-26 09:00:00","2026-11-27 10:00:00",0.61,EUR,,,"Acme",${currency === 'EUR' ? amount : '1.00'},EUR,Ada,${amount},${currency},1,"${reference}",,,,`,
      ),
    ].join('\n'),
  Revolut: (moved) =>
    [
      'Date started (UTC),Date completed (UTC),ID,Type,State,Description,Reference,Payer,Card number,Orig currency,Orig amount,Payment currency,Amount,Total amount,Fee,Balance,Account,Beneficiary account number,Beneficiary sort code or routing number,Beneficiary IBAN,Beneficiary BIC',
      '2026-11-27,,1,TRANSFER,PENDING,To Ada,PENDING,,,EUR,-1.00,EUR,-1.00,-1.00,0,0,Main,,,,',
      ...moved.map(
        ({ reference, amount, currency, isBack }) =>
          `2026-11-26,2026-11-27,1,TRANSFER,COMPLETED,To Ada,Commission ${reference},,,${currency},${isBack ? '' : '-'}${amount},${currency},${isBack ? '' : '-'}${amount},${isBack ? '' : '-'}${amount},0.20,0,Main,,,DE89,COBA`,
      ),
    ].join('\n'),
  Mercury: (moved) =>
    [
      'Date (UTC),Description,Amount,Status,Source Account,Bank Description,Reference,Note,Last Four Digits,Name On Card,Category,GL Code,Timestamp,Original Currency',
      ...moved.map(
        ({ reference, amount, isBack }) =>
          `11-27-2026,Ada,${isBack ? '' : '-'}${amount},${isBack ? 'Received' : 'Sent'},Mercury Checking xx1,Send Money,,${reference},,,,,11-27-2026 10:00:00,`,
      ),
    ].join('\n'),
  PayPal: (moved) =>
    [
      '\ufeff"Date","Time","TimeZone","Name","Type","Status","Currency","Gross","Fee","Net","From Email Address","To Email Address","Transaction ID","Reference Txn ID","Subject","Note"',
      ...moved.map(({ reference, amount, currency, isBack }) =>
        quoted([
          '11/27/2026',
          '10:00:00',
          'PST',
          'Ada',
          'Mass Pay Payment',
          'Completed',
          currency,
          `${isBack ? '' : '-'}${english(amount)}`,
          '-0.25',
          '0',
          'us@acme.example',
          'ada@example.com',
          '1AB',
          '',
          '',
          reference,
        ]),
      ),
    ].join('\n'),
  'PayPal in German': (moved) =>
    [
      '"Datum","Uhrzeit","Zeitzone","Name","Typ","Status","Währung","Brutto","Entgelt","Netto","Transaktionscode","Hinweis"',
      ...moved.map(({ reference, amount, currency, isBack }) =>
        quoted([
          '27.11.2026',
          '10:00:00',
          'CET',
          'Ada',
          'Sammelzahlung',
          'Abgeschlossen',
          currency,
          `${isBack ? '' : '-'}${german(amount)}`,
          '-0,25',
          '0',
          '1AB',
          reference,
        ]),
      ),
    ].join('\n'),
  'our own': (moved) =>
    [
      'affiliate_id,currency,amount,reference,paid_on',
      ...moved
        .filter(({ isBack }) => !isBack)
        .map(
          ({ reference, amount, currency }) => `a,${currency},${amount},${reference},27.11.2026`,
        ),
    ].join('\n'),
}

/** Writes a text in Windows-1252, whose letters beyond ASCII are those of Latin-1. */
export const latin1 = (text: string) =>
  Uint8Array.from(text, (letter) => letter.charCodeAt(0) & 255)

/** Writes a text in UTF-16 with its byte order mark. */
export const utf16 = (text: string) =>
  new Uint8Array(Uint16Array.from(`\ufeff${text}`, (letter) => letter.charCodeAt(0)).buffer)
