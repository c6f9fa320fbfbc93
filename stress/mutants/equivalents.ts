import type { Mutant } from './catalog.ts'
import { ENGINE_EQUIVALENTS } from './engine/equivalents.ts'
import type { Equivalent } from './equivalent.ts'

/** The files of routes whose declaration has another name. */
const ROUTE_FILES: Readonly<Record<string, string>> = {
  brandTokens: 'brand-tokens',
  eventDefinitions: 'events',
  mappingRoutes: 'status-map',
}

/** The indexes that queries name, by the declaration that names them. */
const INDEXES = [
  ['customerIndexes', 'customers_day'],
  ['transactionTable', 'transactions_key'],
  ['brandActivityTable', 'events_key'],
] as const

/** Mutants that are not counted. */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: source that contains templates
const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: 'src/auth/rate.ts',
    declaration: 'decide',
    was: '(times[0] ?? 0) > time - WINDOW_MS',
    is: ['false'],
    why: 'If the oldest request counts, all do, and the filter keeps them all.',
  },
  {
    file: 'src/validation/fields.ts',
    declaration: 'hasLength',
    was: 'text.length <= max',
    is: ['false', 'text.length < max'],
    why: 'Code units bound code points: counting only code points gives the same answer.',
  },
  {
    file: 'src/validation/fields.ts',
    declaration: 'hasLength',
    was: 'text.length <= 2 * max',
    is: ['true'],
    why: 'Code units bound code points: counting only code points gives the same answer.',
  },
  {
    file: 'src/validation/calendar.ts',
    declaration: 'PLAIN_UTC_PATTERN',
    was: '/^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{3})?Z$/',
    is: [
      '/^\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{3})?Z$/',
      '/^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{3})Z$/',
    ],
    why: 'A shortcut for most times. Other times take the long way, with the same result.',
  },
  {
    file: 'src/validation/calendar.ts',
    declaration: 'parseInstant',
    was: 'PLAIN_UTC_PATTERN.test(text)',
    is: ['false'],
    why: 'A shortcut for most times. Other times take the long way, with the same result.',
  },
  {
    file: 'src/validation/fields.ts',
    declaration: 'hasFewDigits',
    was: 'size < 1e13 && isInHundredths(size)',
    is: ['false'],
    why: 'A shortcut for most amounts. Other amounts take the long way, with the same result.',
  },
  {
    file: 'src/validation/fields.ts',
    declaration: 'hasFewDigits',
    was: 'size < 1e13',
    is: ['true', 'size <= 1e13', 'size >= 1e13'],
    why: 'A shortcut for most amounts. Other amounts take the long way, with the same result.',
  },
  {
    file: 'src/validation/fields.ts',
    declaration: 'hasFewDigits',
    was: 'digits <= 15',
    is: ['true'],
    why: 'A number with more than 15 digits as written arrives as NaN.',
  },
  {
    file: 'src/validation/strict-object.ts',
    declaration: 'identityBy',
    was: 'only !== undefined && others.length === 0',
    is: ['false'],
    why: 'A shortcut for keys of one member. JSON of the member tells the same records apart.',
  },
  {
    file: 'src/validation/strict-object.ts',
    declaration: 'identityBy',
    was: 'only !== undefined',
    is: ['true', 'only === undefined'],
    why: 'A shortcut for keys of one member. JSON of the member tells the same records apart.',
  },
  {
    file: 'src/brand/decimal.ts',
    declaration: 'readDecimal',
    was: 'number + 0',
    is: ['number - 0'],
    why: 'JSON and SQLite write both zeros alike.',
  },
  {
    file: 'src/ingest/validate-records.ts',
    declaration: 'isAscending',
    was: "{ let greatest = '' for (const identity of identities) { if (identity === null) continue if (identity <= greatest) return false greatest = identity } return true }",
    is: ['{}'],
    why: 'A shortcut for names in order. The map finds the same.',
  },
  {
    file: 'src/ingest/validate-records.ts',
    declaration: 'isAscending',
    was: "''",
    is: ['"Stryker was here!"'],
    why: 'A shortcut for names in order. The map finds the same.',
  },
  {
    file: 'src/ingest/validate-records.ts',
    declaration: 'isAscending',
    was: 'identity <= greatest',
    is: ['true'],
    why: 'A shortcut for names in order. The map finds the same.',
  },
  {
    file: 'src/ingest/validate-records.ts',
    declaration: 'isAscending',
    was: 'true',
    is: ['false'],
    why: 'A shortcut for names in order. The map finds the same.',
  },
  {
    file: 'src/ingest/validate-records.ts',
    declaration: 'findRepeated',
    was: 'isAscending(identities)',
    is: ['false'],
    why: 'A shortcut for names in order. The map finds the same.',
  },
  {
    file: 'src/ingest/validate-records.ts',
    declaration: 'findRepeated',
    was: '() => false',
    is: ['() => undefined'],
    why: 'A shortcut for names in order. The map finds the same.',
  },
  {
    file: 'src/auth/access-token.ts',
    declaration: 'verifyAccessToken',
    was: '[...verified.keys()].slice(0, -MAX_VERIFIED)',
    is: ['[...verified.keys()]'],
    why: 'Without the cache each signature is verified again, with the same result.',
  },
  {
    file: 'src/auth/access-token.ts',
    declaration: 'verifyAccessToken',
    was: '-MAX_VERIFIED',
    is: ['+MAX_VERIFIED'],
    why: 'Without the cache each signature is verified again, with the same result.',
  },
  {
    file: 'src/auth/access-token.ts',
    declaration: 'verifyAccessToken',
    was: 'cached && cached.iss === issuer.BASE_URL',
    is: ['false'],
    why: 'Without the cache each signature is verified again, with the same result.',
  },
  {
    file: 'src/auth/client-limits.ts',
    declaration: 'recentWrongSecrets',
    was: 'at > now - GUESSING_WINDOW_MS',
    is: ['at >= now - GUESSING_WINDOW_MS'],
    why: 'At that time the wait for such a secret is 0.',
  },
  {
    file: 'src/ingest/validate-records.ts',
    declaration: 'validateRecords',
    was: 'check.issues.slice(0, MAX_LISTED_PER_RECORD)',
    is: ['check.issues'],
    why: 'Bounds the memory: `prioritizeErrors` lists as many of each record.',
  },
  {
    file: 'src/validation/strict-object.ts',
    declaration: 'strictObject',
    was: 'issues.length === 0',
    is: ['true'],
    why: 'A shortcut: nothing reads the warnings of an invalid record.',
  },
  {
    file: 'src/validation/strict-object.ts',
    declaration: 'strictObject',
    was: '[]',
    is: ['["Stryker was here"]'],
    why: 'Nothing reads the warnings of an invalid record.',
  },
  {
    file: 'src/db/records/statements.ts',
    declaration: 'memoize',
    was: 'compiled.set(key, statement)',
    is: [';'],
    why: 'Without the cache a statement is written again, with the same text.',
  },
  {
    file: 'src/tracking/go.ts',
    declaration: 'findCachedLink',
    was: 'cache.clear()',
    is: [';'],
    why: 'Bounds the memory of the cache and changes no answer.',
  },
  {
    file: 'src/brand/activities.ts',
    declaration: 'activities',
    was: '[]',
    is: ['["Stryker was here"]'],
    why: 'No request reads `neverRejected`. It is in openapi.json, which `npm run check` compares.',
  },
  {
    file: 'src/zone.ts',
    declaration: 'cachedOffset',
    was: 'offsets.size >= MAX_CACHED_OFFSETS',
    is: ['false', 'true', 'offsets.size > MAX_CACHED_OFFSETS', 'offsets.size < MAX_CACHED_OFFSETS'],
    why: 'Bounds the memory of the cache and changes no answer.',
  },
  {
    file: 'src/zone.ts',
    declaration: 'offsetAt',
    was: "zone === 'UTC'",
    is: ['false'],
    why: 'A shortcut for UTC. The calendar finds the same offset, 0.',
  },
  ...INDEXES.map(([declaration, index]) => ({
    file: 'src/db/records/record-table.ts',
    declaration,
    was: `'${index}'`,
    is: ['""'],
    why: 'Only the query plan changes, which `npm run check` compares with docs/sql.',
  })),
  {
    file: 'src/validation/compile.ts',
    declaration: 'compileField',
    was: 'predicates.every((predicate) => predicate !== null)',
    is: ['false'],
    why: 'A shortcut for fields that have only rules. The steps one by one give the same result.',
  },
  {
    file: 'src/validation/compile.ts',
    declaration: 'compileField',
    was: '(predicate) => predicate !== null',
    is: ['() => undefined'],
    why: 'A shortcut for fields that have only rules. The steps one by one give the same result.',
  },
  {
    file: 'src/validation/compile.ts',
    declaration: 'compileField',
    was: 'predicate !== null',
    is: ['false', 'predicate === null'],
    why: 'A shortcut for fields that have only rules. The steps one by one give the same result.',
  },
  {
    file: 'src/validation/compile.ts',
    declaration: 'compileField',
    was: '{ return (value) => { for (const holds of predicates) if (!holds(value)) return INVALID return value } }',
    is: ['{}'],
    why: 'A shortcut for fields that have only rules. The steps one by one give the same result.',
  },
  {
    file: 'src/db/records/retention.ts',
    declaration: 'deleteExpiredSql',
    was: 't.${key[1]} < ?1 limit ${ROWS_PER_DELETE} )` }',
    is: ['t.${key[1]} < ?1 limit 1 + ${ROWS_PER_DELETE} )` }'],
    why: 'The size of a step. The rows that one step leaves are deleted by the next.',
  },
  {
    file: 'src/retry.ts',
    declaration: 'withRetry',
    was: 'Math.random() * 50',
    is: ['Math.random() / 50'],
    why: 'A random part of a pause, which may be close to 0.',
  },
  {
    file: 'src/ingest/receive.ts',
    declaration: 'mayHaveWarnings',
    was: "policy(grant) === 'warn' || recordTable.warnsOnAttribution || (recordTable.personalColumns.length > 0 && recordTable.maskedColumn === null) || valid.some(({ record }) => record[MASK_PATCH] !== undefined) || valid.some(({ warnings }) => warnings.length > 0)",
    is: ['true'],
    why: 'A shortcut: outcomes that the response does not need are read and left out.',
  },
  {
    file: 'src/ingest/receive.ts',
    declaration: 'mayHaveWarnings',
    was: 'recordTable.personalColumns.length > 0',
    is: ['recordTable.personalColumns.length >= 0'],
    why: 'A shortcut: outcomes that the response does not need are read and left out.',
  },
  {
    file: 'src/admin/attribution.ts',
    declaration: 'isText',
    was: "typeof value === 'string'",
    is: ['true'],
    why: 'A link or affiliate that is null matches no row.',
  },
  {
    file: 'src/admin/attribution.ts',
    declaration: 'attribution',
    was: "''",
    is: ['"Stryker was here!"'],
    why: 'No link has either id.',
  },
  {
    file: 'src/http/body-size.ts',
    declaration: 'scan',
    was: 'i < chunk.length',
    is: ['i <= chunk.length'],
    why: 'After the end there is no character: only a text that is not JSON counts one more value.',
  },
  {
    file: 'src/validation/describe.ts',
    declaration: 'describeField',
    was: "'pipe' in field && Array.isArray(field.pipe)",
    is: ['false', "'pipe' in field || Array.isArray(field.pipe)"],
    why: 'A pipe within a pipe runs the same steps, and only Valibot sets `pipe`.',
  },
  {
    file: 'src/validation/describe.ts',
    declaration: 'describeField',
    was: "'pipe'",
    is: ['""'],
    why: 'A pipe within a pipe runs the same steps.',
  },
  ...[
    'accounts',
    'affiliates',
    'brandTokens',
    'clients',
    'eventDefinitions',
    'links',
    'mappingRoutes',
  ].map((declaration) => ({
    file: `src/admin/${ROUTE_FILES[declaration] ?? declaration}.ts`,
    declaration,
    was: "'/'",
    is: ['""'],
    why: 'Hono mounts both paths at the path of the parent.',
  })),
  {
    file: 'src/auth/token-gate.ts',
    declaration: 'TokenGate.admit',
    was: 'limits.retryAfter === 0',
    is: ['true'],
    why: 'A refusal changes nothing: the lease is closed at the same time.',
  },
  {
    file: 'src/auth/token-gate.ts',
    declaration: 'TokenGate.closeLater',
    was: 'this.#closing',
    is: ['false'],
    why: 'Of several timers one closes the lease, and the others find it closed.',
  },
  {
    file: 'src/auth/token-gate.ts',
    declaration: 'TokenGate.closeLater',
    was: 'true',
    is: ['false'],
    why: 'Of several timers one closes the lease, and the others find it closed.',
  },
  {
    file: 'src/db/records/classify-sql.ts',
    declaration: 'unknownKeys',
    was: ') where bytes < ${MAX_LOGGED_BYTES} )`',
    is: [') where bytes <= ${MAX_LOGGED_BYTES} )`'],
    why: 'An error takes more bytes than what it names, and the list is cut again when it is returned.',
  },
  {
    file: 'src/db/records/classify-sql.ts',
    declaration: 'unknownKeys',
    was: 'order by idx limit ${MAX_LOGGED_KEYS} ) )',
    is: ['order by idx limit 1 + ${MAX_LOGGED_KEYS} ) )'],
    why: 'The list is cut to the same length when it is returned.',
  },
  {
    file: 'src/db/records/count-sql.ts',
    declaration: 'COUNT_WRITTEN',
    was: 'changes() where changes() > 0 and account',
    is: ['changes() where changes() >= 0 and account'],
    why: 'Adds 0.',
  },
  {
    file: 'src/db/records/count-sql.ts',
    declaration: 'releaseSql',
    was: 'refused = 0) > 0 and (account,',
    is: ['refused = 0) >= 0 and (account,'],
    why: 'Nothing waits for a customer who was stored before.',
  },
  {
    file: 'src/db/records/count-sql.ts',
    declaration: 'addReleasedSql',
    was: 'null) where changes() > 0 on conflict',
    is: ['null) where changes() >= 0 on conflict'],
    why: 'Adds 0.',
  },
  {
    file: 'src/db/records/count-sql.ts',
    declaration: 'addReleasedSql',
    was: '), :delivery, null) where changes() > 0',
    is: ['), :delivery, null) where true or changes() > 0'],
    why: 'Adds 0.',
  },
  {
    file: 'src/admin/body.ts',
    declaration: 'readJson',
    was: "{ account: '' }",
    is: ['{}'],
    why: 'The bodies of the integrations team share one account, whatever its name is.',
  },
  {
    file: 'src/commission/engine/explain.ts',
    declaration: 'shareSteps',
    was: 'rule.fence === null',
    is: ['false'],
    why: 'A line has a fence only if its rule has one.',
  },
  {
    file: 'src/commission/why/compute-line.ts',
    declaration: 'storedLineKey',
    was: 'plans.get(plan)?.versions',
    is: ['plans.get(plan).versions'],
    why: 'A stored line has a plan, and no plan is deleted.',
  },
  {
    file: 'src/db/commission/packed-facts.ts',
    declaration: 'unpack',
    was: 'records.length > FACT_LIMITS.rows',
    is: ['records.length >= FACT_LIMITS.rows'],
    why: 'The same rows are read in another way.',
  },
  {
    file: 'src/db/commission/run-steps.ts',
    declaration: 'storeSteps',
    was: 'results.at(-1)?.results',
    is: ['results.at(-1).results'],
    why: 'A batch has a result for each statement.',
  },
  {
    file: 'src/ingest/validate-records.ts',
    declaration: 'toValidRecord',
    was: 'warnings.slice(0, MAX_LISTED_PER_RECORD)',
    is: ['warnings'],
    why: 'The response lists at most as many; here the others would only take memory.',
  },
  ...ENGINE_EQUIVALENTS,
]
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: source that contains templates

const matches = (one: Equivalent, mutant: Mutant) =>
  one.file === mutant.file && one.declaration === mutant.declaration && one.was === mutant.was

/** Whether no test can tell a mutant from the source. */
export const isEquivalent = (mutant: Mutant) =>
  EQUIVALENTS.some((one) => matches(one, mutant) && one.is.includes(mutant.is))

/** Returns the entries that match no mutant. Such an entry may hide a new mutant later. */
export const missingEquivalents = (mutants: readonly Mutant[]): string[] =>
  EQUIVALENTS.flatMap((one) =>
    one.is
      .filter((is) => !mutants.some((mutant) => matches(one, mutant) && mutant.is === is))
      .map((is) => `${one.was} → ${is} in ${one.declaration} of ${one.file}`),
  )
