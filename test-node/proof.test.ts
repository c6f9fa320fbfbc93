import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { proveContention } from '../proof/contention.ts'
import { proveKill } from '../proof/kill.ts'
import { newSetting, type Setting } from '../proof/program.ts'

// `npm run kill` and `npm run contention` at their smallest: the programs must not rot.

let setting: Setting
let end = () => {}
before(async () => {
  ;({ setting, end } = await newSetting(1, () => {}))
})
after(() => end())

test('a bulk that workerd was killed over is wholly there or wholly absent', async () => {
  await proveKill(setting, { times: 1, records: 20 })
  assert.deepEqual(setting.broken.splice(0), [])
})

test('of clients that write the same keys at once one wins, and none is lost', async () => {
  await proveContention(setting, { clients: 4, keys: 50 })
  assert.deepEqual(setting.broken.splice(0), [])
})
