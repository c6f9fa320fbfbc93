import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import worker from '../../src/index.ts'
import { errorName, toApiError } from '../../src/platform/errors.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ORIGIN } from '../partner.ts'
import { printedAs } from '../secrecy.ts'

// Development names the command that repairs a local set-up; a deployed service never does.

const LOCAL = 'http://127.0.0.1:8787'
const REPEAT =
  'The service is temporarily unavailable. A request is stored completely or not at all. Repeat the same request after 10 seconds.'

const apply =
  'The local database lacks a migration (no such table: accounts). ' +
  'Run `npx wrangler d1 migrations apply DB --local`.'
const restart = (name: string) =>
  `The secret ${name} is missing or unusable. Delete it from .dev.vars and restart \`npx wrangler dev\`, which creates it.`

const admin = { Authorization: `Bearer ${env.ADMIN_KEY}` }
const dropAccounts = () =>
  env.DB.batch([
    env.DB.prepare('pragma defer_foreign_keys = on'),
    env.DB.prepare('drop table accounts'),
  ])

const INCOMPLETE: [string, Partial<Env>, string, HeadersInit, string][] = [
  [
    'a missing SIGNING_KEYS',
    { SIGNING_KEYS: '' },
    '/.well-known/jwks.json',
    {},
    restart('SIGNING_KEYS'),
  ],
  [
    'an empty SIGNING_KEYS',
    { SIGNING_KEYS: '{"keys":[]}' },
    '/.well-known/jwks.json',
    {},
    restart('SIGNING_KEYS'),
  ],
  ['a missing ADMIN_KEY', { ADMIN_KEY: '' }, '/admin/v1/accounts', admin, restart('ADMIN_KEY')],
  ['a missing migration', {}, '/admin/v1/accounts', admin, apply],
]

describe.each(INCOMPLETE)('%s', (_, change, path, headers, fix) => {
  const detailAt = async (BASE_URL: string) => {
    const world = { ...env, ...change, BASE_URL } as Env
    const response = await fetchWith(world, new Request(`${BASE_URL}${path}`, { headers }))
    expect(response.status).toBe(503)
    return ((await response.json()) as { detail: string }).detail
  }

  test('development names the repair command, and production does not', async () => {
    if (fix === apply) await dropAccounts()
    expect(await detailAt(LOCAL)).toBe(fix)
    expect(await detailAt(ORIGIN)).toBe(REPEAT)
  })
})

test('the error page of a link names the repair only in development', async () => {
  await env.DB.exec('drop table links')
  const pageAt = async (BASE_URL: string) => {
    const request = new Request(`${BASE_URL}/go/AAAAAAAA`)
    return (await fetchWith({ ...env, BASE_URL }, request)).text()
  }
  expect(await pageAt(LOCAL)).toContain('npx wrangler d1 migrations apply DB --local')
  expect(await pageAt(ORIGIN)).not.toContain('wrangler')
})

test.each<[string, unknown, string]>([
  ['a text', 'thrown', 'Error'],
  ['an error', new TypeError(), 'TypeError'],
  ['an error without a stack', Object.assign(new RangeError(), { stack: undefined }), 'RangeError'],
])('%s that is thrown is an internal error, and the log names it', async (_, thrown, fault) => {
  const app = new Hono<{ Bindings: Env }>().get('/', (c) => c.text(toApiError(thrown, c).code))
  expect(await (await app.request('/', {}, env)).text()).toBe('internal_error')
  expect(printedAs('error').map((line) => JSON.parse(line).fault)).toEqual([fault])
  expect(errorName(thrown)).toBe(fault)
})

describe('the issuer', () => {
  const issuerOf = async (BASE_URL: string, url: string) => {
    const request = new Request(`${url}/.well-known/oauth-authorization-server`)
    const context = createExecutionContext()
    const response = await worker.fetch(request as never, { ...env, BASE_URL } as Env, context)
    return ((await response.json()) as { issuer: string }).issuer
  }

  test('the issuer takes only its port from requests if BASE_URL has port 0', async () => {
    const any = 'http://127.0.0.1:0'
    expect(await issuerOf(any, 'http://127.0.0.1:9123')).toBe('http://127.0.0.1:9123')
    expect(await issuerOf(any, 'http://evil.example:9123')).toBe('http://127.0.0.1:9123')
    expect(await issuerOf(any, 'http://localhost')).toBe('http://127.0.0.1:80')
  })

  test('the issuer is otherwise BASE_URL, whatever host the request names', async () => {
    expect(await issuerOf(LOCAL, 'http://127.0.0.1:9123')).toBe(LOCAL)
    expect(await issuerOf(ORIGIN, 'https://evil.example:9123')).toBe(ORIGIN)
  })
})
