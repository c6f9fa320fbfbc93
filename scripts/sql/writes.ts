import {
  buildStatements,
  COMMON_STATEMENTS,
  type DeliveryStatements,
  type Policy,
} from '../../src/db/records/delivery-sql.ts'
import {
  brandActivityTable,
  brandCustomerTable,
  partnerCustomerTable,
  type RecordTable,
  tradingActivityTable,
  transactionTable,
} from '../../src/db/records/record-table.ts'
import type { Statement } from '../../src/db/statement.ts'
import { describeUpsert } from './describe-upsert.ts'
import type { DocumentedFile, DocumentedStatement } from './documented.ts'

/** The tables of records, with the policies that an account can have for each. */
const TABLES: readonly [name: string, table: RecordTable, policies: readonly Policy[]][] = [
  ['partner-customers', partnerCustomerTable, ['warn', 'reject']],
  ['transactions', transactionTable, ['reject', 'hold']],
  ['trading-activity', tradingActivityTable, ['reject', 'hold']],
  ['brand-customers', brandCustomerTable, ['reject']],
  ['brand-activities', brandActivityTable, ['reject', 'hold']],
]

/** Returns a file for each table and policy, with the statements that store a delivery. */
export const writeStatements = (): DocumentedFile[] =>
  TABLES.flatMap(([name, table, policies]) =>
    policies.map((policy) => ({
      name: `${name}-${policy}`,
      title: `Stores a delivery of ${name}; the account's policy for unknown references is ${policy}.`,
      statements: batchStatements(table, policy, name.startsWith('brand-')),
    })),
  )

/** The statements of a delivery in the order in which a batch runs them, then the rarer ones. */
function batchStatements(
  table: RecordTable,
  policy: Policy,
  mayRepeatKeys: boolean,
): DocumentedStatement[] {
  const statements = buildStatements(table)
  return [
    ...classification(statements, policy),
    ...commonWrites(table, statements, policy),
    ...rareWrites(table, statements),
    ...(mayRepeatKeys
      ? [
          document(
            'countRepeated',
            'Counts the records that were merged into one that was written.',
            statements.countRepeated(1),
          ),
        ]
      : []),
    ...sizeReads(statements),
    document('countDryRun', 'Dry run: counts what would be written.', statements.countDryRun),
    document('selectDryRun', 'Dry run: lists what would be written.', statements.selectDryRun),
    document(
      'discardDryRun',
      'Dry run: deletes its row if the log of this day is full.',
      COMMON_STATEMENTS.discardDryRun,
    ),
  ]
}

const classification = (statements: DeliveryStatements, policy: Policy): DocumentedStatement[] => [
  document(
    'insertDelivery',
    'Inserts the delivery row and classifies every record; the statements after it read that row.',
    statements.insertDelivery({
      policy,
      lookupChunks: 1,
      flaggedChunks: 0,
      referenceChunks: 1,
    }),
  ),
]

const commonWrites = (
  table: RecordTable,
  { upsert, countHeld, signUp, releases }: DeliveryStatements,
  policy: Policy,
): DocumentedStatement[] => [
  document(
    'upsert',
    'Stores the records that do not move; a record that equals the stored one writes nothing.',
    upsert.returning,
    [],
    describeUpsert(table, 'unmoved'),
  ),
  document(
    'countWritten',
    'Counts what the statement before wrote.',
    COMMON_STATEMENTS.countWritten,
  ),
  ...(table.canHold && policy === 'hold'
    ? [document('countHeld', 'Counts the held records among them.', countHeld(1))]
    : []),
  ...(signUp
    ? [
        document(
          'signUp',
          'Sets when new customers signed up who were sent without a time.',
          signUp,
          ['events_held'],
        ),
      ]
    : []),
  ...releases.flatMap(({ release, addReleased }, i) => [
    document(
      `release ${table.releases[i]?.resource}`,
      'Releases the records that waited for these customers.',
      release,
      [`${table.releases[i]?.table}_held`],
    ),
    document('addReleased', 'Adds what was released to its total.', addReleased, [
      `${table.releases[i]?.table}_held`,
    ]),
  ]),
]

const rareWrites = (table: RecordTable, statements: DeliveryStatements): DocumentedStatement[] => [
  ...(table.indexedColumns.length > 0
    ? [
        document(
          'upsertMoved',
          'Stores the records that move to another day or customer; runs before upsert, in a second batch.',
          statements.upsertMoved.returning,
          [],
          describeUpsert(table, 'moved'),
        ),
      ]
    : []),
  document(
    'selectDelivery',
    'After a lost answer: reads the row that the earlier attempt inserted.',
    COMMON_STATEMENTS.selectDelivery,
  ),
  document(
    'selectEarlierWrites',
    'After a lost answer: lists what the earlier attempt wrote.',
    statements.selectEarlierWrites,
  ),
]

/** Reads for records that could exceed the size limit of a stored record. */
const sizeReads = ({ sizes }: DeliveryStatements): DocumentedStatement[] =>
  sizes
    ? [
        document(
          'selectUndecided',
          'If insertDelivery cannot decide whether a record is too large: lists the keys of such records.',
          sizes.selectUndecided(1),
        ),
        document(
          'selectStoredMembers',
          'Reads the sizes of the stored fields of these records; the Worker then decides.',
          sizes.selectStored,
        ),
      ]
    : []

function document(
  name: string,
  purpose: string,
  statement: Statement,
  indexes: readonly string[] = [],
  notes: readonly string[] = [],
): DocumentedStatement {
  return { name, purpose, statement, indexes, notes }
}
