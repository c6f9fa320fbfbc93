import { spawn } from 'node:child_process'

const PARTS = 16
const AT_ONCE = 2

/**
 * Lets calls to the platform fail: each call of each operation, and every two in a row, in parts that run as
 * tests. Returns the exit code.
 */
export async function runPairs(every: number): Promise<number> {
  let [tested, leftOut, failed] = [0, 0, 0]
  const parts = Array.from({ length: PARTS }, (_, i) => i).values()
  const work = async () => {
    for (const part of parts) {
      const { code, printed } = await runPart(part, every)
      const [, here, left] = /sweep: (\d+) combinations tested, (\d+) left out/.exec(printed) ?? []
      tested += Number(here ?? 0)
      leftOut += Number(left ?? 0)
      if (code === 0 && here !== undefined) continue
      failed += 1
      console.log(printed)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  console.log(
    `${tested} combinations tested, ${leftOut} left out; ${failed} of ${PARTS} parts failed.`,
  )
  return Number(failed > 0)
}

async function runPart(part: number, every: number) {
  const env = { ...process.env, VITE_PART: `${part}/${PARTS}`, VITE_EVERY: String(every) }
  const child = spawn('node_modules/.bin/vitest', ['run', '--mode', 'pairs'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data))
  const code = await new Promise((done) => child.on('exit', done))
  return { code, printed }
}
