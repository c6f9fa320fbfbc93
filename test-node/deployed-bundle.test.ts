import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { BUILT_COPY } from './bundle.ts'
import { WORKER } from './service.ts'

// What `npm run deploy` uploads. The other tests of this folder run the same script in workerd: tokens,
// deliveries, reads, pages in Chromium, statements and webhooks.

describe('the script that is uploaded', () => {
  const folder = 'dist/worker'
  rmSync(folder, { recursive: true, force: true })
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/deploy.ts', '--env', 'production', '--dry-run'],
    { encoding: 'utf8', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
  )
  after(() => rmSync(folder, { recursive: true, force: true }))
  const code = readFileSync(join(folder, 'index.js'), 'utf8')

  test('is built by --dry-run without an account, which keeps the exit code of its checks', () => {
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^\nNot ready:\nBASE_URL is the placeholder https:\/\/api\.tributary\.example\. Set it .*\.\n/,
    )
    assert.match(stdout, /Total Upload: .*--dry-run: exiting now\./s)
  })

  test('is the one that the other tests run', () => {
    const copy = process.env[BUILT_COPY]
    assert.ok(copy, 'test-node/setup.ts has built no copy')
    const [script, comment] = code.split(/(?<=\n)(?=\/\/# source)/)
    assert.ok(readFileSync(join(copy, WORKER), 'utf8') === script)
    assert.equal(comment, '//# sourceMappingURL=index.js.map\n')
  })

  test('has no texts that only the documentation needs', () => {
    const documented = readFileSync('openapi.json', 'utf8').matchAll(
      /"description": ?"([^"\\]{40,})"/g,
    )
    const texts = Array.from(documented, ([, text = '']) => text)
    assert.ok(texts.length > 500)
    const kept = texts.filter((text) => code.includes(text))
    assert.deepEqual(
      kept,
      [],
      'see `said` in src/platform/validation/fields.ts and `described` in src/platform/http',
    )
  })

  test('has a source map, which finds the line of an error', () => {
    const map = new SourceMap(JSON.parse(readFileSync(join(folder, 'index.js.map'), 'utf8')))
    const before = code.slice(0, code.indexOf('has no value.')).split('\n')
    const found = map.findEntry(before.length - 1, before.at(-1)!.length)
    assert.ok('originalSource' in found)
    assert.equal(resolve(folder, found.originalSource), resolve('src/platform/db/statement.ts'))
    const source = readFileSync('src/platform/db/statement.ts', 'utf8').split('\n')
    assert.match(source[found.originalLine] ?? '', /has no value\./)
  })

  test('names its Durable Objects and its Workflow as wrangler.toml does', () => {
    const config = readFileSync('wrangler.toml', 'utf8')
    for (const [, name] of config.matchAll(/^class_name = "(\w+)"$/gm))
      assert.match(code, new RegExp(`export\\{.*\\b${name}[,}]`))
  })
})
