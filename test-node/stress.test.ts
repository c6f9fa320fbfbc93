import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { proveContention } from '../stress/contention.ts'
import { proveKill } from '../stress/kill.ts'
import { newSetting, type Setting } from '../stress/program.ts'

// `npm run kill` and `npm run contention` at their smallest size, to keep them working.

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

test('one of the clients that write the same keys at once wins, and no version is lost', async () => {
  await proveContention(setting, { clients: 4, keys: 50 })
  assert.deepEqual(setting.broken.splice(0), [])
})
