import { withD1Retry } from './retry.ts'

/** A SQL statement with named parameters (`:account`), compiled to the numbered ones of D1. */
export interface Statement {
  /** The SQL that D1 runs, with `?1`, `?2` … */
  readonly sql: string
  /** The names of the parameters, in the order in which they are bound. */
  readonly parameters: readonly string[]
}

/** Compiles SQL whose parameters have names; D1 binds by number only. */
export function compileStatement(text: string): Statement {
  const parameters: string[] = []
  const sql = text.replace(/:([a-z]\w*)/g, (_, name: string) => {
    if (!parameters.includes(name)) parameters.push(name)
    return `?${parameters.indexOf(name) + 1}`
  })
  return { sql, parameters }
}

/**
 * Binds a statement's parameters by name.
 *
 * @throws Error if one has no value: D1 would bind `undefined` as a type error without its name.
 */
export function bindStatement(
  db: Pick<D1DatabaseSession, 'prepare'>,
  { sql, parameters }: Statement,
  values: Readonly<Record<string, unknown>>,
): D1PreparedStatement {
  return db.prepare(sql).bind(
    ...parameters.map((name) => {
      if (values[name] === undefined) throw new Error(`The parameter :${name} has no value.`)
      return values[name]
    }),
  )
}

/** A database, or a session of one. If it checks doors before each batch, `read` is a batch that does not. */
interface Batching {
  readonly batch: D1DatabaseSession['batch']
  readonly read?: D1DatabaseSession['batch']
}

/** Sends statements that only read in one batch, also while the door of their account is closed. */
export const read = <Row>(
  db: Batching,
  statements: D1PreparedStatement[],
): Promise<D1Result<Row>[]> => (db.read ? db.read(statements) : db.batch(statements))

/** The statements of a batch, whose rows have the types of `Lists`: `[Row]` of one that always has one row. */
type StatementsOf<Lists extends readonly unknown[][]> = readonly D1PreparedStatement[] & {
  readonly [K in keyof Lists]: unknown
}

/** Runs statements that only read in one batch. Returns the rows of each. */
export const readBatch = <Lists extends readonly unknown[][]>(
  db: Batching,
  statements: StatementsOf<Lists>,
): Promise<Lists> => rowsOf(() => read(db, [...statements]))

/** Runs statements in one batch. Returns the rows of each. */
export const writeBatch = <Lists extends readonly unknown[][] = unknown[][]>(
  db: Batching,
  statements: StatementsOf<Lists>,
): Promise<Lists> => rowsOf(() => db.batch([...statements]))

async function rowsOf<Lists>(send: () => Promise<D1Result[]>): Promise<Lists> {
  return (await withD1Retry(send)).map(({ results }) => results) as unknown as Lists
}

/** Returns each item with the element at its place in a list of the same length. */
export const pairs = <Item, Other>(items: readonly Item[], others: readonly Other[]) =>
  items.map((item, i) => [item, others[i] as Other] as const)

/**
 * Returns the value of a key.
 *
 * @throws Error if the map does not have the key.
 */
export function lookUp<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key)
  if (value === undefined) throw new Error('A row that belongs to another one is missing.')
  return value
}

/**
 * Returns a value that always exists, such as the row of an aggregate.
 *
 * @throws Error if it does not: that is a bug in this service.
 */
export function required<T>(value: T | null | undefined, name: string): T {
  if (value === null || value === undefined) throw new Error(`There is no ${name}.`)
  return value
}
