import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { sendFile } from '../../src/pages/show-page.tsx'
import { writePain } from '../../src/payouts/files/pain.ts'
import { sepaText } from '../../src/payouts/files/sepa-text.ts'
import { type TemplateName, writeTemplate } from '../../src/payouts/files/templates.ts'
import type { Details, PaymentOrder } from '../../src/payouts/model.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import xsd from './pain.001.001.09.xsd?raw'
import { ADA, PAYER } from './payout-rows.ts'
import { validatorOf } from './xsd.ts'

const LETTERS = [
  ...`abXYZ 09/-?:().,'+ÄÖüßéñçøæœłđþıŞ&<>"@_;!*=|€日жЙΩά\u0000\u202e\ud83d\ude00ﬁ½\n//`,
]

const oddText = (from: Source, max: number) =>
  Array.from({ length: from.between(1, max) }, () => from.pick(LETTERS)).join('')

/** Returns an order with odd texts, and the minor digits of its currency. */
function drawOrder(from: Source): PaymentOrder & { digits: number } {
  const [currency, digits] = from.pick(Object.entries({ EUR: 2, GBP: 2, JPY: 0, KWD: 3, USD: 2 }))
  const ach = { iban: undefined, account: '123456', routing: '021000021' }
  const details = () =>
    ({
      ...from.pick([
        { ...ADA, bic: 'DEUTDEFF500' },
        { ...PAYER, ...ach, bic: undefined },
      ]),
      ...{ name: oddText(from, 90), kind: from.pick(['person', 'company']) },
      account_type: from.pick(['savings', undefined]),
      address: { street: oddText(from, 90), city: oddText(from, 50), country: 'DE' },
    }) as Details
  const transfers = Array.from({ length: from.between(1, 9) }, (_, i) => ({
    ...{ id: `T00000000${i}`, affiliate_id: 'a', details: details() },
    statements: Array.from({ length: from.between(0, 9) }, (_, n) => ({
      period: `2026-0${n + 1}`,
    })),
    amount: (from.below(1e9) / 10 ** digits).toFixed(digits),
  }))
  const method = from.pick(['sepa', 'bank'] as const)
  const payer = { ...PAYER, name: oddText(from, 90) }
  const order = { id: 'B000000001', method, currency, execute_on: '2026-12-15', created_at: 1 }
  return { ...order, payer, transfers, digits }
}

const valuesOf = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, 'g'))].map(
    ([, text]) => text!,
  )

test('§20.3 a pain.001 counts and sums what it has, in the letters of banks, within their limits', () => {
  const limits = { Nm: 70, StrtNm: 70, TwnNm: 35, Ustrd: 140 }
  for (let run = 0; run < 60; run++) {
    const order = drawOrder(randomSource(env.SEED * 100 + run))
    const xml = writePain(order)
    const { transfers, digits } = order
    const units = (text: string) => BigInt(text.replace('.', ''))
    const sum = transfers.reduce((total, { amount }) => total + units(amount), 0n)
    expect(valuesOf(xml, 'NbOfTxs')).toEqual(Array(2).fill(String(transfers.length)))
    expect(valuesOf(xml, 'CtrlSum').map(units)).toEqual([sum, sum])
    expect(valuesOf(xml, 'CtrlSum')[0]!.split('.')[1]?.length ?? 0).toBe(digits)
    expect(valuesOf(xml, 'InstdAmt')).toEqual(transfers.map(({ amount }) => amount))
    expect(valuesOf(xml, 'EndToEndId')).toEqual(transfers.map(({ id }) => id))
    for (const [i, text] of valuesOf(xml, 'Ustrd').entries()) {
      const periods = transfers[i]!.statements.map(({ period }) => period)
      expect(text.startsWith(transfers[i]!.id)).toBe(true)
      expect(text.endsWith(periods.at(-1) ?? '')).toBe(true)
      if (periods.length < 8) expect(text.match(/2026-\d\d/g) ?? []).toEqual(periods)
    }
    for (const [name, max] of Object.entries(limits)) {
      for (const text of valuesOf(xml, name)) expect(text).toMatch(new RegExp(`^.{1,${max}}$`))
    }
    const [, body = ''] = xml.split('<CstmrCdtTrfInitn>')
    expect(body.replaceAll(/<\/?[A-Za-z0-9]+(?: Ccy="[A-Z]{3}")?>/g, '')).toMatch(
      /^[\dA-Za-z/\-?:().,'+ \n]*$/,
    )
    for (const text of valuesOf(xml, 'Nm')) expect(text).not.toMatch(/^\/|\/$|\/\//)
    // Who has no IBAN is paid by the clearing house of the United States, if in its currency.
    const inUs = transfers.filter(({ details }) => details.routing && order.currency === 'USD')
    expect(xml.match(/<PmtTpInf><LclInstrm><Cd>\w+/g)?.map((text) => text.slice(-3)) ?? []).toEqual(
      inUs.map(({ details }) => (details.kind === 'person' ? 'PPD' : 'CCD')),
    )
    const typed = transfers.filter((one) => one.details.account_type || inUs.includes(one))
    expect(
      xml.match(/<CdtrAcct><Id>.*?<\/Id><Tp><Cd>\w+/g)?.map((text) => text.slice(-4)) ?? [],
    ).toEqual(typed.map(({ details }) => (details.account_type ? 'SVGS' : 'CACC')))
    const members = transfers.filter(({ details }) => details.routing)
    expect(valuesOf(xml, 'MmbId')).toEqual(members.map(() => '021000021'))
    expect(xml.split('<ClrSysId><Cd>USABA</Cd></ClrSysId>')).toHaveLength(members.length + 1)
    expect(xml.split('<CdtrAcct><Id><Othr><Id>123456<')).toHaveLength(members.length + 1)
    const isSepa = order.method === 'sepa'
    expect(valuesOf(xml, 'ChrgBr')).toEqual([isSepa ? 'SLEV' : 'SHAR'])
    expect(xml.includes('<SvcLvl><Cd>SEPA</Cd></SvcLvl>')).toBe(isSepa)
  }
})

test('§20.3 a pain.001 is valid by its XSD, and no element can be left out or moved but where the XSD says so', () => {
  const faultsOf = validatorOf(xsd)
  const seen = new Set<string>()
  for (let run = 0; run < 60; run++) {
    const order = drawOrder(randomSource(env.SEED * 100 + run))
    const xml = writePain(order)
    expect(faultsOf(xml)).toEqual([])
    seen.add(`${order.method === 'sepa' ? 'SEPA' : order.currency} ${xml.includes('USABA')}`)
  }
  expect([...seen]).toEqual(expect.arrayContaining(['SEPA false', 'GBP false', 'USD true']))
  const xml = writePain(drawOrder(randomSource(env.SEED)))
  for (const [text, other] of [
    [/<MsgId>.*?<\/MsgId>/, ''],
    [/(<PmtInfId>.*?<\/PmtInfId>)(<PmtMtd>.*?<\/PmtMtd>)/, '$2$1'],
    [/(<Dbtr>.*?<\/Dbtr>)/, '$1$1'],
    [/(<Nm>).*?(<\/Nm>)/, `$1${'x'.repeat(141)}$2`],
    [/ Ccy="\w+"/, ''],
    [/(<InstdAmt[^>]*>).*?</, '$1-1<'],
    [/(<ChrgBr>).*?</, '$1SLEW<'],
    [/(<CdtTrfTxInf>)/, '$1<Odd/>'],
  ] as const) {
    const broken = xml.replace(text, other)
    expect([text, broken === xml, faultsOf(broken).length > 0]).toEqual([text, false, true])
  }
})

test('§20.3 names are written in the letters of banks', () => {
  const written = [
    ['Łukasz Żółć', 'Lukasz Zolc'],
    ['Straße & Søn', 'Strasse + Son'],
    ['Ивайло', 'Ivaylo'],
    ['Κωνσταντίνος', 'Konstantinos'],
    ['//O’Brien//', "O'Brien"],
    ['İpek Şahin', 'Ipek Sahin'],
    ['李明', '..'],
  ]
  for (const [name, expected] of written) expect(sepaText(name!, 70)).toBe(expected)
  expect(sepaText('a'.repeat(200), 140)).toHaveLength(140)
})

test('§20.3 a CSV has the columns that its receiver reads, and cells as they were approved', () => {
  const paid = (more: Partial<Record<keyof Details, unknown>>, i: number) => ({
    ...{ id: `T00000000${i}`, affiliate_id: `a-${i}`, amount: '5.50' },
    statements: [{ period: '2026-05' }, { period: '2026-05' }],
    details: { ...ADA, ...more },
  })
  const order: PaymentOrder = {
    ...{ id: 'B000000001', method: 'wise', currency: 'EUR', execute_on: '2026-12-15' },
    ...{ created_at: 1, payer: PAYER },
    transfers: [
      paid({ name: '=HYPERLINK("x")', email: 'ada@a.example' }, 1),
      paid({ kind: 'company', name: 'Acme, Söhne', iban: undefined, email: 'b@b.example' }, 2),
    ] as PaymentOrder['transfers'],
  }
  const lines = (method: TemplateName) => writeTemplate(order, method).split('\r\n')
  expect(lines('wise')).toEqual([
    'name,recipientEmail,paymentReference,receiverType,amountCurrency,amount,sourceCurrency,targetCurrency,IBAN,type',
    `"=HYPERLINK(""x"")",ada@a.example,T000000001,PERSON,target,5.50,EUR,EUR,DE89370400440532013000,IBAN`,
    '"Acme, Söhne",b@b.example,T000000002,INSTITUTION,target,5.50,EUR,EUR,,EMAIL',
    '',
  ])
  expect(lines('paypal')).toEqual([
    'ada@a.example,5.50,EUR,T000000001,T000000001 Acme Ltd 2026-05,PAYPAL',
    'b@b.example,5.50,EUR,T000000002,T000000002 Acme Ltd 2026-05,PAYPAL',
    '',
  ])
  const [heading] = lines('manual')
  expect(heading).toBe(
    'reference,batch,affiliate_id,amount,currency,execute_on,name,kind,email,street,building,postcode,city,country,method,iban,account,account_type,bic,routing,network,asset,wallet_address,note',
  )
  const ach = { kind: 'company', name: 'Bob', iban: undefined, routing: '021000021', account: '01' }
  const wallet = { network: 'base', asset: 'USDC', wallet_address: '0xfB69' }
  const us = { ...order, transfers: [paid(ach, 1), paid(wallet, 2)] } as PaymentOrder
  const rowsOf = (name: TemplateName) => writeTemplate(us, name).split('\r\n')
  expect(rowsOf('ach').slice(0, 2)).toEqual([
    'name,kind,routing,account,account_type,amount,currency,execute_on,reference,note',
    'Bob,company,021000021,01,checking,5.50,EUR,2026-12-15,T000000001,T000000001 Acme Ltd 2026-05',
  ])
  expect([rowsOf('wallet')[0], rowsOf('wallet')[2]]).toEqual([
    'network,asset,wallet_address,amount,reference,name,affiliate_id,execute_on,batch',
    'base,USDC,0xfB69,5.50,T000000002,Ada Lovelace,a-2,2026-12-15,B000000001',
  ])
})

test('§20.3 the console sends the file of a batch without a byte order mark', async () => {
  const headers = { 'Content-Type': 'text/csv', ETag: '"digest"' }
  const bytes = await sendFile(new Response('ada@x.example,1.00', { headers })).bytes()
  expect(bytes[0]).toBe('a'.charCodeAt(0))
})
