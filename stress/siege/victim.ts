import { setTimeout as wait } from 'node:timers/promises'
import { newBulks } from '../../bench/records.ts'
import { expectBody, type RequestSender } from '../ask.ts'
import { asFirm, newFirm, newToken } from '../parties.ts'
import type { Service } from '../service.ts'

/** The records of each of the victim's bulks, and how many customers they are of. */
const BULK = 100
const CUSTOMERS = 300

/** How long the victim waits between two requests, in milliseconds. */
const PAUSE_MS = 25

/** How long the victim waits for an answer, in milliseconds: as long as D1 may take for a query. */
const PATIENCE_MS = 30_000

/** An account that sends ordinary bulks and reads, one after the other. */
export interface Victim {
  /** Sends requests for a time, and returns how long each took, in milliseconds. */
  run: (ms: number) => Promise<number[]>
}

/** Creates the victim with its customers. */
export async function newVictim(service: Service): Promise<Victim> {
  const firm = await newFirm(service, 'victim', 'forex', 'reject')
  let ask = asFirm(service, firm, await newToken(service, firm))
  const customers = Array.from({ length: CUSTOMERS }, (_, i) => ({
    customer_id: `CU-${10_001 + i}`,
    signup_date: '2026-09-01T00:00:00Z',
    last_modified_date: '2026-09-01T00:00:00Z',
    affiliate_id: 'IB-07',
    tracking_data: 'tr-1',
  }))
  await expectBody(200, ask('POST', 'customers', { body: customers }))
  let bulk = 0
  return {
    async run(ms) {
      // The limit is 1000 requests a minute for each token.
      ask = asFirm(service, firm, await newToken(service, firm))
      const times: number[] = []
      for (const end = Date.now() + ms; Date.now() < end; ) {
        for (const request of [sendBulk, readPage]) {
          const start = performance.now()
          await Promise.race([request(ask, bulk), rejectAfter(PATIENCE_MS)])
          times.push(performance.now() - start)
          await wait(PAUSE_MS)
        }
        bulk += 1
      }
      return times
    },
  }
}

async function rejectAfter(ms: number): Promise<never> {
  await wait(ms, null, { ref: false })
  throw new Error(`no answer within ${ms} ms`)
}

async function sendBulk(ask: RequestSender, number: number): Promise<void> {
  const [bulk] = newBulks(1, BULK, number)
  const body = bulk!.records.map((record) => ({
    ...record,
    transaction_id: `${number}-${record.transaction_id}`,
  }))
  await expectBody(200, ask('POST', 'transactions', { body }))
}

const readPage = async (ask: RequestSender) => {
  await expectBody(200, ask('GET', 'transactions?per_page=50'))
}
