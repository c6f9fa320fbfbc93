import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { dayNumber, dayText, nextPeriod, parsePeriod } from '../../src/platform/money/calendar.ts'
import { moneyText } from '../../src/platform/money/money.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { randomSource } from '../commission/worlds.ts'
import { signedIn } from '../console/browser.ts'
import { countCalls } from '../ingest/watched.ts'
import { askAdmin, json, register } from '../partner.ts'
import { bookByHand, firm, sent } from '../payouts/payout-rows.ts'
import {
  JOURNAL_ACCOUNTS as ACCOUNTS,
  bookBack,
  bookPaid,
  digestOf,
  idOf,
  rowsOf,
  storeRows,
} from './book-rows.ts'

// What finance reads of the books, compared with the raw entries of the ledger.

const PATH = 'accounts/acme-forex'
const get = (path: string) => json(askAdmin(`${PATH}/${path}`))

// biome-ignore lint/suspicious/noExplicitAny: what a request answers
type Answer = Record<string, any>

/** Reads all rows of a list, and what its first page has beside them. */
async function walk(path: string, size = 3) {
  const first = await get(`${path}&per_page=${size}`)
  const rows = [...first.data]
  for (let cursor = first.meta.next_cursor; cursor; ) {
    const { data, meta } = await get(`${path}&cursor=${cursor}`)
    rows.push(...data)
    cursor = meta.next_cursor
  }
  return { ...first, data: rows }
}

const dayOf = (zone: string, at: string) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(new Date(at))
const later = (day: string, days: number) => dayText(dayNumber(day) + days)

const cents = (text: string | null) => BigInt((text ?? '0').replace('.', ''))
const textOf = (units: bigint) => moneyText({ units, scale: 2 }, 'EUR')

/** Adds up amounts in cents by their names. */
function sumsOf(all: readonly (readonly [name: string, units: bigint])[]) {
  const byName = Map.groupBy(all, ([name]) => name)
  const sum = (own: typeof all) => own.reduce((units, [, one]) => units + one, 0n)
  return [...byName].map(([name, own]) => `${name} ${textOf(sum(own))}`).sort()
}

/** Lets a firm keep books for some months: it approves, pays, and some payments come back, at random times. */
async function keepBooks(zone: string, steps: number) {
  const from = randomSource(env.SEED + zone.length)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T00:00:00Z') })
  await register('forex', { book_zone: zone, affiliates: ['a', 'b', 'c'] })
  await storePlan('acme-forex', 'ib', monthly([]))
  await assign('acme-forex', 'ib')
  await askAdmin(PATH, 'PATCH', { journal_accounts: ACCOUNTS })
  const periods = new Map<string, string>()
  const zones = new Map<string, string>()
  const open: { id: string; paid: string | null }[] = []
  const frozen = new Map<string, unknown>()
  const half = Math.floor(steps / 2)
  let current = zone
  for (let step = 0; step < steps; step++) {
    vi.setSystemTime(Date.now() + from.between(1, step === half + 1 ? 4 : 4 * 96) * (HOUR_MS / 4))
    const today = dayOf(current, new Date().toISOString())
    const [one] = from.shuffle(open)
    if (!one || from.oneIn(3)) {
      const affiliate = from.pick(['a', 'b', 'c'])
      const plan = from.pick(['ib', 'weekly'])
      const before = periods.get(`${affiliate} ${plan}`)
      const first = plan === 'ib' ? '2024-01' : '2020-W51'
      const period = before ? nextPeriod(parsePeriod(before)!, 1).id : first
      periods.set(`${affiliate} ${plan}`, period)
      const amount = () => textOf(BigInt(from.between(-999, 9999)))
      const head = {
        ...{ lines_sum: amount(), adjustments_sum: amount(), manual_sum: amount() },
        ...{ dropped: amount(), transferred: { to: 'other', period, amount: amount() } },
        ...{ currency: plan === 'ib' ? 'EUR' : 'USD', payable: '1.00' },
      }
      const previous = before ? digestOf({ period: before, affiliate, plan }) : ''
      const row = { period, affiliate, plan, head, previous }
      await storeRows([row])
      const hash = digestOf(row)
      const { status } = await askAdmin(`${PATH}/statements/${idOf(row)}/approve`, 'POST', { hash })
      expect(status).toBe(200)
      open.push({ id: idOf(row), paid: null })
    } else {
      const paid_on = later(today, -from.below(9))
      const returned_on = one.paid && one.paid > paid_on ? one.paid : paid_on
      const isDone = one.paid
        ? await bookBack(one.id, returned_on)
        : await bookPaid([one.id], `R-${step}`, paid_on)
      expect(isDone).toBe(true)
      one.paid = one.paid ? null : paid_on
    }
    for (const { id } of await rowsOf('ledger'))
      if (!zones.has(String(id))) zones.set(String(id), current)
    // A brand may change its time zone, so that what is entered next has an earlier day.
    if (step === half) {
      current = 'Pacific/Pago_Pago'
      await env.DB.prepare(`update accounts set book_zone = ?`).bind(current).run()
    }
    // In another time zone, yesterday may not be over.
    const over = later(today, -2)
    for (const path of [
      `balances?on=${over}&by=entry`,
      `journal?from=${later(over, -20)}&to=${over}&by=entry`,
    ])
      if (from.oneIn(4)) frozen.set(path, await walk(path))
  }
  const days = new Map(
    [...(await rowsOf('payments')), ...(await rowsOf('payment_returns'))].map((one) =>
      one.paid_on
        ? [`paid ${one.reference}`, String(one.paid_on)]
        : [`returned ${one.payment}`, String(one.returned_on)],
    ),
  )
  const entries = (await rowsOf('ledger')).map((row) => {
    const one = row as Record<'id' | 'kind' | 'affiliate_id' | 'currency' | 'amount' | 'at', string>
    const entry = dayOf(zones.get(one.id)!, one.at)
    const last = parsePeriod(String(row.period))!.last
    const isEarned = one.kind === 'earned' || one.kind === 'adjusted'
    const value = isEarned ? dayText(last) : (days.get(`${one.kind} ${row.reference}`) ?? entry)
    return { ...one, value, entry, units: cents(one.amount) }
  })
  return { from, entries, frozen, today: dayOf(current, new Date().toISOString()) }
}

/** A row of the journal, or an entry of the ledger. */
type Row = Record<'affiliate_id' | 'currency' | 'entry' | 'day' | 'account', string> &
  Record<'debit' | 'credit', string | null>
const ownerOf = (one: Pick<Row, 'affiliate_id' | 'currency'>) =>
  `${one.affiliate_id} ${one.currency}`
const debitOf = ({ debit, credit }: Row) => cents(debit) - cents(credit)

test.each(['America/New_York', 'Pacific/Auckland'])(
  '§20.6 balances, journal and ledger are what the raw entries say, by days in %s',
  async (zone) => {
    const { from, entries, frozen, today } = await keepBooks(zone, 60)
    const days = entries.flatMap(({ value, entry }) => [value, entry])
    for (let turn = 0; turn < 12; turn++) {
      const by = from.pick(['value', 'entry'] as const)
      const on = later(from.pick(days), from.between(-1, 1))
      if (on > today) continue
      const counted = entries.filter((one) => one[by] <= on)
      const { data, sums } = await walk(`balances?on=${on}&by=${by}`, 1)
      const balances = data.map((one: Answer) => `${ownerOf(one as Row)} ${one.balance}`)
      expect(balances.sort(), on).toEqual(sumsOf(counted.map((one) => [ownerOf(one), one.units])))
      expect(sums.map((one: Answer) => `${one.currency} ${one.balance}`)).toEqual(
        sumsOf(counted.map((one) => [one.currency, one.units])),
      )

      const begin = later(on, -from.below(366))
      const journal: Row[] = (await walk(`journal?from=${begin}&to=${on}&by=${by}`)).data
      const within = new Map(
        counted.filter((one) => one[by] >= begin).map((one) => [one.id, one] as const),
      )
      const byEntry = Map.groupBy(journal, ({ entry }) => entry)
      expect([...byEntry.keys()].sort()).toEqual([...within.keys()].sort())
      for (const [id, own] of byEntry) {
        expect(own.length).toBeGreaterThan(1)
        expect(sumsOf(own.map((one) => ['', debitOf(one)]))).toEqual([' 0.00'])
        expect(own[0]!.day).toBe(within.get(id)![by])
      }
      const payable = journal.filter(({ account }) => account === ACCOUNTS.payable)
      expect(sumsOf(payable.map((one) => [ownerOf(one), -debitOf(one)]))).toEqual(
        sumsOf([...within.values()].map((one) => [ownerOf(one), one.units])),
      )
    }

    const first = from.pick(days)
    const moved = (kind: string) =>
      entries.flatMap((one) =>
        one.kind === kind && one.value >= first
          ? [[one.currency, kind === 'paid' ? -one.units : one.units] as const]
          : [],
      )
    const { sums: paid } = await get(`payouts?from=${first}`)
    const shownSums = (name: string) =>
      paid
        .map((one: Answer) => `${one.currency} ${one[name]}`)
        .filter((one: string) => !one.endsWith(' 0.00'))
    for (const kind of ['paid', 'returned']) expect(shownSums(kind)).toEqual(sumsOf(moved(kind)))

    const inTime = entries.toSorted((a, b) => (a.entry + a.id < b.entry + b.id ? -1 : 1))
    const balances = new Map<string, bigint>()
    const expected = inTime.map((one) => {
      const balance = (balances.get(ownerOf(one)) ?? 0n) + one.units
      balances.set(ownerOf(one), balance)
      return { ...one, balance: textOf(balance) }
    })
    for (const affiliate of ['', 'a', 'b', 'c']) {
      const first = from.pick(inTime).entry
      const shown = expected
        .filter((one) => one.affiliate_id.startsWith(affiliate) && one.entry >= first)
        .map(({ id, balance }) => [id, balance])
      const filter = `from=${first}${affiliate && `&affiliate_id=${affiliate}`}`
      for (const order of ['oldest', 'latest'] as const) {
        const { data } = await walk(`ledger?${filter}&order=${order}`, 7)
        const found = data.map((one: Answer) => [one.id, one.balance])
        expect(order === 'oldest' ? found : found.toReversed(), filter).toEqual(shown)
      }
    }
    expect(frozen.size).toBeGreaterThan(9)
    for (const [path, before] of frozen) expect(await walk(path), path).toEqual(before)
  },
)

/** Stores entries of 40 affiliates on 10 days each. */
async function storeEntries() {
  await register('forex', { affiliates: [] })
  await env.DB.batch([
    env.DB.prepare(`update accounts set journal_accounts = ?`).bind(JSON.stringify(ACCOUNTS)),
    env.DB.prepare(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < 399)
       insert into ledger select 'acme-forex', printf('a-%02d', i % 40), printf('e-%05d', i), 'earned', 'ib',
         '2026-03', 'stm', 'EUR', '1.00', null, 'ada', '2026-04-01T00:00:00.000Z',
         printf('2026-04-%02d', 1 + i / 40), '2026-03-31' from n`,
    ),
  ])
}

test.each([
  // A day is read; what comes before it of those who are on the page is read and grouped.
  ['ledger?from=2026-04-10&per_page=20', 40 + 2 * 20 * 10],
  ['ledger?affiliate_id=a-01&per_page=5', 3 * 10],
  ['journal?from=2026-04-10&to=2026-04-10&by=entry&per_page=20', 40],
])('§20.6 a page of %s reads what it shows, and counts what its days have', async (path, most) => {
  await storeEntries()
  const headers = { Authorization: `Bearer ${env.ADMIN_KEY}` }
  const { response, rowsRead } = await countCalls(`/admin/v1/${PATH}/${path}`, { headers })
  expect(response.status).toBe(200)
  // Some rows of settings are read, too.
  expect(rowsRead).toBeLessThan(most + 60)
})

test('§20.6 what finance cannot be told is refused with a sentence', async () => {
  await storeEntries()
  const refused = async (path: string) => {
    const { status, detail } = await get(path)
    return [status, detail]
  }
  const today = dayOf('UTC', new Date().toISOString())
  const next = later(today, 1)
  const future = `must not be after today, ${today} in UTC.`
  expect(await get('balances?on=2026-03-31&by=entry')).toMatchObject({ data: [], sums: [] })
  expect(await get('balances?on=2026-03-31')).toMatchObject({
    sums: [{ currency: 'EUR', balance: '400.00' }],
  })
  expect(await refused(`balances?on=${next}`)).toEqual([400, `\`on\` ${future}`])
  expect(await refused(`journal?from=${today}&to=${next}`)).toEqual([400, `\`to\` ${future}`])
  expect(await refused('journal?from=2026-04-02&to=2026-04-01')).toEqual([
    400,
    '`from` must not be after `to`.',
  ])
  expect(await refused('journal?from=2025-04-01&to=2026-04-02')).toEqual([
    400,
    '`from` and `to` can span at most 366 days.',
  ])
  const { bank: _, vat: __, ...some } = ACCOUNTS
  await env.DB.prepare(`update accounts set journal_accounts = ?`).bind(JSON.stringify(some)).run()
  expect(await refused('journal?from=2026-04-01&to=2026-04-01')).toEqual([
    409,
    'The journal needs an account for each kind of entry. These are missing in `journal_accounts`: `bank`, `vat`.',
  ])
})

test('§20.6 pages show what finance asks for, and their CSV has all rows', async () => {
  await storeEntries()
  const browser = await signedIn()
  const read = async (path: string) => (await browser.get(`/console/${PATH}/${path}`)).text()
  const rowsIn = (csv: string) => csv.trim().split('\r\n').length - 1
  expect(await read('balances?on=2026-04-01&by=entry')).toContain('40.00 EUR')
  expect(await read('balances?on=2026-03-31&by=entry')).toContain(
    'Nothing was booked until 31 Mar 2026.',
  )
  expect(await read('balances?on=2999-01-01')).toContain('must not be after today')
  expect(rowsIn(await read('balances?format=csv'))).toBe(40)
  expect(rowsIn(await read('journal?from=2026-03-01&to=2026-04-30&format=csv'))).toBe(800)
  expect(rowsIn(await read('ledger?format=csv&affiliate_id=a-01'))).toBe(10)
  expect(await read('ledger?affiliate_id=a-01')).toContain('10.00 EUR')
  await env.DB.prepare(`update accounts set journal_accounts = '{"payable":"3300"}'`).run()
  const page = await read('journal')
  expect(page).toContain('Missing: Earned, Corrections, Entered by hand')
  const at = `/console/${PATH}/journal`
  const sent = { csrf: await browser.csrf(at), change: 'accounts', ...ACCOUNTS }
  expect((await browser.post(at, sent)).status).toBe(303)
  expect(await read('journal?from=2026-03-01&to=2026-03-31')).toContain(
    'Earned for March 2026, plan ib',
  )
})

test('§20.4 a fee stands in the journal alone: the bank has what moved, and the claim is settled in whole', async () => {
  await firm(['a', 'b'])
  await askAdmin(PATH, 'PATCH', { journal_accounts: ACCOUNTS })
  const { a, b } = await sent({ a: '100.00', b: '20.00' })
  const fee = { difference: { kind: 'fee', reason: 'Wire fee' } }
  await bookByHand(a!.id, { amount: '101.50', ...fee })
  await bookByHand(b!.id, { amount: '20.00' })
  await bookByHand(b!.id, { direction: 'returned', amount: '18.00', ...fee })
  const today = dayOf('UTC', new Date().toISOString())
  const { data } = await walk(`journal?from=${today}&to=${today}&by=entry`)
  const ofBank = data.filter((one: Answer) => [a!.id, b!.id].includes(one.reference))
  const { payable, bank, fees } = ACCOUNTS
  expect(ofBank.map((one: Answer) => [one.reference, one.account, one.debit, one.credit])).toEqual([
    [a!.id, payable, '100.00', null],
    [a!.id, fees, '1.50', null],
    [a!.id, bank, null, '101.50'],
    [b!.id, payable, '20.00', null],
    [b!.id, bank, null, '20.00'],
    [b!.id, bank, '18.00', null],
    [b!.id, fees, '2.00', null],
    [b!.id, payable, null, '20.00'],
  ])
})
