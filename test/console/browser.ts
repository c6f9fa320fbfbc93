import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { consoleApp } from '../../src/console/app.ts'
import { ORIGIN } from '../partner.ts'

/** The service without Cloudflare Access: members sign in with their keys. */
export const KEY_WORLD = { ...env, ACCESS_TEAM: '', ACCESS_AUD: '' } as Env

/** What a browser adds to a form that a page of the console sends. */
const OWN = { Origin: ORIGIN, 'Sec-Fetch-Site': 'same-origin' }

type Fields = Record<string, string>

/** Returns a browser with cookies of its own. Redirects are not followed. */
export function openBrowser(world: Env = KEY_WORLD, app = consoleApp) {
  const cookies = new Map<string, string>()

  async function send(path: string, init: RequestInit = {}, inWorld = world): Promise<Response> {
    const headers = new Headers(init.headers)
    const kept = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    if (kept) headers.set('Cookie', kept)
    const context = createExecutionContext()
    const request = new Request(new URL(path, ORIGIN), { ...init, headers, redirect: 'manual' })
    const response = await app.fetch(request, inWorld, context)
    await waitOnExecutionContext(context)
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }

  const get = (path: string, headers: HeadersInit = {}, inWorld = world) =>
    send(path, { headers }, inWorld)

  const post = (path: string, fields: Fields, headers: HeadersInit = OWN, inWorld = world) => {
    const body = new URLSearchParams(fields).toString()
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const length = { 'Content-Length': String(body.length) }
    return send(
      path,
      { method: 'POST', body, headers: { ...form, ...length, ...headers } },
      inWorld,
    )
  }

  /** Sends a form with files, as browsers do. */
  const postForm = async (path: string, form: FormData) => {
    const encoded = new Response(form)
    const body = await encoded.arrayBuffer()
    const headers = {
      'Content-Type': encoded.headers.get('Content-Type') ?? '',
      'Content-Length': String(body.byteLength),
    }
    return send(path, { method: 'POST', body, headers: { ...headers, ...OWN } })
  }

  /** Returns the token that the forms of a page send. */
  const csrf = async (path = '/console') =>
    /name="csrf" value="([^"]+)"/.exec(await (await get(path)).text())?.[1] ?? ''

  /** Signs in with a key. */
  const signIn = async (key = env.ADMIN_KEY, next = '/console') =>
    post('/console/sign-in', { key, next })

  return { cookies, send, get, post, postForm, csrf, signIn }
}

/** Returns a browser that is signed in, with ADMIN_KEY if no other key is given. */
export async function signedIn(world: Env = KEY_WORLD, app = consoleApp, key = env.ADMIN_KEY) {
  const browser = openBrowser(world, app)
  await browser.signIn(key)
  return browser
}

/** Returns the text of a page, as a member reads it. */
export const textOf = (html: string) =>
  html
    .slice(html.indexOf('<main'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
