import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { bookedLines, freshLines } from '../commission/fresh-lines.ts'
import { randomSource, type Source } from '../commission/worlds.ts'
import { askAdmin, json } from '../partner.ts'
import { type BookFirm, bookFirm, LAST_MONTH, lots, MONTHS, payment } from './book-firm.ts'
import { bookPaid } from './book-rows.ts'
import { checkBooks, frozenOf, readStatements } from './check-books.ts'

// 16 requests at a time: deliveries, runs, approvals, payments and entries. Afterwards the books are
// right, whatever came first.

const AT_ONCE = 16
const ROUNDS = env.MODEL_RUNS ? 5 : 2
const SEEDS = Array.from({ length: env.MODEL_RUNS || 2 }, (_, i) => [1 + (i % 2), i])
const AFFILIATES = [
  ...[
    ['a-0', 'ib'],
    ['a-1', 'zero'],
    ['a-2', 'lots'],
    ['a-3', 'ib'],
    ['a-3', 'zero'],
  ],
  ['a-4', 'ib'],
] as const

const EXPECTED = [200, 201, 202, 409]

/** Sends a request that is drawn. Returns its status. */
async function act(firm: BookFirm, from: Source): Promise<number> {
  const month = from.pick(MONTHS)
  const [affiliate, plan] = from.pick(AFFILIATES)
  const isAda = from.oneIn(2)
  const statements = () => readStatements(firm.account)
  const status = async (response: Response | Promise<Response>) => (await response).status
  const kind = from.between(0, 11)
  if (kind === 0) {
    const amount = from.between(-300, 500)
    return status(
      firm.post('transactions', [
        payment(from.between(0, 40), from.between(0, 4), month, amount || 1),
      ]),
    )
  }
  if (kind === 1) return status(firm.post('trading-activity', [lots(2, month, from.between(0, 9))]))
  if (kind === 2) {
    await firm.run(from.pick([month, LAST_MONTH]))
    return 200
  }
  if (kind === 3) return status(firm.approvePeriod(month, isAda))
  if (kind === 4 || kind > 9) {
    const drafts = (await statements()).filter((one) => one.status === 'draft' && one.hash)
    const first = [...Map.groupBy(drafts, (one) => `${one.affiliate_id} ${one.plan}`).values()]
    if (drafts.length === 0) return 200
    return status(firm.approve(from.oneIn(4) ? from.pick(drafts) : from.pick(first)[0]!, isAda))
  }
  if (kind === 5 || kind === 6) {
    const payable = (await statements()).filter((one) => one.status === 'approved' && one.hash)
    if (payable.length === 0) return 200
    const reference = `R-${from.between(0, 6)}`
    return (await bookPaid([from.pick(payable).id], reference, '2000-01-01')) ? 200 : 409
  }
  if (kind === 7) {
    return (await firm.payDue()) > 0 ? 409 : 200
  }
  if (kind === 8) {
    const amount = from.pick(['7.5', '-12.25', '100'])
    return status(firm.enter(affiliate, plan, amount, `m-${from.between(0, 12)}`))
  }
  return status(
    askAdmin(`${firm.path}/assignments`, 'PUT', [
      { affiliate_id: 'a-0', plan: 'ib', from: `${month}-01`, customers: 'new' },
    ]),
  )
}

test.each(SEEDS)(
  'the books are correct after 16 simultaneous actions, with %i required approvers',
  async (approvals, seed) => {
    const firm = await bookFirm()
    const from = randomSource(seed)
    await askAdmin(firm.path, 'PATCH', { approvals })
    await firm.post(
      'transactions',
      MONTHS.flatMap((month, i) =>
        [0, 1, 3, 4].map((c) => payment(`${c}-${i}`, c, month, c === 1 && i === 1 ? -50 : 90 + i)),
      ),
    )
    await firm.run(LAST_MONTH)
    let frozen = new Map<string, string>()
    for (let round = 0; round < ROUNDS; round++) {
      const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => act(firm, from)))
      for (const status of statuses) expect(EXPECTED).toContain(status)
      const now = frozenOf(await checkBooks(firm.account))
      for (const [id, text] of frozen) expect(now.get(id)).toBe(text)
      frozen = now
      await firm.run(LAST_MONTH)
    }
    // A draft that another action has changed is refused, so two persons seldom agree here.
    if (approvals === 1) expect(frozen.size).toBeGreaterThan(0)

    // Afterwards all can be approved and paid, in order.
    await firm.run(LAST_MONTH)
    for (const month of ['2030-05', ...MONTHS, LAST_MONTH]) {
      expect((await firm.approvePeriod(month)).status).toBeLessThan(203)
      const second = await json(firm.approvePeriod(month, true))
      expect(second).toMatchObject({ closed: true, refused: [] })
    }
    expect(await firm.payDue()).toBe(0)
    const statements = await checkBooks(firm.account)
    expect(statements.filter(({ status }) => status === 'draft')).toEqual([])
    for (const { status, payable } of statements) {
      expect(status).toBe(/[1-9]/.test(payable) ? 'paid' : 'approved')
    }

    // With the corrections of the next month, the books are what a fresh computation gives.
    await firm.run('2030-12')
    const affiliates = ['a-0', 'a-1', 'a-2', 'a-3', 'a-4']
    expect(bookedLines(await checkBooks(firm.account))).toEqual(
      await freshLines(firm.account, '2030-12', affiliates),
    )
  },
)

test('whoever approves a statement at the same time as others gets the approved statement', async () => {
  const firm = await bookFirm()
  await firm.post('transactions', [payment('0', 0, MONTHS[0]!, 90)])
  await firm.run(LAST_MONTH)
  const first = (await readStatements(firm.account)).find((one) => one.status === 'draft')!
  // Approvals compute a draft again if anything has arrived since the run.
  await firm.post('transactions', [payment('1', 1, LAST_MONTH, 90)])
  const answers = await Promise.all(
    Array.from({ length: 12 }, async () => json(firm.approve(first))),
  )
  for (const answer of answers) expect(answer).toMatchObject({ id: first.id, status: 'approved' })
})
