import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app } from '../../src/app.ts'
import { digest, newSecret } from '../../src/platform/auth/secret.ts'
import { ORIGIN } from '../partner.ts'
import { reportExchange } from '../secrecy.ts'
import type { Account, Answer, Delivery, Remark } from './oracle.ts'

// Calls the service without `checkResponse`, which compares each response with openapi.json in another process.
// The other tests do this; here the comparison would take longer than the request.

const ask = async (path: string, init: RequestInit = {}) => {
  const url = new URL(path, ORIGIN).href
  const send = async () => {
    const response = await app.fetch(new Request(url, init), env, createExecutionContext())
    return { status: response.status, text: await response.text() }
  }
  const { status, text } = await reportExchange({ ...init, url }, send, true)
  // biome-ignore lint/suspicious/noExplicitAny: the members of a response are read by name
  return { status, body: (text ? JSON.parse(text) : null) as any }
}

const NOW = '2026-01-01T00:00:00.000Z'
let accounts = 0

const TEAM = { Authorization: `Bearer ${env.ADMIN_KEY}` }

const insert = (db: D1Database, table: string, row: Record<string, string | null>) =>
  db
    .prepare(
      `insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
    )
    .bind(...Object.values(row))

/** Creates an account as the integrations team does, and returns its caller. */
export async function open(settings: Account, binding: 'DB' | 'DB_2') {
  accounts += 1
  const account = `model-${accounts}`
  const { vertical, unknown_customer, unknown_affiliate, time_zone, affiliates, events } = settings
  const brand = vertical === 'igaming'
  const policies = { unknown_customer, unknown_affiliate }
  const settingsRow = { id: account, name: account, vertical, mode: 'test', time_zone, binding }
  await env.DB.batch([
    insert(env.DB, 'accounts', { ...settingsRow, ...policies, created_at: NOW }),
    ...Object.entries(events).map(
      ([eventname, { granularity, eventid, kpis, product, currency }]) =>
        insert(env.DB, 'event_definitions', {
          account,
          eventname,
          granularity,
          eventid,
          kpis: JSON.stringify(kpis),
          product: product ? JSON.stringify(product) : null,
          currency: currency ?? null,
        }),
    ),
  ])
  await env[binding].batch(
    affiliates.map((affiliate_id) => insert(env[binding], 'affiliates', { account, affiliate_id })),
  )
  const credentials = await (brand ? brandToken(account) : accessToken(account))
  const at = (path: string) => `${brand ? '/tracking/events' : `/api/v1/${vertical}`}/${path}`

  return {
    get: (path: string) => ask(at(path), { headers: credentials }),
    /** Sends a delivery; `wrapped` is the bulk form of partners, `{"data": […]}`. */
    async deliver(delivery: Delivery, { wrapped = false, minimal = false }): Promise<Heard> {
      const { resource, records, single, lenient, dry_run, idempotency_key } = delivery
      const prefer = [lenient && 'handling=lenient', minimal && 'return=minimal'].filter(Boolean)
      const sent = single ? records[0] : wrapped ? { data: records } : records
      const { status, body } = await ask(at(`${resource}${dry_run ? '?dry_run=true' : ''}`), {
        method: 'POST',
        headers: {
          ...credentials,
          'Content-Type': 'application/json',
          ...(prefer.length > 0 && { Prefer: prefer.join(', ') }),
          ...(idempotency_key && { 'Idempotency-Key': idempotency_key }),
        },
        body: JSON.stringify(sent),
      })
      if (!body.delivery_id) throw new Error(`${status} ${JSON.stringify(body)}`)
      const base = single ? '' : wrapped ? '/data/' : '/'
      return {
        delivery_id: body.delivery_id,
        answer: status === 422 ? refused(body, base, single) : stored(status, body, base, single),
      }
    },
    erase: async (customer: string) => {
      const path = `/admin/v1/accounts/${account}/customers/${customer}/personal-data`
      return (await ask(path, { method: 'DELETE', headers: TEAM })).status
    },
  }
}

/** A response in the form of the oracle. */
export interface Heard {
  delivery_id: string
  answer: Answer
}

async function brandToken(account: string): Promise<Record<string, string>> {
  const init = {
    method: 'POST',
    headers: { ...TEAM, 'Content-Type': 'application/json' },
    body: '{}',
  }
  const { body } = await ask(`/admin/v1/accounts/${account}/brand-tokens`, init)
  return { 'x-api-key': body.brand_token }
}

async function accessToken(account: string): Promise<Record<string, string>> {
  const client_secret = newSecret('tcs', 'test')
  const secret_digest = await digest(client_secret)
  const client = { client_id: account, account, secret_digest, created_at: NOW }
  await insert(env.DB, 'clients', client).run()
  const grant = { grant_type: 'client_credentials', client_id: account, client_secret }
  const { body } = await ask('/oauth/token', { method: 'POST', body: new URLSearchParams(grant) })
  return { Authorization: `Bearer ${body.access_token}` }
}

interface Issue {
  index: number
  pointer: string
  code: string
}

/** Returns the member that a pointer names, which must point into its own record. */
function remark({ pointer, code }: Issue, base: string, index: number, single: boolean): Remark {
  const record = single ? '' : `${base}${index}`
  if (pointer !== record && !pointer.startsWith(`${record}/`))
    throw new Error(`${pointer} does not point into record ${index}`)
  return [pointer === record ? undefined : pointer.slice(record.length + 1), code]
}

// biome-ignore lint/suspicious/noExplicitAny: a response before conversion
function refused({ code, errors = [], errors_total }: any, base: string, single: boolean): Answer {
  if (errors_total !== undefined && errors_total !== errors.length)
    throw new Error(`errors_total is ${errors_total}, but ${errors.length} errors are listed`)
  return {
    status: 422,
    code,
    errors:
      code === 'idempotency_key_reused'
        ? []
        : errors.map((issue: Issue) => [issue.index, ...remark(issue, base, issue.index, single)]),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a response before conversion
function stored(status: number, { summary, results }: any, base: string, single: boolean): Answer {
  return {
    status,
    summary,
    // biome-ignore lint/suspicious/noExplicitAny: a response before conversion
    results: results.map(({ warnings = [], errors = [], ...result }: any) => ({
      ...result,
      warnings: warnings.map(({ code }: Issue) => code),
      errors: errors.map((issue: Issue) => remark(issue, base, result.index, single)),
    })),
  }
}
