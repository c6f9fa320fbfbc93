import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { STOPPING } from '../../src/payouts/model.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import { askAdmin, json } from '../partner.ts'
import { disconnect } from '../sweep/cut.ts'
import { camt, pain002 } from './bank-files.ts'
import { checkMoney, statementsBack } from './money-law.ts'
import {
  ADA,
  apply,
  askFile,
  bookByHand,
  confirm,
  due,
  EXECUTE_ON,
  enter,
  firm,
  PATH,
  payable,
  prepare,
  requestOf,
  rowsOfEach,
  send,
} from './payout-rows.ts'

const SEEDS = Array.from({ length: env.MODEL_RUNS || 2 }, (_, n) => env.SEED * 1000 + n)
const AFFILIATES = ['a', 'b', 'c', 'd']
const STEPS = 30
/** A history begins with what the others need. */
const BEGINNING = 'earn earn earn earn earn prepare export answer answer prepare'.split(' ')

// biome-ignore lint/suspicious/noExplicitAny: rows as they are stored
const read = async (sql: string) => (await env.DB.prepare(sql).all<any>()).results
const transfers = () => read('select * from transfers order by id')
const cents = (text: string) => BigInt(text.replace('.', ''))
const sum = (texts: readonly string[]) => texts.reduce((all, one) => all + cents(one), 0n)

/** What a test remembers of a history. */
interface Memory {
  readonly from: Source
  /** The file of each batch as it was exported first. */
  readonly files: Map<string, string>
  /** The current version of each affiliate's details, and whether it may be paid. */
  readonly payees: Map<string, { version: number; isPayable: boolean }>
  payments: number
}

/** Sends a request: sometimes its caller is cut off at some call, and sometimes two send it at once. */
async function post({ from }: Memory, path: string, body: object) {
  if (from.oneIn(3)) {
    const cut = { nth: from.below(12), after: from.oneIn(2) }
    await disconnect(requestOf(path, body), cut)
  }
  const [answer] = await Promise.all(
    Array.from({ length: from.between(1, 2) }, () => askAdmin(`${PATH}/${path}`, 'POST', body)),
  )
  return answer!
}

/** Sets the rows of a batch, which may be confirmed, or lost to another one, meanwhile. */
const setRows = async (id: string, rows: object) =>
  json(askAdmin(`${PATH}/batches/${id}/rows`, 'PUT', { rows }))

const batchesOf = () =>
  read(`select id, total, method from payout_batches where confirmed_by is not null order by id`)

/** What may happen. */
const STEPS_OF: Readonly<Record<string, (memory: Memory) => Promise<unknown>>> = {
  earn: (memory) =>
    due(
      memory.from.pick(AFFILIATES),
      `${memory.from.between(1, 900)}.${memory.from.between(10, 99)}`,
    ),
  async change(memory) {
    const { from, payees } = memory
    const id = from.pick(AFFILIATES)
    const version = (payees.get(id)?.version ?? 0) + 1
    const isPayable = !from.oneIn(4)
    const details = { ...ADA, name: `Ada ${version}` }
    await enter('payee', id, details, { version, payable_from: isPayable ? 1 : Date.now() + 9e6 })
    payees.set(id, { version, isPayable })
  },
  async prepare(memory) {
    const { from, payees } = memory
    const rows = await payable()
    const back = await statementsBack()
    const stopped = new Set<string>()
    for (const { affiliate_id, statements, ticked, reasons, doubts } of rows) {
      const isBack = statements.some(({ id }) => back.has(id))
      expect(doubts.some(({ code }) => code === 'came_back')).toBe(isBack)
      expect(reasons).toEqual(payees.get(affiliate_id)!.isPayable ? [] : ['changed'])
      if (doubts.some(({ code }) => STOPPING.includes(code as never))) stopped.add(affiliate_id)
      expect(ticked).toBe(reasons.length === 0 && !stopped.has(affiliate_id))
    }
    if (rows.length === 0) return
    const all = await json(prepare())
    const chosen = from.some(rows.map(({ affiliate_id }) => affiliate_id))
    const first = await json(prepare({ rows: rowsOfEach(chosen) }))
    // Nothing that stops a row is paid unless a person has waived it, nor what was not chosen.
    const unwaived = await prepare({ rows: chosen.map((id) => ({ id: `${id}:EUR` })) })
    expect(unwaived.status === 422).toBe(chosen.some((id) => stopped.has(id)))
    const paid = first.transfers.map((one: { affiliate_id: string }) => one.affiliate_id)
    expect(paid).toEqual(chosen.filter((id) => payees.get(id)!.isPayable).sort())
    if (from.oneIn(8)) await STEPS_OF.change!(memory)
    const kept = rowsOfEach(from.some(chosen))
    const set = from.oneIn(3) ? await setRows(first.id, kept) : first
    const { id, hash, total } = set.id ? set : first
    // The batch of all that is ticked is confirmed at the same time, sometimes.
    await Promise.all([
      post(memory, `batches/${id}/confirm`, { hash, total }),
      from.oneIn(2) && all.id && confirm(all),
    ])
  },
  async export(memory) {
    const { files, payees } = memory
    for (const { id, method } of await batchesOf()) {
      await post(memory, `batches/${id}/export`, {})
      const answer = await askFile(id)
      if (answer.status !== 200 || files.has(id)) continue
      files.set(id, await answer.text())
      if (method === 'manual') continue
      for (const one of (await transfers()).filter(({ batch }) => batch === id)) {
        const version = one.payee_version
        expect(payees.get(one.affiliate_id)).toEqual({ version, isPayable: true })
      }
    }
  },
  async cancel(memory) {
    const [{ id } = { id: '' }] = memory.from.shuffle(await batchesOf())
    if (memory.from.oneIn(3))
      await post(memory, `batches/${id}/cancel`, { reason: 'The bank refused it.' })
  },
  async answer(memory) {
    const { from } = memory
    const entries = (await transfers()).flatMap((one) => {
      if (one.state === 'created' && !from.oneIn(8)) return []
      const amount = from.oneIn(8) ? '0.01' : one.amount
      const isBack = one.state === 'paid' && !from.oneIn(4)
      const direction = isBack ? ('CRDT' as const) : ('DBIT' as const)
      return from.below(3) > 0 ? [{ amount, direction, txs: [{ reference: one.id, amount }] }] : []
    })
    const refused = entries.flatMap(({ txs }) => txs)
    const txs = refused.map(({ reference }) => ({ reference, status: from.pick(['RJCT', 'ACSP']) }))
    const file = from.oneIn(4) ? pain002('OTHER', 'PART', txs) : camt(entries)
    const { hash } = await json(send(file))
    if (hash) await post(memory, 'payouts/answers/apply', { hash })
    if (hash) await apply(hash)
  },
  async bookByHand(memory) {
    const { from } = memory
    const [one] = from.shuffle(await transfers())
    if (!one) return
    const amount = from.oneIn(2) ? one.amount : `${from.between(1, 900)}.00`
    const difference = { kind: from.pick(['fee', 'owed']), reason: 'As the bank says' }
    const direction = one.state === 'paid' && !from.oneIn(4) ? 'returned' : 'paid'
    const asked = { direction, amount, ...(amount !== one.amount && { difference }) }
    await Promise.all([
      post(memory, `transfers/${one.id}/book`, { booked_on: EXECUTE_ON, ...asked }),
      from.oneIn(3) && bookByHand(one.id, { direction, amount: one.amount }),
    ])
  },
  async payByHand(memory) {
    const rows = (await payable()).filter(({ reasons }) => reasons.length === 0)
    if (rows.length === 0 || memory.from.oneIn(3)) return
    const chosen = rowsOfEach([memory.from.pick(rows).affiliate_id])
    const { id, hash, total } = await json(
      prepare({
        ...{ payer: undefined, method: 'manual' },
        rows: chosen.map((row) => ({ ...row, reason: 'In cash' })),
      }),
    )
    await post(memory, `batches/${id}/confirm`, { hash, total })
    await post(memory, `batches/${id}/pay`, { paid_on: '2026-01-02' })
  },
}

/** Asserts the laws of §20 by what is stored. */
async function check({ files }: Memory) {
  await checkMoney(AFFILIATES)
  const all = await transfers()
  const statements = await read(
    `select id, affiliate_id, status, payable, payment, statement ->> 'payable' as whole from statements`,
  )
  const byId = new Map(statements.map((one) => [one.id, one]))
  const ids = (one: { statements: string }): string[] => JSON.parse(one.statements)
  for (const { id, total } of await batchesOf()) {
    const own = all.filter(({ batch }) => batch === id)
    expect(sum(own.map(({ amount }) => amount)), id).toBe(cents(total))
  }
  // A statement leaves once: by one transfer that is under way or paid, or by hand.
  const states = ['created', 'exported', 'accepted', 'paid']
  const going = all.filter(({ state }) => states.includes(state))
  const underWay = going.filter(({ state }) => state !== 'paid')
  const taken = underWay.flatMap(ids)
  expect(taken.length).toBe(new Set(taken).size)
  for (const one of underWay) {
    // More is due than a rest that is under way once what was paid before it came back.
    const isDue = sum(ids(one).map((id) => byId.get(id).payable)) >= cents(one.amount)
    expect(isDue, one.id).toBe(true)
    for (const id of ids(one)) expect(byId.get(id).payment, one.id).toBe(null)
  }
  // What is due of a statement is what the ledger leaves of it.
  const ledger = await read('select * from ledger')
  for (const { id, status, payable, whole, payment } of statements) {
    const moved = sum(ledger.flatMap((one) => (one.statement === id ? [one.amount] : [])))
    expect(cents(whole) + moved, id).toBe(status === 'approved' ? cents(payable) : 0n)
    expect(status === 'paid', id).toBe(payment !== null)
  }
  // What a transfer settles is its amount, or what a person has booked of it.
  const parts = await read(
    `select reference, direction, amount from bank_movements where difference = 'owed'`,
  )
  for (const { id, amount, state } of all) {
    const own = ledger.filter(({ reference }) => reference === id)
    for (const [kind, direction, of] of [
      ['paid', 'paid', ['paid', 'returned']],
      ['returned', 'returned', ['returned']],
    ] as const) {
      const entries = own
        .filter((one) => one.kind === kind)
        .map((one) => one.amount.replace('-', ''))
      const part = (to: string) => parts.find((one) => one.reference === id && one.direction === to)
      const booked = (part(direction) ?? part('paid'))?.amount ?? amount
      expect(sum(entries), `${id} ${kind}`).toBe(
        of.some((one) => one === state) ? cents(booked) : 0n,
      )
    }
  }
  for (const { kind, statement, reference } of ledger.filter((one) => /^T/.test(one.reference))) {
    const own = all.filter(({ id }) => id === reference)
    expect(own.map((one) => ids(one).includes(statement))).toEqual([true])
    expect(kind === 'paid' ? ['paid', 'returned'] : ['returned']).toContain(own[0].state)
  }
  for (const [id, file] of files) expect(await (await askFile(id)).text()).toBe(file)
}

test.each(SEEDS)('§20 laws hold after each step of a history (seed %s)', async (seed) => {
  const from = randomSource(seed)
  await firm(AFFILIATES)
  const payees = new Map(AFFILIATES.map((id) => [id, { version: 1, isPayable: true }]))
  const memory: Memory = { from, files: new Map(), payees, payments: 0 }
  const drawn = Array.from({ length: STEPS }, () => from.pick(Object.keys(STEPS_OF)))
  for (const name of [...BEGINNING, ...drawn, 'export']) {
    await STEPS_OF[name]!(memory)
    await check(memory)
  }
  expect(memory.files.size).toBeGreaterThan(0)
})
