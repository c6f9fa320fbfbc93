import { describe, expect, test } from 'vitest'
import openapi from '../../openapi.json'
import { PAGES } from '../../scripts/docs/site/reference/pages.ts'
import { ORIGIN as CANONICAL } from '../../src/platform/documents/origin.ts'
import { ask, json, ORIGIN, partner } from '../partner.ts'

// Public documents: schemas, OpenAPI, the guide and the reference.

const files = import.meta.glob<object>('../../schemas/v1/**/*.json', {
  import: 'default',
  eager: true,
})
const schemas = Object.entries(files).map(
  ([path, schema]) => [path.replace('../..', ''), schema as Record<string, unknown>] as const,
)
const guide = Object.keys(import.meta.glob('../../docs/guide/*.md')).map(
  (path) => `/docs/${path.split('/').at(-1)!.replace('.md', '')}`,
)
const codes = Object.keys(openapi.components.examples)
const reference = PAGES.map(({ name }) => `/docs/reference/${name}`)
const pages = ['/', '/docs', '/docs/reference', ...reference, ...guide]

describe('schemas', () => {
  test.each(schemas)(
    '%s is served at its $id with the origin of the service',
    async (path, schema) => {
      expect(schema.$id).toBe(CANONICAL + path)
      expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
      const response = await ask(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('Content-Type')).toBe('application/schema+json')
      expect((await response.text()).replaceAll(ORIGIN, CANONICAL)).toBe(
        `${JSON.stringify(schema, null, 2)}\n`,
      )
    },
  )
})

test('openapi.json is served with the origin of the service', async () => {
  const response = await ask('/openapi.json')
  expect(response.headers.get('Content-Type')).toBe('application/json')
  const text = await response.text()
  expect(text).not.toContain(CANONICAL)
  expect(JSON.parse(text.replaceAll(ORIGIN, CANONICAL))).toEqual(openapi)
})

describe('documents', () => {
  const documents = [
    ...pages,
    ...guide.map((page) => `${page}.md`),
    ...['/llms.txt', '/openapi.json'],
    ...['firm', 'brand', 'affiliate', 'admin'].map((audience) => `/openapi/${audience}.json`),
    ...['page.css', 'code.css', 'page.js', 'search.js', 'minisearch.js', 'search.json'].map(
      (file) => `/assets/${file}`,
    ),
    ...schemas.map(([path]) => path),
  ]

  test.each(documents)('%s is public', async (path) => {
    const first = await ask(path)
    expect(first.status).toBe(200)
    expect(await first.text()).not.toContain(CANONICAL)
  })

  test.each(pages)('%s restricts scripts and requests to its own origin', async (path) => {
    const response = await ask(path)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('Content-Security-Policy')!.split('; ')
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      expect(policy).toContain(rule)
    }
    expect(response.headers.get('Referrer-Policy')).toBe('no-referrer')
    await response.text()
  })

  test('a document that does not exist is 404 for any name', async () => {
    for (const path of [
      '/docs/nowhere.md',
      '/docs/reference/..%2fstart',
      '/problems/nothing',
      '/schemas/v1/forex/nothing.json',
      '/assets/nothing.js',
      '/docs/%E0%A4%A',
      '/docs/start.html',
      '/docs/start.md%3F',
      '/assets/..%5creference.html%20',
      '/schemas/v1/..%5c..%5creference.html%00',
      '/problems/..%2Fassets%2Freference.js%3F',
      '/docs/%00',
      `/docs/${'x'.repeat(2000)}`,
    ]) {
      const response = await ask(path)
      expect([path, response.status]).toEqual([path, 404])
      const detail = 'No such document. See `/docs`.'
      expect(await json(response)).toMatchObject({ code: 'not_found', detail })
    }
  })
})

test('a trailing slash redirects to the address without it, on the same host', async () => {
  const unusual = ['/docs/%0d%0aX', '/docs/%00', '/docs/a%0aSet-Cookie:%20a=b', '/docs/%C3%A9']
  for (const path of [
    ...['/docs', '/docs/reference', '/docs/reference/plans', '/docs/start'],
    ...unusual,
  ]) {
    const response = await ask(`${path}/`, { redirect: 'manual' })
    expect([response.status, response.headers.get('Location')]).toEqual([301, path])
  }
  const { headers } = await ask('/docs/start/?from=mail', { redirect: 'manual' })
  expect(headers.get('Location')).toBe('/docs/start?from=mail')
})

test('a browser gets a page that says the document does not exist', async () => {
  for (const path of ['/docs/nowhere', '/problems/currency', '/schemas/v1/nothing.json']) {
    const response = await ask(path, { headers: { Accept: 'text/html,*/*;q=0.8' } })
    expect(response.status).toBe(404)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(response.headers.has('Content-Security-Policy')).toBe(true)
    expect(await response.text()).toContain('This page does not exist.')
  }
})

test('the type of a problem leads to the row of its code in the guide', async () => {
  const acme = await partner()
  const { type, code } = await json(acme.get('nowhere'))
  expect(type).toBe(`${ORIGIN}/problems/${code}`)
  const page = await (await ask('/docs/errors')).text()
  for (const one of codes) {
    const { status, headers } = await ask(`/problems/${one}`, { redirect: 'manual' })
    expect([status, headers.get('Location')]).toEqual([302, `${ORIGIN}/docs/errors#problem-${one}`])
    expect(page).toContain(`<tr id="problem-${one}">`)
  }
})
