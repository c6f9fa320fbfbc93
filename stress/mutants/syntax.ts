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
  declarations?: (Node & { init?: Node })[]
  callee?: Node
  arguments?: Node[]
  tag?: Node
  quasi?: Node
}

/** Parses TypeScript. */
export const parse = (content: string) => parseAst(content, { lang: 'ts' }) as unknown as Node

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

/**
 * Registers the caches of a module, which are its empty maps at the top level, so that they can be
 * emptied before each test. A weak map becomes a map, since only that can be emptied.
 */
export function registerCaches(content: string): string {
  const caches = topLevel(content)
    .flatMap(({ declarations = [] }) => declarations.map(({ init }) => init))
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

/** Replaces stretches of a text that do not overlap. */
export function replaceSpans(content: string, edits: readonly (Span & { text: string })[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (result, { start, end, text }) => result.slice(0, start) + text + result.slice(end),
      content,
    )
}
