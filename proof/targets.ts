/** A file whose mutants are hunted, and by which tests. */
export interface Target {
  name: string
  file: string
  /** The part that counts, where it is not the whole file. */
  part?: RegExp
  /** Whether its SQL is what counts, and nothing else of it. */
  sql?: true
  /** In the order in which they are asked. */
  tests: readonly string[]
}

const REST = ['outcomes', 'brand-activities', 'brand-customers', 'brand-times', 'body', 'held']

/** What decides about money: who is let through, which record is right, and what becomes of it. */
export const TARGETS: readonly Target[] = [
  { name: 'rate', file: 'src/auth/rate.ts', tests: ['rate'] },
  {
    name: 'gate',
    file: 'src/auth/token-gate.ts',
    part: /\/\*\* Counts one request[\s\S]*?\n}/,
    tests: ['rate', 'brand-token', 'bearer', 'oauth', 'cost'],
  },
  { name: 'fields', file: 'src/validation/fields.ts', tests: ['rules', ...REST] },
  {
    name: 'decimal',
    file: 'src/brand/decimal.ts',
    tests: ['brand-activities', 'brand-customers'],
  },
  {
    name: 'outcome',
    file: 'src/ingest/outcome.ts',
    tests: ['outcomes', 'held', 'prefer', 'reading', 'feeds'],
  },
  { name: 'judge', file: 'src/ingest/validate-records.ts', tests: ['body', 'outcomes', 'rules'] },
  {
    name: 'again',
    file: 'src/db/records/store-delivery.ts',
    part: /function recounting[\s\S]*?\n}/,
    tests: ['brand-activities', 'brand-customers'],
  },
  {
    name: 'merge',
    file: 'src/db/records/merge.ts',
    tests: ['brand-customers', 'brand-activities', 'brand-times', 'links', 'outcomes'],
  },
  {
    name: 'log',
    file: 'src/db/records/classify-sql.ts',
    sql: true,
    tests: [
      ...['idempotency', 'held', 'links', 'erasure', 'reading', 'brand-activities', 'faults'],
      ...['brand-customers', 'outcomes', 'cost'],
    ],
  },
  {
    name: 'statements',
    file: 'src/db/records/upsert-sql.ts',
    sql: true,
    tests: [
      ...['faults', 'held', 'brand-activities', 'idempotency', 'erasure', 'brand-customers'],
      ...['outcomes', 'cost'],
    ],
  },
  {
    name: 'phrases',
    file: 'src/db/records/sql-fragments.ts',
    sql: true,
    tests: ['erasure', 'faults', 'held', 'brand-activities', 'brand-customers', 'outcomes'],
  },
]
