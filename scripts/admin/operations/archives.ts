import { setTimeout as sleep } from 'node:timers/promises'
import { fetchPages } from '../client.ts'
import { object } from '../format.ts'
import type { Operation } from '../operation.ts'
import type { SendRequest } from '../request.ts'

/** How often `--wait` asks whether a month is back, in milliseconds. */
const ASK_MS = 5000

interface ArchivedMonth {
  readonly month: string
  readonly resource: string
  readonly damaged_object: string | null
}

/** Returns the resources of a month that are not back. */
async function leftOf(send: SendRequest, path: string, month: string): Promise<ArchivedMonth[]> {
  const request = { method: 'GET', path, query: {} } as const
  const { data } = (await fetchPages(send, request, Number.POSITIVE_INFINITY)) as {
    data: ArchivedMonth[]
  }
  return data.filter((one) => one.month === month)
}

interface Requested {
  readonly month: string
  readonly resources: readonly string[]
}

/** What moves months of an account to the archive and back. */
export const ARCHIVES: readonly Operation[] = [
  {
    noun: 'archive',
    verb: 'run',
    summary: 'Has a month leave the database now, or says what keeps it there.',
    example: 'acme 2024-03',
    method: 'POST',
    path: 'accounts/{account}/archives',
    argument: 'month',
    body: ({ operands: { month } }) => ({ month }),
    format: object,
    note: (body) =>
      (body as Requested).resources.length > 0
        ? 'It leaves within half an hour. `archive list` shows it.'
        : 'It is archived already.',
  },
  {
    noun: 'archive',
    verb: 'restore',
    summary: 'Brings a month back to the database.',
    example: 'acme 2024-03',
    method: 'POST',
    path: 'accounts/{account}/archives/{month}/restore',
    options: { wait: { description: 'Waits until all its records are back.' } },
    body: () => ({}),
    async run(send, request, { operands: { account = '', month = '' }, options }, report) {
      const requested = (await send(request)) as Requested
      const path = `accounts/${encodeURIComponent(account)}/archives`
      let printed = ''
      while (options.wait) {
        const left = await leftOf(send, path, month)
        const damaged = left.find((one) => one.damaged_object !== null)
        if (damaged) throw new Error(`An object is damaged or missing: ${damaged.damaged_object}.`)
        if (left.length === 0) break
        const progress = `waiting for ${left.map(({ resource }) => resource).join(', ')}`
        if (progress !== printed) report(progress)
        printed = progress
        await sleep(ASK_MS)
      }
      return requested
    },
    format: object,
    note: (body, { options }) => {
      if ((body as Requested).resources.length === 0) return 'Nothing of this month is archived.'
      return options.wait
        ? null
        : 'It is back within minutes. `archive list` no longer shows it then.'
    },
  },
]
