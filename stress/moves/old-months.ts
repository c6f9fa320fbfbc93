import { setTimeout as wait } from 'node:timers/promises'
import { execute } from '../../bench/worker.ts'
import { expectBody, type RequestSender } from '../ask.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'

// Old months of an account, which leave for the archive while it moves and while clients write to it.

/** The records of each old month. */
const RECORDS = 60

/** How long a month may take to leave or to come back, in milliseconds. */
const MOST_MS = 120_000

/** Returns the old month with this number, from 0. */
export const oldMonth = (i: number): string =>
  new Date(Date.UTC(2020, i, 1)).toISOString().slice(0, 'YYYY-MM'.length)

const daysOf = (month: string) => `from=${month}-01&to=${month}-28`

const recordOf = (month: string, i: number, hundredths = 100 + i) => ({
  transaction_id: `old-${month}-${i}`,
  customer_id: 'CU-1',
  transaction_type: 'deposit',
  amount_currency: hundredths / 100,
  currency: 'USD',
  amount_usd: hundredths / 100,
  transaction_date: `${month}-${String(1 + (i % 28)).padStart(2, '0')}T12:00:00Z`,
  status: 'approved',
})

/** Sends the records of so many old months. */
export async function sendOldMonths(ask: RequestSender, months: number): Promise<void> {
  for (let n = 0; n < months; n++) {
    const body = Array.from({ length: RECORDS }, (_, i) => recordOf(oldMonth(n), i))
    await expectBody(200, ask('POST', 'transactions', { body }))
  }
}

/** Calls `look` every half second until it returns true. */
async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + MOST_MS; Date.now() < end; await wait(500)) {
    if (await look()) return
  }
  throw new Error(`${what} takes too long.`)
}

interface Archived {
  readonly month: string
  readonly state: string
}

const listArchives = async ({ admin }: Service, account: string): Promise<Archived[]> => {
  const path = `accounts/${account}/archives?per_page=100`
  return (await expectBody(200, admin('GET', path))).data as Archived[]
}

/** An account, and the database that has its records. */
interface Place {
  readonly account: string
  readonly binding: string
}

/** Has an old month of an account leave. Resolves once it is being written, or has left. */
export async function beginArchive(
  service: Service,
  ask: RequestSender,
  { account, binding }: Place,
  month: string,
): Promise<void> {
  await expectBody(200, ask('GET', `totals?${daysOf(month)}`))
  // Control totals must have been kept for some minutes.
  await execute({ database: await service.miniflare.getD1Database(binding) }, [
    `update day_totals set checked_at = checked_at - 3600000 where account = '${account}'`,
  ])
  const path = `accounts/${account}/archives`
  await expectBody(202, service.admin('POST', path, { body: { month } }))
  await until(`The archive of ${month}`, async () =>
    (await listArchives(service, account)).some((one) => one.month === month),
  )
}

/** Adds up the records of an old month, page by page. */
async function readMonth(ask: RequestSender, month: string) {
  let [count, hundredths, isArchived] = [0, 0, false]
  for (let cursor = ''; ; ) {
    const path = `transactions?per_page=100&${daysOf(month)}${cursor && `&cursor=${cursor}`}`
    const { data, meta } = await expectBody(200, ask('GET', path))
    for (const { amount_currency } of data as { amount_currency: number }[]) {
      count += 1
      hundredths += Math.round(amount_currency * 100)
    }
    const { archived, next_cursor } = meta as { archived?: boolean; next_cursor: string | null }
    isArchived ||= archived === true
    if (next_cursor === null) return { count, hundredths, isArchived }
    cursor = next_cursor
  }
}

/**
 * Checks that every old month has left and has its records, corrects a record of the first one, which then comes
 * back, and checks that month again. `runCron` runs the cron of every minute.
 */
export async function checkOldMonths(
  { check, print }: Setting,
  { service, account, ask }: { service: Service; account: string; ask: RequestSender },
  months: number,
  runCron: () => Promise<void>,
): Promise<void> {
  await until('The archive', async () => {
    await runCron()
    const archived = (await listArchives(service, account)).filter(
      (one) => one.state === 'archived',
    )
    return archived.length === months
  })
  const expected = (RECORDS * (RECORDS - 1)) / 2 + 100 * RECORDS
  for (let n = 0; n < months; n++) {
    const found = await readMonth(ask, oldMonth(n))
    check(
      found.count === RECORDS && found.hundredths === expected && found.isArchived,
      `${oldMonth(n)} has ${found.count} records with ${found.hundredths} hundredths.`,
    )
  }
  let refused = 0
  await until('The correction', async () => {
    const { status } = await ask('POST', 'transactions', { body: [recordOf(oldMonth(0), 0, 1100)] })
    refused += Number(status === 503)
    if (status === 503) await runCron()
    return status === 200
  })
  const corrected = await readMonth(ask, oldMonth(0))
  check(
    corrected.count === RECORDS && corrected.hundredths === expected + 1000 && refused > 0,
    `After a correction ${oldMonth(0)} has ${corrected.count} records with ${corrected.hundredths} hundredths.`,
  )
  print(
    `${months} months were archived meanwhile, with all of their ${months * RECORDS} records; one came back for a correction after ${refused} requests were answered 503.`,
  )
}
