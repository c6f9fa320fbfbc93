import { spawnSync } from 'node:child_process'
import { ExitError } from './exit-error.ts'

/** How wrangler runs: in which folder, and whether its output is read. Otherwise it goes to the terminal. */
interface Running {
  readonly cwd?: string
  readonly isRead?: boolean
}

/**
 * Runs wrangler, and returns what it printed if that is read. `then` says what a failure of this step means.
 *
 * @throws ExitError of one line that names the step, after what wrangler itself has printed.
 */
export function wrangler(args: readonly string[], then: string, running: Running = {}): string {
  const { status, error, stdout } = spawnSync('node_modules/.bin/wrangler', args, {
    cwd: running.cwd,
    encoding: 'utf8',
    stdio: ['inherit', running.isRead ? 'pipe' : 'inherit', 'inherit'],
    maxBuffer: 2 ** 28,
  })
  if (status === 0) return stdout ?? ''
  // With `--json`, wrangler prints errors there as well.
  if (stdout) process.stderr.write(stdout)
  const options = args.findIndex((word) => word.startsWith('-'))
  const step = args.slice(0, options < 0 ? 3 : Math.min(options, 3)).join(' ')
  const reason = error ? `could not start: ${error.message}` : `failed with exit code ${status}`
  throw new ExitError(1, `\`wrangler ${step}\` ${reason}. ${then}`)
}

/** Runs a command, and ends the process with the line and the exit code of its failure. */
export function endingWith(run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof ExitError)) throw error
    console.error(error.message)
    process.exit(error.exitCode)
  }
}
