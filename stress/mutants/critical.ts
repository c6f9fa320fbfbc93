import type { Mutant } from './catalog.ts'

/** Source that decides about money: the rate, the rules of fields, and the outcome of records. */
interface Critical {
  file: string
  /** The declarations that count; all of the file if none are named. */
  declarations?: readonly string[]
  /** The kind of mutants that counts; both if none is named. */
  kind?: Mutant['kind']
}

export const CRITICAL: readonly Critical[] = [
  { file: 'src/auth/rate.ts' },
  { file: 'src/auth/token-gate.ts', declarations: ['TokenGate.admit', 'TokenGate.closeLater'] },
  { file: 'src/validation/fields.ts' },
  { file: 'src/brand/decimal.ts' },
  { file: 'src/ingest/response.ts' },
  { file: 'src/ingest/validate-records.ts' },
  { file: 'src/db/records/merge.ts' },
  { file: 'src/db/records/delivery-sql.ts', kind: 'sql' },
  { file: 'src/db/records/delivery-sql.ts', kind: 'sql' },
  { file: 'src/db/records/delivery-sql.ts', kind: 'sql' },
  { file: 'src/db/records/delivery-sql.ts', kind: 'sql' },
  { file: 'src/db/records/delivery-sql.ts', kind: 'sql' },
  { file: 'src/db/records/sql-fragments.ts', kind: 'sql' },
  { file: 'src/db/records/delivery-sql.ts', kind: 'sql' },
  { file: 'src/db/records/totals.ts', kind: 'sql' },
  { file: 'src/db/records/delivery-sql.ts', kind: 'sql' },
]

/** Whether a mutant is in source that decides about money. */
export const isCritical = ({ file, declaration, kind }: Mutant) =>
  CRITICAL.some(
    (one) =>
      one.file === file &&
      (one.declarations?.includes(declaration) ?? true) &&
      (one.kind ?? kind) === kind,
  )

/** The entries that name a file or declaration without any mutant: it was renamed, or has gone. */
export const missingCritical = (mutants: readonly Mutant[]): string[] =>
  CRITICAL.flatMap(({ file, declarations = [null] }) =>
    declarations
      .filter(
        (name) =>
          !mutants.some(
            (one) => one.file === file && (name ?? one.declaration) === one.declaration,
          ),
      )
      .map((name) => (name === null ? file : `${name} in ${file}`)),
  )
