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
