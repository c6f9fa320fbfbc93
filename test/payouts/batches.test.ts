import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { consoleApp } from '../../src/console/app.ts'
import { TEMPLATE_ROWS } from '../../src/payouts/files/templates.ts'
import { type Details, PAYOUT_LIMITS, STOPPING } from '../../src/payouts/model.ts'
import { tendDetails } from '../../src/payouts/payees.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { dayNumber, dayText } from '../../src/platform/db/column-types.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/durations.ts'
import { askAda, rowsOf } from '../books/book-rows.ts'
import { fetchWith } from '../checked-fetch.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import { KEY_WORLD, signedIn } from '../console/browser.ts'
import { at } from '../days.ts'
import { storeCases } from '../fraud/stored-cases.ts'
import { restoring } from '../limits.ts'
import { askAdmin, json, ORIGIN, register } from '../partner.ts'
import { asTeam } from '../requests.ts'
import { eventsOf } from '../webhooks/webhook-events.ts'
import {
  ADA,
  askExport,
  askFile,
  change,
  confirm,
  confirmed,
  due,
  EXECUTE_ON,
  enter,
  hold,
  PATH,
  PAYER,
  payable,
  prepare,
  rowsOfEach,
  show,
} from './payout-rows.ts'

const AFFILIATES = Array.from({ length: 16 }, (_, i) => `a-${String(i).padStart(2, '0')}`)

restoring(PAYOUT_LIMITS)
restoring(TEMPLATE_ROWS)

beforeEach(async () => {
  await register('forex', { affiliates: AFFILIATES })
  await enter('payer', 'main', PAYER)
})

const cancel = (id: string) =>
  askAdmin(`${PATH}/batches/${id}/cancel`, 'POST', { reason: 'The bank refused it' })

/** Stores two affiliates with a statement each, and returns their confirmed batch. */
async function batchOfTwo() {
  for (const affiliate of ['a-00', 'a-01']) {
    await enter('payee', affiliate, ADA)
    await due(affiliate, '10.00')
  }
  return confirmed()
}

const cents = (text: string) => BigInt(text.replace('.', ''))

type Row = Record<string, unknown>

/** What may be wrong with bank details; nothing can be paid with `no_payee` and the others but one. */
const DETAILS = ['no_payee', 'not_approved', 'changed', 'blocked'] as const
const REASONS = ['held', 'suspended', 'other_currency', 'other_method'] as const
const DOUBTS = [
  ...STOPPING,
  'details_changed',
  'first_payment',
  'same_account',
  'much_more',
] as const

type Flaw = (typeof DETAILS)[number] | (typeof REASONS)[number] | (typeof DOUBTS)[number]

const insertTransfer = (id: string, affiliate: string, more: Row = {}) =>
  insertRow('transfers', {
    ...{ account: 'acme-forex', id, batch: 'old', affiliate_id: affiliate, payee_version: 1 },
    ...{ currency: 'EUR', amount: '1.00', statements: '[]', state: 'paid', changed_at: 1, ...more },
  })

const insertRow = (table: string, row: Row) =>
  change(
    `insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
    ...(Object.values(row) as string[]),
  )

/** Draws flaws that can go together. */
function drawFlaws(from: Source): Flaw[] {
  const details = from.oneIn(3) ? [from.pick(DETAILS)] : []
  const others = [...REASONS, ...DOUBTS].filter(() => from.oneIn(4))
  const without: readonly string[] =
    details[0] === 'no_payee'
      ? ['other_currency', 'other_method', 'details_changed', 'same_account']
      : details.length > 0
        ? ['same_account']
        : []
  return [...details, ...others].filter(
    (one) =>
      !without.includes(one) &&
      // Who was never paid has no usual amount, and a wallet of a person takes any currency.
      !(one === 'much_more' && others.includes('first_payment')) &&
      !(one === 'other_currency' && others.includes('other_method')),
  )
}

/** Stores what an affiliate was paid before, and what it is due now. */
async function storePayments(affiliate: string, has: (flaw: Flaw) => boolean, currency: string) {
  const usual = has('first_payment') ? 0 : has('much_more') ? 4 : 1
  for (let n = 0; n < usual; n++) {
    await insertRow('payments', {
      ...{ account: 'acme-forex', reference: `p-${affiliate}-${n}`, affiliate_id: affiliate },
      ...{ currency, amount: `${n + 1}.00`, paid_on: `2026-01-0${n + 1}`, statements: '[]' },
      ...{ actor: 'eve', at: '' },
    })
  }
}

/** Stores an affiliate with some flaws, and returns its row. */
async function store(affiliate: string, flaws: readonly Flaw[], from: Source) {
  const has = (flaw: Flaw) => flaws.includes(flaw)
  const currency = has('other_currency') ? 'USD' : 'EUR'
  const version = has('details_changed') ? 2 : 1
  if (!has('no_payee')) {
    const details: Details = {
      ...ADA,
      iban: has('same_account') ? ADA.iban : undefined!,
      method: has('other_method') ? 'wise' : 'sepa',
    }
    if (version === 2) await enter('payee', affiliate, details)
    const entered_at = version === 2 ? Date.now() - DAY_MS : Date.UTC(2026, 0)
    const state = has('blocked') ? 'blocked' : has('not_approved') ? 'entered' : 'approved'
    const payable_from = has('changed') ? Date.now() * 2 : has('not_approved') ? null : 1
    await enter('payee', affiliate, details, { version, entered_at, state, payable_from })
  }
  if (has('held')) await hold(affiliate)
  const severity = has('open_case') ? from.pick(['high', 'medium'] as const) : 'low'
  await storeCases({ id: affiliate, affiliate, rule: 'r', action: 'flag', severity })
  if (has('suspended'))
    await change(`update affiliates set status = 'suspended' where affiliate_id = ?`, affiliate)
  await storePayments(affiliate, has, currency)
  const amount = has('much_more') ? '7.51' : `${from.between(0, 7)}.${from.between(10, 50)}`
  const id = await due(affiliate, amount, { currency })
  const back = {
    state: from.pick(['returned', 'rejected']),
    changed_at: has('changed') ? Date.now() * 3 : 2,
  }
  // What came back from former details, or before they were approved again, is due like any other.
  await insertTransfer(affiliate, affiliate, {
    ...{ ...back, statements: JSON.stringify([id]) },
    payee_version: !has('came_back') ? 9 : has('no_payee') ? 0 : version,
  })
  await change('update statements set transfer = ? where id = ?', affiliate, id)
  if (has('paid_twice')) {
    await insertRow('bank_movements', {
      ...{ account: 'acme-forex', reference: affiliate, direction: 'paid', day: '2026-01-01' },
      ...{
        bank_reference: '',
        n: 2,
        other: '',
        doubt: from.pick(['paid_twice', 'paid_after_cancel']),
      },
    })
  }
  return { affiliate, flaws, id, amount, currency, row: `${affiliate}:${currency}` }
}

const isOf = <T extends string>(all: readonly T[], flaw: string): flaw is T =>
  all.some((one) => one === flaw)

test('§20.2 each row has all reasons and doubts, and a batch pays what has neither, or is waived', async () => {
  const from = randomSource(env.SEED)
  const limit = from.between(3, 6)
  PAYOUT_LIMITS.transfers = limit
  const all: Awaited<ReturnType<typeof store>>[] = []
  for (const id of AFFILIATES) all.push(await store(id, from.oneIn(2) ? [] : drawFlaws(from), from))
  const twins = all.filter(({ flaws }) => flaws.includes('same_account') && isApproved(flaws))
  const doubtsOf = ({ flaws }: (typeof all)[number]) =>
    DOUBTS.filter((one) => flaws.includes(one) && (one !== 'same_account' || twins.length > 1))
  const reasonsOf = ({ flaws }: (typeof all)[number]) =>
    flaws.filter((one) => !isOf(DOUBTS, one) && one !== 'other_method')
  const shown = await payable()
  expect(
    shown.map(({ id, amount, statements, reasons, doubts, ticked }) => ({
      ...{ id, amount, statements: statements.map((one) => one.id) },
      ...{ reasons: reasons.toSorted(), doubts: doubts.map(({ code }) => code).sort(), ticked },
    })),
  ).toEqual(
    all.map((one) => ({
      ...{ id: one.row, amount: one.amount, statements: [one.id] },
      ...{ reasons: reasonsOf(one).sort(), doubts: doubtsOf(one).sort() },
      ticked: reasonsOf(one).length === 0 && !doubtsOf(one).some((code) => isOf(STOPPING, code)),
    })),
  )
  const [free, waits] = [true, false].map((is) => shown.filter(({ ticked }) => ticked === is))
  const { get } = await signedIn(KEY_WORLD, consoleApp)
  for (const [page, words] of [
    ['', `>Pay ${free!.length} payee`],
    [`/payouts?on=${EXECUTE_ON}`, `can be paid to ${free!.length} payee`],
  ] as const) {
    const text = await (await get(`/console/${PATH}${page}`)).text()
    if (free!.length > 0) expect(text).toContain(words)
    const [, list = ''] = /<ul class="note">(.*?)<\/ul>/s.exec(text) ?? []
    const sums = [...list.matchAll(/\d+\.\d\d(?= (?:EUR|USD))/g)].map(([sum]) => cents(sum))
    expect(sums.reduce((a, b) => a + b, 0n)).toBe(
      waits!.reduce((sum, { amount }) => sum + cents(amount), 0n),
    )
  }
  for (const named of [null, from.some(all)]) {
    const rows = named?.map(({ row }) => ({ id: row, waive: STOPPING }))
    const chosen = (named ?? all).filter(
      (one) =>
        named ||
        (!one.flaws.some((flaw) => !isOf(DOUBTS, flaw)) &&
          !doubtsOf(one).some((code) => isOf(STOPPING, code))),
    )
    const ordered = chosen.toSorted((a, b) => (a.row < b.row ? -1 : 1))
    const reasons = ordered.map((one) => one.flaws.filter((flaw) => !isOf(DOUBTS, flaw)))
    const paid = ordered.filter((_, i) => reasons[i]?.length === 0)
    const batch = await json(prepare({ ...(rows && { rows }) }))
    // What pays nothing is not prepared.
    if (chosen.length === 0) {
      expect(batch.errors).toMatchObject([{ pointer: '/rows' }])
      continue
    }
    expect(
      batch.transfers.map((one: Row) => [
        one.affiliate_id,
        one.amount,
        (one.statements as Row[])[0]?.id,
      ]),
    ).toEqual(paid.slice(0, limit).map(({ affiliate, amount, id }) => [affiliate, amount, id]))
    expect(
      batch.left_out.map((one: Row) => [one.id, (one.reasons as string[]).toSorted()]),
    ).toEqual(
      ordered.flatMap((one, i) => {
        const isNext = paid.indexOf(one) >= limit
        const why = isNext ? ['next_batch'] : (reasons[i] ?? []).toSorted()
        return why.length > 0 ? [[one.row, why]] : []
      }),
    )
    const sum = paid.slice(0, limit).reduce((all, { amount }) => all + cents(amount), 0n)
    expect(cents(batch.total)).toBe(paid.length > 0 ? sum : 0n)
    expect((await askExport(batch.id)).status).toBe(409)
    expect((await confirm(batch)).status).toBe(paid.length > 0 ? 200 : 409)
    const { transfers } = await show(batch.id)
    const waivers = transfers.flatMap(({ doubts }: { doubts: Row[] }) => doubts)
    for (const { code, waived_by } of waivers)
      expect(waived_by).toBe(named && isOf(STOPPING, code as string) ? 'root-key' : null)
    await cancel(batch.id)
    expect((await askExport(batch.id)).status).toBe(409)
  }
})

/** Whether only approved details tell of a shared account. */
const isApproved = (flaws: readonly Flaw[]) => !flaws.some((one) => isOf(DETAILS, one))

test('§20.2 a row is refused whose doubt is not waived, and a waiver is only of what it was about', async () => {
  await enter('payee', 'a-00', ADA)
  await due('a-00', '10.00')
  await storeCases({ id: 'case_1', affiliate: 'a-00', action: 'flag' })
  const rows = (waive: string[]) => ({ rows: [{ id: 'a-00:EUR', waive }] })
  expect(await json(prepare(rows(['first_payment'])))).toMatchObject({
    status: 422,
    errors: [{ pointer: '/rows/0/waive' }],
  })
  const batch = await json(prepare(rows(['open_case'])))
  expect(batch.transfers).toMatchObject([
    {
      account: 'DE…3000',
      doubts: [{ code: 'open_case', waived_by: 'root-key' }, { waived_by: null }],
    },
  ])
  await storeCases({ id: 'case_2', affiliate: 'a-00', action: 'flag', rule: 'other' })
  expect((await confirm(batch)).status).toBe(409)
  expect(await show(batch.id)).toMatchObject({
    transfers: [],
    left_out: [
      { id: 'a-00:EUR', reasons: [], doubts: [{}, { about: 'case_2', waived_by: null }, {}] },
    ],
  })
  const { get } = await signedIn(KEY_WORLD, consoleApp)
  const page = await (await get(`/console/${PATH}/payouts?batch=${batch.id}`)).text()
  expect(/<input[^>]*name="tick0"[^>]*>/.exec(page)?.[0]).not.toContain('checked')
  const set = await json(askAdmin(`${PATH}/batches/${batch.id}/rows`, 'PUT', rows(['open_case'])))
  // The hash covers the doubts that stop nothing, too.
  await storePayments('a-00', () => false, 'EUR')
  expect((await confirm(set)).status).toBe(409)
  expect((await confirm(await show(batch.id))).status).toBe(200)
})

test('§20.2 the rows of a batch are set anew: its id stays, its hash changes, and who adds is an author', async () => {
  for (const affiliate of ['a-00', 'a-01']) {
    await enter('payee', affiliate, ADA)
    await due(affiliate, '10.00')
  }
  const batch = await json(prepare())
  const set = async (ids: string[]) =>
    json(askAda(`${PATH}/batches/${batch.id}/rows`, 'PUT', { rows: ids.map((id) => ({ id })) }))
  const fewer = await set(['a-00:EUR'])
  const more = await set(['a-01:EUR', 'a-00:EUR'])
  expect([batch, fewer, more].map(({ id, total, authors }) => [id, total, authors])).toEqual([
    [batch.id, '20.00', ['root-key']],
    [batch.id, '10.00', ['root-key']],
    [batch.id, '20.00', ['root-key', 'ada@team.example']],
  ])
  expect([fewer.hash === batch.hash, more.hash]).toEqual([false, batch.hash])
  expect((await set(['a-02:EUR'])).errors).toMatchObject([{ pointer: '/rows/0/id' }])
  for (const rows of [
    prepare({ rows: [] }),
    askAdmin(`${PATH}/batches/${batch.id}/rows`, 'PUT', { rows: [] }),
  ])
    expect((await json(rows)).errors).toMatchObject([{ pointer: '/rows' }])
  expect((await json(askAdmin(`${PATH}/batches`))).data).toHaveLength(1)
  expect((await confirm(fewer)).status).toBe(409)
  expect((await confirm(more)).status).toBe(200)
  expect((await set([])).status).toBe(409)
})

test('§20.2 of one prepared batch its page is a click away, of several their list', async () => {
  await due('a-00', '10.00')
  const { get } = await signedIn(KEY_WORLD, consoleApp)
  const textOf = async (page: string) =>
    (await (await get(`/console/${PATH}${page}`)).text()).replaceAll(/<(?!a)[^>]*>/g, '')
  expect(await textOf('/payouts')).toContain('Nothing can be paid.')
  await enter('payee', 'a-00', ADA)
  const one = await json(prepare())
  expect(await textOf('')).toContain(`${PATH}/batches/${one.id}">Look at it`)
  await prepare()
  expect(await textOf('')).toContain(`${PATH}/batches">Look at them`)
})

test('§20.2 a prepared batch is listed, found, announced and needs attention until it ends or is deleted', async () => {
  await enter('payee', 'a-00', ADA)
  await due('a-00', '10.00')
  await change(
    `insert into webhook_endpoints (account, id, url, events, secrets, created_at) values ('acme-forex', 'whk_1', 'https://hooks.example/', '["*"]', '[]', '2026-01-01T00:00:00.000Z')`,
  )
  const far = dayText(dayNumber(EXECUTE_ON) + 20)
  const [batch, later] = [await json(prepare()), await json(prepare({ execute_on: far }))]
  const found = async () => {
    const list = await json(askAdmin(`${PATH}/batches?reference=${batch.id}`))
    const { data } = await json(askAdmin(`${PATH}/attention`))
    const names = data.flatMap((one: Row) => (one.code === 'prepared_batches' ? one.names : []))
    return [list.data.map((one: Row) => [one.state, one.total, one.authors]), names]
  }
  expect(await found()).toEqual([[['prepared', '10.00', ['root-key']]], [batch.id, later.id]])
  const ends = Date.parse(batch.ends_at)
  expect(ends).toBe(Date.parse(EXECUTE_ON) + DAY_MS)
  expect(Date.parse(later.ends_at) - Date.now()).toBeLessThanOrEqual(7 * DAY_MS)
  expect(await eventsOf('acme-forex')).toMatchObject([
    {
      type: 'batch.prepared',
      ...{ batch_id: batch.id, total: '10.00', authors: ['root-key'], ends_at: batch.ends_at },
    },
    { type: 'batch.prepared', batch_id: later.id },
  ])
  await askAdmin(`${PATH}/batches/${later.id}`, 'DELETE')
  expect((await confirm(later)).status).toBe(404)
  await change('update payout_batches set ends_at = ?', Date.now())
  expect(await found()).toEqual([[], []])
  expect((await confirm(batch)).status).toBe(409)
})

test('§20.2 a batch of method manual pays by hand, with a reason, whoever has other details or none', async () => {
  await enter('payee', 'a-00', ADA)
  for (const affiliate of ['a-00', 'a-01']) await due(affiliate, '10.00')
  await enter('payee', 'a-02', { ...ADA, method: 'manual' })
  await due('a-02', '1.00')
  await due('a-03', '1.00', { currency: 'USD' })
  await hold('a-03')
  const by = (reason?: string) =>
    json(
      prepare({
        ...{ payer: undefined, method: 'manual' },
        rows: ['a-00:EUR', 'a-01:EUR', 'a-02:EUR', 'a-03:USD'].map((id) => ({ id, reason })),
      }),
    )
  expect((await by()).left_out.map((one: Row) => one.reasons)).toEqual([
    ['other_method'],
    ['no_payee'],
    ['held', 'no_payee', 'other_currency'],
  ])
  const batch = await by('Paid in cash')
  expect([batch.total, batch.payer, batch.left_out.map((one: Row) => one.reasons)]).toEqual([
    '21.00',
    null,
    [['held', 'other_currency']],
  ])
  const pay = (id: string, paid_on = '2026-01-02') =>
    askAdmin(`${PATH}/batches/${id}/pay`, 'POST', { paid_on })
  expect((await pay(batch.id)).status).toBe(409)
  await confirm(batch)
  expect((await pay(batch.id, '2040-01-01')).status).toBe(422)
  const periods = batch.transfers
    .flatMap((one: Row) => one.statements)
    .map((one: Row) => one.period)
  const { errors } = await json(pay(batch.id, `${periods.sort().at(-1)}-27`))
  expect(errors).toMatchObject([{ pointer: '/paid_on', code: 'minimum' }])
  const [first] = await Promise.all([pay(batch.id), pay(batch.id)].map(json))
  expect(first.transfers.map((one: Row) => [one.state, one.note])).toEqual(
    Array(3).fill(['paid', 'Paid in cash']),
  )
  expect(await json(pay(batch.id))).toEqual(first)
  expect((await askFile(batch.id)).headers.get('Content-Type')).toContain('text/csv')
  const paid = await rowsOf('payments')
  expect(paid.map(({ paid_on, amount }) => `${paid_on} ${amount}`).sort()).toEqual([
    ...['2026-01-02 1.00', '2026-01-02 10.00', '2026-01-02 10.00'],
  ])
  const sepa = await batchOf('a-02', ADA)
  expect((await pay(sepa.id)).status).toBe(409)
})

/** Returns a batch of a statement of an affiliate, whose details become these. */
async function batchOf(affiliate: string, details: Details) {
  await enter('payee', affiliate, details, { version: 2 })
  await due(affiliate, '1.00')
  return confirmed({ rows: rowsOfEach([affiliate]) })
}

test('§20.2 a batch of euros warns of a day on which banks are closed, and names the batch before', async () => {
  at('2026-04-01T09:00:00.000Z')
  for (const affiliate of ['a-00', 'a-01']) {
    await enter('payee', affiliate, ADA)
    await due(affiliate, '10.00')
  }
  const warned = async (execute_on: string) =>
    (await json(prepare({ execute_on }))).warnings.map((one: Row) => one.next_open_day)
  const days = ['2026-04-02', '2026-04-03', '2026-04-06', '2026-04-11', '2026-05-01']
  expect(await Promise.all(days.map(warned))).toEqual([
    ...[[], ['2026-04-07'], ['2026-04-07'], ['2026-04-13'], ['2026-05-04']],
  ])
  const first = await confirmed({ execute_on: '2026-04-02', rows: rowsOfEach(['a-00']) })
  at('2026-04-01T10:00:00.000Z')
  const { before } = await json(prepare({ execute_on: '2026-04-02' }))
  expect(before).toEqual({ id: first.id, execute_on: '2026-04-02', total: '10.00', transfers: 1 })
})

test('§20.3 more rows than a template takes are more files, with the same bytes for ever', async () => {
  const all = AFFILIATES.slice(0, 5)
  for (const affiliate of all) {
    await enter('payee', affiliate, { ...ADA, method: 'wise' })
    await due(affiliate, '1.00')
  }
  TEMPLATE_ROWS.wise = 2
  const { id } = await confirmed({ method: 'wise' })
  const { files } = await json(askExport(id))
  expect(files.map(({ n, rows, name }: Row) => [n, rows, name])).toEqual([
    [1, 2, `${id}-1.csv`],
    [2, 2, `${id}-2.csv`],
    [3, 1, `${id}-3.csv`],
  ])
  const texts = await Promise.all(
    [1, 2, 3].map(async (n) => (await askAdmin(`${PATH}/batches/${id}/file?n=${n}`)).text()),
  )
  const { transfers } = await show(id)
  const found = texts.map(
    (text) => transfers.filter((one: Row) => text.includes(String(one.id))).length,
  )
  expect(found).toEqual([2, 2, 1])
})

test('§20.2 a batch is refused for a payer that cannot pay, a day too early or late, and what is not due', async () => {
  await enter('payer', 'fresh', PAYER, { payable_from: Date.now() + HOUR_MS })
  await enter('payer', 'dollars', { ...PAYER, currency: 'USD' })
  const refused = [
    [404, { payer: 'none' }],
    [409, { payer: 'fresh' }],
    [409, { payer: 'dollars' }],
    [422, { payer: undefined }],
    [422, { rows: [{ id: 'a-00:EUR' }] }],
    [422, { rows: [{ id: 'stm_1' }] }],
    [422, { execute_on: '2020-01-01' }],
    [422, { execute_on: '2040-12-15' }],
  ] as const
  for (const [status, asked] of refused) expect((await prepare(asked)).status).toBe(status)
})

test('§20.2 a confirmation is refused once the day of its execution is over', async () => {
  await enter('payee', 'a-00', ADA)
  await due('a-00', '10.00')
  const { id } = await json(prepare())
  await change('update payout_batches set execute_on = ?', dayText(dayNumber(EXECUTE_ON) - 3))
  expect(await json(confirm(await show(id)))).toMatchObject({
    status: 422,
    errors: [{ pointer: '/execute_on', code: 'minimum' }],
  })
})

test('§20.2 a confirmation is refused if it would pay anything else than what was seen', async () => {
  await enter('payee', 'a-00', ADA)
  await due('a-00', '10.00')
  const seen = await json(prepare())
  expect((await confirm({ ...seen, total: '10.02' })).status).toBe(409)
  expect((await confirm({ ...seen, hash: '0'.repeat(64) })).status).toBe(409)
  await due('a-00', '0.01')
  const { status, detail } = await json(confirm(seen))
  expect([status, detail]).toEqual([409, expect.stringContaining('pays 10.01 EUR')])
  expect(await rowsOf('transfers')).toEqual([])
})

test('§20.3 a batch has no file before its export, which any number may ask for, and which counts once', async () => {
  const { id, files } = await batchOfTwo()
  expect([(await askFile(id)).status, files]).toEqual([409, []])
  const [first, again] = await Promise.all([askExport(id), askExport(id)].map(json))
  expect(first).toMatchObject({ state: 'exported', files: [{ n: 1, rows: 2, name: `${id}.xml` }] })
  expect([again, await json(askExport(id))]).toEqual([first, first])
  const log = await rowsOf('audit_log')
  const confirmed = log.find(({ action }) => action === 'batch.confirm')
  expect(Object.keys(JSON.parse(String(confirmed?.details)))).toEqual([
    'batch',
    'hash',
    'total',
    'currency',
  ])
  const exports = log.filter(({ action }) => action === 'batch.export')
  expect(exports).toHaveLength(1)
  const of = (n: number) => askAdmin(`${PATH}/batches/${id}/file?n=${n}`)
  const file = await of(1)
  expect([file.headers.get('ETag'), (await of(2)).status]).toEqual([
    `"${first.files[0].hash}"`,
    404,
  ])
})

test('§20.2 the file of a batch has the same bytes for ever, and nothing is stored to try numbers against', async () => {
  const { id } = await batchOfTwo()
  const text = async (keys: unknown[] = JSON.parse(env.TRACKING_KEYS).keys) => {
    const world = { ...env, TRACKING_KEYS: JSON.stringify({ keys }) }
    const path = `${ORIGIN}/admin/v1/${PATH}/batches/${id}/file`
    return (await fetchWith(world, new Request(path, { headers: asTeam() }))).text()
  }
  await askExport(id)
  const [first, other] = await Promise.all([text(), text()])
  expect(other).toBe(first)
  const stored = [await rowsOf('payout_batches'), await rowsOf('audit_log')]
  expect(JSON.stringify(stored)).not.toContain(await digest(first))
  at(new Date(Date.now() + DAY_MS).toISOString())
  await enter('payee', 'a-00', { ...ADA, name: 'Eve' }, { version: 2 })
  await enter('payer', 'main', { ...PAYER, name: 'Eve' }, { version: 2 })
  await change(`update payees set state = 'blocked' where id = 'a-01'`)
  const account = (await findAccount(env.DB, 'acme-forex'))!
  const key = { kty: 'oct', alg: 'HS256', kid: 'new', k: 'A'.repeat(43) }
  for (const keys of [[key, ...JSON.parse(env.TRACKING_KEYS).keys], [key]]) {
    expect(await text(keys)).toBe(first)
    const TRACKING_KEYS = JSON.stringify({ keys })
    await tendDetails({ ...env, TRACKING_KEYS }, env.DB, account, Date.now())
    await cancel(id)
  }
  expect(await text([key])).toBe(first)
})

test('§20.2 a batch gives its statements free when it is cancelled, and repeats change nothing', async () => {
  const batch = await batchOfTwo()
  const { id, transfers } = batch
  expect(await json(confirm(batch))).toEqual(batch)
  await askExport(id)
  await change(`update transfers set state = 'paid' where id = ?`, transfers[0].id)
  await change(`update statements set status = 'paid', payment = 'p' where affiliate_id = 'a-00'`)
  const answer = await json(cancel(id))
  expect(answer).toMatchObject({ state: 'partial', states: { paid: 1, cancelled: 1 } })
  expect(await json(cancel(id))).toEqual(answer)
  expect((await json(prepare())).transfers).toMatchObject([
    { affiliate_id: transfers[1].affiliate_id },
  ])
})

test('§20.2 what the bank rejected is not ticked, and needs attention, until it is approved again or paid', async () => {
  const { id } = await batchOfTwo()
  const attention = async () => {
    const { data } = await json(askAdmin(`${PATH}/attention`))
    return data.flatMap((one: Row) => (one.code === 'returned_payments' ? one.names : []))
  }
  await change(`update transfers set state = 'rejected', changed_at = ?`, Date.now() - 1)
  await change(`update payees set state = 'returned' where id = 'a-01'`)
  expect((await attention()).sort()).toEqual(['a-00', 'a-01'])
  const shown = async () =>
    (await payable()).map(({ reasons, doubts: [first], ticked }) => [reasons, first?.code, ticked])
  expect(await shown()).toEqual([
    [[], 'came_back', false],
    [['not_approved'], 'came_back', false],
  ])
  await askAdmin(`${PATH}/affiliates/a-01/payee/approve`, 'POST', { version: 1 })
  expect(await attention()).toEqual(['a-00'])
  expect((await json(prepare())).transfers).toMatchObject([{ affiliate_id: 'a-01' }])
  await confirmed({ rows: rowsOfEach(['a-00']) })
  expect(await attention()).toEqual([])
  expect((await show(id)).state).toBe('rejected')
})

test('§20.2 of two batches with one row the first confirmed has it, and the other says what it lost', async () => {
  for (const affiliate of ['a-00', 'a-01']) {
    await enter('payee', affiliate, ADA)
    await due(affiliate, '10.00')
  }
  const [one, two] = [await json(prepare({ rows: rowsOfEach(['a-00']) })), await json(prepare())]
  await confirm(one)
  const { status, detail } = await json(confirm(two))
  expect([status, detail]).toEqual([409, expect.stringContaining('taken what was due to `a-00`')])
  const shown = await show(two.id)
  expect(shown).toMatchObject({
    total: '10.00',
    left_out: [{ id: 'a-00:EUR', reasons: ['taken'] }],
  })
  expect((await confirm(shown)).status).toBe(200)
  expect((await json(askAdmin(`${PATH}/periods`))).due).toEqual([])
})
