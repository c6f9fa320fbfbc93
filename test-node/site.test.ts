import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { transformSync } from 'esbuild'
import MiniSearch from 'minisearch'
import { PAGES, addressOf as referenceAddress } from '../scripts/docs/site/reference/pages.ts'
import { samplesOf } from '../scripts/docs/site/reference/sample.ts'
import { ORIGIN } from '../src/platform/documents/origin.ts'

// The files of the documentation site, before a Worker serves them.

execFileSync(process.execPath, ['scripts/site.ts'], { stdio: 'inherit' })
const out = 'dist/site'
const read = (path: string) => readFileSync(join(out, path), 'utf8')
const files = readdirSync(out, { recursive: true, encoding: 'utf8' })
const pages = new Map(
  files.filter((path) => path.endsWith('.html')).map((path) => [path, read(path)]),
)

/** Returns the file for an address, like `src/platform/documents/documents.ts`. */
function fileOf(address: string): string {
  if (address === '/') return 'index.html'
  if (address === '/docs') return 'docs/reference.html'
  if (address === '/missing') return 'missing.html'
  const isPage = /^\/docs\/[\w-]+$|^\/docs\/reference\/[\w-]+$/.test(address)
  return isPage ? `${address}.html` : address
}

const withoutSlash = (path: string) => path.replace(/^\//, '')
const has = (path: string) => files.includes(withoutSlash(path))
const addressOf = (file: string) => `/${file.replace(/\.html$/, '')}`.replace(/^\/index$/, '/')
const idsOf = (markup: string) => [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
const ids = new Map([...pages].map(([file, markup]) => [file, idsOf(markup)]))
const anchors = new Map([...ids].map(([file, all]) => [file, new Set(all)]))

describe('the site', () => {
  test('no two elements of a page have the same anchor', () => {
    for (const [file, all] of ids)
      assert.deepEqual(
        all.filter((id, i) => all.indexOf(id) !== i),
        [],
        file,
      )
  })

  test('every link leads to a page, a file or an anchor of the site', () => {
    const broken: string[] = []
    for (const [file, markup] of pages) {
      for (const [, link = ''] of markup.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        const target = new URL(link.replace(ORIGIN, ''), `https://site${addressOf(file)}`)
        if (target.pathname === '/console') continue
        if (!link.startsWith(ORIGIN) && /^[a-z]+:/.test(link)) continue
        const targetFile = withoutSlash(fileOf(target.pathname))
        const exists = target.hash
          ? anchors.get(targetFile)?.has(target.hash.slice(1))
          : has(targetFile)
        if (!exists) broken.push(`${file}: ${link}`)
      }
    }
    assert.deepEqual(broken, [])
  })

  test('no page has an inline script, style or handler, or loads from another origin', () => {
    for (const [file, markup] of pages) {
      const tags = [...markup.matchAll(/<[a-z][^>]*>/g)].map(([tag]) => tag)
      for (const tag of tags) {
        assert.doesNotMatch(tag, /^<style|^<base|^<iframe|^<script(?! src="\/assets\/)/, file)
        assert.doesNotMatch(tag, /\s(style|on\w+)=|javascript:/, file)
        assert.doesNotMatch(tag, /^<(script|link|img)[^>]*(src|href)="(?!\/assets\/)/, file)
      }
    }
  })
})

describe('the reference', () => {
  const spec = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const { paths, components } = spec
  const operations = Object.values<Record<string, { operationId: string; tags: string[] }>>(
    paths,
  ).flatMap((methods) => Object.values(methods))
  const referencePages = PAGES.map((page) => ({
    ...page,
    markup: read(`${referenceAddress(page)}.html`),
  }))

  test('shows every operation and schema on the pages of its tag and no other page', () => {
    for (const { operationId, tags } of operations) {
      const shown = referencePages
        .filter(({ markup }) => markup.includes(`<section class="operation" id="${operationId}">`))
        .map(({ name }) => name)
      const expected = PAGES.filter((one) => one.tags.includes(tags[0] ?? ''))
      assert.deepEqual(
        shown,
        expected.map(({ name }) => name),
      )
      assert.notEqual(shown.length, 0)
    }
    for (const name of Object.keys(components.schemas)) {
      assert.ok(
        referencePages.some(({ markup }) => markup.includes(` id="schema-${name}"`)),
        name,
      )
    }
  })
})

describe('the sample requests', () => {
  const spec = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const samples = Object.entries<Record<string, never>>(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      samplesOf({ path, method, operation }, spec).map(({ code }) => code),
    ),
  )
  const programs = (i: number) => samples.map((codes) => codes[i]!)

  test('name the origin in one piece, which the service replaces by its own', () => {
    for (const page of PAGES)
      assert.ok(read(`${referenceAddress(page)}.html`).includes(`${ORIGIN}/`), page.name)
  })

  test('each is a program in every language', () => {
    const run = (command: string, args: string[], input: string) => {
      const { status, stderr } = spawnSync(command, args, { input, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
    run('bash', ['-n'], programs(0).join('\n'))
    for (const code of programs(1)) transformSync(code, { loader: 'ts', format: 'esm' })
    run('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], programs(2).join('\n'))
  })
})

describe('the search index', () => {
  const { options, index } = JSON.parse(read('assets/search.json'))
  const search = MiniSearch.loadJS<{ id: string }>(index, options)
  const find = (query: string) => search.search(query).map(({ id }) => String(id))

  test('leads only to existing pages and anchors', () => {
    for (const id of Object.values<string>(index.documentIds)) {
      const [path = '', anchor] = id.split('#')
      const file = withoutSlash(fileOf(path))
      assert.ok(has(file), id)
      if (anchor) assert.ok(anchors.get(file)?.has(anchor), id)
    }
  })

  test('finds codes, fields, guide sections and operations', () => {
    assert.ok(find('withdrawn').includes('/docs/warnings#warning-withdrawn_currency'))
    assert.ok(find('validation_failed').includes('/docs/errors#problem-validation_failed'))
    assert.ok(find('leverage').some((id) => id.startsWith('/docs/reference/forex-records#')))
    assert.ok(find('totals').includes('/docs/reference/brands-records#getIgamingTotals'))
    assert.ok(find('/oauth/token').includes('/docs/reference/prop-trading-records#getToken'))
    assert.ok(find('max_count').includes('/docs/reference/plans#schema-PlanRule'))
    assert.ok(find('createAccount').includes('/docs/reference/accounts#createAccount'))
    for (const word of ['idempot', 'FTD', 'timezone', 'GDPR', 'revshare', 'postback', 'sandbox'])
      assert.notEqual(find(word).length, 0, word)
    assert.deepEqual(find('qqqqzz'), [])
  })
})
