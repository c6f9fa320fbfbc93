import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { parseAst } from 'vitest/node'
import { skipWithoutGit, trackedFiles } from './tracked-files.ts'

// Names that the code once had and must not get again: each has a standard term in its place. A name is
// in these lists only if nothing else is rightly called so.

/** Names that are no English words. They must not stand anywhere, not even in a comment. */
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
  Caller: '`AppEnv`, or who calls: `CallerKind`',
  Checked: '`RecordCheck`',
  Judged: '`ValidatedRequest`',
  Odd: '`RowFlag`',
  Receipt: '`DeliveryResult`',
  admitted: '`grantPromise`, or what is admitted: `admittedTimes`',
  anew: '`newFields`',
  asked: '`withObjectRetry`, or what is asked for: `query`, `requests`',
  born: '`initialValue`',
  desk: '`accountRoutes`',
  grow: '`addSizes`',
  grows: '`sizeLimit`',
  keyOf: 'the key: `recordKey`, `customerKey`',
  misspelt: '`findNameErrors`',
  odd: '`flag`',
  readable: 'what it does: `decodeText`',
  refers: '`reference`',
  retried: '`withRetry`, or a count: `retries`',
  said: '`presentColumns`, or what is said: `sentence`',
  silent: '`ignoredInComparison`, or what is missing: `withoutResult`',
  strays: '`invalidRows`',
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
  Verdict: 'whose verdict: `AttributionVerdict`',
}

const SCANNED =
  /^(?:(?:src|scripts|bench|stress|test|test-node|examples|docs)\/|README\.md$|CONTRIBUTING\.md$)/
const TEXT = /\.(?:tsx?|js|md|json|sql|sh|py|php)$/
const OWN = 'test-node/old-names.test.ts'

const files = (trackedFiles ?? [])
  .filter((path) => SCANNED.test(path) && TEXT.test(path) && path !== OWN)
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))

/** Returns a pattern of names as whole identifiers. */
const identifiers = (names: Record<string, string>) =>
  new RegExp(`(?<![\\w$])(?:${Object.keys(names).join('|')})(?![\\w$])`, 'g')

/** A declared name, its offset in a text, and whether a function gets it. */
interface Place {
  name: string
  start: number
  isFunction?: boolean
}

const lineOf = (text: string, start: number) => text.slice(0, start).split('\n').length

/** A node of the syntax tree, as far as this test reads it. */
interface Node {
  type: string
  start: number
  name?: string
  id?: Node | null
  params?: (Node | null)[]
  shorthand?: boolean
  [member: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value

/**
 * Returns the names that a pattern gives. A member that is taken out of an object under its own name is
 * left out: the object has given it the name.
 */
function namesIn(pattern: unknown): Place[] {
  if (!isNode(pattern)) return []
  const { type, name, start } = pattern
  if (type === 'Identifier') return [{ name: name!, start }]
  if (type === 'ObjectPattern') {
    const members = pattern.properties as Node[]
    return members
      .filter(({ shorthand }) => !shorthand)
      .flatMap((one) => namesIn(one.type === 'Property' ? one.value : one))
  }
  if (type === 'ArrayPattern') return (pattern.elements as unknown[]).flatMap(namesIn)
  return namesIn(pattern.left ?? pattern.argument ?? pattern.parameter)
}

const isFunction = (node: unknown) => isNode(node) && /Function/.test(node.type)

/** Returns the names that a node declares, without those that the nodes in it declare. */
function declaredBy(node: Node): Place[] {
  const { type, id, params, init } = node
  const hasName = /^(?:VariableDeclarator|Class\w+|TS\w+Declaration)$/.test(type)
  const hasParameters = isFunction(node) || type === 'TSMethodSignature'
  const own = hasName || isFunction(node) ? namesIn(id) : []
  return [
    ...own.map((place) => ({ ...place, isFunction: isFunction(node) || isFunction(init) })),
    ...(hasParameters ? (params ?? []).flatMap(namesIn) : []),
  ]
}

/** Returns the names that are declared in a syntax tree. */
function declaredIn(tree: unknown): Place[] {
  if (Array.isArray(tree)) return tree.flatMap(declaredIn)
  if (!isNode(tree)) return []
  return [...declaredBy(tree), ...Object.values(tree).flatMap(declaredIn)]
}

/** Returns the declarations of some names in a file of TypeScript. */
function findDeclarations(path: string, text: string, names: Record<string, string>): Place[] {
  if (!/\.tsx?$/.test(path) || !identifiers(names).test(text)) return []
  const tree = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' })
  return declaredIn(tree).filter(({ name }) => Object.hasOwn(names, name))
}

describe('old names', { skip: skipWithoutGit }, () => {
  test('stand nowhere if they are no English words', () => {
    const found = files.flatMap(({ path, text }) =>
      [...text.matchAll(identifiers(NAMES))].map(
        ({ 0: name, index }) => `${path}:${lineOf(text, index)}: ${name}. Use ${NAMES[name]}.`,
      ),
    )
    assert.deepEqual(found, [])
  })

  test('name nothing if they are English words', () => {
    const found = files.flatMap(({ path, text }) =>
      findDeclarations(path, text, WORDS).map(
        ({ name, start }) => `${path}:${lineOf(text, start)}: ${name}. Use ${WORDS[name]}.`,
      ),
    )
    assert.deepEqual(found, [])
  })

  test('name no function if they are English words that may name a value', () => {
    const found = files.flatMap(({ path, text }) =>
      findDeclarations(path, text, FUNCTIONS)
        .filter(({ isFunction }) => isFunction)
        .map(
          ({ name, start }) => `${path}:${lineOf(text, start)}: ${name}(). Use ${FUNCTIONS[name]}.`,
        ),
    )
    assert.deepEqual(found, [])
  })

  test('name one thing at most if they had several meanings', () => {
    const found = files.flatMap(({ path, text }) =>
      findDeclarations(path, text, TYPES).map(({ name, start }) => ({
        name,
        line: `${path}:${lineOf(text, start)}: ${name}. Say ${TYPES[name]}.`,
      })),
    )
    const repeated = [...Map.groupBy(found, ({ name }) => name).values()].filter(
      (same) => same.length > 1,
    )
    assert.deepEqual(
      repeated.flat().map(({ line }) => line),
      [],
    )
  })

  test('are found as variables, functions, parameters and types, not as members', () => {
    const text = `
      import { asked as imported } from './a.ts'
      type Odd = { closed: boolean }
      interface Receipt { told: boolean; find(silent: number): void }
      const { telling, other: said, ...born } = { telling: true, tried: 1 }
      const [undated = 1] = [], readable = (asked: number) => asked
      function judge(...grows: string[]) { return (odd = 2) => odd }
      const render = <Props,>({ refers }: { refers: string }, strays: (keyOf: string) => void) => refers
    `
    const names = findDeclarations('a.ts', text, WORDS).map(({ name }) => name)
    assert.deepEqual(names.toSorted(), [
      'Odd',
      'Receipt',
      'asked',
      'born',
      'grows',
      'keyOf',
      'odd',
      'readable',
      'said',
      'silent',
      'strays',
      'undated',
    ])
  })

  test('of functions are told from those of values', () => {
    const text =
      'function closed() {}; const packed = () => 1; const f = (closed: Map) => packed(closed)'
    const places = findDeclarations('a.ts', text, FUNCTIONS)
    assert.deepEqual(
      places.map(({ name, isFunction = false }) => [name, isFunction]),
      [
        ['closed', true],
        ['packed', true],
        ['closed', false],
      ],
    )
  })
})
