import { statSync } from 'node:fs'
import { constants } from 'node:os'
import { type Arguments, readArguments, USAGE } from './push/arguments.ts'
import { connect } from './push/exchange.ts'
import { Halt, misuse } from './push/halt.ts'
import { openLedger } from './push/ledger.ts'
import { poster } from './push/post.ts'
import { readProfile } from './push/profile.ts'
import { showProgress } from './push/progress.ts'
import { formatOf } from './push/read.ts'
import { summaryJson, summaryText, totalOf } from './push/report.ts'
import { showLesson } from './push/sample/show.ts'
import { send } from './push/send.ts'

// Sends files of records: `npm run push -- --vertical forex --resource transactions FILE…`.

/** npm sends on a signal that the terminal has sent already: within this it is the same one. */
const SAME_SIGNAL_MS = 500

/** Ends the run on a signal: at the first what is under way is finished, the second is obeyed. */
function endOnSignal(stop: AbortController) {
  let firstAt: number | null = null
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const exitCode = 128 + constants.signals[signal]
    process.on(signal, () => {
      if (firstAt !== null && Date.now() - firstAt > SAME_SIGNAL_MS) process.exit(exitCode)
      if (firstAt !== null) return
      firstAt = Date.now()
      console.error('Stopping: what is under way is answered first. Once more ends it at once.')
      stop.abort(new Halt(exitCode, 'Interrupted.'))
    })
  }
}

async function push(args: Arguments): Promise<number> {
  const { vertical, target, lenient, dryRun } = args
  const { base, secrets } = readProfile(vertical, args, process.env)
  const totalBytes = args.files.reduce((sum, file) => sum + sizeOf(file), 0)
  const formats = await Promise.all(args.files.map(async (file) => args.format ?? formatOf(file)))

  const started = performance.now()
  const stop = new AbortController()
  const ledger = openLedger(args.files)
  const progress = showProgress(totalBytes, process.stderr)
  endOnSignal(stop)
  const exchange = connect(args.retryFor, stop.signal, progress.note)
  const keyring = vertical.credential.open(base, secrets, exchange)
  const url = `${base}${vertical.path}/${target.name}${dryRun ? '?dry_run=true' : ''}`
  const prefer = `return=minimal${lenient ? ', handling=lenient' : ''}`
  const post = poster({ url, prefer, headersOf: target.headersOf }, keyring, exchange)
  const errand = { target, formats, inFlight: args.inFlight, post, ledger, progress, stop }
  const ended = await send(errand).then(
    () => (stop.signal.aborted ? stop.signal.reason : null),
    (error) => error,
  )
  progress.end()

  const halted = ended === null ? null : messageOf(ended)
  const seconds = (performance.now() - started) / 1000
  const outcome = { ledger, seconds, dryRun, lenient, halted }
  const { received, rejected } = totalOf(ledger)
  if (args.json) console.log(summaryJson(outcome))
  else if (received > 0 || ended === null) console.log(summaryText(outcome))
  if (ended !== null) throw ended
  return rejected > 0 ? 1 : 0
}

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw misuse(`There is no file ${file}.`)
  if (!stats.isFile()) throw misuse(`${file} is no file.`)
  return stats.size
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

try {
  const args = readArguments(process.argv.slice(2))
  if (args === null) console.log(USAGE)
  else process.exitCode = await ('sample' in args ? showLesson(args) : push(args))
} catch (error) {
  console.error(`push: ${messageOf(error)}`)
  process.exitCode = error instanceof Halt ? error.exitCode : 1
}
