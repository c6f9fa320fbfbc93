import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { referenceOf } from '../../src/payouts/reference.ts'
import { bookPaid, rowsOf } from '../books/book-rows.ts'
import { fetchWith } from '../checked-fetch.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json } from '../partner.ts'
import { disconnect } from '../sweep/cut.ts'
import { surrounded } from '../sweep/platform.ts'
import { TABLES } from '../sweep/state.ts'
import { BOOKED_ON, CSVS, camt, latin1, type Ntry, pain002, type Tx } from './bank-files.ts'
import {
  ADA,
  apply,
  askExport,
  book,
  bookByHand,
  change,
  confirmed,
  due,
  enter,
  firm,
  hold,
  PATH,
  PAYER,
  prepare,
  requestOf,
  rowsOfEach,
  type Sent,
  send,
  sent,
  show,
} from './payout-rows.ts'

let a: Sent
let b: Sent
let c: Sent

beforeEach(async () => {
  await firm(['a', 'b', 'c', 'd', 'e'])
  ;({ a, b, c } = await sent({ a: '1234.56', b: '250.50', c: '7.00' }))
})

/** Returns the states of all transfers, by their references. */
async function states(): Promise<Record<string, string>> {
  const rows = await env.DB.prepare('select id, state from transfers').raw()
  return Object.fromEntries(rows)
}

/** Returns what is booked: payments, returns, the ledger, and the states of transfers, statements and payees. */
async function books() {
  const read = async (sql: string) => (await env.DB.prepare(sql).raw()).map(String).sort()
  return {
    payments: await read('select reference, affiliate_id, currency, amount, paid_on from payments'),
    returns: await read('select payment, returned_on, reason from payment_returns'),
    ledger: await read('select affiliate_id, kind, statement, currency, amount from ledger'),
    transfers: await read('select id, state, code, reason, name_check from transfers'),
    statements: await read('select id, status, payment, returned from statements'),
    payees: await read('select id, version, state, reason from payees'),
    files: await read('select id, files from payout_batches'),
  }
}

const debit = ({ id, amount }: Sent, more: Partial<Tx> = {}) => ({
  amount,
  txs: [{ reference: id, amount, ...more }],
})

const credit = (one: Sent, more: Partial<Tx> = {}) =>
  ({ ...debit(one, { code: 'MS03', ...more }), direction: 'CRDT' }) as const

/** Returns why nothing is booked of each row. */
const refusalsOf = async (file: string | Uint8Array, query = ''): Promise<string[]> =>
  (await json(send(file, query))).unmatched_rows.map(({ detail }: { detail: string }) => detail)

const matching = (words: readonly RegExp[]) => words.map((one) => expect.stringMatching(one))

describe('§20.4 a statement of an account', () => {
  test('books a debit, even of whom a case holds, and a credit as a return, and shows first what failed', async () => {
    await hold('a')
    const words = `${ADA.iban} erloschen`
    const file = camt([credit(a, { code: 'AC04', words }), debit(a), debit(b)])
    const reason = 'The account is closed. DE…3000 erloschen'
    const { booked, transfers, ...preview } = await book(file)
    expect(preview).toMatchObject({ format: 'camt.053', rows: 3, unmatched: 0 })
    expect(booked).toMatchObject([
      { becomes: 'paid', count: 2, amount: '1485.06' },
      { becomes: 'returned', count: 1, amount: '1234.56' },
    ])
    expect(transfers[0]).toMatchObject({ transfer: a.id, becomes: 'returned', reason })
    const { returns, payees } = await books()
    expect(returns).toEqual([`${a.id},${BOOKED_ON},${reason}`])
    expect(payees[0]).toBe(`a,1,returned,${reason}`)
  })

  test('books transfers by any spelling, and batches and parts of entries as far as the amount goes', async () => {
    const { d, e } = await sent({ d: '1.00', e: '2.00' })
    const f = await sent({ a: '3.00', b: '4.00', c: '5.00' })
    const g = await sent({ a: '6.00', b: '7.00' })
    const text = `fee ${f.a.id.toLowerCase().replace(/(....)/, '$1 - ')}`
    const entries: Ntry[] = [
      // By its reference and its sum, whether or not it lists its transfers, with or without their amounts.
      { amount: '1492.06', batch: a.batch, txs: [{ reference: a.id }, { reference: b.id }] },
      { amount: '9.99', batch: d.batch, txs: [d, e].flatMap((one) => debit(one).txs) },
      { amount: '3.00', text },
      { amount: '9.00', txs: [{ reference: f.b.id }, { reference: f.c.id }] },
      // The details say more than moved: nothing of it counts.
      { amount: '0.01', txs: [g.a, g.b].flatMap((one) => debit(one).txs) },
      { amount: '6.50', batch: g.a.batch, txs: debit(g.a).txs },
    ]
    const { unmatched_rows } = await book(camt(entries))
    const { [g.b.id]: last, ...paid } = await states()
    expect([last, new Set(Object.values(paid))]).toEqual(['exported', new Set(['paid'])])
    expect(unmatched_rows.map(({ row }: { row: number }) => row)).toEqual([5, 5])
  })

  test('books nothing that does not match exactly, and says why', async () => {
    const refused: [Ntry, RegExp][] = [
      [{ amount: '1.55', txs: [{ reference: a.id }] }, /has 1.55 EUR, .*not 1234.56 EUR/],
      [{ ...debit(b, { currency: 'USD' }), currency: 'USD' }, /has 250.50 USD, and not 250.50 EUR/],
      [credit(b), /came back, but its payment is not booked/],
      [{ amount: '9.00', text: `${a.id} and ${c.id}` }, /names several/],
      [{ amount: '9.00', text: `${a.id} and ${c.id}` }, /names several/],
      [{ ...debit(c), isReversal: true }, /has taken a credit back/],
      [{ ...debit(c), day: '1999-11-27' }, /1999-11-27 is before the batch was confirmed/],
      [{ ...debit(c), day: '2040-12-30' }, /2040-12-30 is after tomorrow/],
      [{ ...debit(b), direction: '' }, /does not say whether the money came or went/],
      [{ ...debit(b), status: 'PDNG' }, /has not booked it/],
      [{ amount: '5.00', text: await referenceOf('T', 'another account') }, /names no transfer/],
    ]
    const file = camt(refused.map(([entry]) => entry).toSpliced(4, 1))
    expect(await refusalsOf(file)).toEqual(matching(refused.map(([, words]) => words)))
    const elsewhere = camt([debit(a)], { iban: ADA.iban })
    expect(await refusalsOf(elsewhere)).toEqual(matching([/another account/]))
    await book(file)
    expect(new Set(Object.values(await states()))).toEqual(new Set(['exported']))
  })

  test('books by the booked amount alone, and charges of the same entry explain a difference', async () => {
    const all = await sent({ a: '30.11', b: '30.11', c: '30.11', d: '30.11', e: '30.11' })
    const ordered = { amount: '0.01', instructed: ['30.11', 'EUR'] } as const
    const exact = [debit(all.a), debit(all.b)]
    const debits: Ntry[] = [
      { amount: '31.61', charges: '1.50', txs: [{ reference: all.c.id }] },
      { amount: '31.61', txs: [{ reference: all.d.id, charges: '1.50' }] },
      { amount: '0.01', txs: [{ ...ordered, reference: all.e.id }] },
      { amount: '0.01', charges: '30.10', txs: [{ ...ordered, reference: all.e.id }] },
    ]
    const words = /: the row has 0.01 EUR \(it also states 30.11 EUR\), and not 30.11 EUR/
    expect(await refusalsOf(camt([...exact, ...debits]))).toEqual(matching([words, words]))
    const { transfers } = await book(camt([...exact, ...debits]))
    expect(transfers).toContainEqual(
      expect.objectContaining({ transfer: all.c.id, reason: 'Charges: 1.50 EUR' }),
    )
    const back = (one: Sent, amount: string, more: Partial<Tx> = {}): Ntry => ({
      ...{ amount, direction: 'CRDT', txs: [{ reference: one.id, code: 'AC04', ...more }] },
    })
    await book(
      camt([
        back(all.a, '27.11', { charges: '3.00' }),
        back(all.b, '0.01', { instructed: ['30.11', 'EUR'] }),
        back(all.c, '27.11', { amount: '30.11' }),
      ]),
    )
    expect(Object.values(all).map(({ id }) => id)).toHaveLength(5)
    const { [all.a.id]: returned, [all.e.id]: never, ...rest } = await states()
    expect([returned, never]).toEqual(['returned', 'exported'])
    for (const { id } of [all.b, all.c, all.d]) expect(rest[id]).toBe('paid')
    const { transfers: stored } = await books()
    const reason = 'The account is closed. Charges: 3.00 EUR'
    expect(stored).toContainEqual(`${all.a.id},returned,AC04,${reason},`)
    const { movements } = await show(all.b.batch)
    const less = { doubt: 'not_booked', direction: 'returned' }
    expect(movements).toContainEqual(expect.objectContaining({ ...less, amount: '0.01' }))
    expect(movements).toContainEqual(expect.objectContaining({ ...less, amount: '27.11' }))
    expect(await refusalsOf(camt([back(all.d, '26.11')]))).toEqual(
      matching([/ came back less 4.00 EUR: the row has 26.11 EUR/]),
    )
  })
})

describe('§20.4 a report about the status of payments', () => {
  test('accepts and rejects transfers and batches, and refuses once the account of a payee', async () => {
    const { a: again, d, e } = await sent({ a: '5.00', d: '1.00', e: '2.00' })
    const rejected = { status: 'RJCT', code: 'AC04', words: 'DE89 3704 0044 0532 0130 00' }
    const txs = [
      ...[a, again].map(({ id }) => ({ reference: id, ...rejected })),
      ...[b, c].map(({ id }) => ({ reference: id, status: 'ACSP' })),
    ]
    await book(pain002(a.batch, 'PART', txs))
    await book(pain002(d.batch, 'RJCT', [{ ...rejected, reference: e.id }], { code: 'AM04' }))
    const closed = 'The account is closed. DE…3000'
    const { payees, transfers } = await books()
    expect(transfers).toEqual(
      [
        ...[a, again, e].map(({ id }) => `${id},rejected,AC04,${closed},`),
        ...[b, c].map(({ id }) => `${id},accepted,,,`),
        `${d.id},rejected,AM04,The balance is too low,`,
      ].sort(),
    )
    expect(payees.filter((one) => one.includes('returned'))).toEqual(
      ['a', 'e'].map((one) => `${one},1,returned,${closed}`),
    )
    const { data } = await json(askAdmin(`${PATH}/attention`))
    expect(data).toContainEqual(expect.objectContaining({ code: 'returned_payments', count: 4 }))
  })

  test('says nothing of transfers that wait or have another amount, and keeps what names are', async () => {
    const file = pain002(a.batch, 'RVCM', [
      { reference: a.id, status: 'RVMC', code: 'NARR', words: 'Ada King' },
      { reference: b.id, status: 'PDNG' },
      { reference: c.id, status: 'RJCT', amount: '7.01' },
    ])
    const preview = await book(file)
    expect(await refusalsOf(file)).toEqual(matching([/has not decided yet \(PDNG\)/, /7.01 EUR/]))
    const reason = 'close match: Ada King'
    expect(preview.transfers).toMatchObject([{ transfer: a.id, becomes: 'checked', reason }])
    expect((await books()).transfers).toContainEqual(`${a.id},exported,,,${reason}`)
    expect(await json(send(file))).toMatchObject({ booked: [], unchanged: 1 })
  })
})

const SPELLINGS = [
  ADA.iban,
  ADA.iban.toLowerCase(),
  ADA.iban.replaceAll(/(....)/g, '$1 '),
  ADA.iban.replaceAll(/(....)/g, '$1-'),
  ADA.iban.replaceAll(/(....)/g, '$1.'),
  `IBAN${ADA.iban}geschlossen`,
  '0532013000',
  'Kto532013000 BLZ 37040044',
  '532-013-000',
]

test('§20 law 6: what a bank or a person writes of an account is masked, wherever it is shown', async () => {
  await env.DB.exec(
    `insert into webhook_endpoints (account, id, url, events, secrets, created_at) values ('acme-forex', 'whk_1', 'https://hooks.example/', '["*"]', '[]', '2026-01-01T00:00:00.000Z')`,
  )
  const seen: string[] = []
  const see = async (answer: Response | Promise<Response>) => seen.push(await (await answer).text())
  const { get } = await signedIn()
  for (const spelling of SPELLINGS) {
    await env.DB.exec(RESET)
    const words = `Konto ${spelling} erloschen`
    // Of what people write, only IBANs are known to be numbers of accounts.
    const written = { reason: /de/i.test(spelling) ? words : 'Closed' }
    const { a, b, c } = await sent({ a: '1.00', b: '2.00', c: '3.00' })
    const csv = CSVS['our own']!([
      { reference: b.id, amount: b.amount },
      { reference: `${b.id} ${words}`, amount: b.amount, isBack: true },
    ])
    const checked = { reference: c.id, status: 'RVMC', words }
    const odd = { reference: c.id, amount: words, currency: words, code: words }
    for (const file of [
      camt([
        { amount: words, txs: [{ reference: c.id }] },
        { amount: '9.00', currency: words, txs: [{ reference: c.id }] },
        { amount: '9.00', txs: [{ reference: c.id, instructed: [words, words] }] },
        { amount: '9.00', txs: [{ ...odd, instructed: ['9', words] }] },
      ]),
      csv.replace('EUR', words),
      pain002(c.batch, 'PART', [{ reference: c.id, status: words }]),
      pain002(c.batch, 'PART', [{ ...odd, status: 'RJCT' }]),
      camt([debit(a), credit(a, { code: words, words }), debit(c)]),
      csv,
      pain002(c.batch, 'PART', [checked]),
      pain002(c.batch, 'PART', [{ reference: c.id, status: 'RJCT', code: words }]),
    ]) {
      const preview = await json(send(file))
      seen.push(JSON.stringify([preview, await apply(preview.hash)]))
      await see(get(`/console/accounts/acme-forex/answers?hash=${preview.hash}`))
    }
    const less = { amount: '2.00', difference: { kind: 'owed', ...written } }
    await see(bookByHand(c.id, { direction: 'returned', ...less }))
    await see(askAdmin(`${PATH}/transfers/${c.id}/dismiss`, 'POST', written))
    await see(askAdmin(`${PATH}/batches/${a.batch}`))
    await see(get(`/console/accounts/acme-forex/batches/${a.batch}`))
  }
  for (const path of ['payouts?status=paid', 'attention', 'affiliates/a/payee']) {
    await see(askAdmin(`${PATH}/${path}`))
  }
  const rows = await Promise.all(TABLES.map(rowsOf))
  const events = await rowsOf('webhook_events')
  expect(events.filter(({ type }) => type === 'payout.returned')).not.toEqual([])
  const everything = [...seen, JSON.stringify(rows)].join().toUpperCase()
  expect(everything).toContain('ERLOSCHEN')
  for (const part of ['532013', '370400']) {
    expect(everything.replaceAll(/[^\dA-Z]/g, '')).not.toContain(part)
  }
})

describe('§20.4 what stands at a transfer goes before what stands at its batch', () => {
  test('in name checks: a group that explains all results says nothing of one payee', async () => {
    const lines = [
      'RCVC The name that you entered agrees with the name of the account.',
      'RVMC The name that you entered agrees nearly with the name of the accou',
      'nt: the name of the account is shown.',
      'RVNM The name that you entered does not agree.',
      'RVNA The name cannot be checked.',
    ]
    const txs = [a, b, c].map(({ id }) => ({ reference: id, status: 'RCVC' }))
    const matches = await json(send(pain002(a.batch, 'RCVC', txs, { words: lines })))
    expect(matches.booked).toEqual([
      { becomes: 'checked', count: 3, amount: '1492.06', currency: 'EUR' },
    ])
    expect(matches.transfers[0].reason).toBe('match')
    const own = [
      { reference: a.id, status: 'RVMC', words: 'Ada King' },
      { reference: b.id, status: 'RVNM', words: lines },
      { reference: c.id, status: 'RJCT' },
    ]
    await book(pain002(a.batch, 'RCVC', own, { words: lines }))
    const { transfers } = await show(a.batch)
    expect(transfers.map((one: Record<string, string>) => [one.state, one.name_check])).toEqual([
      ['exported', 'close match: Ada King'],
      ['exported', 'no match: The name that you entered does not agree.'],
      ['rejected', null],
    ])
  })

  test('and of two statuses of one file, the last one is booked alone', async () => {
    const both = ['ACSP', 'RJCT'].map((status) => ({ reference: a.id, status }))
    const { booked } = await book(pain002(a.batch, 'PART', both))
    expect(booked).toMatchObject([{ becomes: 'rejected', count: 1 }])
    expect((await states())[a.id]).toBe('rejected')
  })

  test('in statuses, of which a payment is nearer than a group', async () => {
    const own = [
      { reference: a.id, status: 'PDNG' },
      { reference: b.id, status: 'RJCT', code: 'AC04' },
    ]
    await book(pain002(a.batch, 'RJCT', own, { payment: 'ACSP' }))
    expect(await states()).toEqual({ [a.id]: 'exported', [b.id]: 'rejected', [c.id]: 'accepted' })
  })
})

const STATUSES = {
  rejected: ['RJCT', 'CANC'],
  accepted: ['ACCC', 'ACSC', 'ACFC', 'ACSP', 'ACCP'],
  'has not decided yet': ['RCVD', 'PDNG', 'PATC', 'ACTC', 'ACWP'],
  'of which nothing is booked': ['BLCK', 'ACWC', 'XYZ1'],
}

test('§20.4 a status is read by its meaning, and one that is unknown is listed by its letters', async () => {
  for (const [meaning, codes] of Object.entries(STATUSES)) {
    for (const status of codes) {
      const file = pain002('OTHER', 'PART', [
        { reference: a.id, status, code: 'AC04', words: 'Why' },
      ])
      const { booked, unmatched_rows, transfers } = await json(send(file))
      const says = booked[0]?.becomes ?? unmatched_rows[0].detail
      expect(says, status).toContain(meaning)
      if (booked.length === 0) expect(says).toContain(status)
      else expect(transfers[0].reason).toBe('The account is closed. Why')
    }
  }
})

test('§20.4 the CSV of each bank is read by its headings', async () => {
  for (const [name, write] of Object.entries(CSVS)) {
    const all = await sent({ a: '1234.56', b: '250.50' })
    const moved = [all.a, all.b].map(({ id: reference, amount }) => ({ reference, amount }))
    const text = write(moved)
    await book(name.endsWith('CAMT') ? latin1(text) : text)
    const reference = `${all.a.id} Konto erloschen ${ADA.iban}`
    await book(write([{ reference, amount: '1234.56', isBack: true }]))
    const { payments, returns, transfers } = await books()
    const own = (row: string) => row.startsWith(all.a.id) || row.startsWith(all.b.id)
    const paid = [`${all.a.id},a,EUR,1234.56,`, `${all.b.id},b,EUR,250.50,`]
    expect(payments.filter(own), name).toEqual(paid.map((row) => row + BOOKED_ON).sort())
    expect(returns.filter(own), name).toEqual([expect.stringMatching(/ Konto erloschen DE…3000$/)])
    expect(transfers.filter((row) => /exported/.test(row))).toHaveLength(3)
    const [{ statements }] = (await show(all.a.batch)).transfers
    await bookPaid(
      statements.map(({ id }: { id: string }) => id),
      `again ${name}`,
    )
  }
})

const SHORT_DAY = BOOKED_ON.slice(2).split('-').reverse().join('.')

const NOT_BOOKED: [string, string | RegExp, string, RegExp][] = [
  ['CSV-CAMT', /gebucht/g, 'vorgemerkt', /has not booked it/],
  ['CSV-CAMT', '-1.234,56', '-1.234', /cannot be read/],
  ['CSV-CAMT', SHORT_DAY, '31.02.26', /cannot be read/],
  ['our own', 'EUR', '', /currency or the day cannot be read/],
  ['our own', /\d\d\.\d\d\.\d{4}/, '30.12.2040', /2040-12-30 is after tomorrow/],
  ['PayPal', /\d\d\/\d\d\/\d{4}/, '05/11/1999', /1999-11-05 is before the batch/],
  ['PayPal', 'Completed', 'Unclaimed', /has not booked it/],
  ['PayPal', 'Completed', 'Partially refunded', /has not booked it/],
  ['Wise', '1234.56,EUR,Ada', '0.01,EUR,Ada', /has 0.01 EUR, and not 1234.56 EUR/],
  ['Revolut', 'EUR,"-1,234.56",0.20', 'EUR,-0.01,0.20', /has 0.01 EUR, and not 1234.56 EUR/],
]

test('§20.4 no row of a CSV is booked that is pending, of another day or not of the booked amount', async () => {
  for (const [name, from, to, words] of NOT_BOOKED) {
    const text = CSVS[name]!([{ reference: a.id, amount: a.amount }])
    expect((await refusalsOf(text.replace(from, to)))[0], name).toMatch(words)
  }
})

test('§20.4 a day that can be read in two ways is asked for, unless only one is in the life of the batch', async () => {
  const file = CSVS.PayPal!([{ reference: a.id, amount: a.amount }]).replace(
    /\d\d\/\d\d\/\d{4}/,
    '05/11/2026',
  )
  const dayOf = async (query = '') => (await json(send(file, query))).transfers[0]?.day
  const confirm = (day: string) =>
    change('update payout_batches set confirmed_at = ?', Date.parse(day))
  await confirm('2026-11-01')
  expect(await dayOf()).toBe('2026-11-05')
  await confirm('2026-03-01')
  expect(await json(send(file))).toMatchObject({
    status: 422,
    detail: expect.stringMatching(/`day_order`/),
  })
  expect(await dayOf('?day_order=day_first')).toBe('2026-11-05')
  expect(await dayOf('?day_order=month_first')).toBe('2026-05-11')
})

describe('§20.4 a file', () => {
  test('of 10 MB, in Windows-1252 or of version 2 is read, and what is larger is refused', async () => {
    const fill = { amount: '1.00', text: 'x'.repeat(910) }
    const large = camt([...Array<Ntry>(9500).fill(fill), debit(a)])
    expect(large.length).toBeGreaterThan(10_000_000)
    const { rows, unmatched, unmatched_rows } = await book(large)
    expect([rows, unmatched, unmatched_rows.length]).toEqual([9501, 9500, 100])
    await book(camt([debit(b)]).replace('<Sts><Cd>BOOK</Cd></Sts>', '<Sts>BOOK</Sts>'))
    await book(latin1(camt([{ ...debit(c), text: 'Überweisung' }]).replace('UTF-8', 'ISO-8859-1')))
    expect(Object.values(await states())).toEqual(['paid', 'paid', 'paid'])
    expect((await send(large + ' '.repeat(500_000))).status).toBe(413)
  })

  test('that cannot be read, or takes too much memory, is refused in words', async () => {
    const files = {
      'an external entity': '<!DOCTYPE d [<!ENTITY x SYSTEM "https://a.example/x">]><Document/>',
      'XML that is cut off': camt([]).slice(0, -20),
      'XML that nests too deep': `<Document>${'<a>'.repeat(50)}`,
      'an entry of too many elements': `<Document><Ntry>${'<a/>'.repeat(200_000)}`,
      'a CSV that is not known': `Booked;Text;Paid out\n27/11/2026;T1;1.234,56\n`,
      'a quote of megabytes': `paid_on,amount,currency\n"${'x'.repeat(9_000_000)}`,
      'a cell of megabytes': `paid_on,amount,currency\n"${'""'.repeat(4_500_000)}"\n`,
      'a text of entities': camt([{ amount: '1.00', text: '&#65;'.repeat(2_000_000) }]),
      'a comment of megabytes': camt([]).replace(
        '<Stmt>',
        `<!--${'<\r'.repeat(4_000_000)}--><Stmt>`,
      ),
      'a line of commas': `paid_on,amount,currency\n${','.repeat(9_000_000)}`,
    }
    for (const [name, file] of Object.entries(files)) {
      const { status, code, detail } = await json(send(file))
      expect([name, status, code]).toEqual([name, 422, 'validation_failed'])
      expect(detail, name).toMatch(/\. Nothing was changed\.$/)
    }
  })

  test('that names no account needs its payer if there are several', async () => {
    const file = CSVS.PayPal!([{ reference: a.id, amount: a.amount }])
    await enter('payer', 'new', ADA, { state: 'entered', payable_from: null })
    expect(await refusalsOf(file)).toEqual([])
    await enter('payer', 'second', { ...ADA, currency: 'EUR' })
    expect(await json(send(file))).toMatchObject({ status: 422 })
    expect(await refusalsOf(file, '?payer=second')).toEqual(matching([/another account/]))
    await book(file, '?payer=main')
    expect((await states())[a.id]).toBe('paid')
  })
})

const CANCEL = `update payout_batches set reason = 'No' where confirmed_by is not null;
  update transfers set state = 'cancelled' where state in ('created', 'exported')`

/** Makes the details of all payable again */
const RESET = `delete from fraud_cases; delete from payees where version = 2;
  update payees set state = 'approved', payable_from = 1`

/** What prepares a request, and what makes the request wrong. */
const OVERTAKEN: [() => Promise<Request>, () => Promise<unknown>][] = [
  [toApprove, () => change(`update payees set state = 'blocked' where version = 2`)],
  [toConfirm, () => enter('payee', 'a', ADA, { version: 2 })],
  [toConfirm, () => change(`update statements set status = 'paid', payment = id`)],
  [toConfirm, () => confirmed()],
  [toConfirm, () => hold('a')],
  [toConfirm, () => change('update payees set payable_from = 9000000000000')],
  [toExport, () => enter('payee', 'a', ADA, { version: 2 })],
  [toExport, () => enter('payer', 'main', PAYER, { version: 2 })],
  [toExport, () => change(`update payees set state = 'returned'`)],
  [toExport, () => hold('a')],
  [toExport, () => change('update payees set payable_from = 9000000000000')],
  [toExport, () => env.DB.exec(CANCEL)],
  [toBook, () => env.DB.exec(CANCEL)],
  [toBook, byHand],
  [toBookByHand, byHand],
  [toBookRest, () => confirmed()],
  [toBookRest, payPart],
]

async function toApprove() {
  await enter('payee', 'a', ADA, { version: 2, state: 'entered', payable_from: null })
  return requestOf('affiliates/a/payee/approve', { version: 2 })
}

async function toConfirm() {
  await due('a', '1.00')
  const { id, hash, total } = await json(prepare({ rows: rowsOfEach(['a']) }))
  return requestOf(`batches/${id}/confirm`, { hash, total })
}

async function toExport() {
  await due('a', '1.00')
  const { id } = await confirmed({ rows: rowsOfEach(['a']) })
  return requestOf(`batches/${id}/export`, {})
}

async function toBook() {
  ours = (await sent({ a: '1.00' })).a
  const { hash } = await json(send(camt([debit(ours)])))
  return requestOf('payouts/answers/apply', { hash })
}

/** The transfer of the request that is sent. */
let ours: Sent

function byHand() {
  return bookByHand(ours.id, { amount: ours.amount, bank_reference: `B-${ours.id}` })
}

async function toBookByHand() {
  ours = (await sent({ a: '1.00' })).a
  const asked = { direction: 'paid', booked_on: BOOKED_ON, amount: ours.amount }
  return requestOf(`transfers/${ours.id}/book`, asked)
}

/** What left of a batch that is cancelled, and is due again. */
async function toBookRest() {
  const request = await toBookByHand()
  await env.DB.exec(CANCEL)
  return request
}

/** Pays a cent of what the request would pay. */
async function payPart() {
  const { id, transfers } = await confirmed()
  await askExport(id)
  const own = transfers.find((one: Sent) => one.affiliate_id === 'a')
  const difference = { kind: 'owed', reason: 'Our limit of a day' }
  expect((await bookByHand(own.id, { amount: '0.01', difference })).status).toBe(200)
}

test('§20 whatever happens between two calls of a request, nothing is stored that it makes wrong', async () => {
  for (const [prepare, happens] of OVERTAKEN)
    for (let nth = 0, stored: object | null = {}; stored; nth++) {
      await env.DB.exec(RESET)
      const request = await prepare()
      let calls = 0
      const world = surrounded(async (_call, act) => {
        if (calls++ === nth) stored = await happens().then(books)
        return act()
      })
      stored = null
      await fetchWith(world, request)
      if (stored) expect(await books(), `${prepare.name}, call ${nth}`).toEqual(stored)
    }
})

test('§20.1 an erasure takes what banks have said of a payee, wherever it stands, and of nobody else; codes stay', async () => {
  await env.DB.exec(
    `insert into webhook_endpoints (account, id, url, events, secrets, created_at) values ('acme-forex', 'whk_1', 'https://hooks.example/', '["*"]', '[]', '2026-01-01T00:00:00.000Z')`,
  )
  const said = (who: string) => `of ${who} Lovelace`
  const checks = [a, b, c].map((one) => ({
    ...{ reference: one.id, status: 'RCVD', words: said(`check-${one.affiliate_id}`) },
  }))
  await book(pain002(a.batch, 'RCVD', checks))
  const refused = { reference: c.id, status: 'RJCT', code: 'AC01', words: said('c') }
  await book(pain002(a.batch, 'PART', [refused]))
  const back = (one: Sent) => credit(one, { code: 'AC04', words: said(one.affiliate_id) })
  await book(camt([debit(a), debit(b), back(a), back(b)]))
  const stored = async () => {
    const all = await Promise.all(
      [...TABLES, 'webhook_messages'].map(async (table) => JSON.stringify(await rowsOf(table))),
    )
    return all.join()
  }
  const counts = async () => {
    const text = await stored()
    return ['a', 'b', 'c'].map(
      (who) => text.split(said(who)).length + text.split(said(`check-${who}`)).length - 2,
    )
  }
  const before = await counts()
  expect(Math.min(...before)).toBeGreaterThan(3)
  const erase = (id: string) => askAdmin(`${PATH}/affiliates/${id}/payee`, 'DELETE')
  await erase('a')
  expect(await counts()).toEqual([0, before[1], before[2]])
  await erase('c')
  expect(await counts()).toEqual([0, before[1], 0])
  const { transfers, returns } = await books()
  expect(transfers.join()).toContain(`${a.id},returned,AC04,,`)
  expect(transfers.join()).toContain(`${c.id},rejected,AC01,,`)
  expect(transfers.join()).toContain(`${b.id},returned,AC04,The account is closed. ${said('b')}`)
  expect(returns.join()).toContain(`${a.id},${BOOKED_ON},Erased`)
  for (const set of ["reason = 'x'", "name_check = 'x'", "code = 'x'", "state = 'paid'"]) {
    const sql = `update transfers set ${set} where state in ('returned', 'rejected')`
    await expect(change(sql)).rejects.toThrow(/changes only in its state/)
  }
})

const SEEDS = Array.from({ length: env.MODEL_RUNS || 2 }, (_, n) => env.SEED * 1000 + n)

test.each(SEEDS)(
  '§20.4 law 5: files in any order, killed and repeated, book just what is exact (seed %s)',
  async (seed) => {
    const from = randomSource(seed)
    const more = await sent({ a: '5.00', b: '6.10', d: '1234.56', e: '0.01' })
    const all = [a, b, c, ...Object.values(more)]
    const truth = all.map((one) => ({ ...one, moves: from.below(3) }))
    const files = [camtOf, camtOf, csvOf, noiseOf].map((write) => write(truth, from))
    for (const file of [...from.shuffle(files), ...from.shuffle(files)]) {
      const { hash } = await json(send(file))
      const request = requestOf('payouts/answers/apply', { hash })
      if (from.oneIn(2)) {
        await disconnect(request, { nth: from.below(30), after: from.oneIn(2) })
        expect((await apply(hash)).applied_at).toEqual(expect.any(String))
      } else {
        await Promise.all([apply(hash), book(`${file}\n`)])
      }
    }
    const becomes = truth.map(({ id, moves }) => [id, ['exported', 'paid', 'returned'][moves]])
    expect(await states()).toEqual(Object.fromEntries(becomes))
    const { payments, returns, ledger } = await books()
    const rows = movesOf(truth).map(({ one: { id, affiliate_id, amount }, isBack }) =>
      isBack ? `${id},${BOOKED_ON}` : `${id},${affiliate_id},EUR,${amount},${BOOKED_ON}`,
    )
    const back = returns.map((row) => row.replace(/,[^,]*$/, ''))
    expect([...payments, ...back].sort()).toEqual(rows.sort())
    expect(ledger).toHaveLength(rows.length)
    const log = await rowsOf('audit_log')
    const booked = log.filter(({ action }) => action === 'bank-answer.book')
    expect(new Set(booked.map(({ details }) => details)).size).toBe(booked.length)
  },
)

/** Transfers with what really became of them: nothing, or they were paid, and perhaps came back. */
type Truth = readonly (Sent & { readonly moves: number })[]

const movesOf = (truth: Truth) =>
  truth.flatMap((one) => [false, true].slice(0, one.moves).map((isBack) => ({ one, isBack })))

/** Writes some of what moved as a statement, with entries that are not booked among it. */
const camtOf = (truth: Truth, from: Source) => {
  const moved = movesOf(truth).map(({ one, isBack }) => (isBack ? credit(one) : debit(one)))
  const pending = from.some(truth).map((one) => ({ ...debit(one), status: 'PDNG' as const }))
  return camt(from.shuffle([...moved, ...pending]), { kind: from.pick(['053', '054']) })
}

/** Writes what moved as a CSV of a bank. */
const csvOf = (truth: Truth, from: Source) => {
  const moved = movesOf(truth).map(({ one, isBack }) => ({ ...one, reference: one.id, isBack }))
  const name = from.pick(Object.keys(CSVS))
  return CSVS[name]!(from.shuffle(moved))
}

/** Writes what looks like our transfers, but is not exactly so. */
const noiseOf = (truth: Truth) =>
  camt(
    truth.flatMap((one) => [
      debit({ ...one, amount: `${one.amount.slice(0, -1)}${9 - Number(one.amount.at(-1))}` }),
      { ...debit(one, { currency: 'USD' }), currency: 'USD' },
      { ...debit(one), isReversal: true },
      { amount: one.amount, batch: one.batch },
      { amount: one.amount, text: `${one.id} ${(one === truth[0] ? b : a).id}` },
    ]),
  )

test('the page of the bank’s answer shows what will be booked and the rest, and books it', async () => {
  const at = '/console/accounts/acme-forex/answers'
  const { get, post, postForm, csrf } = await signedIn()
  const form = new FormData()
  form.set('csrf', await csrf(at))
  form.set('change', 'upload')
  form.set('file', new File([camt([debit(a), debit(b), { amount: '5.00' }])], 'answer'))
  const preview = (await postForm(at, form)).headers.get('Location')!
  const page = await (await get(preview)).text()
  expect(page).toMatch(
    /What will be booked.*Row 3, \d+ \w+ \d{4} 5.00 EUR.*It names no transfer.*Book 2 changes</s,
  )
  expect(await (await get(`${at}?hash=zz`)).text()).toContain('must be the hash of an answer')
  const [, hash = ''] = preview.split('hash=')
  await post(preview, { csrf: await csrf(preview), change: 'book', hash })
  expect(await (await get(preview)).text()).toContain('What was booked')
  expect(await (await get(at)).text()).toMatch(/Files that were booked.*2 paid, 1,485.06 EUR/s)
  expect(await show(c.batch)).toMatchObject({ state: 'exported', states: { paid: 2, exported: 1 } })
  const reference = `SEPA ${c.id.slice(0, 4).toLowerCase()} ${c.id.slice(4)}/x`
  const find = await get(
    `/console/accounts/acme-forex/find?record_id=${encodeURIComponent(reference)}`,
  )
  expect(find.headers.get('Location')).toMatch(new RegExp(`/batches/${c.batch}$`))
})
