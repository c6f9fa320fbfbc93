import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { buildPeer } from '../bench/build.ts'
import { MIGRATIONS } from '../bench/schema.ts'
import { execute } from '../bench/worker.ts'
import { expectBody, type RequestSender } from './ask.ts'
import { beginArchive, checkOldMonths, oldMonth, sendOldMonths } from './moves/old-months.ts'
import { CRON_PATH, LONGER_MS } from './moves/shared.ts'
import { AFFILIATE, asFirm, type Firm, newClient, newToken } from './parties.ts'
import { runProgram, type Setting } from './program.ts'
import { newSecrets, type Secrets, type Service, serve } from './service.ts'

// An account moves from database to database while clients write to it, while its old months leave for the archive,
// and while the runtime is killed:
// `npm run moves [-- --moves 20 --writers 32 --kills 0]`. What was acknowledged must be there, once.

const ACCOUNT = 'acme'

/** The databases; each move goes to the next one. */
const DATABASES = Array.from({ length: 5 }, (_, i) => `DB_${i + 2}`)

const databaseAt = (i: number) => `DB_${2 + (i % DATABASES.length)}`

/** The transactions that each writer changes all the time. */
const OWN = 3

/** The new transactions of each request. */
const NEW = 2

/** How long a move may take, in milliseconds. */
const MOST_MS = 180_000

/** The service, which is replaced when it was killed. */
interface World {
  service: Service
  /** Resolves once a service runs again. */
  restarted: Promise<unknown>
  readonly firms: readonly Firm[]
  readonly tokens: readonly string[]
  isEnding: boolean
}

/** What a writer knows to be stored. */
interface Writer {
  readonly number: number
  /** Requests that were acknowledged. */
  acknowledged: number
  /** Requests that were answered 503, and repeated. */
  refused: number
  /** Requests that were answered 429, or not at all, and repeated. */
  repeated: number
}

/** The amount of a writer's own transactions after so many requests, in hundredths. */
const amountAfter = (requests: number) => 100 + requests

const transaction = (id: string, hundredths: number, version: number) => ({
  transaction_id: id,
  customer_id: 'CU-1',
  transaction_type: 'deposit',
  amount_currency: hundredths / 100,
  currency: 'USD',
  amount_usd: hundredths / 100,
  transaction_date: '2026-09-01T12:00:00Z',
  status: `v${version}`,
})

/** Sends requests until the end. Each is repeated until it is acknowledged. */
async function write(world: World, writer: Writer, random: () => number): Promise<void> {
  while (!world.isEnding) {
    const request = writer.acknowledged + 1
    const own = Array.from({ length: OWN }, (_, i) =>
      transaction(`own-${writer.number}-${i}`, amountAfter(request), request),
    )
    const fresh = Array.from({ length: NEW }, (_, i) =>
      transaction(`new-${writer.number}-${request}-${i}`, 1, request),
    )
    await acknowledge(world, writer, [...own, ...fresh])
    writer.acknowledged = request
    // Otherwise all requests wait for the same one, and are sent at the same time again.
    await wait(random() * 400)
  }
}

async function acknowledge(world: World, writer: Writer, body: object[]): Promise<void> {
  for (;;) {
    await world.restarted
    const ask = senderOf(world, writer.number)
    const answer = await ask('POST', 'transactions', { body }).catch(() => null)
    if (answer?.status === 200) return
    if (answer && answer.status !== 503 && answer.status !== 429) {
      throw new Error(`Answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    }
    writer[answer?.status === 503 ? 'refused' : 'repeated'] += 1
    await wait(1000 * Number(answer?.headers.get('Retry-After') ?? 0.2))
  }
}

const senderOf = ({ service, firms, tokens }: World, number: number): RequestSender =>
  clientAt(service, firms, tokens, number)

/** Returns the requests of a writer: as its own client, with its own token. */
function clientAt(
  service: Service,
  firms: readonly Firm[],
  tokens: readonly string[],
  number: number,
): RequestSender {
  const [firm, token] = [firms[number], tokens[number]]
  if (!firm || !token) throw new Error(`There is no writer ${number}.`)
  return asFirm(service, firm, token)
}

/** Starts the service on the state of a folder. */
const startService = async (setting: Setting, secrets: Secrets): Promise<Service> =>
  serve(
    await buildPeer('stress/moves/worker.ts', resolve('src/index.ts')),
    join(setting.folder, 'moves'),
    secrets,
    DATABASES,
  )

/** Kills the runtime, and starts it again. */
async function kill(world: World, setting: Setting, secrets: Secrets): Promise<void> {
  const killed = world.service.kill()
  world.restarted = killed.then(async () => {
    world.service = await startService(setting, secrets)
  })
  await world.restarted
}

const runCron = async ({ url }: Service, time: number) => {
  const headers = { Connection: 'close' }
  const response = await fetch(new URL(CRON_PATH, url), {
    ...{ method: 'POST', headers, body: JSON.stringify(time) },
  })
  if (response.status !== 200) throw new Error(`The cron answered ${response.status}.`)
}

/** Moves the account, and waits until its old copy is deleted. Returns for how long its steps refused writes. */
async function moveTo(
  world: World,
  to: string,
  kills: number,
  interrupt: () => Promise<void>,
): Promise<number> {
  const body = { to, confirm: true }
  const path = `accounts/${ACCOUNT}/moves`
  const { move } = await expectBody(202, world.service.admin('POST', path, { body }))
  const end = Date.now() + MOST_MS
  for (let killed = 0; Date.now() < end; ) {
    if (killed < kills) {
      killed += 1
      await interrupt()
    }
    await wait(500)
    // A Workflow that was killed is resumed by the cron, some minutes later.
    await runCron(world.service, Date.now() + 3_600_000)
    const found = await expectBody(200, world.service.admin('GET', `${path}/${move}`))
    if (found.status === 'done') return found.pause_ms - LONGER_MS
    if (found.ended_at !== null) throw new Error(`The move ended: ${JSON.stringify(found)}`)
  }
  throw new Error(`The move to ${to} has not ended.`)
}

/** Checks that the account has what was acknowledged: no record is lost or doubled, and each is the last one. */
async function checkRecords(
  { check, print }: Setting,
  world: World,
  writers: readonly Writer[],
): Promise<void> {
  const { data } = await expectBody(
    200,
    senderOf(world, 0)('GET', 'totals?from=2026-09-01&to=2026-09-30'),
  )
  const groups = data as { resource: string; count: number; sums: { amount_currency: string } }[]
  const found = groups.filter(({ resource }) => resource === 'transactions')
  const count = found.reduce((sum, group) => sum + group.count, 0)
  const hundredths = found.reduce(
    (sum, group) => sum + Math.round(Number(group.sums.amount_currency) * 100),
    0,
  )
  const active = writers.filter(({ acknowledged }) => acknowledged > 0)
  const expected = {
    count: active.reduce((sum, one) => sum + OWN + NEW * one.acknowledged, 0),
    hundredths: active.reduce(
      (sum, one) => sum + OWN * amountAfter(one.acknowledged) + NEW * one.acknowledged,
      0,
    ),
  }
  check(
    count === expected.count && hundredths === expected.hundredths,
    `${count} records with ${hundredths} hundredths are stored, ${expected.count} with ${expected.hundredths} were acknowledged`,
  )
  const requests = active.reduce((sum, one) => sum + one.acknowledged, 0)
  const [refused, repeated] = (['refused', 'repeated'] as const).map((name) =>
    writers.reduce((sum, one) => sum + one[name], 0),
  )
  print(
    `${requests} requests were acknowledged after ${refused} were answered 503 and ${repeated} had no answer; ${count} records.`,
  )
}

/** Creates the account with a client for each writer. */
async function prepare(
  service: Service,
  writers: number,
): Promise<Pick<World, 'firms' | 'tokens'>> {
  for (const name of ['DB', ...DATABASES]) {
    await execute({ database: await service.miniflare.getD1Database(name) }, MIGRATIONS)
  }
  const { admin } = service
  const plan = { account: ACCOUNT, name: ACCOUNT, vertical: 'forex', mode: 'test' }
  const body = { ...plan, unknown_customer: 'reject', binding: DATABASES[0] }
  await expectBody(201, admin('POST', 'accounts', { body }))
  const affiliates = [{ affiliate_id: AFFILIATE }]
  await expectBody(200, admin('PUT', `accounts/${ACCOUNT}/affiliates`, { body: affiliates }))
  const firms: Firm[] = []
  const tokens: string[] = []
  for (let i = 0; i < writers; i++) {
    const firm = {
      account: ACCOUNT,
      vertical: 'forex' as const,
      ...(await newClient(admin, ACCOUNT)),
    }
    firms.push(firm)
    tokens.push(await newToken(service, firm))
  }
  const customer = {
    ...{ customer_id: 'CU-1', affiliate_id: AFFILIATE, tracking_data: 'tr-1' },
    ...{ signup_date: '2026-08-01T00:00:00Z', last_modified_date: '2026-08-01T00:00:00Z' },
  }
  await expectBody(
    201,
    clientAt(service, firms, tokens, 0)('POST', 'customers', { body: customer }),
  )
  return { firms, tokens }
}

/** Moves an account so many times, while clients write, with so many kills of the runtime in each move. */
export async function proveMoves(
  setting: Setting,
  { moves, writers, kills }: { moves: number; writers: number; kills: number },
): Promise<void> {
  const secrets = await newSecrets()
  const service = await startService(setting, secrets)
  const world: World = {
    ...{ service, restarted: Promise.resolve(), isEnding: false, firms: [], tokens: [] },
    ...(await prepare(service, writers)),
  }
  try {
    await sendOldMonths(senderOf(world, 0), moves)
    const all = Array.from({ length: writers }, (_, number): Writer => {
      return { number, acknowledged: 0, refused: 0, repeated: 0 }
    })
    const writing = Promise.all(all.map((writer) => write(world, writer, setting.random)))
    const pauses: number[] = []
    const moving = async () => {
      for (let i = 1; i <= moves; i++) {
        const to = databaseAt(i)
        const interrupt = async () => {
          await wait(setting.random() * 1500)
          await kill(world, setting, secrets)
        }
        const place = { account: ACCOUNT, binding: databaseAt(i - 1) }
        await beginArchive(world.service, senderOf(world, 0), place, oldMonth(i - 1))
        pauses.push(await moveTo(world, to, kills, interrupt))
        setting.print(
          `Move ${i} to ${to}: writes were refused for ${pauses.at(-1)} ms, and ${LONGER_MS} ms longer.`,
        )
      }
    }
    await Promise.race([moving(), writing])
    world.isEnding = true
    await writing
    await checkRecords(setting, world, all)
    await checkOldMonths(
      setting,
      { service: world.service, account: ACCOUNT, ask: senderOf(world, 0) },
      moves,
      () => runCron(world.service, Date.now()),
    )
    setting.check(
      kills > 0 || all.some(({ refused }) => refused > 0),
      'No request arrived while writes were refused.',
    )
    setting.print(`The longest pause of ${moves} moves was ${Math.max(...pauses)} ms.`)
  } finally {
    world.isEnding = true
    await world.service.end()
  }
}

await runProgram(
  import.meta.url,
  'Moves an account from database to database while clients write to it, and compares what is stored with what was acknowledged.',
  {
    moves: { help: 'moves', value: 20, least: 1, most: 1000 },
    writers: { help: 'clients that write', value: 32, least: 1, most: 60 },
    kills: { help: 'kills of the runtime in each move', value: 0, least: 0, most: 10 },
  },
  proveMoves,
)
