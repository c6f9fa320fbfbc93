import { spawn } from 'node:child_process'
import { readOptions, wholeNumber } from '../scripts/command-line.ts'

const PARTS = 16
const AT_ONCE = 2

const { every } = readOptions<{ every: number }>(
  'npm run pairs',
  'Lets calls to the platform fail: each call of each operation, and every two in a row.',
  (command) =>
    command.option('--every <number>', 'tries one case in so many', wholeNumber(1, 1000), 1),
)

let tested = 0
let leftOut = 0
let failed = 0
const parts = Array.from({ length: PARTS }, (_, i) => i)
await Promise.all(Array.from({ length: AT_ONCE }, work))
console.log(
  `${tested} combinations tested, ${leftOut} left out; ${failed} of ${PARTS} parts failed.`,
)
process.exitCode = Number(failed > 0)

async function work(): Promise<void> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) await run(part)
}

/** Runs one part. Prints its output if it fails. */
async function run(part: number): Promise<void> {
  const env = { ...process.env, VITE_PART: `${part}/${PARTS}`, VITE_EVERY: String(every) }
  const child = spawn('node_modules/.bin/vitest', ['run', '--mode', 'pairs'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data))
  const code = await new Promise((done) => child.on('exit', done))
  const [, testedHere, leftHere] =
    /sweep: (\d+) combinations tested, (\d+) left out/.exec(printed) ?? []
  tested += Number(testedHere ?? 0)
  leftOut += Number(leftHere ?? 0)
  if (code === 0 && testedHere !== undefined) return
  failed += 1
  console.log(printed)
}
