import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../src/platform/durations.ts'
import { nextPeriod, parsePeriod } from '../../src/platform/money/calendar.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { randomSource } from '../commission/worlds.ts'
import { signedIn } from '../console/browser.ts'
import { countCalls } from '../ingest/watched.ts'
import { askAdmin, json, register } from '../partner.ts'
import { bookByHand, firm, sent } from '../payouts/payout-rows.ts'
import { JOURNAL_ACCOUNTS as ACCOUNTS, digestOf, idOf, rowsOf, storeRows } from './book-rows.ts'

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
const later = (day: string, days: number) =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

const cents = (text: string | null) => BigInt((text ?? '0').replace('.', ''))
const textOf = (units: bigint, currency: string) => {
  const digits = String(units < 0n ? -units : units).padStart(3, '0')
  const sign = units < 0n ? '-' : ''
  return currency === 'JPY' ? String(units) : `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Adds up amounts by a key that ends in their currency. */
function sumBy<T>(all: readonly T[], keyOf: (one: T) => string, unitsOf: (one: T) => bigint) {
  const sums = new Map<string, bigint>()
  for (const one of all) sums.set(keyOf(one), (sums.get(keyOf(one)) ?? 0n) + unitsOf(one))
  return [...sums].map(([key, units]) => `${key} ${textOf(units, key.slice(-3))}`).sort()
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
  const open: { id: string; paid: string | null; reference: string }[] = []
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
      const currency = plan === 'ib' ? 'EUR' : 'JPY'
      const amount = () => textOf(BigInt(from.between(-999, 9999)), currency)
      const head = {
        ...{ currency, lines_sum: amount(), adjustments_sum: amount(), manual_sum: amount() },
        ...{ dropped: amount(), transferred: { to: 'other', period, amount: amount() } },
        payable: textOf(BigInt(from.between(1, 9999)), currency),
      }
      const previous = before ? digestOf({ period: before, affiliate, plan }) : ''
      const row = { period, affiliate, plan, head, previous }
      await storeRows([row])
      const hash = digestOf(row)
      const { status } = await askAdmin(`${PATH}/statements/${idOf(row)}/approve`, 'POST', { hash })
      expect(status).toBe(200)
      open.push({ id: idOf(row), paid: null, reference: '' })
    } else {
      const paid_on = later(today, -from.below(9))
      const returned_on = one.paid && one.paid > paid_on ? one.paid : paid_on
      const reference = `R-${step}`
      const sent = one.paid ? { reference, returned_on, reason: 'Closed' } : { reference, paid_on }
      const path = `${PATH}/statements/${one.id}/${one.paid ? 'return' : 'pay'}`
      expect((await askAdmin(path, 'POST', sent)).status, path).toBe(200)
      Object.assign(one, { paid: one.paid ? null : paid_on, reference })
    }
    for (const { id } of await rowsOf('ledger'))
      if (!zones.has(String(id))) zones.set(String(id), current)
    // A brand may change its time zone, so that what is entered next has an earlier day.
    if (step === half) {
      current = 'Pacific/Pago_Pago'
      await env.DB.prepare(`update accounts set book_zone = ?`).bind(current).run()
    }
    for (const path of [
      `balances?on=${later(today, -1)}&by=entry`,
      `journal?from=${later(today, -20)}&to=${later(today, -1)}&by=entry`,
    ])
      if (from.oneIn(4)) frozen.set(path, await walk(path))
  }
  const days = new Map<unknown, unknown>([
    ...(await rowsOf('payments')).map((one) => [`paid ${one.reference}`, one.paid_on] as const),
    ...(await rowsOf('payment_returns')).map(
      (one) => [`returned ${one.reference}`, one.returned_on] as const,
    ),
  ])
  const entries = (await rowsOf('ledger')).map((one) => {
    const { id, kind, affiliate_id, currency, amount, at, period } = one as Record<string, string>
    const entered = dayOf(zones.get(id!)!, at!)
    const last = parsePeriod(period!)!.last
    const isEarned = kind === 'earned' || kind === 'adjusted'
    const moved = String(days.get(`${kind} ${one.reference}`) ?? entered)
    const value = isEarned ? new Date(last * DAY_MS).toISOString().slice(0, 10) : moved
    return {
      id: id!,
      at: at!,
      key: `${affiliate_id} ${currency}`,
      units: cents(amount!),
      value,
      entry: entered,
    }
  })
  return { from, entries, frozen, today: dayOf(current, new Date().toISOString()) }
}

test.each(['America/New_York', 'Pacific/Auckland'])(
  '§20.6 balances, journal and ledger are what the raw entries say, by days in %s',
  async (zone) => {
    const { from, entries, frozen, today } = await keepBooks(zone, 60)
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
    const days = entries.flatMap(({ value, entry }) => [value, entry])
    const kept = (key: string) => key.slice(-3)
    for (let turn = 0; turn < 12; turn++) {
      const by = from.pick(['value', 'entry'] as const)
      const on = later(from.pick(days), from.between(-1, 1))
      if (on > today) continue
      const counted = entries.filter((one) => one[by] <= on)
      const { data, sums } = await walk(`balances?on=${on}&by=${by}`, 1)
      const balances = data.flatMap((one: Answer) =>
        one.balances.map(
          (own: Record<string, string>) => `${one.affiliate_id} ${own.currency} ${own.balance}`,
        ),
      )
      expect(balances.sort(), on).toEqual(
        sumBy(
          counted,
          ({ key }) => key,
          ({ units }) => units,
        ),
      )
      expect(sums.map((one: Record<string, string>) => `${one.currency} ${one.balance}`)).toEqual(
        sumBy(
          counted,
          ({ key }) => kept(key),
          ({ units }) => units,
        ),
      )

      const begin = later(on, -from.below(366))
      const journal = (await walk(`journal?from=${begin}&to=${on}&by=${by}`)).data
      const within = counted.filter((one) => one[by] >= begin)
      expect([...new Set(journal.map(({ entry }: { entry: string }) => entry))].sort()).toEqual(
        within.map(({ id }) => id).sort(),
      )
      type Row = Record<'entry' | 'account' | 'affiliate_id' | 'currency' | 'day', string> & {
        debit: string | null
        credit: string | null
      }
      const debit = (one: Row) => cents(one.debit) - cents(one.credit)
      for (const own of Map.groupBy(journal as Row[], ({ entry }) => entry).values()) {
        expect(own.length).toBeGreaterThan(1)
        expect(own.reduce((sum, one) => sum + debit(one), 0n)).toBe(0n)
        expect(own[0]!.day).toBe(within.find(({ id }) => id === own[0]!.entry)![by])
      }
      const payable = (journal as Row[]).filter(({ account }) => account === ACCOUNTS.payable)
      expect(
        sumBy(
          payable,
          (one) => `${one.affiliate_id} ${one.currency}`,
          (one) => -debit(one),
        ),
      ).toEqual(
        sumBy(
          within,
          ({ key }) => key,
          ({ units }) => units,
        ),
      )
    }

    const inTime = entries.toSorted((a, b) => (a.entry + a.id < b.entry + b.id ? -1 : 1))
    for (const key of ['', ...new Set(entries.map((one) => one.key))]) {
      const own = inTime.filter((one) => one.key.startsWith(key.slice(0, -4)))
      const first = from.pick(inTime).entry
      const balances = own.map((one, i) => {
        const until = own.slice(0, i + 1).filter((other) => other.key === one.key)
        return [
          one.id,
          textOf(
            until.reduce((sum, { units }) => sum + units, 0n),
            kept(one.key),
          ),
        ]
      })
      const shown = balances.filter((_, i) => own[i]!.entry >= first)
      const filter = `from=${first}${key && `&affiliate_id=${key.slice(0, -4)}`}`
      for (const order of ['oldest', 'latest'] as const) {
        const { data } = await walk(`ledger?${filter}&order=${order}`, 7)
        const found = data.map((one: Record<string, string>) => [one.id, one.balance])
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
