import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { declaredNames } from './declared-names.ts'
import { skipWithoutGit, trackedFiles } from './tracked-files.ts'

// Names that the code once had and must not get again: each has a standard term in its place. A name is
// in these lists only if nothing else is rightly called so.

/** Names that are not English words. They must not appear anywhere, not even in a comment. */
const NAMES: Record<string, string> = {
  Parcel: '`DeliveryInput`',
  Shelf: '`RecordTable`',
  asksVerdict: '`warnsOnAttribution`',
  flawsOf: '`findInvalidValues`',
  isHeavy: 'the limit of bytes: `overByteLimit`',
  letThrough: '`authorize`',
  lookalikes: '`findCaseVariants`',
  outdate: '`bumpVersion`',
  passOf: '`compileField`',
  phrasesOf: '`sqlFragments`',
  statementsOf: '`buildStatements`',
  toParcel: '`toDeliveryInput`',
  tooHeavy: 'the limit of bytes: `overByteLimit`',
  weighed: 'the limit of bytes: `limitBytes`',
}

/** English words. They must not name a value, a function, a parameter or a type. */
const WORDS: Record<string, string> = {
  Arrival: '`RequestContext`, or what arrives',
  BROKEN: '`INVALID`, or what is wrong: `INCOMPLETE`',
  Caller: '`AppEnv`, or who calls: `CallerKind`',
  Checked: '`RecordCheck`',
  Judged: '`ValidatedRequest`',
  Odd: '`RowFlag`',
  Receipt: '`DeliveryResult`',
  Rows: '`RecordRows`, or which rows: `RowValues`',
  about: '`documentation`, or what it is about: `hintId`',
  admitted: '`grantPromise`, or what is admitted: `admittedTimes`',
  anew: '`newFields`',
  asked: '`withObjectRetry`, or what is asked for: `query`, `requests`',
  born: '`initialValue`',
  desk: '`accountRoutes`',
  full: '`allColumns`, or what is full: `fullWindow`',
  gate: 'token object: `object`, or what waits: `barrier`',
  grow: '`addSizes`',
  grows: '`sizeLimit`',
  judge: '`validateRecords`, or what an engine does: `evaluator`',
  judged: '`validateField`, or what was evaluated: `evaluated`',
  keyOf: 'the key: `recordKey`, `customerKey`',
  misspelt: '`findNameErrors`',
  odd: '`flag`',
  pushed: '`propagateSettings`',
  readable: 'what it does: `decodeText`',
  refers: '`reference`',
  retried: '`withRetry`, or a count: `retries`',
  said: '`presentColumns`, or what is said: `sentence`',
  silent: '`ignoredInComparison`, or what is missing: `withoutResult`',
  strays: '`invalidRows`',
  take: '`readField`, or what is taken: `nextMember`',
  telling: '`extrasPatch`',
  told: '`returnRecordOutcomes`',
  tried: '`withD1Retry`, or a count: `attempts`',
  undated: '`dayOptional`, or what is missing: `withoutTime`',
}

/** English words that may name a value, but not a function. */
const FUNCTIONS: Record<string, string> = {
  closed: '`strictObject`',
  packed: '`toDeliveryInput`, or what it packs: `packLines`',
}

/** Names that several types had. Only one may have each. */
const TYPES: Record<string, string> = {
  Form: 'which form: `CredentialsForm`',
  Tally: 'what is counted: `ApprovalTally`',
  Verdict: 'whose verdict: `AttributionVerdict`',
}

/** Words that may name a member: two columns of tables, and a method that takes a lease. */
const MEMBERS = new Set(['about', 'pushed', 'take'])

const SCANNED =
  /^(?:(?:src|scripts|bench|stress|test|test-node|examples|docs|public)\/|(?:README|CONTRIBUTING|SECURITY)\.md$)/
const TEXT = /\.(?:tsx?|js|md|json|sql|sh|py|php)$/
const OWN = 'test-node/old-names.test.ts'

const files = (trackedFiles ?? [])
  .filter((path) => SCANNED.test(path) && TEXT.test(path) && path !== OWN)
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))

/** Returns a pattern of names as whole identifiers. */
const identifiers = (names: Record<string, string>) =>
  new RegExp(`(?<![\\w$])(?:${Object.keys(names).join('|')})(?![\\w$])`, 'g')

const LISTED = { ...WORDS, ...FUNCTIONS, ...TYPES }

/** The declarations of the listed names in all files of TypeScript. Most files have none to parse for. */
const declarations = files
  .filter(({ path, text }) => /\.tsx?$/.test(path) && identifiers(LISTED).test(text))
  .flatMap(({ path, text }) => declaredNames(path, text).map((one) => ({ path, ...one })))
  .filter(({ name, isMember }) => Object.hasOwn(LISTED, name) && !(isMember && MEMBERS.has(name)))

/** Returns a line for each declaration of a name, with the term to use in its place. */
const report = (found: typeof declarations, names: Record<string, string>) =>
  found
    .filter(({ name }) => Object.hasOwn(names, name))
    .map(({ path, line, name }) => `${path}:${line}: ${name}. Use ${names[name]}.`)

describe('old names', { skip: skipWithoutGit }, () => {
  test('occur nowhere if they are not English words', () => {
    const found = files.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, i) =>
          [...line.matchAll(identifiers(NAMES))].map(
            ([name]) => `${path}:${i + 1}: ${name}. Use ${NAMES[name]}.`,
          ),
        ),
    )
    assert.deepEqual(found, [])
  })

  test('name nothing if they are English words', () => {
    assert.deepEqual(report(declarations, WORDS), [])
  })

  test('name no function if they may name a value', () => {
    const functions = declarations.filter(({ isFunction }) => isFunction)
    assert.deepEqual(report(functions, FUNCTIONS), [])
  })

  test('name one thing at most if several types had them', () => {
    const repeated = [...Map.groupBy(declarations, ({ name }) => name).values()]
      .filter((same) => same.length > 1)
      .flat()
    assert.deepEqual(report(repeated, TYPES), [])
  })
})

test('a declaration is found as a variable, function, parameter, class, type or member', () => {
  const text = `
    import { imported as alias } from './a.ts'
    type Type = { ofAlias: boolean }
    interface Interface { ofInterface: boolean; method(ofMethod: number): void }
    class Class { ofClass = 1; run() {} }
    enum Kind { OfEnum }
    const { taken, other: renamed, ...rest } = { shorthand, key: 1, [computed]: 2 }
    const [element = 1] = [], arrow = (simple: number) => simple
    function declared(...more: string[]) { return (byDefault = 2) => byDefault }
    const one = <Props,>({ member }: { member: string }, call: (ofType: string) => void) => member
  `
  const found = declaredNames('a.tsx', text)
  const names = (ofFunctions: boolean) =>
    found
      .filter(({ isFunction }) => isFunction === ofFunctions)
      .map(({ name }) => name)
      .toSorted()
  assert.deepEqual(names(true), ['arrow', 'declared', 'one', 'run'])
  assert.deepEqual(
    names(false).join(' '),
    'Class Interface Kind OfEnum Type byDefault call element key member method more ofAlias ofClass ofInterface ofMethod ofType renamed rest simple',
  )
  assert.equal(found.find(({ name }) => name === 'Class')?.line, 5)
})
