import { expectBody } from './ask.ts'
import { asFirm, newToken } from './parties.ts'
import { runProgram, type Setting } from './program.ts'
import {
  checkHits,
  killAfter,
  type Progress,
  readRows,
  sendAll,
  sweep,
  withReceiver,
} from './webhooks/killed.ts'
import { newWebhook } from './webhooks/world.ts'

// Kills workerd again and again while deliveries are refused and their events are sent, and checks what
// a receiver got: `npm run webhooks [-- --times 20 --events 40 --seed N]`.

const ACCOUNT = 'kill-firm'

/** About how long a load of refusals and the attempts of their events take, in milliseconds. */
const LOAD_MS = 1500

/** The paths of the receiver: one answers at once, one after 300 ms, one fails the first time. */
const PATHS = ['/ok/kill', '/slow/kill', '/once/kill']

/** The progress of the program. */
interface Refusing extends Progress {
  /** The ids of deliveries whose refusal was answered. */
  readonly answered: Set<string>
}

/** Kills the service a number of times, while `events` deliveries are refused. */
export const proveWebhooks = (
  setting: Setting,
  { times, events }: { times: number; events: number },
): Promise<void> =>
  withReceiver(
    setting,
    { folder: 'webhooks', account: ACCOUNT, unknownCustomer: 'reject' },
    async (progress) => {
      const refusing = Object.assign(progress, { answered: new Set<string>() })
      for (const path of PATHS) {
        await newWebhook(progress.service, progress.receiver, ACCOUNT, path, ['delivery.refused'])
      }
      for (let round = 1; round <= times; round++) await killOnce(refusing, round, events)
      checkHits(progress, times)
      await finish(refusing)
    },
  )

/** Has deliveries refused, kills the service at a random moment, and starts it again. */
async function killOnce(progress: Refusing, round: number, events: number): Promise<void> {
  const { service, setting, receiver, answered } = progress
  const before = { answered: answered.size, received: receiver.received.length }
  const firm = asFirm(service, progress.firm, await newToken(service, progress.firm))
  const refuse = async () => {
    const { status, body } = await firm('POST', 'customers', { body: [{}] })
    if (status === 422) answered.add(body.delivery_id)
  }
  // The first request of a service is slow. The kill comes at any moment of refusals and attempts.
  await firm('GET', 'account')
  const moment = Math.ceil(setting.random() * LOAD_MS)
  const loading = Promise.allSettled(Array.from({ length: events }, refuse))
  const sweeping = sweep(progress).catch(() => {})
  const pending = await killAfter(progress, moment, [loading, sweeping])
  const causes = answered.size - before.answered
  const sent = receiver.received.length - before.received
  setting.print(
    `Kill ${round} after ${moment} ms: ${causes} refusals answered, ${sent} events arrived.`,
  )
  if (pending > 0) progress.hits += 1
}

/** Sends what is left, and compares what is stored with what arrived. */
async function finish(progress: Refusing): Promise<void> {
  const { service, setting, receiver, answered } = progress
  const { check, print } = setting
  await sendAll(progress)
  const causes = (await readRows(progress, 'select id from deliveries where rejected > 0')).map(
    ({ id }) => id,
  )
  const stored = new Set(causes)
  for (const id of answered) check(stored.has(id), `the answered refusal ${id} is not stored`)
  for (const path of PATHS) {
    const arrived = receiver.at(path)
    const ids = new Set(arrived.map(({ event }) => event.data.delivery_id))
    for (const id of stored) check(ids.has(id), `${path} never got the event of ${id}`)
    for (const id of ids)
      check(stored.has(String(id)), `${path} got an event without its cause ${id}`)
    check(
      arrived.every(({ isSigned }) => isSigned),
      `${path} got a wrong signature`,
    )
    const events = new Set(arrived.map(({ id }) => id)).size
    check(events === stored.size, `${path} got ${events} events of ${stored.size} causes`)
    print(`${path}: ${arrived.length} requests with all ${stored.size} events.`)
  }
  const { data } = await expectBody(200, service.admin('GET', `accounts/${ACCOUNT}/webhooks`))
  check(data.length === PATHS.length, 'a webhook is lost')
}

await runProgram(
  import.meta.url,
  'Kills workerd while events are sent, and checks that a receiver gets all of them.',
  {
    times: { help: 'how often workerd is killed', value: 20, least: 1, most: 50 },
    events: {
      help: 'deliveries that are refused before each kill',
      value: 40,
      least: 1,
      most: 200,
    },
  },
  proveWebhooks,
)
