import { statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { ExitError, messageOf, usageError } from '../exit-error.ts'
import { readArguments, type SendArguments } from './arguments.ts'
import { confirmContinue } from './continue.ts'
import { createExchange } from './exchange.ts'
import { createPost } from './post.ts'
import { readProfile } from './profile.ts'
import { type ProgressOutput, showProgress } from './progress.ts'
import { detectFormat } from './read.ts'
import { reconcile, reconciliationText } from './reconcile.ts'
import { summaryJson, summaryText, totalOf } from './report.ts'
import { startResult } from './result.ts'
import { send } from './send.ts'

/** What the command uses of its process. */
export interface PushProcess {
  env: NodeJS.ProcessEnv
  stdin: Readable & { isTTY?: boolean }
  stderr: ProgressOutput
  /** Print a text and a line feed to stdout and stderr. */
  print: (text: string) => void
  printError: (text: string) => void
  /** Called when sending begins, with the controller that ends it after the requests in flight. */
  onStart: (stop: AbortController) => void
}

/** Runs the command and returns its exit code. */
export async function runPush(words: readonly string[], on: PushProcess): Promise<number> {
  try {
    const args = readArguments(words)
    if ('help' in args) {
      on.print(args.help)
      return 0
    }
    return await push(args, on)
  } catch (error) {
    on.printError(`push: ${messageOf(error)}`)
    return error instanceof ExitError ? error.exitCode : 1
  }
}

async function push(args: SendArguments, on: PushProcess): Promise<number> {
  const { vertical, target, lenient, dryRun, keepGoing, allowRepeats, renames, inFlight } = args
  const { base, secrets } = readProfile(vertical, args, on.env)
  const totalBytes = args.files.reduce((sum, file) => sum + sizeOf(file), 0)
  const detect = async (file: string) => args.format ?? (await detectFormat(file))
  const formats = await Promise.all(args.files.map(detect))

  const started = performance.now()
  const stop = new AbortController()
  const result = startResult(args.files, dryRun)
  const progress = showProgress(totalBytes, on.stderr)
  on.onStart(stop)
  const exchange = createExchange(args.retryFor, stop.signal, progress.note)
  const authenticator = vertical.credential.open(base, secrets, exchange)
  if (args.reconcile) {
    const source = { url: `${base}${vertical.path}`, authenticator, exchange }
    const found = await reconcile(args, formats, source).finally(progress.end)
    on.print(args.json ? JSON.stringify(found) : reconciliationText(target.name, found))
    return found.differences.length > 0 ? 1 : 0
  }
  const url = `${base}${vertical.path}/${target.name}${dryRun ? '?dry_run=true' : ''}`
  // A dry run needs the outcome of each record, because records of one file change each other.
  const returned = dryRun ? 'representation' : 'minimal'
  const prefer = `return=${returned}${lenient ? ', handling=lenient' : ''}`
  const error = await send({
    target,
    formats,
    renames,
    inFlight,
    result,
    progress,
    stop,
    post: createPost({ url, prefer, headersOf: target.headersOf }, authenticator, exchange),
    async confirmContinue(issue) {
      if (keepGoing) return
      const terminal = { input: on.stdin, output: on.stderr }
      await progress.suspend(() => confirmContinue(issue, terminal))
    },
  }).then(
    () => (stop.signal.aborted ? stop.signal.reason : null),
    (thrown) => thrown,
  )
  progress.end()

  const halted = error === null ? null : messageOf(error)
  const seconds = (performance.now() - started) / 1000
  const report = { result, seconds, lenient, allowRepeats, merges: target.merges, halted }
  const { received, rejected } = totalOf(result)
  if (args.json) on.print(summaryJson(report))
  else if (received > 0 || error === null) on.print(summaryText(report))
  if (error !== null) throw error
  const isRepeated = !allowRepeats && result.files.some(({ ids }) => ids.repeated.count > 0)
  return rejected > 0 || isRepeated ? 1 : 0
}

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw usageError(`${file} does not exist.`)
  if (!stats.isFile()) throw usageError(`${file} is not a file.`)
  return stats.size
}
