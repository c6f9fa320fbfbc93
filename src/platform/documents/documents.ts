import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { ApiError, PROBLEMS, unavailable } from '../errors.ts'
import { contentSecurityPolicy } from '../http/content-security-policy.ts'
import { ORIGIN } from './origin.ts'

/** The headers of a page, beyond those of every document. */
const PAGE = {
  'Content-Security-Policy': contentSecurityPolicy("'none'"),
  'Referrer-Policy': 'no-referrer',
}

/** The documents that contain the origin of the service. Other files are served unchanged. */
const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  json: 'application/json',
}

/** The path of a file: names of word characters and hyphens, with at most one extension each. */
const PLAIN = /^(?:\/[\w-]+(?:\.\w+)?)+$/

/** How long documents are fresh. */
const FRESH = { 'Cache-Control': 'public, max-age=300' }

/** Responds with a file of the site. */
const document = (c: Context<AppEnv>, path: string, type?: string): Promise<Response> =>
  fileOf(c, path, type).catch((error) => notFound(c, error))

/**
 * Responds to a browser with the page for missing documents, which links to every page of the guide. Rethrows the error
 * otherwise.
 */
export async function notFound(c: Context<AppEnv>, error: unknown): Promise<Response> {
  const isPage = c.req.header('Accept')?.includes('text/html')
  if (!isPage || !(error instanceof ApiError)) throw error
  const body = await renderOnce(c.env, '/missing.html')
  return c.body(body, 404, { 'Content-Type': TYPES.html!, ...PAGE })
}

/** Responds with a file of the site, with the origin replaced by the one of the service. */
async function fileOf(c: Context<AppEnv>, path: string, type?: string): Promise<Response> {
  const ending = path.split('.').at(-1)!
  const text = TYPES[ending]
  if (text) {
    const body = await renderOnce(c.env, path)
    const own = ending === 'html' ? PAGE : {}
    return c.body(body, 200, { ...FRESH, ...own, 'Content-Type': type ?? text })
  }
  const { body, headers } = await assetOf(c.env, path)
  const own = { 'Content-Type': headers.get('Content-Type') ?? '' }
  return c.body(body as ReadableStream, 200, { ...FRESH, ...own })
}

/** Returns a file of the site. Throws an `ApiError` if there is none, or the site cannot be read. */
export async function assetOf(env: Env, path: string): Promise<Response> {
  // Refuses encoded path segments: `..%2f` would reach another folder than the route names.
  if (!PLAIN.test(path)) throw noDocument()
  const found = await env.ASSETS.fetch(new URL(path, 'https://assets.local')).catch(
    assetsUnavailable,
  )
  if (found.status >= 500) assetsUnavailable(new Error(`Assets answered ${found.status}.`))
  if (!found.ok) throw noDocument()
  return found
}

const noDocument = () => new ApiError('not_found', { detail: 'No such document. See `/docs`.' })

function assetsUnavailable(cause: unknown): never {
  throw unavailable(cause, 2)
}

/** The rendered documents of this isolate. They are large and the same for every caller. */
const renderedDocuments = new Map<string, string>()

async function renderOnce(env: Env, path: string): Promise<string> {
  const key = `${env.BASE_URL} ${path}`
  const known = renderedDocuments.get(key)
  if (known !== undefined) return known
  const kept = await (await assetOf(env, path)).text()
  const body = kept.replaceAll(ORIGIN, env.BASE_URL)
  // Only existing files are kept, so their number is bounded.
  renderedDocuments.set(key, body)
  return body
}

const SCHEMA = 'application/schema+json'

/** Returns the file of a page, or of its Markdown if the name ends in `.md`. */
const page = (folder: string, name: string) =>
  name.endsWith('.md') ? `/${folder}/${name}` : `/${folder}/${name}.html`

/**
 * Redirects an address with a trailing slash to the one without. The location is a path: a Host
 * header must not decide where a reader is sent.
 */
const withoutSlash: MiddlewareHandler<AppEnv> = async (c, next) => {
  // Hono decodes `c.req.path`. Decoded, a path can contain a line break or `é`, which no header may have.
  const { pathname, search } = new URL(c.req.url)
  if (!pathname.endsWith('/')) return next()
  return c.redirect(pathname.replace(/\/+$/, '') + search, 301)
}

/** Serves the public documents: guide, reference, schemas and the pages of error codes. */
export const documents = new Hono<AppEnv>()
  .get('/', (c) => document(c, '/index.html'))
  .use('/docs/*', withoutSlash)
  .get('/docs', (c) => document(c, '/docs/reference.html'))
  .get('/docs/:page', (c) => document(c, page('docs', c.req.param('page'))))
  .get('/docs/reference/:page', (c) => document(c, `/docs/reference/${c.req.param('page')}.html`))
  .get('/problems/:code', async (c) => {
    const code = c.req.param('code')
    if (!Object.hasOwn(PROBLEMS, code)) return notFound(c, noDocument())
    return c.redirect(new URL(`/docs/errors#problem-${code}`, c.env.BASE_URL).href)
  })
  .get('/llms.txt', (c) => document(c, '/llms.txt'))
  .get('/openapi.json', (c) => document(c, '/openapi.json'))
  .get('/openapi/:file', (c) => document(c, c.req.path))
  .get('/schemas/v1/:file', (c) => document(c, c.req.path, SCHEMA))
  .get('/schemas/v1/:vertical/:file', (c) => document(c, c.req.path, SCHEMA))
  .get('/assets/:file', (c) => document(c, c.req.path))
