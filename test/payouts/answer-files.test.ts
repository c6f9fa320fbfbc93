import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { json } from '../partner.ts'
import { zipOf } from '../zip.ts'
import { BOOKED_ON, CSVS, camt, IBAN, type Ntry } from './bank-files.ts'
import { ADA, change, enter, firm, PAYER, type Sent, send, sent } from './payout-rows.ts'

// Which files are read as answers of banks, and what a file may cost.

let a: Sent
let b: Sent

beforeEach(async () => {
  await firm(['a', 'b'])
  ;({ a, b } = await sent({ a: '329.56', b: '20.00' }))
})

const debit = (one: Sent): Ntry => ({ amount: one.amount, txs: [{ reference: one.id }] })

/** Writes a text in UTF-16, whose bytes begin with a mark. */
const utf16 = (text: string, isBig: boolean) => {
  const bytes = new Uint8Array(2 * text.length + 2)
  const view = new DataView(bytes.buffer)
  for (const [i, letter] of [...`\ufeff${text}`].entries()) {
    view.setUint16(2 * i, letter.charCodeAt(0), !isBig)
  }
  return bytes
}

const wide = (text: string, isBig: boolean) => utf16(text.replace('"UTF-8"', '"UTF-16"'), isBig)

describe('§20.4 a file as a bank hands it out', () => {
  test('is read by its content: camt.052, UTF-16 and each XML of a ZIP file', async () => {
    const [first, second] = [camt([debit(a)]), camt([debit(b)], { kind: '054' })]
    const files: [string | Uint8Array, format: string, paid: number][] = [
      [camt([debit(a), { ...debit(b), status: 'PDNG' }], { kind: '052' }), 'camt.052', 1],
      [wide(first, false), 'camt.053', 1],
      [wide(first, true), 'camt.053', 1],
      [wide(first, false).subarray(2), 'camt.053', 1],
      [await zipOf({ 'a.xml': first, 'b.XML': second, 'read.txt': 'x' }), 'camt.054', 2],
      [await zipOf({ 'a.xml': wide(first, true) }, { method: 0 }), 'camt.053', 1],
    ]
    for (const [file, format, paid] of files) {
      const seen = await json(send(file))
      expect([seen.format, seen.booked[0]?.count]).toEqual([format, paid])
    }
  })

  test('that is another one is refused with what it is, or what is missing', async () => {
    const bomb = 'x'.repeat(11 * 1024 * 1024)
    const files: [string | Uint8Array, RegExp][] = [
      ['%PDF-1.7', /^This file is not known\. Read are camt\.052/],
      ['<Document><CstmrCdtTrfInitn/></Document>', /^This file is not known\./],
      ['Buchungstag;Text\n27.11.2026;T1', /no column of amounts.* are “Buchungstag”, “Text”\. C/],
      ['Name;Betrag\nAda;1,00', /^The CSV has no column of booking days/],
      ['x\nData;Kwota;Opis\n1;2;3', /of booking days.*and none of amounts.* are “Data”, “Kwota”/],
      [`${ADA.iban};27.11.;1.00\n`, /are “DE…3000”, “27.11.”, “1.00”/],
      [await zipOf({ 'xl/workbook.xml': '<a/>', b: 'x' }), /no XML of .*save an Excel file as CSV/],
      [await zipOf({ 'a.xml': bomb }), /^The ZIP file has more than 10 MiB/],
      [
        await zipOf(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`${n}.xml`, 'x']))),
        /^The ZIP .* or 1000 files/,
      ],
      [(await zipOf({ 'a.xml': bomb })).subarray(0, 200), /^The ZIP file cannot be read/],
    ]
    for (const [file, words] of files) {
      expect(await json(send(file))).toMatchObject({
        status: 422,
        detail: expect.stringMatching(words),
      })
    }
  })

  test('names the account by its IBAN, its end or its national number, as far as that is of one payer', async () => {
    const gb = { ...PAYER, iban: 'GB29NWBK60161331926819', currency: 'EUR' }
    await enter('payer', 'main', gb, { version: 2 })
    await change('update payout_batches set payer_version = 2')
    await enter('payer', 'other', { ...PAYER, iban: 'IE29AIBK93115288886819' })
    const names = (number: string) => camt([debit(a)], { iban: number })
    const named = [
      ...['GB29 NWBK 6016 1331 9268 19', 'gb29nwbk60161331926819', '31926819', '926819'],
      ...['60-16-13 31926819', '60161331926819', '0031926819', '601613/31926819'],
    ]
    for (const number of named) {
      expect((await json(send(names(number)))).booked, number).toHaveLength(1)
    }
    for (const number of ['26819', '6819', '31926818', IBAN, 'IE29AIBK93115288886819']) {
      expect((await json(send(names(number)))).booked, number).toHaveLength(0)
    }
    const us = { ...PAYER, iban: undefined, account: '000456926819' } as unknown as typeof PAYER
    await enter('payer', 'third', us)
    for (const [number, count] of [
      ['926819', 0],
      ['31926819', 1],
    ] as const) {
      expect((await json(send(names(number)))).booked, number).toHaveLength(count)
    }
    expect((await json(send(names('26819'), '?payer=main'))).booked).toHaveLength(1)
    expect((await json(send(names(gb.iban), '?payer=other'))).booked).toHaveLength(0)
  })

  test('has a hash of its bytes, its payer and what would be booked', async () => {
    await enter('payer', 'other', { ...PAYER, iban: ADA.iban })
    const file = CSVS.PayPal!([{ reference: a.id, amount: a.amount }])
    const hashOf = async (text: string, query: string) => (await json(send(text, query))).hash
    const main = await hashOf(file, '?payer=main')
    expect(await hashOf(file, '?payer=main')).toBe(main)
    // The file names the account, so that the payer changes nothing of what would be booked.
    const named = camt([debit(a)])
    expect(await hashOf(named, '?payer=main')).not.toBe(await hashOf(named, ''))
    const others = [
      await hashOf(file, '?payer=other'),
      await hashOf(`${file}\n`, '?payer=main'),
      await change(`update transfers set state = 'accepted'`).then(() =>
        change(`update transfers set state = 'cancelled'`).then(() => hashOf(file, '?payer=main')),
      ),
    ]
    expect(new Set([main, ...others]).size).toBe(4)
  })
})

/** Returns what of an answer is kept. */
const kept = async () => {
  const { results } = await env.DB.prepare('select entries, summary from payout_answers').all<
    Record<string, string>
  >()
  const [{ entries = '[]', summary = '{}' } = {}] = results
  return {
    entries: JSON.parse(entries).length,
    unmatched: JSON.parse(summary).unmatched_rows.length,
  }
}

test('§20.4 columns that no bank of ours writes are chosen once, and remembered for the payer', async () => {
  const file = (one: Sent, heading = 'Data') =>
    `Wyciąg\n${heading};Obciążenia;Uznania;Opis\n27.11.${BOOKED_ON.slice(0, 4)};${one.amount.replace('.', ',')};;${one.id}`
  await change(
    'update payout_batches set confirmed_at = ?',
    Date.parse(`${BOOKED_ON.slice(0, 4)}-11-01`),
  )
  expect((await send(file(a))).status).toBe(422)
  const chosen = '?day_column=data&out_column=Obci%C4%85%C5%BCenia&in_column=Uznania'
  expect((await json(send(file(a), chosen))).booked).toMatchObject([{ becomes: 'paid' }])
  expect((await json(send(file(b)))).booked).toMatchObject([{ becomes: 'paid' }])
  expect((await json(send(file(b, 'Dzień')))).status).toBe(422)
  expect((await json(send(file(b, 'Dzień'), '?day_column=Dzie%C5%84'))).booked).toHaveLength(1)
  await enter('payer', 'other', { ...PAYER, iban: 'IE29AIBK93115288886819' })
  expect((await send(file(b), '?payer=other')).status).toBe(422)
})

describe('§20.4 what a file costs does not grow with what it says', () => {
  test('a batch that 9,000 rows name is taken once; a doubt is kept of each other row, and 100 are listed', async () => {
    const entry = { amount: '349.56', text: a.batch }
    const { booked, doubts, unmatched } = await json(send(camt(Array<Ntry>(9000).fill(entry))))
    expect(booked).toMatchObject([{ becomes: 'paid', count: 2 }])
    expect([doubts, unmatched]).toEqual([8999, 8999])
    expect(await kept()).toEqual({ entries: 9001, unmatched: 100 })
    const wrong = { amount: '1.00', text: a.batch }
    const other = await json(send(camt(Array<Ntry>(9000).fill(wrong))))
    expect(other).toMatchObject({ booked: [], doubts: 9000, unmatched: 9000 })
  })

  test('rows that name nothing are counted, and 100 of them are kept', async () => {
    const { rows, unmatched } = await json(send(camt(Array<Ntry>(20_000).fill({ amount: '1.00' }))))
    expect([rows, unmatched]).toEqual([20_000, 20_000])
    expect(await kept()).toEqual({ entries: 0, unmatched: 100 })
  })

  test('more than 10,000 references, or 250,000 rows, are refused before anything is matched', async () => {
    const texts = Array.from({ length: 900 }, () => ({
      amount: '1.00',
      text: `${a.id} `.repeat(1),
    }))
    expect((await send(camt(texts))).status).toBe(200)
    for (const file of [
      camt(Array<Ntry>(10_001).fill({ amount: '1.00', text: a.id })),
      `paid_on,amount,currency\n${'a,b\n'.repeat(250_001)}`,
    ]) {
      expect(await json(send(file))).toMatchObject({
        status: 422,
        detail: expect.stringMatching(/Divide it/),
      })
    }
  })

  test.each([
    ['newlines', `paid_on,amount,currency\n${'\n'.repeat(10_000_000)}`],
    ['long cells', `paid_on,amount,currency\n${`${'T'.repeat(99_999)}\n`.repeat(100)}`],
    [
      'texts that look like references',
      camt(Array<Ntry>(2400).fill({ amount: '1.00', text: 'TB'.repeat(2000) })),
    ],
  ])('10 MB of %s are read', async (_, file) => {
    expect(await json(send(file))).toMatchObject({ booked: [], doubts: 0 })
  })
})
