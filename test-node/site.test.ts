import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { buildSync } from 'esbuild'
import MiniSearch from 'minisearch'
import { OUTCOME } from '../scripts/docs/explained/outcomes.ts'
import { PROBLEM } from '../scripts/docs/explained/problems.ts'
import { RULE } from '../scripts/docs/explained/rules.ts'
import { WARNING } from '../scripts/docs/explained/warnings.ts'
import { buildSite } from '../scripts/docs/site/build.ts'
import { guide, guidePage } from '../scripts/docs/site/guide.ts'
import { inputFiles, inputsDigest } from '../scripts/docs/site/inputs.ts'
import {
  AUDIENCES,
  groupsOf,
  PAGES,
  addressOf as referenceAddress,
} from '../scripts/docs/site/reference/pages.ts'
import { ORIGIN } from '../src/docs/origin.ts'

// The files of the documentation site, before a Worker serves them.

const out = mkdtempSync(join(tmpdir(), 'tributary-site-'))
buildSite(out)
after(() => rmSync(out, { recursive: true, force: true }))
const read = (path: string) => readFileSync(join(out, path), 'utf8')
const files = readdirSync(out, { recursive: true, encoding: 'utf8' })
const pages = new Map(
  files.filter((path) => path.endsWith('.html')).map((path) => [path, read(path)]),
)

/** Returns the file for an address, like `src/docs/documents.ts`. */
function fileOf(address: string): string {
  if (address === '/') return 'index.html'
  if (address === '/docs') return 'docs/reference.html'
  if (address === '/missing') return 'missing.html'
  const isPage = /^\/(docs|problems)\/[\w-]+$|^\/docs\/reference\/[\w-]+$/.test(address)
  return isPage ? `${address}.html` : address
}

const withoutSlash = (path: string) => path.replace(/^\//, '')
const has = (path: string) => files.includes(withoutSlash(path))
const addressOf = (file: string) => `/${file.replace(/\.html$/, '')}`.replace(/^\/index$/, '/')
const idsOf = (markup: string) => [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
const anchors = new Map([...pages].map(([file, markup]) => [file, new Set(idsOf(markup))]))

describe('the site', () => {
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

  test('every link of a Markdown page leads to Markdown, the reference or a file', () => {
    const broken: string[] = []
    const documents = files.filter((path) => /\.(md|txt)$/.test(path))
    assert.equal(documents.length, guide().length + Object.keys(PROBLEM).length + 1)
    for (const file of documents) {
      for (const [, link = ''] of read(file).matchAll(/\]\((?!#)([^)\s]+)\)/g)) {
        const [path = ''] = link.replace(ORIGIN, '').split('#')
        const isReference = /^\/docs(\/reference(\/[\w-]+)?)?$/.test(path) && has(fileOf(path))
        if (!/^https?:/.test(path) && !isReference && !has(path)) broken.push(`${file}: ${link}`)
      }
    }
    assert.deepEqual(broken, [])
  })

  test('every page has a unique title, one h1, a description and unique anchors', () => {
    for (const [file, markup] of pages) {
      assert.equal(markup.match(/<title>[^<]+<\/title>/g)?.length, 1, file)
      assert.equal(markup.match(/<h1>/g)?.length, 1, file)
      assert.match(markup, /<meta name="description" content="[^"]{10,}">/, file)
      const ids = idsOf(markup)
      const duplicates = ids.filter((id, i) => ids.indexOf(id) !== i)
      assert.deepEqual(duplicates, [], file)
    }
    const titles = [...pages.values()].map((markup) => /<title>(.*)<\/title>/.exec(markup)?.[1])
    assert.equal(new Set(titles).size, titles.length)
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

  test('every guide and problem page exists as Markdown, and llms.txt lists all of them', () => {
    const index = read('llms.txt')
    const schemas = files.filter((path) => path.startsWith('schemas/') && path.endsWith('.json'))
    assert.ok(schemas.length >= 12)
    const markdown = [
      ...guide().map(({ at }) => `${at}.md`),
      ...Object.keys(PROBLEM).map((code) => `/problems/${code}.md`),
    ]
    for (const path of [...markdown, ...schemas.map((path) => `/${path}`), '/openapi.json']) {
      assert.ok(has(path), path)
      assert.match(index, new RegExp(`^- \\[[^\\]]+\\]\\(${ORIGIN}${path}\\): \\S`, 'm'))
    }
    for (const path of markdown) assert.ok(has(path.replace(/md$/, 'html')), path)
    assert.match(index, /^# Tributary\n\n> \S/)
  })

  test('every code has a row with an anchor in its table, also in Markdown', () => {
    for (const [page, noun, codes] of [
      ['docs/outcomes', 'outcome', OUTCOME],
      ['docs/warnings', 'warning', WARNING],
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

  test('an incomplete guide page fails the build', () => {
    const complete = '# Title\n\nA paragraph.\n\n## Heading\n\nText.\n'
    assert.equal(guidePage('x', complete).description, 'A paragraph.')
    for (const [source, message] of [
      [`${complete}\n<!-- table: nothing -->\n`, /x\.md: unknown table "nothing"\. Use outcomes/],
      [`${complete}\n<!-- a thought -->\n`, /x\.md: the page contains a comment/],
      ['## Heading\n\nText.\n', /x\.md: the page must begin with a title and a paragraph/],
      [`${complete}\n## Heading\n`, /x\.md: two headings have the anchor "heading"/],
    ] as const) {
      assert.throws(() => guidePage('x', source), message)
    }
    assert.throws(() => guide('docs'), /docs: add .*storage.* to ORDER/)
  })
})

/** Returns the names of all members of a schema, also of the objects inside it. */
function membersOf(schema: unknown, names = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return names
  for (const [keyword, value] of Object.entries(schema)) {
    // These name members, too, but only to narrow the type.
    if (['not', 'allOf', 'examples'].includes(keyword)) continue
    if (keyword === 'properties') for (const name of Object.keys(value)) names.add(name)
    for (const inner of keyword === 'properties' ? Object.values(value) : [value])
      membersOf(inner, names)
  }
  return names
}

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

  test('shows every member of every schema, also of objects with alternatives', () => {
    const missing = new Set<string>()
    for (const { name, markup } of referencePages) {
      assert.doesNotMatch(markup, /any value or/, name)
      const [, ...sections] = markup.split('<section class="schema" id="schema-')
      for (const section of sections) {
        const schema = section.slice(0, section.indexOf('"'))
        for (const member of membersOf(components.schemas[schema]))
          if (!section.includes(`<code>${member}</code>`)) missing.add(`${schema}: ${member}`)
      }
    }
    assert.deepEqual([...missing], [])
    assert.ok(membersOf(components.schemas.PlanRule).has('max_count'))
  })

  test('keeps the anchors of operations and schemas of a page that was split', () => {
    const ids = new Set(idsOf(read('docs/reference.html')))
    for (const { operationId } of operations) assert.ok(ids.has(operationId), operationId)
    for (const name of Object.keys(components.schemas)) assert.ok(ids.has(`schema-${name}`), name)
    for (const audience of AUDIENCES.filter(({ topics }) => topics)) {
      const anchors = new Set(idsOf(read(`${referenceAddress(audience)}.html`)))
      const topics = operations.filter(({ tags: [tag = ''] }) => audience.tags.includes(tag))
      assert.notEqual(topics.length, 0)
      for (const { operationId } of topics) assert.ok(anchors.has(operationId), operationId)
    }
  })

  test('no page has more than 17,000 words, with its samples in four languages', () => {
    for (const { name, markup } of referencePages) {
      const words = markup.replaceAll(/<[^>]*>/g, ' ').split(/\s+/).length
      assert.ok(words <= 17_000, `${name} has ${words} words. Split it by topic.`)
    }
  })

  test('only the public documents are listed under the heading “Documents”', () => {
    const pages = PAGES.filter((page) =>
      groupsOf(page, spec).some(({ title }) => title === 'Documents'),
    )
    assert.deepEqual(
      pages.map(({ name }) => name),
      ['documents'],
    )
  })

  test('shows highlighted samples in four languages and a response beside every request', () => {
    for (const { markup } of referencePages) {
      const [, ...sections] = markup.split('<section class="operation" id="')
      for (const section of sections) {
        const id = section.slice(0, section.indexOf('"'))
        const languages = [...section.matchAll(/data-language="(\w+)"/g)].map(([, name]) => name)
        const all = id === 'followLink' ? ['bash'] : ['bash', 'typescript', 'python', 'php']
        assert.deepEqual(languages, all, id)
        assert.match(section, /<pre class="bash"[^>]*><code>/, id)
        assert.match(section, /<span class="status">[23]\d\d<\/span>/, id)
      }
    }
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
    assert.ok(find('validation_failed').includes('/problems/validation_failed'))
    assert.ok(find('leverage').some((id) => id.startsWith('/docs/reference/forex-records#')))
    assert.ok(find('control totals').includes('/docs/reference/brands-records#getIgamingTotals'))
    assert.ok(find('/oauth/token').includes('/docs/reference/prop-trading-records#getToken'))
    assert.ok(find('max_count').includes('/docs/reference/plans#schema-PlanRule'))
    assert.ok(find('createAccount').includes('/docs/reference/accounts#createAccount'))
    for (const word of ['idempot', 'FTD', 'timezone', 'GDPR', 'revshare', 'postback', 'sandbox'])
      assert.notEqual(find(word).length, 0, word)
    assert.deepEqual(find('qqqqzz'), [])
  })

  test('finds a misspelt word', () => {
    assert.notEqual(search.search('withdrwan', { fuzzy: 0.25 }).length, 0)
  })
})

test('any change of a file that makes the site changes the digest of the site', () => {
  const root = mkdtempSync(join(tmpdir(), 'tributary-inputs-'))
  try {
    for (const folder of ['docs/guide', 'scripts/docs/site', 'src'])
      mkdirSync(join(root, folder), { recursive: true })
    const page = join(root, 'docs/guide/start.md')
    const module = join(root, 'src/errors.ts')
    writeFileSync(
      join(root, 'scripts/docs/site/build.ts'),
      "import type { App } from '../../../src/app.ts'\nimport {\n  a,\n} from '../../../src/errors.ts'\n",
    )
    writeFileSync(module, 'export const a = 1')
    const digests: string[] = []
    for (const change of [
      () => {},
      () => writeFileSync(page, 'a'),
      () => writeFileSync(page, 'b'),
      () => renameSync(page, join(root, 'docs/guide/end.md')),
      () => writeFileSync(join(root, 'openapi.json'), '{}'),
      () => writeFileSync(module, 'export const a = 2'),
    ]) {
      change()
      digests.push(inputsDigest(root))
    }
    assert.equal(new Set(digests).size, digests.length)
    writeFileSync(join(root, 'README.md'), 'Not a page of the site.')
    writeFileSync(join(root, 'src/app.ts'), 'Not imported by the code that builds the site.')
    assert.equal(inputsDigest(root), digests.at(-1))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

test('the digest of the site covers every module that esbuild finds', () => {
  const { metafile } = buildSync({
    entryPoints: ['scripts/docs/site/build.ts'],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
  const covered = new Set(inputFiles('.'))
  assert.ok(covered.has('src/errors.ts'))
  assert.deepEqual(
    Object.keys(metafile.inputs).filter((path) => !covered.has(path)),
    [],
  )
})

test('the statement that the home page explains adds up, and is the one of the guide', () => {
  const [, figure = ''] =
    /<figure class="explained">([\s\S]*)<\/figure>/.exec(read('index.html')) ?? []
  const amounts = [...figure.matchAll(/<th scope="row">([\d.]+) EUR/g)].map(([, text = '']) => text)
  const inCents = amounts.map((text) => Number(text.replace('.', '')))
  const total = inCents.pop()

  assert.equal(inCents.length, 4)
  assert.equal(
    inCents.reduce((sum, cents) => sum + cents, 0),
    total,
  )
  const statements = readFileSync('docs/guide/statements.md', 'utf8')
  for (const amount of amounts) assert.ok(statements.includes(`"${amount}"`), amount)
})
