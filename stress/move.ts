import { join } from 'node:path'
import { buildPeer } from '../bench/build.ts'
import { type Counts, METER_PATH } from '../bench/cost/meter.ts'
import { MIGRATIONS } from '../bench/schema.ts'
import { execute, start } from '../bench/worker.ts'
import type { StepRequest } from './move/worker.ts'
import { runProgram, type Setting } from './program.ts'

// A large account moves to another database on the local platform, and prints how long its writes are refused:
// `npm run move [-- --records 1000000]`.

const ACCOUNT = 'acme'

/** How long the writes of an account of a million records may be refused, in milliseconds. */
const MOST_REFUSED_MS = 5000

/** Returns the statements that store records: 5 % customers, 45 % transactions, 50 % activity. */
function fillStatements(records: number): string[] {
  const counted = (count: number) =>
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`
  const part = (share: number) => Math.max(1, Math.round(records * share))
  const customers = part(0.05)
  return [
    `insert into accounts (id, name, vertical, mode, binding, unknown_customer, created_at)
     values ('other', 'Other', 'forex', 'test', 'DB', 'reject', '2026-01-01T00:00:00.000Z')`,
    `${counted(customers)} insert into customers (account, customer_id, affiliate_id, day, delivery, idx, revision, email)
     select '${ACCOUNT}', 'CU-' || i, 'aff-' || i % 50, 20000 + i % 700, 'dlv_1', i, 1, 'customer' || i || '@example.com' from n`,
    `${counted(part(0.45))} insert into transactions (account, transaction_id, customer_id, transaction_type, amount_currency,
       currency, transaction_date, status, amount_usd, day, held, delivery, idx, revision)
     select '${ACCOUNT}', lower(hex(randomblob(10))), 'CU-' || (1 + i % ${customers}), 'deposit', i / 7.0, 'EUR',
       1767225600000 + i, 'completed', i / 6.5, 20000 + i % 700, 0, 'dlv_1', i, 1 from n`,
    `${counted(part(0.5))} insert into activity (account, date, customer_id, instrument, currency, lots_traded, pnl, volume_usd,
       held, delivery, idx, revision)
     select '${ACCOUNT}', 20000 + i % 700, 'CU-' || (1 + i / 700 % ${customers}), 'EURUSD' || i / 700 / ${customers}, 'USD',
       i / 100.0, i / 9.0, i * 1.1, 0, 'dlv_1', i, 1 from n`,
  ]
}

type Place = StepRequest['place']

/** Makes a step of the move, and measures it in milliseconds. */
type Step = <T>(
  step: StepRequest['step'],
  place?: Place,
) => Promise<{ readonly result: T; readonly ms: number }>

/** How long steps took, in milliseconds. */
const describeSteps = (steps: readonly number[]): string => {
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  const sum = steps.reduce((total, ms) => total + ms, 0)
  return `${steps.length} steps, ${seconds(sum)} s, the longest ${seconds(Math.max(...steps))} s`
}

/** Repeats a step until its result says that nothing is left. Returns how long each took. */
async function repeat<T>(
  make: Step,
  step: StepRequest['step'],
  read: (result: T) => { readonly isDone: boolean; readonly next: Place },
): Promise<number[]> {
  const took: number[] = []
  let place: Place = null
  for (let isDone = false; !isDone; ) {
    const made: { readonly result: T; readonly ms: number } = await make<T>(step, place)
    took.push(made.ms)
    const after = read(made.result)
    isDone = after.isDone
    place = after.next
  }
  return took
}

const stepsTo =
  (url: URL): Step =>
  async <T>(step: StepRequest['step'], place: Place = null) => {
    const begun = performance.now()
    const body = JSON.stringify({ step, account: ACCOUNT, place } satisfies StepRequest)
    const response = await fetch(url, { method: 'POST', body, headers: { Connection: 'close' } })
    if (response.status !== 200) throw new Error(`${step}: ${await response.text()}`)
    const { result } = (await response.json()) as { result: T }
    return { result, ms: performance.now() - begun }
  }

/** Returns how many rows were written since it was called before. */
async function takeWritten(url: URL): Promise<number> {
  const response = await fetch(new URL(METER_PATH, url), { headers: { Connection: 'close' } })
  const { usage } = (await response.json()) as Counts
  return usage.rowsWritten
}

/** Copies and compares all rows, while some change. */
async function copyAll(
  make: Step,
  { print, check }: Setting,
  change: () => Promise<void>,
): Promise<void> {
  await make('start')
  const isLast = (next: Place) => ({ isDone: next === null, next })
  print(`Copied: ${describeSteps(await repeat<Place>(make, 'copy', isLast))}.`)
  await change()
  const differences: object[] = []
  type Compared = { differences: object[]; next: Place }
  const compared = await repeat<Compared>(make, 'compare', ({ differences: found, next }) => {
    differences.push(...found)
    return isLast(next)
  })
  print(`Compared: ${describeSteps(compared)}.`)
  check(differences.length === 0, `${differences.length} rows differ.`)
  print(`Followed the changes: ${describeSteps(await followAll(make))}.`)
}

const followAll = (make: Step) =>
  repeat<number>(make, 'follow', (left) => ({ isDone: left === 0, next: null }))

/** Refuses writes, copies the rest and compares. */
async function pause(make: Step, { print, check }: Setting, records: number): Promise<void> {
  const begun = performance.now()
  await make('close')
  await followAll(make)
  const { result: names, ms } = await make<string[]>('check')
  const refused = performance.now() - begun
  const seconds = [refused, ms].map((one) => (one / 1000).toFixed(2))
  print(`Writes were refused for ${seconds[0]} s; the last comparison took ${seconds[1]} s.`)
  check(names.length === 0, `These differ: ${names.join()}.`)
  const most = MOST_REFUSED_MS * Math.max(1, records / 1e6)
  check(refused <= most, `Writes were refused for ${refused.toFixed()} ms, not ${most}.`)
}

/** Moves an account of so many records, of which some change meanwhile. */
export async function move(
  setting: Setting,
  { records, changes }: { records: number; changes: number },
): Promise<void> {
  const { folder, print } = setting
  const service = await start(await buildPeer('stress/move/worker.ts'), join(folder, 'move'), {
    env: { DB_2: { type: 'd1', id: 'DB_2' } },
  })
  try {
    const source = { database: await service.miniflare.getD1Database('DB_2') }
    for (const one of [service, source]) await execute(one, MIGRATIONS)
    for (const sql of fillStatements(records)) await execute(source, [sql])
    print(`${records} records are stored.`)
    const make = stepsTo(service.url)
    await copyAll(make, setting, () =>
      execute(source, [
        `update transactions set note = 'changed' where account = '${ACCOUNT}' and idx <= ${changes}`,
      ]),
    )
    // The move waits until few changes are left.
    await execute(source, [
      `update customers set lang_id = 'de' where account = '${ACCOUNT}' and idx <= 500`,
    ])
    await pause(make, setting, records)
    await make('end')
    const copied = await takeWritten(service.url)
    const dropped = await repeat<boolean>(make, 'drop', (isDone) => ({ isDone, next: null }))
    print(`Deleted the old copy: ${describeSteps(dropped)}.`)
    const written = [copied, await takeWritten(service.url)].map((rows) => rows / records)
    const [toCopy, toDelete] = written.map((rows) => rows.toFixed(2))
    print(`Rows written for each record: ${toCopy} to copy and compare, ${toDelete} to delete.`)
  } finally {
    await service.end()
  }
}

await runProgram(
  import.meta.url,
  'Moves an account to another database, and prints how long its writes are refused.',
  {
    records: { help: 'records of the account', value: 1_000_000, least: 1000, most: 10_000_000 },
    changes: { help: 'records that change meanwhile', value: 10_000, least: 1, most: 1_000_000 },
  },
  move,
)
