import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('nothing is lost, doubled, unpaid or leaked while workerd is killed', () => {
  const args = ['chaos/chaos.ts', 'kill', '--seconds', '5', '--lanes', '1', '--seed', '1']
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^\d+ requests of 2 lanes.*, [1-9]\d* kills/m)
  assert.match(stdout, /^All promises were kept\.$/m)
})
