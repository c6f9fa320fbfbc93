import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { buildPeer } from '../bench/build.ts'
import { percentile } from '../bench/figures.ts'
import { newBulks, PER_BULK } from '../bench/records.ts'
import { MIGRATIONS } from '../bench/schema.ts'
import { execute } from '../bench/worker.ts'
import { type Answer, expectBody, type RequestSender } from './ask.ts'
import { FAILING_PATH } from './drill/failing-path.ts'
import { AFFILIATE, asFirm, newClient, newToken } from './parties.ts'
import { runProgram, type Setting } from './program.ts'
import { newSecrets, type Service, serve } from './service.ts'

// Many accounts of very different size in eight databases, on the local platform: a burst on one account, and a
// database that fails for a while: `npm run drill [-- --accounts 200 --records 3000 --seconds 10]`.

/** The databases: the first one has the accounts, too. */
const DATABASES = ['DB', ...Array.from({ length: 7 }, (_, i) => `DB_${i + 2}`)]

/** The database on which the burst falls, and which fails later. */
const STRUCK = 'DB_4'

/** The requests that are sent at the same time while accounts are filled, and by the burst. */
const LANES = 8

/**
 * How many times slower the slowest hundredth of an account's requests may become by a burst in another database,
 * and how long they may wait besides, in milliseconds. workerd runs the Worker, its objects and all databases in
 * one thread, through which a request passes about ten times. On the platform they do not wait for each other.
 */
const MOST_SLOWER = 3
const MOST_AWAITED_MS = 1000

/** The records of an ordinary request. */
const ORDINARY = 20

/** The customers of each account. */
const CUSTOMERS = Array.from({ length: 300 }, (_, i) => ({
  customer_id: `CU-${10_001 + i}`,
  signup_date: '2026-08-01T00:00:00Z',
  last_modified_date: '2026-08-01T00:00:00Z',
  affiliate_id: AFFILIATE,
  tracking_data: 'tr-1',
}))

/** An account of the drill. */
interface Member {
  readonly account: string
  readonly binding: string
  readonly ask: RequestSender
  /** The records that it sends first. */
  readonly size: number
  /** How many records were acknowledged, and the sum of their amounts in hundredths. */
  acknowledged: number
  hundredths: number
  /** The number of the next bulk, from which its ids follow. */
  next: number
}

/** Runs tasks, so many at the same time. */
async function inLanes<T>(list: readonly T[], task: (one: T) => Promise<unknown>): Promise<void> {
  const left = list.values()
  const lane = async () => {
    for (const one of left) await task(one)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

async function newMember(service: Service, i: number, largest: number): Promise<Member> {
  const account = `member-${i}`
  const binding = DATABASES[i % DATABASES.length]!
  const body = {
    ...{ account, name: account, vertical: 'forex', mode: 'test', unknown_customer: 'reject' },
    binding,
  }
  await expectBody(201, service.admin('POST', 'accounts', { body }))
  const affiliates = [{ affiliate_id: AFFILIATE }]
  await expectBody(
    200,
    service.admin('PUT', `accounts/${account}/affiliates`, { body: affiliates }),
  )
  const firm = { account, vertical: 'forex' as const, ...(await newClient(service.admin, account)) }
  const ask = asFirm(service, firm, await newToken(service, firm))
  // The second account has half of the records of the first one, the third one a third, and so on.
  const size = Math.ceil(largest / (i + 1))
  return { account, binding, ask, size, acknowledged: 0, hundredths: 0, next: 0 }
}

/** Sends new records of an account. What is acknowledged is counted. */
async function send(member: Member, count: number): Promise<Answer> {
  const number = member.next
  member.next += 1
  return sendAgain(member, number, count)
}

async function sendAgain(member: Member, number: number, count: number): Promise<Answer> {
  const [bulk] = newBulks(1, count, number)
  const records = bulk!.records.map((record) => ({
    ...record,
    transaction_id: `${number}-${record.transaction_id}`,
  }))
  const answer = await member.ask('POST', 'transactions', { body: records })
  if (answer.status === 200) {
    member.acknowledged += records.length
    for (const { amount_currency } of records) {
      member.hundredths += Math.round(amount_currency * 100)
    }
  }
  return answer
}

/** Fills an account with the records of its size. */
async function fill(member: Member): Promise<void> {
  await expectBody(200, member.ask('POST', 'customers', { body: CUSTOMERS }))
  for (let left = member.size; left > 0; left -= PER_BULK) {
    const answer = await send(member, Math.min(left, PER_BULK))
    if (answer.status !== 200) throw new Error(`Answered ${answer.status}.`)
  }
}

/** A group of the control totals. */
interface Group {
  resource: string
  count: number
  sums: { amount_currency: string }
}

/** Checks that the control totals of each account are the records that it sent, to the cent. */
async function checkSums({ check, print }: Setting, members: readonly Member[]): Promise<void> {
  let records = 0
  await inLanes(members, async (member) => {
    const query = 'totals?from=2026-09-01&to=2026-09-30'
    const { data } = await expectBody(200, member.ask('GET', query))
    let counted = 0
    let hundredths = 0
    for (const { resource, count, sums } of data as Group[]) {
      if (resource !== 'transactions') continue
      counted += count
      hundredths += Math.round(Number(sums.amount_currency) * 100)
    }
    records += counted
    check(
      counted === member.acknowledged && hundredths === member.hundredths,
      `${member.account} in ${member.binding}: ${counted} records with ${hundredths} hundredths are stored, ${member.acknowledged} with ${member.hundredths} were acknowledged`,
    )
  })
  print(`All sums were compared: ${records} records of ${members.length} accounts.`)
}

/** Sends ordinary requests for a time, and returns how long each took, in milliseconds. */
async function ordinary(members: readonly Member[], ms: number, check: Setting['check']) {
  const times: number[] = []
  for (const end = Date.now() + ms; Date.now() < end; ) {
    for (const member of members) {
      const start = performance.now()
      const answer = await send(member, ORDINARY)
      times.push(performance.now() - start)
      check(answer.status === 200, `${member.account}: answered ${answer.status} during the burst`)
      await wait(10)
    }
  }
  return times
}

/** Compares how fast accounts are served alone, and while another account sends all it can. */
async function burst({ check, print }: Setting, members: readonly Member[], ms: number) {
  const firstIn = (binding: string) => members.find((one) => one.binding === binding)!
  const [busy, neighbour] = members.filter(({ binding }) => binding === STRUCK)
  const others = DATABASES.filter((name) => name !== STRUCK).map(firstIn)
  for (const [title, served, isApart] of [
    ['accounts of other databases', others, true],
    ['an account of the same database', [neighbour!], false],
  ] as const) {
    const alone = await ordinary(served, ms, check)
    const end = Date.now() + ms
    const lane = async () => {
      while (Date.now() < end) {
        const { status } = await send(busy!, PER_BULK)
        if (status !== 200) await wait(100)
      }
    }
    const [during] = await Promise.all([
      ordinary(served, ms, check),
      ...Array.from({ length: LANES }, lane),
    ])
    const [a50, a99, d50, d99] = [alone, during].flatMap((times) => [
      percentile(times, 0.5),
      percentile(times, 0.99),
    ]) as [number, number, number, number]
    print(
      `Burst on ${busy!.account}: ${title} wait p50 ${a50.toFixed(0)} → ${d50.toFixed(0)} ms (× ${(d50 / a50).toFixed(1)}), p99 ${a99.toFixed(0)} → ${d99.toFixed(0)} ms (× ${(d99 / a99).toFixed(1)}).`,
    )
    const most = MOST_SLOWER * a99 + MOST_AWAITED_MS
    check(
      !isApart || d99 <= most,
      `p99 of ${title} is ${d99.toFixed(0)} ms during the burst; allowed are ${most.toFixed(0)} ms`,
    )
  }
}

/** Lets a database fail: its accounts are answered 503 with `Retry-After`, and all others as before. */
async function fail({ check, print }: Setting, service: Service, members: readonly Member[]) {
  await switchFaults(service, [STRUCK])
  const refused: { member: Member; number: number }[] = []
  await inLanes(members, async (member) => {
    const number = member.next
    const answers = [await send(member, ORDINARY), await member.ask('GET', 'transactions')]
    const statuses = answers.map(({ status }) => status)
    if (member.binding === STRUCK) {
      refused.push({ member, number })
      const isAsked = answers.every(({ headers }) => Number(headers.get('Retry-After')) > 0)
      check(
        statuses.every((status) => status === 503) && isAsked,
        `${member.account} in the failing database: answered ${statuses.join(' and ')}, ${isAsked ? 'with' : 'without'} Retry-After`,
      )
    } else {
      check(
        statuses.every((status) => status === 200),
        `${member.account} in ${member.binding}: answered ${statuses.join(' and ')} while ${STRUCK} fails`,
      )
    }
  })
  await switchFaults(service, [])
  await inLanes(refused, async ({ member, number }) => {
    const { status } = await sendAgain(member, number, ORDINARY)
    check(status === 200, `${member.account}: answered ${status} after ${STRUCK} has recovered`)
  })
  print(
    `${STRUCK} failed: its ${refused.length} accounts were answered 503, all ${members.length - refused.length} others as ever.`,
  )
}

const switchFaults = (service: Service, failing: readonly string[]) =>
  fetch(new URL(FAILING_PATH, service.url), { method: 'POST', body: JSON.stringify(failing) })

/** Runs the drill with so many accounts, of which the largest one sends so many records. */
export async function drill(
  setting: Setting,
  { accounts, records, seconds }: { accounts: number; records: number; seconds: number },
): Promise<void> {
  const { print, folder } = setting
  const script = await buildPeer('stress/drill/worker.ts', resolve('src/index.ts'))
  const own = DATABASES.slice(1)
  const service = await serve(script, join(folder, 'drill'), await newSecrets(), own)
  try {
    for (const name of DATABASES) {
      await execute({ database: await service.miniflare.getD1Database(name) }, MIGRATIONS)
    }
    const members: Member[] = []
    await inLanes(
      Array.from({ length: accounts }, (_, i) => i),
      async (i) => {
        members[i] = await newMember(service, i, records)
      },
    )
    await inLanes(members, fill)
    const sizes = members.map(({ size }) => size)
    print(
      `${accounts} accounts in ${DATABASES.length} databases, with ${Math.max(...sizes)} to ${Math.min(...sizes)} records.`,
    )
    await checkSums(setting, members)
    await burst(setting, members, seconds * 1000)
    await fail(setting, service, members)
    await checkSums(setting, members)
  } finally {
    await service.end()
  }
}

await runProgram(
  import.meta.url,
  'Fills eight local databases with accounts of very different size, lets one account send all it can, and one database fail.',
  {
    accounts: { help: 'accounts', value: 200, least: 16, most: 2000 },
    records: { help: 'records of the largest account', value: 3000, least: 1, most: 1_000_000 },
    seconds: { help: 'length of each measurement', value: 10, least: 1, most: 600 },
  },
  drill,
)
