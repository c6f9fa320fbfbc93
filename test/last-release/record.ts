import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import type { Job } from '../../src/admin/jobs.ts'
import type { RunParameters } from '../../src/commission/statements/run.ts'
import { HOUR_MS } from '../../src/durations.ts'
import worker from '../../src/index.ts'
import type { Click } from '../../src/tracking/go.ts'
import type { QueuedMessage } from '../../src/webhooks/causes.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { signedIn } from '../console/browser.ts'
import { deliverJob } from '../crons.ts'
import { overriding } from '../overriding.ts'
import { ada, ask, askAdmin, askToken, deposit, issuedPartner, json, ORIGIN } from '../partner.ts'
import { newPasskey } from '../portal/authenticator.ts'
import { hidden, inviteTo, joinAt, openPortal, optionsIn } from '../portal/join.ts'

// What a version of the Worker sends to another one: calls of objects, messages of queues and parameters of Workflows.

/** The namespaces of objects, by their classes. */
export const NAMESPACES = {
  TokenGate: env.TOKEN_GATE,
  ClientGate: env.CLIENT_GATE,
  ErasureJournal: env.ERASURE_JOURNAL,
  BackgroundJob: env.BACKGROUND_JOBS,
} as const

/** The calls of one object, in their order. Times are milliseconds from the recording on: `{ ms: 5000 }`. */
export interface Recorded {
  readonly object: keyof typeof NAMESPACES
  readonly calls: readonly { method: string; args: unknown[]; result: unknown }[]
}

/** What crosses versions. */
export interface Crossing {
  readonly objects: readonly Recorded[]
  readonly jobs: readonly Job[]
  readonly clicks: readonly Click[]
  readonly webhooks: readonly QueuedMessage[]
  readonly runs: readonly RunParameters[]
}

/** Numbers above it are times in milliseconds. */
const LEAST_TIME = 1e12

/** Replaces each value below a value that is to be replaced. */
function mapped(value: unknown, replace: (one: unknown) => unknown): unknown {
  const replaced = replace(value)
  if (replaced !== value || typeof value !== 'object' || value === null) return replaced
  if (Array.isArray(value)) return value.map((one) => mapped(one, replace))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, mapped(one, replace)]),
  )
}

const withoutTimes = (value: unknown, now: number) =>
  mapped(value, (one) => (typeof one === 'number' && one > LEAST_TIME ? { ms: one - now } : one))

/** Returns a recorded value with its times from `now` on. */
export const withTimes = (value: unknown, now: number) =>
  mapped(value, (one) =>
    typeof one === 'object' && one && Object.keys(one).join() === 'ms' && 'ms' in one
      ? now + Number(one.ms)
      : one,
  )

/** Records every call of an object until it is ended. Returns the records, by object. */
function recordCalls() {
  const prototype = Object.getPrototypeOf(env.TOKEN_GATE)
  const original = prototype.getByName
  const records = new Map<string, { object: string; calls: Recorded['calls'][number][] }>()
  prototype.getByName = function (this: DurableObjectNamespace, name: string, ...rest: []) {
    const stub = original.call(this, name, ...rest)
    const object = Object.entries(NAMESPACES).find(([, one]) => one === this)?.[0]
    if (!object) return stub
    const { calls } =
      records.get(object + name) ??
      records.set(object + name, { object, calls: [] }).get(object + name)!
    return new Proxy(stub, {
      get(target, method) {
        const value = Reflect.get(target, method)
        if (typeof value !== 'function' || typeof method !== 'string') return value
        return async (...args: unknown[]) => {
          const now = Date.now()
          const call = {
            method,
            args: withoutTimes(args, now) as unknown[],
            result: null as unknown,
          }
          calls.push(call)
          const result = await target[method](...args)
          call.result = withoutTimes(result ?? null, now)
          return result
        }
      },
    })
  }
  const end = () => {
    prototype.getByName = original
  }
  return { end, records: () => [...records.values()] as Recorded[] }
}

const PATH = 'accounts/acme'

/** A firm with a plan, an affiliate, a link and a webhook. */
export async function firm() {
  const acme = await issuedPartner('forex', { account: 'acme', affiliates: ['aff-7'] })
  const base = [{ transactions: ['deposit'] }]
  await storePlan('acme', 'ib', monthly([{ id: 'tenth', kind: 'share', percent: '10', base }]))
  await assign('acme', 'ib')
  await acme.post('customers', ada)
  await askAdmin(`${PATH}/webhooks`, 'POST', { url: 'https://hooks.example/tributary' })
  return acme
}

/** Does everything for which the Worker calls an object. */
async function callEverything() {
  const acme = await firm()
  const { client_id, client_secret, access_token: token } = acme
  // A delivery with a refused record asks for its webhook event.
  await acme.post('transactions', [
    deposit,
    { ...deposit, transaction_id: 't-2', currency: 'euro' },
  ])
  await askToken({
    grant_type: 'client_credentials',
    client_id,
    client_secret: `${client_secret}x`,
  })
  await ask('/oauth/revoke', {
    method: 'POST',
    body: new URLSearchParams({ token, client_id, client_secret }),
  })
  await acme.get('customers')
  await askToken({ grant_type: 'client_credentials', client_id, client_secret })
  await askAdmin(PATH, 'PATCH', { name: 'Acme Markets' })
  await askAdmin(`${PATH}/clients/${client_id}`, 'DELETE')
  const keys = `${PATH}/affiliates/aff-7/keys`
  const { key } = await json(askAdmin(keys, 'POST', { scope: 'read' }))
  await ask('/affiliate/v1/overview', { headers: { Authorization: `Bearer ${key}` } })
  await askAdmin(`${PATH}/customers/c-1/personal-data`, 'DELETE')
  await askAdmin('erasures/replay', 'POST', {})
  const team = await signedIn()
  await team.post('/console/sign-out', { csrf: await team.csrf() })
  await visitPortal()
}

/** A member registers a passkey, signs in with it and signs out. */
async function visitPortal() {
  const at = '/portal/acme'
  const [browser, device] = [openPortal(), await newPasskey()]
  await joinAt(at, browser, await inviteTo('acme', 'aff-7'), { device })
  browser.cookies.clear()
  const form = await (await browser.get(`${at}/sign-in`)).text()
  const credential = await device.get(optionsIn(form), {})
  await browser.post(`${at}/sign-in`, { credential, state: hidden(form, 'state') })
  const page = await (await browser.get(at)).text()
  await browser.post(`${at}/sign-out`, { csrf: hidden(page, 'csrf') })
}

/** A platform whose queues and Workflows only note what is sent. */
function noting() {
  const jobs: Job[] = []
  const clicks: Click[] = []
  const webhooks: QueuedMessage[] = []
  const runs: RunParameters[] = []
  const queue = <Body>(sent: Body[]) => ({
    send: async (body: Body) => sent.push(body),
    sendBatch: async (messages: Iterable<MessageSendRequest<Body>>) => {
      for (const { body } of messages) sent.push(body)
    },
  })
  const createBatch = async (batch: { params: RunParameters }[]) => {
    runs.push(...batch.map(({ params }) => params))
  }
  const platform = overriding(env as Env, {
    ACCOUNT_JOBS: queue(jobs),
    CLICKS: queue(clicks),
    WEBHOOKS: queue(webhooks),
    STATEMENT_RUNS: { createBatch },
  })
  return { jobs, clicks, webhooks, runs, platform }
}

/** Jobs that follow others only if there is very much to do. */
const rareJobs = (at: number): Job[] => [
  { job: 'steps', binding: 'DB', round: 2, at },
  { job: 'archive', binding: 'DB', round: 1, at },
  { job: 'export', account: 'acme', at },
  { job: 'old-months', account: 'acme', at, round: 1 },
  { job: 'propagate', accounts: ['acme'], at },
  { job: 'postbacks', binding: 'DB', accounts: ['acme'], done: 0, at },
  { job: 'alarm', alarm: 'late_run', id: 'late_run acme', data: { late_run: 'acme' }, at },
]

/** Sends each kind of message, and starts a run. */
export async function sendEverything() {
  const { platform, jobs, ...sent } = noting()
  const { link_id } = await json(
    askAdmin(`${PATH}/links`, 'POST', {
      ...{ affiliate_id: 'aff-7', landing_page: 'https://acme.example/start' },
    }),
  )
  const context = createExecutionContext()
  await worker.fetch(new Request(`${ORIGIN}/go/${link_id}?sub1=a`), platform, context)
  await waitOnExecutionContext(context)
  // By then the events of before are due again.
  const scheduledTime = Date.now() + HOUR_MS
  for (const cron of Object.values(CRON_SCHEDULES)) {
    await worker.scheduled({ cron, scheduledTime } as ScheduledController, platform)
  }
  // A job puts others on the queue.
  for (const job of jobs) await deliverJob(job, platform)
  return { jobs: [...jobs, ...rareJobs(scheduledTime)], ...sent }
}

/** Records what the present version sends. */
export async function recordCrossing(): Promise<Crossing> {
  const { end, records } = recordCalls()
  try {
    await callEverything()
    const sent = await sendEverything()
    return { objects: records(), ...sent }
  } finally {
    end()
  }
}
