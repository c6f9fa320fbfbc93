import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import worker from '../../src/index.ts'
import type { Mail } from '../../src/people/mail.ts'
import { queueDue } from '../../src/webhooks/causes.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ORIGIN } from '../partner.ts'
import { asTeam } from '../requests.ts'

/** What the service that sends e-mail does otherwise than it should. */
export type Fault = (mail: Mail) => Promise<unknown> | unknown

/** A service that takes e-mails as miniflare's does, and lists them; `fault` comes before it. */
export function postOffice(fault: Fault = () => {}) {
  const mails: Mail[] = []
  const queued: { body: object }[] = []
  const world = {
    ...env,
    EMAIL: {
      async send(mail: Mail) {
        await fault(mail)
        const taken = await env.EMAIL.send(mail)
        mails.push(mail)
        return taken
      },
    },
    WEBHOOKS: {
      async sendBatch(messages: Iterable<{ body: object }>) {
        queued.push(...messages)
      },
    },
  } as unknown as Env
  /** Runs the consumer with messages. Returns those that are to be delivered again. */
  const consume = async (...bodies: object[]) => {
    const messages = bodies.map((body, i) => {
      return { id: String(i), timestamp: new Date(), attempts: 1, body }
    })
    const batch = createMessageBatch<unknown>('tributary-webhooks', messages)
    const context = createExecutionContext()
    await worker.queue(batch, world, context)
    await waitOnExecutionContext(context)
  }
  /** Queues what is due, and delivers it. Returns the e-mails that are sent by that. */
  const deliver = async (now = Date.now()): Promise<Mail[]> => {
    const before = mails.length
    await queueDue(world, 'DB', null, now)
    await consume(...queued.splice(0).map(({ body }) => body))
    return mails.slice(before)
  }
  /** Sends a request of the team. What it causes is queued, and waits for `deliver`. */
  const ask = async (path: string, method: string, body?: unknown) => {
    const context = createExecutionContext()
    const headers = { ...asTeam(), 'Content-Type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const request = new Request(`${ORIGIN}/admin/v1/${path}`, init)
    const response = await fetchWith(world, request, context)
    await waitOnExecutionContext(context)
    return response
  }
  return { world, mails, queued, ask, consume, deliver }
}

/** Returns the links of an e-mail, which are the same in its text and in its HTML. */
export const linksIn = ({ text }: Mail) => text.match(/https?:\/\/\S+/g) ?? []
