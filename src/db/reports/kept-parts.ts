import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import type { ReportRow, ReportStatement } from './read-report.ts'

/** How long what was read is kept, in milliseconds. */
const KEPT_MS = 86_400_000

/** How many parts of reports an account keeps. */
const KEPT_PARTS = 40

const READ_KEPT = compileStatement(`
  select part, rows from kept_reports
  where account = :account and part in (select value from json_each(:parts)) and kept_at > :since`)

/** Keeps the rows of a part unless anything changed since the computation began to read. */
const KEEP = `
  insert into kept_reports (account, part, first_day, last_day, by_customer, rows, kept_at)
  select :account, :part, :first_day, :last_day, :by_customer, :rows, :now where exists (
    select 1 from totals_leases
    where account = :account and computation = :computation and watch = 0)
  on conflict (account, part) do update set rows = excluded.rows, kept_at = excluded.kept_at`

/** Deletes what is kept too long, and the oldest of too much. */
const PRUNE = `
  delete from kept_reports where account = :account and (kept_at <= :since or part in (
    select part from kept_reports where account = :account
    order by kept_at desc, part limit -1 offset ${KEPT_PARTS}))`

/** Rows as they are kept. */
interface KeptRows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

/** Reads the rows of the parts that are kept, by the digest of the part, and those of another statement. */
export async function readKept(
  session: D1DatabaseSession,
  account: string,
  parts: readonly string[],
  other: ReportStatement | null,
  now: number,
) {
  const values = { account, parts: JSON.stringify(parts), since: now - KEPT_MS }
  const [found, others] = await withD1Retry(() =>
    session.batch<ReportRow>([
      bindStatement(session, READ_KEPT, values),
      ...(other ? [bindStatement(session, compileStatement(other[0]), other[1])] : []),
    ]),
  )
  const kept = new Map((found?.results ?? []).map(({ part, rows }) => [part, parseRows(`${rows}`)]))
  return { kept, others: others?.results ?? [] }
}

function parseRows(text: string): ReportRow[] {
  const { columns, rows }: KeptRows = JSON.parse(text)
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i] ?? null])))
}

/** Rows of a part that may be kept, and on what they depend. */
export interface KeptPart {
  readonly part: string
  readonly first_day: number
  readonly last_day: number
  readonly by_customer: 0 | 1
  readonly rows: readonly ReportRow[]
}

/** The largest rows that are kept of a part, in characters. */
const MOST_CHARACTERS = 250_000

/** Returns the statements that keep parts; large ones are not kept. */
export function keepStatements(parts: readonly KeptPart[], now: number): ReportStatement[] {
  const statements = parts.flatMap(({ rows, ...part }): ReportStatement[] => {
    const columns = Object.keys(rows[0] ?? {})
    const kept: KeptRows = { columns, rows: rows.map((row) => columns.map((name) => row[name]!)) }
    const text = JSON.stringify(kept)
    return text.length > MOST_CHARACTERS ? [] : [[KEEP, { ...part, rows: text, now }]]
  })
  return statements.length === 0 ? [] : [...statements, [PRUNE, { since: now - KEPT_MS }]]
}
