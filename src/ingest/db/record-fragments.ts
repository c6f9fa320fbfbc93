import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { erasedValue } from './merge.ts'
import { MASK_PATCH, type RecordTable } from './record-table.ts'

// SQL that the statements of a delivery share. Their parameters are named: `:account` and `:delivery`, and
// `:rows`, a JSON array of records, each an array of its own. In every statement `sent` is one record of such an
// array, and `t` is the stored record. Table and column names come from our schema, never from a request, so they
// are not quoted.

/**
 * The names of the cells that a decision adds to a record: its next revision, whether it waits, whether its customer is
 * erased, and from which day on its customer has another affiliate.
 */
const DECIDED = ['revision', 'held', 'erased', 'from_day']

/** The fragments of one table. */
export interface SqlFragments {
  /** The beginning of a statement, which names the cells of `:rows`. SQLite reads a cell where it is used. */
  readonly withSent: string
  /** Returns the SQL that reads a cell; `null` if the records of the table lack it. */
  readonly sent: (name: string) => string
  /** Returns the value that is stored if `isErased` tells whether the customer is erased. */
  readonly storedIf: (isErased: string) => (name: string) => string
  /** Returns the condition that `t` has the record's key. */
  readonly keyMatches: string
  /** The condition that the record is older than `t`. */
  readonly isOlder: string
}

/** Returns the fragments of a table. */
export function sqlFragments(table: RecordTable): SqlFragments {
  const { key, versionColumn, personalColumns, maskedColumn } = table
  const all = ['idx', ...table.cells.map(({ name }) => name), ...DECIDED]
  const sent = (name: string) => (all.includes(name) ? `sent.${name}` : 'null')
  return {
    withSent: `with sent(${all.join(', ')}) as (
        select ${all.map((_, i) => `value ->> ${i}`).join(', ')} from ${JSON_EACH}(:rows))`,
    sent,
    storedIf: (isErased) => (name) => {
      if (personalColumns.includes(name)) {
        return `iif(${isErased}, ${erasedValue(name, sent)}, ${sent(name)})`
      }
      if (name !== maskedColumn) return sent(name)
      return `iif(${isErased}, json_patch(${sent(name)}, ${sent(MASK_PATCH)}), ${sent(name)})`
    },
    keyMatches: `t.account = :account and ${key.map((name) => `t.${name} = ${sent(name)}`).join(' and ')}`,
    isOlder: versionColumn ? `(${sent(versionColumn)} < t.${versionColumn}) is true` : 'false',
  }
}
