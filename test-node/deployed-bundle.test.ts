import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { MIGRATIONS } from '../bench/schema.ts'
import { writeService } from '../scripts/bundle/bundle.ts'
import { collapseBundle } from '../scripts/bundle/collapse-bundle.ts'
import { collapseSql } from '../scripts/bundle/collapse-sql.ts'
import { orderModules } from '../scripts/bundle/order-modules.ts'
import { readStatements } from '../scripts/sql/reads.ts'
import { writeStatements } from '../scripts/sql/writes.ts'
import { BUILT_COPY, WORKER } from './service.ts'

// What `npm run deploy` uploads. The other tests of this folder run the same script in workerd: tokens,
// deliveries, reads, pages in Chromium, statements and webhooks.

describe('the script that is uploaded', async () => {
  const path = await writeService()
  const code = readFileSync(path, 'utf8')

  test('is the one that the other tests run', () => {
    const copy = process.env[BUILT_COPY]
    assert.ok(copy, 'test-node/setup.ts has built no copy')
    const [script, comment] = code.split(/\n(?=\/\/# source)/)
    assert.ok(readFileSync(join(copy, WORKER), 'utf8') === script)
    assert.equal(comment, '//# sourceMappingURL=index.js.map\n')
  })

  test('has a source map, which finds the line of an error', () => {
    const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')))
    const before = code.slice(0, code.indexOf('has no value.')).split('\n')
    const found = map.findEntry(before.length - 1, before.at(-1)!.length)
    assert.ok('originalSource' in found)
    assert.equal(found.originalSource, '../../src/db/statement.ts')
    const source = readFileSync('src/db/statement.ts', 'utf8').split('\n')
    assert.match(source[found.originalLine] ?? '', /has no value\./)
  })

  test('names its Durable Objects and its Workflow as wrangler.toml does', () => {
    const config = readFileSync('wrangler.toml', 'utf8')
    for (const [, name] of config.matchAll(/^class_name = "(\w+)"$/gm))
      assert.match(code, new RegExp(`export\\{.* as ${name}[,}]`))
  })
})

describe('the modules of a bundle', () => {
  const PARAMETERS = { folderWeight: 0.3, windowLength: 60_000 }
  const modules = (files: Record<string, { imports?: string[]; code?: string }>) =>
    Object.entries(files).map(([path, file]) => ({ path, imports: [], code: '', ...file }))

  test('follow what they import, and stand together by folder', () => {
    const files = modules({
      'src/index.ts': {
        imports: ['src/a/one.ts', 'src/b/one.ts', 'src/a/two.ts', 'src/b/two.ts'],
      },
      'src/a/one.ts': { imports: ['src/b/base.ts'] },
      'src/a/two.ts': {},
      'src/b/one.ts': { imports: ['src/b/base.ts'] },
      'src/b/two.ts': {},
      'src/b/base.ts': {},
    })
    const order = orderModules(files, PARAMETERS)
    assert.equal(order.map((path) => path.slice(4, 5)).join(''), 'bbbaai')
    for (const { path, imports } of files)
      for (const to of imports) assert.ok(order.indexOf(to) < order.indexOf(path))
  })

  test('stand next to what they resemble', () => {
    const files = modules({
      'index.ts': { imports: ['a.ts', 'b.ts', 'c.ts', 'd.ts'] },
      'a.ts': { code: 'select one from two' },
      'b.ts': { code: 'the quick brown fox' },
      'c.ts': { code: 'select one from three' },
      'd.ts': { code: 'the quick brown dog' },
    })
    assert.deepEqual(orderModules(files, PARAMETERS), ['d.ts', 'b.ts', 'c.ts', 'a.ts', 'index.ts'])
  })

  test('cannot import each other in a circle', () => {
    const files = modules({
      'src/a.ts': { imports: ['src/b.ts'] },
      'src/b.ts': { imports: ['src/a.ts'] },
    })
    assert.throws(
      () => orderModules(files, PARAMETERS),
      /Imports form a circle: src\/a\.ts, src\/b\.ts/,
    )
  })
})

describe('SQL in the bundle', () => {
  test('has little white space outside of strings', () => {
    for (const [parts, collapsed] of [
      [
        ['select a,\n  b\nfrom (\n  select 1\n)\nwhere a = 1'],
        ['select a,b from(select 1)where a=1'],
      ],
      [["select 'a = b\n  b' as c,\n  d"], ["select 'a = b\n  b' as c,d"]],
      [["select 'it''s\n  ',\n  1"], ["select 'it''s\n  ',1"]],
      [['select "a\n b"\nfrom t'], ['select "a\n b" from t']],
      [
        ["select 'a ", "\n  b',\n  ", '\n  from t'],
        ["select 'a ", "\n  b',", ' from t'],
      ],
    ] as const)
      assert.deepEqual(collapseSql(parts), collapsed)
  })

  test('is refused if it has a comment, an escape or an unclosed quote', () => {
    const refused = ['select 1 -- one\n', 'select /* one */ 1\n', "select '\\n'\n", "select 'a\n"]
    for (const sql of refused)
      assert.throws(() => collapseSql([sql]), /^Error: (Write )?[Tt]his SQL/)
  })

  test('compiles to the same program', () => {
    const database = new DatabaseSync(':memory:')
    for (const sql of MIGRATIONS) database.exec(sql)
    const program = (sql: string) => [
      database.prepare(`explain ${sql}`).all(),
      database.prepare(sql).columns(),
    ]
    let shorter = 0
    for (const { statements } of [...writeStatements(), ...readStatements()])
      for (const { statement } of statements) {
        const [collapsed = ''] = collapseSql([statement.sql])
        if (collapsed.length < statement.sql.length) shorter++
        assert.deepEqual(program(collapsed), program(statement.sql))
      }
    assert.ok(shorter > 50)
  })

  test('leaves every other token at its line and column', () => {
    const code = (inner: string, outer: string) => `// src/db/one.ts
const a = \`select \${b(\`x${inner}\`${outer}\`, c = 1
// src/http/two.ts
const d = \`one
  two\``
    assert.equal(
      collapseBundle(code('\n  y', ')},\n  2\n  from t'), 'src/db/'),
      code(' y', '\n    )},2 from t').replace(', c', '\n\n         , c'),
    )
  })
})
