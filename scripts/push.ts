import { constants } from 'node:os'
import { ExitError } from './exit-error.ts'
import { runPush } from './push/run.ts'

// Sends files of records: `npm run push -- --vertical forex --resource transactions FILE…`.

/** npm repeats a signal that the terminal has sent as well: within this time it is the same one. */
const SAME_SIGNAL_MS = 500

/** Ends the run on a signal: the first one finishes requests in flight, the second one exits. */
function endOnSignal(stop: AbortController) {
  let firstAt: number | null = null
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const exitCode = 128 + constants.signals[signal]
    process.on(signal, () => {
      if (firstAt !== null && Date.now() - firstAt > SAME_SIGNAL_MS) process.exit(exitCode)
      if (firstAt !== null) return
      firstAt = Date.now()
      console.error('Stopping after the requests in flight. Press Ctrl-C again to exit at once.')
      stop.abort(new ExitError(exitCode, 'Interrupted.'))
    })
  }
}

process.exitCode = await runPush(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stderr: process.stderr,
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
  onStart: endOnSignal,
})
