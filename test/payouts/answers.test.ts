import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { referenceOf } from '../../src/payouts/reference.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json, ORIGIN } from '../partner.ts'
import { asTeam } from '../requests.ts'
import { disconnect } from '../sweep/cut.ts'
import { apply, book, books, firm, type Sent, send, sent, states } from './answer-rows.ts'
import { BOOKED_ON, CSVS, camt, latin1, pain002, type Tx } from './bank-files.ts'
import { enter, hold, PATH, SEPA } from './batch-rows.ts'

let a: Sent
let b: Sent
let c: Sent

beforeEach(async () => {
  await firm()
  ;[a, b, c] = (await sent('first', [
    ['a', '1234.56'],
    ['b', '250.50'],
    ['c', '7.00'],
  ])) as [Sent, Sent, Sent]
})

const stateOf = async ({ id }: Sent) => (await states())[id]

const debit = ({ id, amount }: Sent, more: Partial<Tx> = {}) => ({
  amount,
  txs: [{ reference: id, amount, ...more }],
})

const credit = (one: Sent, more: Partial<Tx> = {}) =>
  ({ ...debit(one, { code: 'MS03', ...more }), direction: 'CRDT' }) as const

/** Returns why nothing is booked of each row. */
const reasonsOf = async (file: string | Uint8Array, query = '') =>
  (await json(send(file, query))).unmatched_rows.map(({ reason }: { reason: string }) => reason)

describe('§20.4 a statement of an account', () => {
  test('books a debit with the reference and the amount on the booking day, and a credit as a return', async () => {
    const preview = await book(
      camt([credit(a, { code: 'AC04', words: 'Konto erloschen' }), debit(a), debit(b)]),
    )
    expect(preview).toMatchObject({
      ...{ format: 'camt.053', rows: 3, unchanged: 0, unmatched: 0, applied_at: null },
      booked: [
        { becomes: 'paid', count: 2, amount: '1485.06' },
        { becomes: 'returned', count: 1, amount: '1234.56' },
      ],
      notices: [
        { transfer: a.id, what: 'returned', detail: 'The account is closed. Konto erloschen' },
      ],
    })
    const { payments, returns, ledger, payees } = await books()
    expect(payments.map((row) => row.split(',').slice(0, 5).join())).toEqual(
      [a, b].map((one) => [one.id, one.affiliate, 'EUR', one.amount, BOOKED_ON].join()).sort(),
    )
    expect(returns).toEqual([`${a.id},${a.id},${BOOKED_ON},The account is closed. Konto erloschen`])
    expect(ledger).toHaveLength(3)
    expect(payees[0]).toBe('a,1,returned,The account is closed. Konto erloschen')
    expect(await states()).toEqual({ [a.id]: 'returned', [b.id]: 'paid', [c.id]: 'exported' })
  })

  test('books an entry with the id of the batch and its sum as all its transfers', async () => {
    expect(await reasonsOf(camt([{ amount: '1492.05', batch: a.batch }]))).toEqual([
      'amount_differs',
    ])
    await book(camt([{ amount: '1492.06', batch: a.batch, txs: [{ text: 'Sammler' }] }]))
    expect(new Set(Object.values(await states()))).toEqual(new Set(['paid']))
  })

  test('finds each transfer of an entry, its reference anywhere in any spelling, and amounts without fees and in the other currency', async () => {
    const txs = [debit(a), debit(b)].flatMap((one) => one.txs)
    const odd = c.id.toLowerCase().replace(/(....)/, '$1 - ')
    const [usd] = (await sent('dollars', [['d', '500.00']], 'USD')) as [Sent]
    await book(
      camt([
        { amount: '1485.06', batch: a.batch, txs },
        { amount: '9.50', txs: [{ text: `fee ${odd}`, instructed: [c.amount, 'EUR'] }] },
        { amount: '460.10', txs: [{ reference: usd.id, instructed: ['500.00', 'USD'] }] },
      ]),
    )
    expect(new Set(Object.values(await states()))).toEqual(new Set(['paid']))
  })

  test('books nothing that does not match exactly, and says why', async () => {
    const [other] = (await sent('dollars', [['d', '500.00']], 'USD')) as [Sent]
    const file = camt([
      ...[{ ...debit(a), amount: '1234.55', txs: [{ reference: a.id }] }, debit(other)],
      ...[
        { amount: '5.00' },
        { amount: '5.00', text: await referenceOf('T', 'another account') },
        { ...debit(b), status: 'PDNG' as const },
      ],
      ...[{ ...debit(b), isReversal: true }, credit(b), debit(c), debit(c)],
      { amount: '9.00', text: `${a.id} and ${b.id}` },
    ])
    const before = await books()
    expect(await reasonsOf(file)).toEqual([
      ...['amount_differs', 'other_currency', 'no_reference', 'not_booked', 'not_booked'],
      ...['wrong_state', 'twice', 'several', 'no_reference'],
    ])
    expect(await reasonsOf(camt([debit(a)], { iban: 'DE89370400440532013000' }))).toEqual([
      'other_payer',
    ])
    expect(await books()).toEqual(before)
  })
})

describe('§20.4 a report about the status of payments', () => {
  test('rejects and accepts batches, but for the transfers of which it says otherwise', async () => {
    const [d, e] = (await sent('second', [
      ['d', '1.00'],
      ['e', '2.00'],
    ])) as [Sent, Sent]
    const txs = [
      { reference: a.id, status: 'RJCT', code: 'AC01', words: 'Unbekannt', amount: a.amount },
      ...[b, c].map(({ id }) => ({ reference: id, status: 'ACSP' })),
    ]
    await book(pain002(a.batch, { group: 'PART', txs }))
    const last = { group: 'RJCT', code: 'AM04', txs: [{ reference: e.id, status: 'ACCP' }] }
    expect(await book(pain002(d.batch, last))).toMatchObject({
      notices: [{ transfer: d.id, what: 'rejected', detail: 'The balance is too low' }],
    })
    const { data } = await json(askAdmin(`${PATH}/attention`))
    expect(data).toContainEqual(expect.objectContaining({ code: 'returned_payments', count: 2 }))
    const { payees, payments } = await books()
    expect(payees[0]).toBe('a,1,returned,The number of the account is wrong. Unbekannt')
    expect(payments).toEqual([])
  })

  test('refuses once an account that two transfers name', async () => {
    const [again] = (await sent('second', [['a', '5.00']])) as [Sent]
    const rejected = { status: 'RJCT', code: 'AC04' }
    const txs = [a, again].map(({ id }) => ({ reference: id, ...rejected }))
    await book(pain002(a.batch, { group: 'PART', txs }))
    expect([await stateOf(a), await stateOf(again)]).toEqual(['rejected', 'rejected'])
    expect((await books()).payees[0]).toBe('a,1,returned,The account is closed')
  })

  test('says nothing of transfers that wait or have another amount, and keeps what names are', async () => {
    const txs = [
      { reference: a.id, status: 'RVMC', code: 'NARR', words: 'Ada King' },
      { reference: b.id, status: 'PDNG' },
      { reference: c.id, status: 'RJCT', amount: '7.01' },
    ]
    const file = pain002(a.batch, { group: 'RVCM', txs })
    const preview = await book(file)
    expect(preview.unmatched_rows.map(({ reason }: { reason: string }) => reason)).toEqual([
      'not_booked',
      'amount_differs',
    ])
    expect(preview.notices).toMatchObject([{ transfer: a.id, what: 'checked' }])
    expect((await books()).transfers).toContainEqual(`${a.id},exported,,,close match: Ada King`)
    expect(await json(send(file))).toMatchObject({
      booked: preview.booked,
      applied_at: expect.any(String),
    })
  })
})

describe('§20.4 a CSV', () => {
  test.each(Object.entries(CSVS))('of %s is read by its headings', async (name, write) => {
    const moved = [a, b].map(({ id: reference, amount }) => ({ reference, amount }))
    const text = write(moved)
    await book(name.endsWith('CAMT') ? latin1(text) : text)
    expect([await stateOf(a), await stateOf(b), await stateOf(c)]).toEqual([
      'paid',
      'paid',
      'exported',
    ])
    expect((await books()).payments.every((row) => row.includes(BOOKED_ON))).toBe(true)
    if (name === 'our own') return
    await book(write([{ ...moved[0]!, isBack: true }]))
    expect(await stateOf(a)).toBe('returned')
  })

  test('that is not known is refused by the names of those that are', async () => {
    const file = `Booked;Text;Paid out\n27/11/2026;${a.id};1.234,56\n`
    const { code, detail } = await json(send(file))
    expect(code).toBe('validation_failed')
    expect(detail).toMatch(/camt\.053.*PayPal.*`paid_on`.*`reference`.*Nothing was changed/)
  })

  test('does not guess which number of a day is the month', async () => {
    const paypal = CSVS.PayPal!([{ reference: a.id, amount: a.amount }])
    expect(await reasonsOf(paypal.replace('11/27/2026', '11/05/2026'))).toEqual(['unreadable'])
  })

  test('books nothing that is pending, or whose amount or day cannot be read', async () => {
    const camtCsv = CSVS['CSV-CAMT']!([{ reference: a.id, amount: a.amount }])
    expect(await reasonsOf(camtCsv.replaceAll('gebucht', 'vorgemerkt'))).toEqual([
      'not_booked',
      'no_reference',
    ])
    expect(await reasonsOf(camtCsv.replace('-1.234,56', '-1.234'))).toEqual([
      'unreadable',
      'no_reference',
    ])
    expect(await reasonsOf(camtCsv.replace(/27.11.26/g, '31.02.26'))).toEqual([
      'unreadable',
      'no_reference',
    ])
  })
})

describe('§20.4 a file', () => {
  test('of 10 MB, in Windows-1252 or of version 2 is read, and what is larger is refused', async () => {
    const fill = Array.from({ length: 9500 }, (_, i) => ({
      amount: '1.00',
      text: `${i} ${'x'.repeat(860)}`,
    }))
    const large = camt([...fill, debit(a)])
    expect(large.length).toBeGreaterThan(10_000_000)
    const { rows, unmatched, unmatched_rows } = await book(large)
    expect([rows, unmatched, unmatched_rows.length]).toEqual([9501, 9500, 100])
    const old = camt([debit(b)])
      .replace(/<Sts><Cd>BOOK<\/Cd><\/Sts>/, '<Sts>BOOK</Sts>')
      .replace('001.08', '001.02')
    await book(old)
    await book(latin1(camt([{ ...debit(c), text: 'Überweisung' }]).replace('UTF-8', 'ISO-8859-1')))
    expect(Object.values(await states())).toEqual(['paid', 'paid', 'paid'])
    expect((await send(large + ' '.repeat(500_000))).status).toBe(413)
  })

  test.each([
    [
      'an external entity',
      camt([]).replace(
        '<Document',
        '<!DOCTYPE d [<!ENTITY x SYSTEM "https://a.example/x">]><Document',
      ),
    ],
    ['XML that is cut off', camt([]).slice(0, -20)],
    ['XML that nests too deep', `<Document>${'<a>'.repeat(50)}`],
    ['an invoice', '<Document><Invoice/></Document>'],
    ['a payment order', '<Document><CstmrCdtTrfInitn/></Document>'],
    ['a workbook', latin1('PK\u0003\u0004\0\0')],
    ['a PDF', '%PDF-1.7'],
    ['a quote of megabytes', `paid_on,amount,currency\n"${'x'.repeat(9_000_000)}`],
    ['a CSV with an open quote', 'TransferWise ID,Date,Amount,Currency\n"a,b\n'],
    ['nothing', ''],
  ])('that is %s is refused in words', async (_, file) => {
    const { status, code, detail } = await json(send(file))
    expect([status, code]).toEqual([422, 'validation_failed'])
    expect(detail).toMatch(/\. Nothing was changed\.$/)
  })

  test('that names no account needs its payer if there are several', async () => {
    await enter('payer', 'second', { ...SEPA, currency: 'EUR' })
    const file = CSVS.Revolut!([{ reference: a.id, amount: a.amount }])
    expect(await json(send(file))).toMatchObject({ status: 422 })
    expect(await json(send(file, '?payer=third'))).toMatchObject({ status: 404 })
    expect(await reasonsOf(file, '?payer=second')).toEqual(['other_payer', 'no_reference'])
    await book(file, '?payer=main')
    expect(await stateOf(a)).toBe('paid')
  })
})

test('§20.4 what a case holds meanwhile is booked with a warning, and webhooks are told of transfers', async () => {
  await hold('a')
  const hook = { url: 'https://hooks.example/', events: ['payout.paid', 'payout.returned'] }
  expect((await askAdmin(`${PATH}/webhooks`, 'POST', hook)).status).toBe(201)
  expect(await book(camt([debit(a)]))).toMatchObject({
    notices: [{ transfer: a.id, what: 'held' }],
  })
  await book(camt([credit(a)]))
  const { results } = await env.DB.prepare(
    'select type, data from webhook_events order by id',
  ).all()
  const transfer = { transfer_id: a.id, batch_id: a.batch, affiliate_id: 'a', amount: a.amount }
  expect(results.map(({ type, data }) => [type, JSON.parse(String(data))])).toEqual([
    ['payout.paid', { ...transfer, currency: 'EUR', paid_on: BOOKED_ON }],
    [
      'payout.returned',
      {
        ...{ ...transfer, currency: 'EUR', returned_on: BOOKED_ON },
        ...{ code: 'MS03', reason: 'The bank gives no reason' },
      },
    ],
  ])
})

test('§20.4 what changed between preview and booking is listed, and not booked', async () => {
  const { hash } = await json(send(camt([debit(a), debit(b)])))
  await env.DB.prepare(`update transfers set state = 'cancelled' where id = ?`).bind(a.id).run()
  expect(await apply(hash)).toMatchObject({
    booked: [{ becomes: 'paid', count: 1 }],
    unmatched_rows: [{ row: 1, reason: 'wrong_state' }],
  })
  expect((await books()).payments).toHaveLength(1)
})

test('§20.4 applied is booked once, whoever repeats it, and killed after any call it goes on', async () => {
  const file = camt([debit(a), debit(b), credit(a), credit(b), debit(c)])
  const { hash } = await json(send(file))
  for (let nth = 0, isCut = true; isCut; nth++) {
    const request = new Request(`${ORIGIN}/admin/v1/${PATH}/payouts/answers/apply`, {
      ...{ method: 'POST', headers: { ...asTeam(), 'Content-Type': 'application/json' } },
      body: JSON.stringify({ hash }),
    })
    isCut = await disconnect(request, { nth, after: nth % 2 === 0 })
  }
  const done = await books()
  expect([done.payments.length, done.returns.length, done.ledger.length]).toEqual([3, 2, 5])
  const again = await Promise.all([apply(hash), book(file), book(file.replace('S1', 'S2'))])
  expect(again[2]).toMatchObject({ unchanged: 5, booked: [] })
  const { data } = await json(askAdmin('audit-log?kind=answer'))
  expect(
    data.filter(({ details }: { details: object }) => Reflect.get(details, 'hash') === hash),
  ).toHaveLength(1)
  expect(await books()).toEqual(done)
})

const SEEDS = Array.from({ length: env.MODEL_RUNS || 4 }, (_, n) => env.SEED * 1000 + n)

/** What really became of a transfer. */
const FATES = ['nothing', 'accepted', 'rejected', 'paid', 'returned'] as const

test.each(SEEDS)(
  '§20.4 law 5: files in any order, killed and repeated, book just what is exact (seed %s)',
  async (seed) => {
    const from = randomSource(seed)
    const more = await sent('second', [
      ['a', '5.00'],
      ['b', '6.10'],
      ['d', '1234.56'],
      ['e', '0.01'],
    ])
    const truth = [a, b, c, ...more].map((one) => ({ ...one, fate: from.pick(FATES) }))
    const files = [camtOf, camtOf, csvOf, reportOf, noiseOf].map((write) => write(truth, from))
    for (const file of [...from.shuffle(files), ...from.shuffle(files)]) {
      const { hash } = await json(send(file))
      const request = new Request(`${ORIGIN}/admin/v1/${PATH}/payouts/answers/apply`, {
        ...{ method: 'POST', headers: { ...asTeam(), 'Content-Type': 'application/json' } },
        body: JSON.stringify({ hash }),
      })
      if (from.oneIn(2)) await disconnect(request, { nth: from.below(30), after: from.oneIn(2) })
      await apply(hash)
    }
    const paid = truth.filter(({ fate }) => fate === 'paid' || fate === 'returned')
    const { payments, returns, ledger } = await books()
    expect(await states()).toEqual(
      Object.fromEntries(truth.map(({ id, fate }) => [id, fate === 'nothing' ? 'exported' : fate])),
    )
    expect(payments.map((row) => row.split(',').slice(0, 5).join())).toEqual(
      paid
        .map(({ id, affiliate, amount }) => `${id},${affiliate},EUR,${amount},${BOOKED_ON}`)
        .sort(),
    )
    expect(returns.map((row) => row.split(',')[0])).toEqual(
      truth.flatMap(({ id, fate }) => (fate === 'returned' ? [id] : [])).sort(),
    )
    expect(ledger).toHaveLength(payments.length + returns.length)
  },
)

type Truth = readonly (Sent & { readonly fate: (typeof FATES)[number] })[]

/** Writes some of what moved as a statement, each perhaps with other numbers beside its own. */
const camtOf = (truth: Truth, from: Source) =>
  camt(
    from.shuffle(
      truth.flatMap((one) => [
        ...(one.fate === 'paid' || one.fate === 'returned' ? [debit(one)] : []),
        ...(one.fate === 'returned' ? [credit(one, { amount: one.amount })] : []),
        ...(from.oneIn(3) ? [{ ...debit(one), status: 'PDNG' as const }] : []),
      ]),
    ),
    { kind: from.pick(['053', '054']) },
  )

/** Writes what moved as a CSV of a bank. */
const csvOf = (truth: Truth, from: Source) => {
  const moved = truth.flatMap(({ id: reference, amount, fate }) => [
    ...(fate === 'paid' || fate === 'returned' ? [{ reference, amount }] : []),
    ...(fate === 'returned' ? [{ reference, amount, isBack: true }] : []),
  ])
  return CSVS[from.pick(['CSV-CAMT', 'Wise', 'Revolut', 'PayPal', 'Mercury'])]!(from.shuffle(moved))
}

/** Writes what the bank did with orders: it accepted what it paid. */
const reportOf = (truth: Truth) => {
  const txs = truth.flatMap(({ id, fate }) =>
    fate === 'nothing' ? [] : [{ reference: id, status: fate === 'rejected' ? 'RJCT' : 'ACSC' }],
  )
  return pain002('NOTOURS', { group: 'PART', txs })
}

/** Writes what looks like our transfers, but is not exactly so. */
const noiseOf = (truth: Truth, from: Source) =>
  camt(
    truth.flatMap((one) => [
      {
        ...debit({ ...one, amount: `${one.amount.slice(0, -1)}${9 - Number(one.amount.at(-1))}` }),
      },
      { ...debit(one, { currency: 'USD' }), currency: 'USD' },
      { ...debit(one), isReversal: true },
      { amount: one.amount, batch: one.batch },
      {
        amount: one.amount,
        text: `${one.id} ${from.pick(truth.filter(({ id }) => id !== one.id)).id}`,
      },
    ]),
  )

describe('the page of the bank’s answer', () => {
  const at = '/console/accounts/acme-forex/answers'

  const open = async () => {
    const browser = await signedIn()
    const upload = async (file: string | Uint8Array<ArrayBuffer>, more: object = {}) => {
      const form = new FormData()
      const fields = { csrf: await browser.csrf(at), change: 'upload', ...more }
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      form.set('file', new File([file], 'answer'))
      return browser.postForm(at, form)
    }
    return { ...browser, upload, read: async (path: string) => (await browser.get(path)).text() }
  }

  test('shows what will be booked, the warnings and the rest, and books it by one button', async () => {
    const { upload, read, get, post, csrf } = await open()
    await hold('a')
    const sentFile = await upload(camt([debit(a), debit(b), { amount: '5.00' }]))
    const preview = sentFile.headers.get('Location')!
    const page = await read(preview)
    for (const words of [
      'Book 2 payments<',
      'What will be booked',
      'Paid, but held by a case',
      'It names no transfer of this account.',
    ])
      expect(page).toContain(words)
    const [, hash = ''] = /hash=(\w+)/.exec(preview) ?? []
    await post(preview, { csrf: await csrf(preview), change: 'book', hash })
    expect(await read(preview)).toContain('What was booked')
    expect(await stateOf(b)).toBe('paid')
    const find = await get(`/console/accounts/acme-forex/find?record_id=${c.batch.toLowerCase()}`)
    expect(find.headers.get('Location')).toMatch(new RegExp(`/batches/${c.batch}$`))
  })
})
