import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { OUTCOME } from '../scripts/docs/explained/outcomes.ts'
import { PROBLEM } from '../scripts/docs/explained/problems.ts'
import { RULE } from '../scripts/docs/explained/rules.ts'
import { WARNING } from '../scripts/docs/explained/warnings.ts'
import { buildSite } from '../scripts/docs/site/build.ts'
import { guide, guidePage } from '../scripts/docs/site/guide.ts'
import { ORIGIN } from '../src/docs/origin.ts'

// What is read in a browser, or by a program, before a Worker serves it.

const out = mkdtempSync(join(tmpdir(), 'tributary-site-'))
buildSite(out)
const read = (path: string) => readFileSync(join(out, path), 'utf8')
const files = readdirSync(out, { recursive: true, encoding: 'utf8' })
const pages = new Map(
  files.filter((path) => path.endsWith('.html')).map((path) => [path, read(path)]),
)

/** The file that the Worker answers an address with, as `src/docs/documents.ts` has it. */
function fileOf(address: string): string {
  if (address === '/') return 'index.html'
  if (address === '/docs') return 'reference.html'
  if (address === '/missing') return 'missing.html'
  return /^\/(docs|problems)\/[\w-]+$/.test(address) ? `${address}.html` : address
}

const has = (path: string) => files.includes(path.replace(/^\//, ''))

const addressOf = (file: string) =>
  `/${file.replace(/\.html$/, '')}`.replace(/^\/index$/, '/').replace(/^\/reference$/, '/docs')

const idsOf = (markup: string) => [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)

const anchors = new Map([...pages].map(([file, markup]) => [`/${file}`, new Set(idsOf(markup))]))

describe('the site', () => {
  after(() => rmSync(out, { recursive: true, force: true }))

  test('every link leads to a page, a file or an anchor of the site', () => {
    const lost: string[] = []
    for (const [file, markup] of pages) {
      for (const [, link = ''] of markup.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        const to = new URL(link.replace(ORIGIN, ''), `https://site${addressOf(file)}`)
        if (!link.startsWith(ORIGIN) && /^[a-z]+:/.test(link)) continue
        const target = fileOf(to.pathname)
        const isThere = to.hash
          ? anchors.get(target.replace(/^\/?/, '/'))?.has(to.hash.slice(1))
          : has(target)
        if (!isThere) lost.push(`${file}: ${link}`)
      }
    }
    assert.deepEqual(lost, [])
  })

  test('every link of Markdown leads to Markdown, or to a file', () => {
    const lost: string[] = []
    const documents = files.filter((path) => /\.(md|txt)$/.test(path))
    assert.equal(documents.length, guide().length + Object.keys(PROBLEM).length + 1)
    for (const file of documents) {
      for (const [, link = ''] of read(file).matchAll(/\]\((?!#)([^)\s]+)\)/g)) {
        const [path = ''] = link.replace(ORIGIN, '').split('#')
        const isElsewhere = /^https?:/.test(path)
        if (!isElsewhere && path !== '/docs' && !has(path)) lost.push(`${file}: ${link}`)
      }
    }
    assert.deepEqual(lost, [])
  })

  test('a page has one title, one h1, a description, and no anchor twice', () => {
    for (const [file, markup] of pages) {
      assert.equal(markup.match(/<title>[^<]+<\/title>/g)?.length, 1, file)
      assert.equal(markup.match(/<h1>/g)?.length, 1, file)
      assert.match(markup, /<meta name="description" content="[^"]{10,}">/, file)
      const ids = idsOf(markup)
      assert.deepEqual(
        ids.filter((id, i) => ids.indexOf(id) !== i),
        [],
        file,
      )
    }
    const titles = [...pages.values()].map((markup) => /<title>(.*)<\/title>/.exec(markup)![1])
    assert.equal(new Set(titles).size, titles.length)
  })

  test('no page has a script, a style or a handler of its own, or anything from elsewhere', () => {
    for (const [file, markup] of pages) {
      const tags = [...markup.matchAll(/<[a-z][^>]*>/g)].map(([tag]) => tag)
      for (const tag of tags) {
        assert.doesNotMatch(tag, /^<style|^<base|^<iframe|^<script(?! src="\/assets\/)/, file)
        assert.doesNotMatch(tag, /\s(style|on\w+)=|javascript:/, file)
        assert.doesNotMatch(tag, /^<(script|link|img)[^>]*(src|href)="(?!\/assets\/)/, file)
      }
    }
  })

  test('each page of the guide and each problem has a twin in Markdown; llms.txt lists all', () => {
    const listed = read('llms.txt')
    const schemas = files.filter((path) => path.startsWith('schemas/') && path.endsWith('.json'))
    assert.ok(schemas.length >= 12)
    const twins = [
      ...guide().map(({ at }) => `${at}.md`),
      ...Object.keys(PROBLEM).map((code) => `/problems/${code}.md`),
    ]
    for (const path of [...twins, ...schemas.map((path) => `/${path}`), '/openapi.json']) {
      assert.ok(has(path), path)
      assert.match(listed, new RegExp(`^- \\[[^\\]]+\\]\\(${ORIGIN}${path}\\): \\S`, 'm'))
    }
    for (const path of twins) assert.ok(has(path.replace(/md$/, 'html')), path)
    assert.match(listed, /^# Tributary\n\n> \S/)
  })

  test('each code stands in its table, with an anchor, and as Markdown', () => {
    for (const [page, noun, codes] of [
      ['docs/outcomes', 'outcome', OUTCOME],
      ['docs/outcomes', 'warning', WARNING],
      ['docs/errors', 'rule', RULE],
      ['docs/errors', 'problem', PROBLEM],
    ] as const) {
      const ids = idsOf(read(`${page}.html`))
      const markdown = read(`${page}.md`)
      for (const code of Object.keys(codes)) {
        assert.ok(ids.includes(`${noun}-${code}`), code)
        assert.match(markdown, new RegExp(`^\\| \\[?\`${code}\`.* \\|$`, 'm'))
      }
      assert.doesNotMatch(markdown, /<!--/)
    }
  })

  test('the reference has each operation and each schema of openapi.json', () => {
    const { paths, components } = JSON.parse(read('openapi.json'))
    const ids = idsOf(read('reference.html'))
    for (const methods of Object.values<Record<string, { operationId: string }>>(paths)) {
      for (const { operationId } of Object.values(methods)) assert.ok(ids.includes(operationId))
    }
    for (const name of Object.keys(components.schemas)) assert.ok(ids.includes(`schema-${name}`))
  })

  test('a page that misses something fails the build', () => {
    const good = '# Title\n\nA paragraph.\n\n## Heading\n\nText.\n'
    assert.equal(guidePage('x', good).description, 'A paragraph.')
    for (const [wrong, message] of [
      [`${good}\n<!-- table: nothing -->\n`, /x\.md: there is no table "nothing", but outcomes/],
      [`${good}\n<!-- a thought -->\n`, /x\.md: it has a comment that is no placeholder/],
      ['## Heading\n\nText.\n', /x\.md: it must begin with a title and a paragraph/],
      [`${good}\n## Heading\n`, /x\.md: two headings have the anchor "heading"/],
    ] as const) {
      assert.throws(() => guidePage('x', wrong), message)
    }
    assert.throws(() => guide('docs'), /docs: .*storage.* is not in the order/)
  })
})
