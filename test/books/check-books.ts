import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import type {
  Adjustment,
  StatementHead,
  StatementLine,
  StoredSteps,
} from '../../src/commission/run/draft.ts'
import { canonicalJson } from '../../src/platform/validation/canonical-json.ts'
import { follow } from '../commission/follow.ts'
import {
  add,
  negate,
  parse,
  plain,
  type Rational,
  sum,
  ZERO,
} from '../commission/oracle/rational.ts'

// Proves that the books of an account are right, from the rows of the database alone.

interface Row {
  period: string
  affiliate_id: string
  plan: string
  id: string
  status: 'draft' | 'approved' | 'paid'
  hash: string
  digest: string
  previous: string
  payable: string
  closing: string
  statement: string | null
  lines: string
  steps: string
  parts: number
  state: string
  approval: string | null
  approved_at: number | null
  payment: string | null
  returned: string | null
}

/** A statement with its lines and adjustments. */
export interface Booked extends Row {
  readonly head: StatementHead | null
  readonly own: readonly StatementLine[]
  readonly adjustments: readonly Adjustment[]
  /** The steps of each part. */
  readonly stepsOfParts: readonly string[]
}

const total = (texts: readonly string[]): string => plain(sum(texts.map((text) => parse(text))))

const digest = async (text: string): Promise<string> => {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return new Uint8Array(bytes).toHex()
}

const rowsOf = async <T>(table: string, account: string, order: string): Promise<T[]> => {
  const text = `select * from ${table} where account = ? order by ${order}`
  return (await env.DB.prepare(text).bind(account).all<T>()).results
}

/** Returns all statements of an account, by affiliate, plan and period. */
export async function readStatements(account: string): Promise<Booked[]> {
  const rows = await rowsOf<Row>('statements', account, 'affiliate_id, plan, period')
  const further = Map.groupBy(
    await rowsOf<{ id: string; lines: string; steps: string }>(
      ...(['statement_lines', account, 'id, part'] as const),
    ),
    ({ id }) => id,
  )
  return rows.map((row) => {
    const head: StatementHead | null = row.statement === null ? null : JSON.parse(row.statement)
    const parts = [row, ...(further.get(row.id) ?? [])]
    const all = parts.slice(0, row.parts).flatMap(({ lines }) => JSON.parse(lines))
    const stepsOfParts = parts.map(({ steps }) => steps)
    const count = head?.lines_total ?? 0
    expect(all.length).toBe(count + (head?.adjustments_total ?? 0))
    return { ...row, head, own: all.slice(0, count), adjustments: all.slice(count), stepsOfParts }
  })
}

/** Returns what never changes of an account's closed statements, by id. */
export const frozenOf = (statements: readonly Booked[]) =>
  new Map(
    statements.flatMap(({ status, payment: _, returned: __, ...row }) =>
      status === 'draft' ? [] : [[row.id, JSON.stringify(row)] as const],
    ),
  )

interface Entry {
  id: string
  affiliate_id: string
  statement: string
  kind: string
  plan: string
  currency: string
  amount: string
  reference: string | null
}

interface Payment {
  reference: string
  affiliate_id: string
  currency: string
  amount: string
  statements: string
  /** Whether it came back. */
  returned: boolean
}

const readPayments = async (account: string): Promise<Payment[]> => {
  const returns = await rowsOf<{ payment: string }>('payment_returns', account, 'payment')
  return (await rowsOf<Payment>('payments', account, 'reference')).map((one) => ({
    ...one,
    returned: returns.some(({ payment }) => payment === one.reference),
  }))
}

/**
 * Asserts for an account: each closed statement adds up, has the hash of its content and builds on the
 * one before; the ledger is the sum of the closed statements; manual entries are booked once; payments
 * are those of the paid statements. Returns the statements.
 */
export async function checkBooks(account: string): Promise<Booked[]> {
  const statements = await readStatements(account)
  const ledger = await rowsOf<Entry>('ledger', account, 'affiliate_id, id')
  const closed = statements.filter(({ status }) => status !== 'draft')
  for (const chain of Map.groupBy(statements, planKey).values()) checkChain(chain)
  for (const one of closed) await checkContent(one)
  const payments = await readPayments(account)
  checkEntries(closed, ledger, payments)
  checkBalances(closed, ledger)
  await checkManual(account, closed)
  checkPayments(closed, payments)
  await checkAudit(account, closed)
  expect(await env.DB.prepare('select 1 from book_resets').first()).toBe(null)
  return statements
}

const planKey = ({ affiliate_id, plan }: Row) => JSON.stringify([affiliate_id, plan])

/** Closed statements come first, and each begins with what the one before left. */
function checkChain(chain: readonly Booked[]): void {
  let before: Booked | null = null
  for (const one of chain) {
    if (one.status !== 'draft') {
      const label = `${one.affiliate_id} ${one.plan} ${one.period}`
      expect(before?.status ?? 'approved', label).not.toBe('draft')
      expect(one.previous, label).toBe(before?.digest ?? '')
      if (one.head) {
        const received = one.head.received.map(({ amount }) => amount)
        expect(total([one.head.opening]), label).toBe(total([before?.closing ?? '0', ...received]))
      }
    }
    before = one
  }
}

/** The steps of each line, and of each line that an adjustment corrects, lead to its amount. */
function followAll({ head, own, adjustments, stepsOfParts }: Booked): void {
  const steps: Record<string, StoredSteps> = Object.assign(
    {},
    ...stepsOfParts.map((text) => JSON.parse(text)),
  )
  const { affiliate_id = '', plan = '', period = '', currency = '' } = head ?? {}
  for (const line of [...own, ...adjustments]) {
    const found = steps[line.id]
    if ('of' in line && found === undefined) continue
    const corrected = found?.line ?? ('of' in line ? undefined : line)
    const about = { affiliate_id, plan, period, currency, corrections: [] }
    follow({ ...about, line: corrected!, steps: found!.steps })
  }
}

/** The sums of a statement are those of its lines, and its hash and digest those of its content. */
async function checkContent(one: Booked): Promise<void> {
  const { head, own, adjustments, statement, hash, state, previous, stepsOfParts } = one
  const content = JSON.stringify([statement, hash, state, previous, ...stepsOfParts])
  expect(await digest(content), one.id).toBe(one.digest)
  if (head === null) return
  followAll(one)
  const { id, lines_total: _, adjustments_total: __, ...hashed } = head
  expect(await digest(canonicalJson({ ...hashed, lines: own, adjustments })), id).toBe(hash)
  const amounts = (list: readonly { amount: string }[]) => total(list.map(({ amount }) => amount))
  expect(amounts(own), id).toBe(total([head.lines_sum]))
  expect(amounts(adjustments), id).toBe(total([head.adjustments_sum]))
  expect(amounts(head.manual), id).toBe(total([head.manual_sum]))
  expect(total([head.lines_sum, head.adjustments_sum]), id).toBe(total([head.earned]))
  expect(total([head.lines_sum, head.adjustments_sum, head.manual_sum]), id).toBe(
    total([head.total]),
  )
  const left = [head.payable, head.closing, head.dropped, head.transferred?.amount ?? '0']
  expect(total([head.opening, head.total]), id).toBe(total(left))
  expect([total([one.payable]), total([one.closing])], id).toEqual([
    total([head.payable]),
    total([head.closing]),
  ])
}

const opposite = (amount: string) => plain(negate(parse(amount)))

/** The ledger has what each closed statement books, once, and nothing else. */
function checkEntries(
  closed: readonly Booked[],
  ledger: readonly Entry[],
  payments: readonly Payment[],
): void {
  const paymentsOf = Map.groupBy(
    payments.flatMap((one) =>
      (JSON.parse(one.statements) as string[]).map((id) => ({ ...one, id })),
    ),
    ({ id }) => id,
  )
  const expected = closed.flatMap(({ id, head }) => {
    if (head === null) return []
    const { transferred } = head
    return (
      [
        ['earned', head.lines_sum, null],
        ['adjusted', head.adjustments_sum, null],
        ['manual', head.manual_sum, null],
        ['dropped', opposite(head.dropped), null],
        ['transferred', opposite(transferred?.amount ?? '0'), transferred?.to ?? null],
        ...head.received.map(({ amount, from }) => ['transferred', amount, from]),
        ...(paymentsOf.get(id) ?? []).flatMap(({ reference, returned }) => [
          ['paid', opposite(head.payable), reference] as const,
          ...(returned ? [['returned', head.payable, reference] as const] : []),
        ]),
      ] as const
    ).flatMap(([kind, amount, reference]) =>
      /[1-9]/.test(amount ?? '')
        ? [JSON.stringify([head.affiliate_id, id, kind, total([amount ?? '0']), reference])]
        : [],
    )
  })
  const booked = ledger.map(({ affiliate_id, statement, kind, amount, reference }) =>
    JSON.stringify([affiliate_id, statement, kind, total([amount]), reference]),
  )
  expect(booked.sort()).toEqual(expected.sort())
}

/** Sums amounts by affiliate and currency; sums of 0 are left out. */
function sums(parts: readonly (readonly [affiliate: string, currency: string, amount: string])[]) {
  const all = new Map<string, Rational>()
  for (const [affiliate, currency, amount] of parts) {
    const key = `${affiliate} ${currency}`
    all.set(key, add(all.get(key) ?? ZERO, parse(amount)))
  }
  return [...all]
    .flatMap(([key, one]) => (plain(one) === '0' ? [] : [`${key} ${plain(one)}`]))
    .sort()
}

/**
 * A balance is what the last closed statement of each plan left, and what is due. What one plan has
 * transferred to another is in neither until the statement that receives it is closed.
 */
function checkBalances(closed: readonly Booked[], ledger: readonly Entry[]): void {
  const expected = [...Map.groupBy(closed, planKey).values()].flatMap((chain) =>
    chain.flatMap(({ affiliate_id, head, status, closing }, index) => {
      const currency = chain.find((other) => other.head)?.head?.currency ?? ''
      return [
        ...(index === chain.length - 1 ? [closing] : []),
        ...(head && status === 'approved' ? [head.payable] : []),
      ].map((amount) => [affiliate_id, currency, amount] as const)
    }),
  )
  const booked = ledger.map((one) => [one.affiliate_id, one.currency, one.amount] as const)
  expect(sums(booked)).toEqual(sums(expected))
}

/** Each manual entry that is booked stands in one closed statement, and no other one does. */
async function checkManual(account: string, closed: readonly Booked[]): Promise<void> {
  const entries = await rowsOf<{ id: string; amount: string; statement: string | null }>(
    ...(['manual_entries', account, 'id'] as const),
  )
  const booked = entries.flatMap(({ id, amount, statement }) =>
    statement === null ? [] : [JSON.stringify([statement, id, amount])],
  )
  const listed = closed.flatMap(({ id, head }) =>
    (head?.manual ?? []).map((one) => JSON.stringify([id, one.id, one.amount])),
  )
  expect(booked.sort()).toEqual(listed.sort())
}

/** Each paid statement belongs to one payment that did not come back, whose amount is the sum of its statements. */
function checkPayments(closed: readonly Booked[], payments: readonly Payment[]): void {
  const byId = new Map(closed.map((one) => [one.id, one]))
  const paid = payments.flatMap(
    ({ reference, affiliate_id, currency, amount, statements, returned }) => {
      const ids: string[] = JSON.parse(statements)
      const own = ids.map((id) => byId.get(id))
      expect(total(own.map((one) => one?.payable ?? '0')), reference).toBe(total([amount]))
      for (const one of own) {
        expect([one?.affiliate_id, one?.head?.currency]).toEqual([affiliate_id, currency])
      }
      return returned ? [] : ids.map((id) => JSON.stringify([id, reference]))
    },
  )
  const expected = closed.flatMap(({ id, status, payment }) =>
    status === 'paid' ? [JSON.stringify([id, payment])] : [],
  )
  expect(paid.sort()).toEqual(expected.sort())
}

/** The audit log tells of each approval and payment once. */
async function checkAudit(account: string, closed: readonly Booked[]): Promise<void> {
  const entries = await rowsOf<{ id: string; action: string; details: string }>(
    ...(['audit_log', account, 'id'] as const),
  )
  const approved = entries.reduce(
    (sum, { details }) => sum + (JSON.parse(details).approved ?? 0),
    0,
  )
  expect(approved).toBe(closed.filter(({ head }) => head !== null).length)
  const known = new Set(entries.map(({ id }) => id))
  for (const { approval, head } of closed) if (head) expect(known).toContain(approval)
}
