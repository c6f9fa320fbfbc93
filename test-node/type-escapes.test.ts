import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseAst } from 'vitest/node'

// An assertion silences the compiler, so an error behind it is found only when the code runs.

/** The most type assertions, `!` and `any` in 1000 lines of a folder. */
const MOST_PER_1000_LINES = { src: 2, scripts: 8, chaos: 14 }

/** Whether a node of a syntax tree asserts a type. `as const` only narrows, and is checked. */
function isEscape(node: { type?: unknown; typeAnnotation?: unknown }): boolean {
  if (node.type === 'TSAsExpression')
    return !JSON.stringify(node.typeAnnotation).includes('"name":"const"')
  return /^TS(?:NonNullExpression|TypeAssertion|AnyKeyword)$/.test(String(node.type))
}

function countEscapes(tree: unknown): number {
  if (typeof tree !== 'object' || tree === null) return 0
  const inner = Object.values(tree).reduce<number>((sum, one) => sum + countEscapes(one), 0)
  return inner + Number(isEscape(tree))
}

/** Counts the escapes in a text of TypeScript. */
const escapesIn = (text: string, lang: 'ts' | 'tsx' = 'ts') =>
  countEscapes(parseAst(text, { lang }))

test('assertions of types, `!` and `any` are counted', () => {
  assert.equal(escapesIn('const a = b as C, d = e!.f, g: any = 1'), 3)
  assert.equal(escapesIn('const a = [1] as const, b: unknown = !c'), 0)
})

for (const [folder, most] of Object.entries(MOST_PER_1000_LINES)) {
  test(`${folder} has at most ${most} in 1000 lines`, () => {
    const sources = globSync(`${folder}/**/*.{ts,tsx}`).map((path) => ({
      lang: path.endsWith('x') ? ('tsx' as const) : ('ts' as const),
      text: readFileSync(path, 'utf8'),
    }))
    const lines = sources.reduce((sum, { text }) => sum + text.split('\n').length, 0)
    const escapes = sources.reduce((sum, { text, lang }) => sum + escapesIn(text, lang), 0)
    assert.ok(escapes <= (most * lines) / 1000, `${escapes} in ${lines} lines`)
  })
}
