import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { proveContention } from '../stress/contention.ts'
import { drill } from '../stress/drill.ts'
import { proveKill } from '../stress/kill.ts'
import { proveRuns } from '../stress/kill-runs.ts'
import { move } from '../stress/move.ts'
import { proveMoves } from '../stress/moves.ts'
import { newSetting, type Setting } from '../stress/program.ts'
import { ATTACKS } from '../stress/siege/attacks.ts'
import { besiege } from '../stress/siege.ts'

// `npm run kill`, `npm run kill-runs`, `npm run contention`, `npm run drill`, `npm run move`, `npm run moves` and `npm run siege` at their smallest size, to keep them working.

let setting: Setting
let end = () => {}
before(async () => {
  ;({ setting, end } = await newSetting(1, () => {}))
})
after(() => end())

test('a bulk in flight while workerd is killed is stored completely or not at all', async () => {
  await proveKill(setting, { times: 1, records: 20 })
  assert.deepEqual(setting.broken.splice(0), [])
})

test('a statement run that is killed is resumed, and stores what an undisturbed one stores', async () => {
  await proveRuns(setting, { every: 90 })
  assert.deepEqual(setting.broken.splice(0), [])
})

test('one of the clients that write the same keys at once wins, and no version is lost', async () => {
  await proveContention(setting, { clients: 4, keys: 50 })
  assert.deepEqual(setting.broken.splice(0), [])
})

test('an ordinary account is served, and GET /healthz answers, while invented tokens send bodies', async () => {
  await besiege(setting, {
    seconds: 1,
    attack: ATTACKS.findIndex(({ name }) => /silent/.test(name)),
  })
  // Other tests use the same processor, so only `npm run siege` compares times.
  assert.deepEqual(
    setting.broken.splice(0).filter((message) => !message.includes('p99')),
    [],
  )
})

test('a database that fails fails its own accounts alone, and the sums of all accounts are exact', async () => {
  await drill(setting, { accounts: 16, records: 40, seconds: 1 })
  // Other tests use the same processor, so only `npm run drill` compares times.
  assert.deepEqual(
    setting.broken.splice(0).filter((message) => !message.includes('p99')),
    [],
  )
})

test('an account of 20,000 records moves while some change, and its writes are refused for seconds', async () => {
  await move(setting, { records: 20_000, changes: 500 })
  assert.deepEqual(setting.broken.splice(0), [])
})

test('an account moves under writers while workerd is killed: what was acknowledged is there once', async () => {
  await proveMoves(setting, { moves: 1, writers: 4, kills: 1 })
  assert.deepEqual(setting.broken.splice(0), [])
})
