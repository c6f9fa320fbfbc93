import { createExecutionContext, introspectWorkflow, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { ErasureJournal } from '../src/admin/erasure-journal.ts'
import type { Job } from '../src/admin/jobs.ts'
import { ClientGate } from '../src/auth/client-gate.ts'
import { TokenGate } from '../src/auth/token-gate.ts'
import { BackgroundJob } from '../src/background-job.ts'
import worker from '../src/index.ts'
import { deliverJob } from './crons.ts'
import {
  type Crossing,
  firm,
  NAMESPACES,
  recordCrossing,
  sendEverything,
  withTimes,
} from './last-release/record.ts'
import stored from './last-release/sent.json?raw'
import { printedAs } from './secrecy.ts'

// Two versions at once: the platform updates objects minutes after the Worker, and queues and Workflows hold what the
// Worker before has sent. These tests send to the present version what the last release sends.
// test-node/last-release.test.ts runs tests of the present Worker with the objects of the last release.

const CLASSES = { TokenGate, ClientGate, ErasureJournal, BackgroundJob }

/** Every kind of job: the compiler knows if one is missing. */
const KINDS: Record<Job['job'], true> = {
  ...{ list: true, feeds: true, storage: true, postbacks: true, morning: true, propagate: true },
  ...{ minute: true, steps: true, expire: true, check: true, alarm: true, archive: true },
  export: true,
  'old-months': true,
}

const last = JSON.parse(stored) as Crossing

/** Returns what of an earlier value a later one lacks, or has in another form. */
function lacking(earlier: unknown, later: unknown, path = ''): string[] {
  if (Array.isArray(earlier)) {
    return Array.isArray(later)
      ? earlier.flatMap((one, i) => lacking(one, later[i], `${path}/${i}`))
      : [path]
  }
  if (typeof earlier !== 'object' || earlier === null) {
    return typeof earlier === typeof later && (earlier === null) === (later === null) ? [] : [path]
  }
  if (typeof later !== 'object' || later === null) return [path]
  return Object.entries(earlier).flatMap(([name, one]) =>
    lacking(one, (later as Record<string, unknown>)[name], `${path}/${name}`),
  )
}

test('the present Worker calls every method of its objects, and sends every kind of message', async () => {
  const { objects, ...sent } = await recordCrossing()
  const called = new Set(
    objects.flatMap(({ object, calls }) => calls.map(({ method }) => `${object}.${method}`)),
  )
  const methods = Object.entries(CLASSES).flatMap(([name, { prototype }]) =>
    Object.getOwnPropertyNames(prototype)
      .filter((method) => method !== 'constructor' && method !== 'alarm')
      .map((method) => `${name}.${method}`),
  )
  expect([...called].sort()).toEqual(methods.sort())
  expect([...new Set(sent.jobs.map(({ job }) => job))].sort()).toEqual(Object.keys(KINDS).sort())
  for (const list of [sent.clicks, sent.webhooks, sent.runs]) expect(list).not.toEqual([])
  expect(printedAs('error')).toEqual([])
  if (import.meta.env.MODE === 'release') {
    const body = JSON.stringify({ objects, ...sent })
    await fetch('http://recorder.local/last-release', { method: 'POST', body })
  }
})

test.each(last.objects)('a $object understands the calls of the last release', async (recorded) => {
  const object = NAMESPACES[recorded.object].getByName(crypto.randomUUID()) as unknown as Record<
    string,
    (...args: unknown[]) => Promise<unknown>
  >
  for (const { method, args, result } of recorded.calls) {
    const now = Date.now()
    const answer = await object[method]!(...(withTimes(args, now) as unknown[]))
    expect(lacking(withTimes(result, now), answer ?? null), method).toEqual([])
  }
})

test.each(last.jobs)('the job $job of the last release is done', async (job) => {
  await firm()
  expect(await deliverJob(job, env as Env)).toBe(false)
  expect(printedAs('error')).toEqual([])
})

/** Delivers a message to the consumer of a queue. */
async function deliver(queue: string, body: unknown) {
  const context = createExecutionContext()
  const message = { body, attempts: 1, id: 'message', timestamp: new Date(), ack() {}, retry() {} }
  await worker.queue({ queue, messages: [message] } as unknown as MessageBatch, env as Env, context)
  await waitOnExecutionContext(context)
}

test('a click of the last release is stored', async () => {
  await deliver('tributary-clicks', last.clicks[0])
  expect(await env.DB.prepare('select account, link_id from clicks').all()).toMatchObject({
    results: [{ account: 'acme', link_id: last.clicks[0]!.link_id }],
  })
})

test('a webhook message of the last release is sent', async () => {
  const acme = await firm()
  await acme.post('transactions', [{ transaction_id: 'refused' }])
  const [now] = (await sendEverything()).webhooks
  const { endpoint, event, attempts } = now!
  await deliver('tributary-webhooks', { ...last.webhooks[0], endpoint, event, attempts })
  const row = await env.DB.prepare('select count(*) as n from webhook_attempts').first('n')
  expect(row).toBeGreaterThan(0)
})

test('a Workflow of the last release computes its statements', async () => {
  await firm()
  const { run, period } = (await sendEverything()).runs[0]!
  const runs = await introspectWorkflow(env.STATEMENT_RUNS)
  await env.STATEMENT_RUNS.create({ id: run, params: { ...last.runs[0], run, period } as never })
  for (const one of await runs.get()) await one.waitForStatus('complete')
  await runs.dispose()
  expect(await env.DB.prepare('select status from statement_runs').first('status')).toBe('done')
})
