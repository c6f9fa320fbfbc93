import { env } from 'cloudflare:workers'
import { headOf } from '../books/book-rows.ts'

/** A statement as it is stored for exports. */
export interface Stored {
  account?: string
  affiliate?: string
  period?: string
  head?: Record<string, unknown>
  /** The lines and adjustments of each part. */
  parts?: readonly (readonly object[])[]
}

/** The id of the statement of an affiliate and period. */
export const idOf = (affiliate: string, period: string) =>
  `stm_${`${affiliate}${period}`.replaceAll(/[^\da-z]/g, '').padStart(24, '0')}`

const ZERO = '0.00'

/** The hash of all statements of these tests. */
export const HASH = 'ab'.repeat(32)

/** Stores a statement. Returns its id. */
export async function storeStatement(stored: Stored = {}): Promise<string> {
  const { account = 'acme-forex', affiliate = 'aff-7', period = '2026-10' } = stored
  const { head = {}, parts = [[]] } = stored
  const items = parts.flat()
  const adjustments_total = items.filter((item) => 'of' in item).length
  const id = idOf(affiliate, period)
  const statement = headOf(
    { id, affiliate, period },
    {
      payable_on: '2026-11-14',
      lines_total: items.length - adjustments_total,
      adjustments_total,
      ...head,
    },
  )
  const [first, ...others] = parts.map((part) => JSON.stringify(part))
  await env.DB.prepare(
    `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest,
       payable, closing, statement, lines, parts, state, read_at, computed_at)
     values (?1, ?2, ?3, 'ib', ?4, 'draft', ?5, ?5, '0', '0', ?6, ?7, ?8, '{}', 0,
       '2026-11-01T06:00:00.000Z')`,
  )
    .bind(account, period, affiliate, id, HASH, JSON.stringify(statement), first, parts.length)
    .run()
  for (const [i, lines] of others.entries()) {
    await env.DB.prepare(
      'insert into statement_lines (account, id, part, lines) values (?, ?, ?, ?)',
    )
      .bind(account, id, i + 2, lines)
      .run()
  }
  return id
}

/** A line as it is stored. */
export const lineOf = (n: number | string, own: object = {}) => ({
  id: `lin_${n}`,
  rule: 'tenth',
  version: 1,
  kind: 'share',
  scope: 'affiliate',
  base: '100.25',
  units: null,
  measure: null,
  step: null,
  rate: '10',
  amount: '10.02',
  carried_in: ZERO,
  carried_out: ZERO,
  capped: ZERO,
  recouped: ZERO,
  deficit: ZERO,
  fence: null,
  fx: [],
  ...own,
})

/** An adjustment as it is stored. */
export const adjustmentOf = (n: number | string, own: object = {}) => ({
  id: `adj_${n}`,
  of: { period: '2026-09', line: 'lin_9' },
  rule: 'tenth',
  version: 1,
  scope: 'affiliate',
  occurrence: 0,
  amount: '-5.00',
  causes: [],
  causes_total: 0,
  ...own,
})
