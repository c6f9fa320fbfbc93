import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Answer } from '../chaos/ask.ts'
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

/** Sends bulks of almost 8 MiB at once, of 1000 events each, and returns their answers. */
async function sendMaximal(account: string, count: number): Promise<Answer[]> {
  const ask = asBrand(service, await newBrand(service, account))
  await ask('POST', 'customers', { body: { customerId: 'c' } })
  const story = 'lorem ipsum '.repeat(680)
  const own = { eventname: 'Bet', customerid: 'c', Value: 1, Currency: 'EUR', story }
  const bulk = (n: number) =>
    Array.from({ length: 1000 }, (_, i) => ({
      ...{ ...own, createtime: '2026-10-09 11:00', eventid: `${n}-${i}` },
    }))
  return Promise.all(
    Array.from({ length: count }, (_, n) => ask('POST', 'activities', { body: bulk(n) })),
  )
}

test('8 bulks of 8 MiB at once wait for each other, and none is refused', async () => {
  const answers = await sendMaximal('acme', 8)
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(8).fill(200),
  )
})

test('20 bulks of 8 MiB at once are stored or refused with Retry-After, and the isolate lives', async () => {
  const sent = Array.from({ length: 5 }, (_, n) => sendMaximal(`brand-${n}`, 4))
  const answers = (await Promise.all(sent)).flat()
  for (const { status, headers } of answers) {
    assert.ok(status === 200 || (status === 503 && Number(headers.get('Retry-After')) > 0))
  }
  assert.ok(service.pids.every((pid) => existsSync(`/proc/${pid}`)))
})
