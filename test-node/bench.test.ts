import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { needsOf } from '../bench/model.ts'

const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-test-'))
after(() => rmSync(folder, { recursive: true }))

test('the rows of an account stay within those of the cost model, and the bench leaves nothing behind', () => {
  const args = ['bench/bench.ts', 'cost', '--quick']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 600_000,
    env: { ...process.env, TMPDIR: folder },
  })
  assert.equal(status, 0, stderr || stdout)
  assert.match(stdout, /All are within those of the model\./)
  assert.match(stdout, /^Measured: cost on .+\.$/m)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('tributary-')),
    [],
  )
})

test('the model adds up what a month writes and stores: by hand', () => {
  const { monthly, bytes, databases } = needsOf({ accounts: 12, records: 120_000_000 })
  // Ten million records a month, of which 14 million are sent, in 140,000 deliveries; five million clicks.
  assert.equal(monthly['Worker requests'], 140_000 + 5_000_000)
  const records = 500_000 * 3 + 4_500_000 * 2 + 5_000_000 * 1
  const runs = 12 * (365 / 12) * 11
  assert.equal(
    Math.round(monthly['D1 rows written']),
    records + 2_000_000 + 140_000 * 4 + 5_000_000 + runs,
  )
  const stored = 120e6 * (0.05 * 281 + 0.45 * 220 + 0.5 * 119)
  const logged = ((140_000 * 440 + 5_000_000 * 200) * 30) / (365 / 12)
  assert.equal(Math.round(bytes), Math.round(stored + logged))
  assert.equal(databases, Math.ceil(bytes / 5e9))
})
