import { parseAst } from 'vitest/node'

/** A stretch of a text, in characters from 0. */
export interface Span {
  start: number
  end: number
}

/** A node of the syntax tree, as far as these programs read it. */
export interface Node extends Span {
  type: string
  value?: unknown
  expressions?: Node[]
  id?: Node & { name: string }
  key?: Node & { name: string }
  name?: string
  body?: Node | Node[]
  declaration?: Node
  specifiers?: { exported: { name: string } }[]
  declarations?: Declarator[]
  callee?: Node
  arguments?: Node[]
  tag?: Node
  quasi?: Node
}

type Declarator = Node & { init?: Node }

type Language = 'ts' | 'tsx'

/** Parses TypeScript. */
export const parse = (content: string, lang: Language = 'ts') =>
  parseAst(content, { lang }) as unknown as Node

const listOf = (body: Node['body']): Node[] => (Array.isArray(body) ? body : body ? [body] : [])

/** The declarations at the top level of a module, whether they are exported or not. */
const topLevel = (content: string): Node[] =>
  listOf(parse(content).body).map((statement) => statement.declaration ?? statement)

/** A declaration by its name; a method is named `Class.method`. */
export interface Declaration extends Span {
  name: string
}

/** Returns the declarations of a module. Methods follow their class. */
export const declarationsOf = (content: string): Declaration[] =>
  topLevel(content).flatMap((node) => {
    const { start, end } = node
    if (node.declarations) {
      return node.declarations.map(({ id }) => ({ name: id!.name ?? '', start, end }))
    }
    if (!node.id) return []
    const { name } = node.id
    if (node.type !== 'ClassDeclaration') return [{ name, start, end }]
    const members = listOf((node.body as Node).body)
    const methods = members.map((member) => ({
      name: `${name}.${member.key?.name ?? ''}`,
      start: member.start,
      end: member.end,
    }))
    return [{ name, start, end }, ...methods]
  })

const CACHES = new Set(['Map', 'WeakMap'])

/** Returns all nodes of a syntax tree, each before those that it contains. */
function nodesIn(tree: unknown, found: Node[] = []): Node[] {
  if (typeof tree !== 'object' || tree === null) return found
  if (!Array.isArray(tree)) found.push(tree as Node)
  for (const child of Object.values(tree)) nodesIn(child, found)
  return found
}

/** Returns the declarations in a syntax tree of variables that are called `cache`. */
const cachesIn = (tree: Node): Declarator[] =>
  nodesIn(tree).filter(({ type, id }) => type === 'VariableDeclarator' && id?.name === 'cache')

/**
 * Registers the caches of a module, so that they can be emptied before each test: its empty maps at the
 * top level, and those in functions that are called `cache`. A weak map becomes a map, since only that
 * can be emptied.
 */
export function registerCaches(content: string): string {
  const statements = topLevel(content)
  const inFunctions = statements.filter(({ type }) => type === 'FunctionDeclaration')
  const caches = [
    ...statements.flatMap(({ declarations = [] }) => declarations),
    ...inFunctions.flatMap(cachesIn),
  ]
    .map(({ init }) => init)
    .filter((init) => init?.type === 'NewExpression' && CACHES.has(init.callee?.name ?? ''))
    .filter((init) => init?.arguments?.length === 0)
  return replaceSpans(
    content,
    caches.map((cache) => ({
      start: cache!.start,
      end: cache!.end,
      text: '((map) => ((globalThis.__moduleCaches__ ??= []).push(map), map))(new Map())',
    })),
  )
}

/** Returns the names of the values that a module exports. */
export const exportsOf = (content: string, lang: Language): string[] =>
  listOf(parse(content, lang).body).flatMap(({ type, declaration, specifiers = [] }) => {
    if (type === 'ExportDefaultDeclaration') return ['default']
    if (type !== 'ExportNamedDeclaration') return []
    if (declaration?.type.startsWith('TS')) return []
    const declared = declaration?.declarations ?? (declaration ? [declaration] : [])
    return [...declared.map(({ id }) => id!.name), ...specifiers.map((one) => one.exported.name)]
  })

const LOOPS = new Set([
  'DoWhileStatement',
  'ForInStatement',
  'ForOfStatement',
  'ForStatement',
  'WhileStatement',
])

/** Returns the bodies of all loops in a syntax tree. */
const loopBodiesOf = (tree: Node): Node[] =>
  nodesIn(tree).flatMap(({ type, body }) =>
    LOOPS.has(type) && body && !Array.isArray(body) ? [body] : [],
  )

const COUNT_ITERATION = 'globalThis.__countIteration__?.();'

/**
 * Counts the iterations of each loop of a module, so that hunt.ts can end a loop that a mutant makes
 * infinite. Such a loop would block the runtime, timers included.
 */
export function countIterations(content: string): string {
  const edits = loopBodiesOf(parse(content)).flatMap(({ type, start, end }) =>
    type === 'BlockStatement'
      ? [{ start: start + 1, end: start + 1, text: COUNT_ITERATION }]
      : [
          { start, end: start, text: `{${COUNT_ITERATION}` },
          { start: end, end, text: '}' },
        ],
  )
  return replaceSpans(content, edits)
}

/** Replaces stretches of a text that do not overlap. */
export function replaceSpans(content: string, edits: readonly (Span & { text: string })[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (result, { start, end, text }) => result.slice(0, start) + text + result.slice(end),
      content,
    )
}
