import { type Context, Hono } from 'hono'
import { etag } from 'hono/etag'
import type { Caller } from '../auth/admission.ts'
import { ApiError } from '../errors.ts'
import { ORIGIN } from './origin.ts'

/**
 * Pages load nothing from elsewhere, have no script and no style that is not ours, and stand in
 * nobody’s frame: who tries a request here has a secret on the page.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** The documents that name where the service is; what is not here is answered as it is kept. */
const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  json: 'application/json',
}

/** The path of a file: names of letters and digits, each with an ending or none. */
const PLAIN = /^(?:\/[\w-]+(?:\.\w+)?)+$/

const tagged = etag()

/** Answers a file of the site with its ETag; who has it already is told so. */
async function document(c: Context<Caller>, path: string, type?: string): Promise<Response> {
  await tagged(c, async () => {
    c.res = await fileOf(c, path, type)
  })
  return c.res
}

/** A file of the site; what names our origin names the one where it is served. */
async function fileOf(c: Context<Caller>, path: string, type?: string): Promise<Response> {
  // A name is no way: `..%2f` would lead to another folder than the address says.
  if (!PLAIN.test(path)) throw new ApiError('not_found')
  const found = await c.env.ASSETS.fetch(new URL(path, 'https://assets.local'))
  if (!found.ok) throw new ApiError('not_found')
  c.header('Cache-Control', 'public, max-age=300')
  c.header('X-Content-Type-Options', 'nosniff')
  const text = TYPES[path.split('.').at(-1)!]
  if (!text) {
    for (const name of ['Content-Type', 'ETag'])
      c.header(name, found.headers.get(name) ?? undefined)
    return c.body(found.body as ReadableStream)
  }
  c.header('Content-Type', type ?? text)
  if (path.endsWith('.html')) {
    c.header('Content-Security-Policy', POLICY)
    c.header('Referrer-Policy', 'no-referrer')
  }
  return c.body((await found.text()).replaceAll(ORIGIN, c.env.BASE_URL))
}

const SCHEMA = 'application/schema+json'

/** A page by its name, or the same as Markdown. */
const page = (folder: string, name: string) =>
  name.endsWith('.md') ? `/${folder}/${name}` : `/${folder}/${name}.html`

/** What anyone may read: a guide, a reference, schemas, and what each code means. */
export const documents = new Hono<Caller>()
  .get('/', (c) => document(c, '/index.html'))
  .get('/docs', (c) => document(c, '/reference.html'))
  .get('/docs/:page', (c) => document(c, page('docs', c.req.param('page'))))
  .get('/problems/:code', (c) => document(c, page('problems', c.req.param('code'))))
  .get('/llms.txt', (c) => document(c, '/llms.txt'))
  .get('/openapi.json', (c) => document(c, '/openapi.json'))
  .get('/schemas/v1/:file', (c) => document(c, c.req.path, SCHEMA))
  .get('/schemas/v1/:vertical/:file', (c) => document(c, c.req.path, SCHEMA))
  .get('/assets/:file', (c) => document(c, c.req.path))
