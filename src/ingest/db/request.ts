import { encode } from '../../platform/db/column-types.ts'
import { customers } from '../../platform/db/schema.ts'
import type { Decision, Policy, Write } from './decide.ts'
import type { Found, FoundRequest } from './find-sql.ts'
import type { RecordTable } from './record-table.ts'
import { type Cells, type Row, toCells } from './rows.ts'
import { type DeliveryStatements, statementsOf } from './write-sql.ts'

/** What the log keeps of errors: the JSON, and the codes in it. */
interface DescribedErrors {
  readonly json: string
  readonly codes: readonly string[]
}

/** A validated request: all that the database needs to decide the rest. */
export interface DeliveryInput {
  id: string
  account: string
  resource: string
  form: 'object' | 'array' | 'data'
  /** When the request was received, in milliseconds. */
  receivedAt: number
  /** The day on which it was received, in the account's time zone for brands, in UTC for partners. */
  receivedDay: string
  dryRun: boolean
  lenient: boolean
  /** The bytes that the account may store. */
  storageQuota: number
  /** What happens to records that refer to something unknown. */
  policy: Policy
  received: number
  /** The number of records that failed validation. */
  invalidCount: number
  /** The number of their errors. */
  errorsTotal: number
  /** Returns what the log keeps of the errors of a decided request. */
  describeErrors: (decision: Decision) => DescribedErrors
  /** The request's Idempotency-Key, and the digests of its records: the first one is stored. */
  idempotency: { key: string; digests: readonly string[] } | null
  /** The valid records, one of each key. */
  rows: Row[]
  /** The positions of records that were merged into an earlier one with the same key, and its position. */
  repeats: ReadonlyMap<number, number>
  /** The valid fields of invalid records, whose references are checked, too. */
  invalidRows: Row[]
}

/** A request as its statements send it. */
export interface Delivery {
  readonly session: D1DatabaseSession
  readonly table: RecordTable
  readonly statements: DeliveryStatements
  readonly input: DeliveryInput
  /** The cells of the records by position. */
  readonly records: ReadonlyMap<number, Cells>
  readonly withRepeats: (idx: number) => readonly number[]
  /** The positions of the invalid records, and their references. */
  readonly invalid: readonly (readonly [idx: number, reference: unknown])[]
}

/** A record to write, with its cells. */
export interface WrittenRow {
  readonly write: Write
  readonly cells: Cells
}

/** Returns the days that what is written concerns: stored customers are only counted, so of these only those who move. */
export const daysOf = ({ canHold }: RecordTable, rows: readonly WrittenRow[]): number[] => [
  ...new Set(
    rows
      .filter(({ write: { revision, found } }) => canHold || revision === 1 || found.moves)
      .flatMap(({ write: { found } }) => [found.day, found.storedDay])
      .filter((day) => day !== null),
  ),
]

/** A decision, with what it was made of. */
export interface Decided {
  readonly decision: Decision
  readonly facts: Facts
}

/** Returns a request as its statements send it. Takes the rows out of `input`. */
export function prepare(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
): Delivery {
  const { rows, invalidRows, repeats } = input
  input.rows = []
  input.invalidRows = []
  const statements = statementsOf(table)
  const records = toCells(rows, statements.cells, table.encoded)
  const byFirst = Map.groupBy(repeats, ([, first]) => first)
  return {
    session,
    table,
    statements,
    input,
    records: new Map(records.map((cells) => [cells[0], cells])),
    withRepeats: (first) => [first, ...(byFirst.get(first) ?? []).map(([idx]) => idx)],
    invalid: table.reference ? invalidRows.map(referenceOf(table.reference.column)) : [],
  }
}

/** Returns a function that reads the reference of an invalid record; null if it has no valid one. */
const referenceOf =
  (column: string) =>
  ({ idx, values }: Row): [idx: number, reference: unknown] => {
    const value = values[column]
    return [idx, typeof value === 'string' ? value : null]
  }

/** What was read for a decision. */
export interface Facts {
  readonly request: FoundRequest
  readonly found: readonly Found[]
  /** The references of invalid records that are unknown. */
  readonly missing: ReadonlySet<unknown>
}

/** Returns the parameters that all statements of a request share. */
export const valuesOf = ({ input }: Pick<Delivery, 'input'>) => ({
  account: input.account,
  delivery: input.id,
  resource: input.resource,
  received_at: input.receivedAt,
  received_day: encode(customers.day, input.receivedDay),
  idempotency_key: input.idempotency?.key ?? null,
  quota: input.storageQuota,
})
