import { spawn } from 'node:child_process'
import { once } from 'node:events'

const PARTS = 16
const AT_ONCE = 2

/**
 * Lets calls to the platform fail, each call of each operation and every two in a row, and lets requests meet, in parts
 * that run as tests. Returns the exit code.
 */
export async function runPairs(every: number): Promise<number> {
  let failed = 0
  const parts = Array.from({ length: PARTS }, (_, i) => i).values()
  const work = async () => {
    for (const part of parts) {
      const env = { ...process.env, VITE_PART: `${part}/${PARTS}`, VITE_EVERY: String(every) }
      const options = { env, stdio: 'inherit' } as const
      const running = spawn('node_modules/.bin/vitest', ['run', '--mode', 'pairs'], options)
      const [code] = await once(running, 'exit')
      if (code !== 0) failed += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  console.log(`${failed} of ${PARTS} parts failed.`)
  return Number(failed > 0)
}
