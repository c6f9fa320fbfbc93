import { execFile } from 'node:child_process'

const PARTS = 16
const AT_ONCE = 2

/** Runs one part of the tests. Returns what they print, and whether they pass. */
const runPart = (part: number, every: number) =>
  new Promise<{ printed: string; passes: boolean }>((done) => {
    const env = { ...process.env, VITE_PART: `${part}/${PARTS}`, VITE_EVERY: String(every) }
    const options = { env, maxBuffer: Number.POSITIVE_INFINITY }
    execFile('node_modules/.bin/vitest', ['run', '--mode', 'pairs'], options, (error, out, err) =>
      done({ printed: out + err, passes: error === null }),
    )
  })

/**
 * Lets calls to the platform fail: each call of each operation, and every two in a row, in parts that run as
 * tests. Returns the exit code.
 */
export async function runPairs(every: number): Promise<number> {
  let [tested, leftOut, failed] = [0, 0, 0]
  const parts = Array.from({ length: PARTS }, (_, i) => i).values()
  const work = async () => {
    for (const part of parts) {
      const { printed, passes } = await runPart(part, every)
      const [, here = 0, left = 0] = /sweep: (\d+) [a-z ]+, (\d+) left out/.exec(printed) ?? []
      tested += Number(here)
      leftOut += Number(left)
      if (passes) continue
      failed += 1
      console.log(printed)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  console.log(`${tested} combinations tested, ${leftOut} left out; ${failed} parts failed.`)
  return Number(failed > 0)
}
