import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import worker from '../../src/index.ts'
import { errorName, toApiError } from '../../src/platform/errors.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ORIGIN } from '../partner.ts'
import { printedAs } from '../secrecy.ts'

// What is wrong with the set-up is in the log, never in a response.

const LOCAL = 'http://127.0.0.1:8787'

test.each<[string, Partial<Env>, string]>([
  ['SIGNING_KEYS', { SIGNING_KEYS: '' }, '/.well-known/jwks.json'],
  ['SIGNING_KEYS', { SIGNING_KEYS: '{"keys":[]}' }, '/.well-known/jwks.json'],
  ['ADMIN_KEY', { ADMIN_KEY: '' }, '/admin/v1/accounts'],
])('an unusable %s is a 503, and the log alone names it', async (secret, change, path) => {
  const request = new Request(ORIGIN + path, {
    headers: { Authorization: `Bearer ${env.ADMIN_KEY}` },
  })
  const response = await fetchWith({ ...env, ...change } as Env, request)
  expect(response.status).toBe(503)
  expect(await response.text()).not.toContain(secret)
  expect(printedAs('error').join()).toContain(`{"fault":"bad_secret","secret":"${secret}"}`)
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
