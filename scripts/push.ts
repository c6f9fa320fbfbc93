import { statSync } from 'node:fs'
import { constants } from 'node:os'
import { ExitError, messageOf, usageError } from './exit-error.ts'
import { rejectSwallowedOptions } from './npm-flags.ts'
import { PUSH_OPTIONS, readArguments, type SendArguments } from './push/arguments.ts'
import { confirmContinue } from './push/continue.ts'
import { createExchange } from './push/exchange.ts'
import { createPost } from './push/post.ts'
import { readProfile } from './push/profile.ts'
import { showProgress } from './push/progress.ts'
import { detectFormat } from './push/read.ts'
import { summaryJson, summaryText, totalOf } from './push/report.ts'
import { startResult } from './push/result.ts'
import { send } from './push/send.ts'

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

async function push(args: SendArguments): Promise<number> {
  const { vertical, target, lenient, dryRun, keepGoing, renames, inFlight } = args
  const { base, secrets } = readProfile(vertical, args, process.env)
  const totalBytes = args.files.reduce((sum, file) => sum + sizeOf(file), 0)
  const detect = async (file: string) => args.format ?? (await detectFormat(file))
  const formats = await Promise.all(args.files.map(detect))

  const started = performance.now()
  const stop = new AbortController()
  const result = startResult(args.files)
  const progress = showProgress(totalBytes, process.stderr)
  endOnSignal(stop)
  const exchange = createExchange(args.retryFor, stop.signal, progress.note)
  const authenticator = vertical.credential.open(base, secrets, exchange)
  const url = `${base}${vertical.path}/${target.name}${dryRun ? '?dry_run=true' : ''}`
  const prefer = `return=minimal${lenient ? ', handling=lenient' : ''}`
  const error = await send({
    ...{ target, formats, renames, inFlight, result, progress, stop },
    post: createPost({ url, prefer, headersOf: target.headersOf }, authenticator, exchange),
    async confirmContinue(issue) {
      if (keepGoing) return
      const terminal = { input: process.stdin, output: process.stderr }
      await progress.suspend(() => confirmContinue(issue, terminal))
    },
  }).then(
    () => (stop.signal.aborted ? stop.signal.reason : null),
    (thrown) => thrown,
  )
  progress.end()

  const halted = error === null ? null : messageOf(error)
  const seconds = (performance.now() - started) / 1000
  const report = { result, seconds, dryRun, lenient, halted }
  const { received, rejected } = totalOf(result)
  if (args.json) console.log(summaryJson(report))
  else if (received > 0 || error === null) console.log(summaryText(report))
  if (error !== null) throw error
  return rejected > 0 ? 1 : 0
}

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw usageError(`${file} does not exist.`)
  if (!stats.isFile()) throw usageError(`${file} is not a file.`)
  return stats.size
}

rejectSwallowedOptions('push', PUSH_OPTIONS)
try {
  const args = readArguments(process.argv.slice(2))
  if ('help' in args) console.log(args.help)
  else if ('sample' in args) {
    const { runSample } = await import('./push/sample/run.ts')
    process.exitCode = await runSample(args)
  } else process.exitCode = await push(args)
} catch (error) {
  console.error(`push: ${messageOf(error)}`)
  process.exitCode = error instanceof ExitError ? error.exitCode : 1
}
