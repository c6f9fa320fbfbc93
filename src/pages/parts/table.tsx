import type { Child } from 'hono/jsx'
import { isNumber, Value } from './fields.tsx'

type Shows<Row> = (row: Row) => Child

/** Numbers, which are right-aligned. */
export interface NumberCell<Row> {
  readonly number: Shows<Row>
}

/** What a column shows: a field of the rows, or of each row a number, which is right-aligned, sentences, or anything else. */
export type Cell<Row> =
  | (keyof Row & string)
  | Shows<Row>
  | NumberCell<Row>
  | { readonly prose: Shows<Row> }

/** The columns of a table by their titles. Those that are false are left out. */
export type Columns<Row> =
  | Readonly<Record<string, Cell<Row> | false>>
  | readonly (readonly [title: string, Cell<Row>])[]

/** Returns what a column shows of a row, and how. Sentences have the width of the card on a phone. */
function shown<Row>(cell: Cell<Row>): readonly [Shows<Row>, kind?: string | undefined] {
  if (typeof cell === 'function') return [cell]
  if (typeof cell !== 'string')
    return 'number' in cell ? [cell.number, 'number'] : [cell.prose, 'prose']
  const value = (row: Row) => <Value name={cell} value={row[cell]} row={row} />
  return [value, isNumber(cell) ? 'number' : undefined]
}

interface TableProps<Row> {
  readonly caption: string
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
  /** What to show instead if there are no rows: an `EmptyState`. */
  readonly empty?: Child
  /** Renders the tick box of a row by its position; if absent, rows have none. */
  readonly tick?: (row: Row, position: number) => Child
  /** Whether it stays a table on a phone. Otherwise each row is a card there, with the titles of its columns. */
  readonly isNarrow?: boolean
}

/** Renders a table. The first column names the row. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, rows, empty, tick, isNarrow } = props
  const all = Array.isArray(props.columns) ? props.columns : Object.entries(props.columns)
  const columns = all.flatMap(([title, cell]) =>
    cell ? [[title, ...shown<Row>(cell)] as const] : [],
  )
  if (rows.length === 0 && empty) return <>{empty}</>
  return (
    <section class={isNarrow ? 'wide' : 'wide cards'} aria-label={caption} tabindex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {tick && <td class="tick" />}
            {columns.map(([title, , kind]) => (
              <th scope="col" class={kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, position) => (
            <tr>
              {tick && <td class="tick">{tick(row, position)}</td>}
              {columns.map(([title, cell, kind], i) =>
                i === 0 ? (
                  <th scope="row" class={kind}>
                    {cell(row)}
                  </th>
                ) : (
                  <td class={kind} data-title={isNarrow ? undefined : title}>
                    {isNarrow ? cell(row) : <div>{cell(row)}</div>}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
