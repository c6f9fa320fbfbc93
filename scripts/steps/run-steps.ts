import { spawnSync } from 'node:child_process'
import { delimiter, resolve } from 'node:path'
import { parseCommand } from '../command-line.ts'

/**
 * Runs commands of this package one after the other. Stops at the first that fails, and ends with
 * its exit code. `--help` lists the commands instead.
 */
export function runSteps(invocation: string, description: string, steps: readonly string[]) {
  const list = steps.map((step) => `  ${step}`).join('\n')
  parseCommand(invocation, `${description}\n\nSteps:\n${list}`)
  const PATH = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH }
  for (const step of steps) {
    const { status } = spawnSync(step, { shell: true, stdio: 'inherit', env })
    if (status === 0) continue
    console.error(`${invocation} stopped at: ${step}`)
    process.exitCode = status ?? 1
    return
  }
}
