import { describe, expect, test } from 'vitest'
import table from './contract.md?raw'

const sources = import.meta.glob<string>('./*.test.ts', {
  query: '?raw',
  import: 'default',
  eager: true,
})

const rows = [...table.matchAll(/^\| ([\dA-Z]+\.\d+) \| (.+) \| (.+) \|$/gm)].map(
  ([, clause, says, tests]) => ({ clause: clause!, says: says!, tests: tests!.split('<br>') }),
)

const withoutComments = (source: string) => source.replace(/^\s*\/\/.*$/gm, '')

describe('contract.md', () => {
  test('has a row for every line of it, numbered without a gap', () => {
    expect(rows).toHaveLength(
      table.split('\n').filter((line) => /^\| [\dA-Z]+\./.test(line)).length,
    )
    const bySection = Map.groupBy(rows, ({ clause }) => clause.split('.')[0]!)
    expect([...bySection.keys()]).toEqual([...'123456789A'])
    for (const [section, clauses] of bySection) {
      expect(clauses.map(({ clause }) => clause)).toEqual(
        clauses.map((_, i) => `${section}.${i + 1}`),
      )
    }
  })

  test('leans on no test that is skipped', () => {
    for (const source of Object.values(sources)) {
      expect(source).not.toMatch(/\b(test|describe)\.(skip|only|todo|fails)\b/)
    }
  })

  test.each(rows)('$clause names tests that exist', ({ tests }) => {
    for (const named of tests) {
      const [, file, title] = /^`([\w-]+): (.+)`$/.exec(named) ?? []
      const source = sources[`./${file}.test.ts`]
      expect(source, `there is no ${file}.test.ts`).toBeDefined()
      const quoted = [`'${title}'`, `"${title}"`].some((literal) =>
        withoutComments(source!).includes(literal),
      )
      expect(quoted, `${file}.test.ts has no test called: ${title}`).toBe(true)
    }
  })
})
