import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Answer } from '../chaos/ask.ts'
import { sendSlowly } from '../chaos/faults.ts'
import { asBrand, newBrand } from '../chaos/parties.ts'
import { migrate, newHome, newSecrets, type Service, serve } from '../chaos/service.ts'

// A service whose isolate has as little memory as the real one: it ends where it takes more.

let service: Service
let end: () => void

before(async () => {
  const home = await newHome()
  const { folder, script } = home
  end = home.end
  const secrets = await newSecrets()
  service = await serve({ script, state: join(folder, 's'), secrets, isLimited: true })
  await migrate(service)
})

after(async () => {
  await service.end()
  end()
})

/** Creates a brand with a customer. */
async function newSender(account: string) {
  const token = await newBrand(service, account)
  const ask = asBrand(service, token)
  await ask('POST', 'customers', { body: { customerId: 'c' } })
  return { token, ask }
}

type Sender = Awaited<ReturnType<typeof newSender>>

/** A bulk of almost 8 MiB: 1000 events. Made once, as it takes the client as long as the service. */
const MAXIMAL = new TextEncoder().encode(
  JSON.stringify(
    Array.from({ length: 1000 }, (_, i) => ({
      ...{ eventname: 'Bet', customerid: 'c', Value: 1, Currency: 'EUR', eventid: `${i}` },
      ...{ createtime: '2026-10-09 11:00', story: 'lorem ipsum '.repeat(680) },
    })),
  ),
)

/** Sends the bulk so many times at once, and returns the answers. */
function sendMaximal({ ask }: Sender, count: number): Promise<Answer[]> {
  const sent = { body: MAXIMAL, headers: { 'Content-Type': 'application/json' } }
  return Promise.all(Array.from({ length: count }, () => ask('POST', 'activities', sent)))
}

test('8 bulks of 8 MiB at once wait for each other: 4 or more are stored, others refused with Retry-After, and the isolate lives', async () => {
  const senders = await Promise.all([1, 2, 3, 4].map((n) => newSender(`brand-${n}`)))
  const answers = (await Promise.all(senders.map((one) => sendMaximal(one, 2)))).flat()
  for (const { status, headers } of answers) {
    assert.ok(status === 200 || (status === 503 && Number(headers.get('Retry-After')) > 0))
  }
  const stored = answers.filter(({ status }) => status === 200)
  assert.ok(stored.length >= 4, `${stored.length} were stored`)
  assert.ok(service.pids.every((pid) => existsSync(`/proc/${pid}`)))
})

test('an account beside a hostile one and a slow one is served in turn', async () => {
  const senders = await Promise.all(['honest', 'hostile', 'slow'].map(newSender))
  const [honest, hostile, slow] = senders as [Sender, Sender, Sender]
  const slowly = sendSlowly(service, slow.token)
  let waiting = 8
  const bulks = Array.from({ length: waiting }, async () => {
    await sendMaximal(hostile, 1)
    waiting -= 1
  })
  const [answer] = await sendMaximal(honest, 1)
  assert.equal(answer?.status, 200)
  assert.ok(waiting > 3, `it was answered when ${waiting} bulks of the hostile account waited`)
  await Promise.all([...bulks, slowly])
})
