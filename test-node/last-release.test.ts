import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

// The present Worker with the objects of the last release, which the platform runs for minutes after a deployment.

/** The tests whose requests reach every method of every object. */
const FILES = [
  'last-release',
  'oauth',
  'brand-token',
  'propagation',
  'console-sessions',
  'portal.test',
  'affiliate-keys',
  'erasure',
  'held.test',
  'account-moves',
]

/**
 * Tests of the Worker alone, and what objects of before leave to a cron: their job of an account that moves keeps the
 * database of before, and the cron does the job a minute later.
 */
const LEFT_OUT = '^(?!a move )(?!.*the job of an account that was asked for before)'

test('the present Worker works with the objects of the last release', async () => {
  const files = FILES.map((name) => `test/${name}`)
  const vitest = ['run', '--mode', 'last-release', '-t', LEFT_OUT, ...files]
  const { TEST_REPORT: _, ...environment } = process.env
  const child = spawn('node_modules/.bin/vitest', vitest, {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, faults, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  assert.equal(status, 0, `${output.slice(-20_000)}\n${faults.slice(-5000)}`)
  assert.match(output, /Tests .*\d{3} passed/)
})
