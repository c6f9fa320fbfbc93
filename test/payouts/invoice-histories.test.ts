import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import {
  approve,
  bookPaid,
  earning,
  idOf,
  type StatementRow,
  storeRows,
} from '../books/book-rows.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import { askAdmin } from '../partner.ts'
import { disconnect } from '../sweep/cut.ts'
import { accept, approval, biller, euros, set, taxed, transferred } from './invoice-rows.ts'
import { enter, PATH, requestOf } from './payout-rows.ts'

const SEEDS = Array.from({ length: env.MODEL_RUNS || 3 }, (_, n) => env.SEED * 1000 + n)
const TREATMENTS = ['domestic', 'reverse_charge', 'outside', 'none']
const STEPS = 30
/** A history begins with what the others need. */
const BEGINNING = 'earn earn earn earn earn approve correct earn approve'.split(' ')

// biome-ignore lint/suspicious/noExplicitAny: rows as they are stored
const read = async (sql: string) => (await env.DB.prepare(sql).all<any>()).results
const cents = (text: string) => BigInt(text.replace('.', ''))
const sum = (texts: readonly string[]) => texts.reduce((all, one) => all + cents(one), 0n)

/** What a test remembers of a history. */
interface Memory {
  readonly from: Source
  readonly drafts: StatementRow[]
  /** Each invoice as it was first seen, by its number. */
  readonly seen: Map<string, object>
  /** The last version of each affiliate's details. */
  readonly versions: Map<string, number>
  count: number
}

/** Sends a request: sometimes its caller is cut off at some call, and sometimes two send it at once. */
async function post({ from }: Memory, path: string, body: object) {
  if (from.oneIn(3))
    await disconnect(requestOf(path, body), { nth: from.below(12), after: from.oneIn(2) })
  const times = Array.from({ length: from.between(1, 2) })
  await Promise.all(times.map(() => askAdmin(`${PATH}/${path}`, 'POST', body)))
}

const anyAffiliate = ({ from, versions }: Memory) => from.pick([...versions.keys()])

/** What may happen. */
const STEPS_OF: Readonly<Record<string, (memory: Memory) => Promise<unknown>>> = {
  async earn(memory) {
    const { from, drafts } = memory
    const [plan, affiliate] = [`plan-${memory.count++}`, anyAffiliate(memory)]
    const own = from.oneIn(6) ? '0.00' : `${from.between(8, 900)}.${from.between(10, 99)}`
    const opening = own === '0.00' ? own : from.pick(['0.00', '7.10', '-7.10'])
    const received = opening !== '0.00' && from.oneIn(2)
    const payable = euros(cents(own) + cents(opening))
    const head = {
      ...{ opening, payable },
      ...(received && { received: [await transferred(affiliate, plan, opening)] }),
    }
    const row = { ...earning(affiliate, '2024-10', own, head), plan }
    drafts.push(row)
    await storeRows([row])
  },
  async approve(memory) {
    const { from, drafts } = memory
    const open = new Set(
      (await read(`select id from statements where status = 'draft'`)).map(({ id }) => id),
    )
    const rows = from.shuffle(drafts.filter((row) => open.has(idOf(row)))).slice(0, 3)
    // Several at once, and some as nobody has reviewed them.
    await Promise.all(
      rows.map((row) => {
        const [path, body] = approval(row)
        return post(memory, path, from.oneIn(5) ? { hash: 'f'.repeat(64) } : body)
      }),
    )
  },
  async enter(memory) {
    const { from, versions } = memory
    const id = anyAffiliate(memory)
    const version = (versions.get(id) ?? 0) + 1
    const vat_id = from.pick(['DE123456789', 'DE987654321'])
    const tax = from.oneIn(2) ? { vat_id } : { vat_id, treatment: from.pick(TREATMENTS) }
    const waits = { version, state: 'entered', payable_from: null } as const
    await enter('payee', id, { ...taxed('none'), tax }, waits)
    versions.set(id, version)
  },
  async decide(memory) {
    const { from, versions } = memory
    const id = anyAffiliate(memory)
    const treatment = from.oneIn(3) ? {} : { treatment: from.pick(TREATMENTS) }
    const body = { version: versions.get(id), ...treatment }
    await post(memory, `affiliates/${id}/payee/approve`, body)
  },
  agree: (memory) => accept(anyAffiliate(memory)).catch(() => undefined),
  async correct(memory) {
    const all = await read('select number from invoices')
    if (all.length === 0) return
    const { number } = memory.from.pick(all)
    await post(memory, `invoices/${number}/correct`, { reason: 'The address is wrong.' })
  },
  set: ({ from }) =>
    set({ invoicing: { sample_seen: !from.oneIn(3), rate: from.pick([0, 5.5, 19]) } }),
  async pay({ from }) {
    for (const {
      id,
      awaits_invoice,
    } of await read(`select * from statements where status = 'approved'
      and payable glob '*[1-9]*'`))
      if (from.oneIn(2)) expect(await bookPaid([id], id)).toBe(awaits_invoice === 0)
  },
}

/** Asserts the laws of §20.5 by what is stored. */
async function check({ seen }: Memory) {
  const invoices = await read('select * from invoices order by id')
  const ledger = await read('select * from ledger')
  const byNumber = new Map(invoices.map((one) => [one.number, one]))
  expect(byNumber.size).toBe(invoices.length)
  // An invoice never changes, and none goes.
  for (const [number, one] of seen) expect(byNumber.get(number)).toEqual(one)
  for (const one of invoices) seen.set(one.number, one)
  // Numbers have no gaps within an affiliate and year, in the order in which they were taken.
  for (const own of Map.groupBy(invoices, (one) => `${one.affiliate_id} ${one.year}`).values()) {
    expect(own.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
      own.map((_, i) => i + 1),
    )
  }
  for (const one of invoices) {
    const n = String(one.sequence).padStart(4, '0')
    expect(one.number).toBe(`SB-${one.payee_number}-${one.year}-${n}`)
    expect(cents(one.net) + cents(one.vat)).toBe(cents(one.total))
    // The sums of its lines, and what it takes back.
    const lines = JSON.parse(one.content).lines.map((line: { amount: string }) => line.amount)
    expect(sum(lines)).toBe(cents(one.net))
    if (one.corrects) expect(cents(byNumber.get(one.corrects).total)).toBe(-cents(one.total))
  }
  const vat = ledger.filter(({ kind }) => kind === 'vat')
  expect(vat.map((one) => [one.reference, one.amount]).toSorted()).toEqual(
    invoices
      .filter((one) => cents(one.vat) !== 0n)
      .map((one) => [one.number, one.vat])
      .toSorted(),
  )
  const lacking = new Set(
    (
      await read(`select id from statements s where awaits_invoice = 1 and (
        not exists (select 1 from agreements g where g.affiliate_id = s.affiliate_id and g.until is null)
        or not exists (select 1 from payees p where p.party = 'payee' and p.id = s.affiliate_id
          and p.state = 'approved' and p.tax ->> 'treatment' is not null
          and p.version = (select max(version) from payees m where m.id = p.id))
        or (select invoicing ->> 'sample_seen' from accounts) = 0)`)
    ).map(({ id }) => id),
  )
  for (const one of await read('select * from statements')) {
    const own = invoices.filter(({ statement }) => statement === one.id)
    const head = JSON.parse(one.statement)
    const net = sum(own.map((invoice) => invoice.net))
    const owed = cents(head.payable) + sum(own.map((invoice) => invoice.vat))
    if (one.status === 'draft' || cents(head.payable) === 0n) expect(own).toEqual([])
    // What waits lacks something, and has no invoice that holds.
    if (one.awaits_invoice)
      expect([lacking.has(one.id), net, one.status]).toEqual([true, 0n, 'approved'])
    else if (one.status !== 'draft') {
      expect([0n, cents(head.payable)]).toContain(net)
      expect(cents(one.payable)).toBe(owed)
    }
    const booked = ledger.filter(({ statement }) => statement === one.id)
    const left = one.status === 'approved' ? owed : 0n
    // What earlier statements have booked is carried.
    const { opening, received } = head
    const carried = cents(opening) - sum(received.map(({ amount }: { amount: string }) => amount))
    if (one.status !== 'draft') expect(sum(booked.map(({ amount }) => amount))).toBe(left - carried)
  }
}

test.each(SEEDS)('§20.5 laws hold after each step of a history (seed %s)', async (seed) => {
  const from = randomSource(seed)
  await biller({ a: 'domestic', b: 'reverse_charge', c: null })
  const versions = new Map(['a', 'b', 'c'].map((id) => [id, 1]))
  const memory: Memory = { from, drafts: [], seen: new Map(), versions, count: 0 }
  await approve(earning('a', '2024-09', '100.00'))
  const drawn = Array.from({ length: STEPS }, () => from.pick(Object.keys(STEPS_OF)))
  for (const name of [...BEGINNING, ...drawn]) {
    await STEPS_OF[name]!(memory)
    await check(memory)
  }
  expect(memory.seen.size).toBeGreaterThan(0)
  expect(memory.drafts.map(idOf).length).toBeGreaterThan(0)
})
