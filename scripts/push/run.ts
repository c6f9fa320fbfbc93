import { statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { ExitError, messageOf, usageError } from '../exit-error.ts'
import { readArguments, type SendArguments } from './arguments.ts'
import { createClient } from './client.ts'
import { createExchange } from './exchange.ts'
import { readProfile } from './profile.ts'
import { reconcile } from './reconcile.ts'
import { resultText, startResults } from './result.ts'
import { sendFile } from './send.ts'

/** What the command uses of its process. */
export interface PushProcess {
  readonly env: NodeJS.ProcessEnv
  readonly stderr: Writable & { isTTY?: boolean }
  /** Print a text and a line feed to stdout and stderr. */
  readonly print: (text: string) => void
  readonly printError: (text: string) => void
}

/** Runs the command and returns its exit code. */
export async function runPush(words: readonly string[], on: PushProcess): Promise<number> {
  try {
    const args = readArguments(words)
    if (!('help' in args)) return await push(args, on)
    on.print(args.help)
    return 0
  } catch (error) {
    on.printError(`push: ${messageOf(error)}`)
    return error instanceof ExitError ? error.exitCode : 1
  }
}

async function push(args: SendArguments, on: PushProcess): Promise<number> {
  const { vertical, files, retryFor, allowRepeats } = args
  const profile = readProfile(vertical, on.env)
  const progress = showProgress(on.stderr, files)
  const client = createClient(profile, createExchange(retryFor, progress.note))
  if (args.reconcile) {
    const found = await reconcile(args, client).finally(progress.end)
    on.print(found.text)
    return found.isEqual ? 0 : 1
  }
  const results = startResults(files)
  try {
    for (const result of results) await sendFile(args, client, result, progress.read)
  } finally {
    progress.end()
    if (args.dryRun) on.print('Dry run, nothing was stored.')
    for (const result of results) on.print(resultText(result, args))
  }
  const isFine = results.every(
    ({ counts, repeated }) => !counts.rejected && (allowRepeats || repeated.count === 0),
  )
  return isFine ? 0 : 1
}

const INTERVAL_MS = 3000

/** Shows every few seconds how much of the files was read, and what delays the run. */
function showProgress(stderr: PushProcess['stderr'], files: readonly string[]) {
  const total = files.reduce((sum, file) => sum + sizeOf(file), 0)
  const [begin, end] = stderr.isTTY ? ['\r\x1b[K', ''] : ['', '\n']
  let bytes = 0
  let noted = ''
  const timer = setInterval(() => {
    stderr.write(`${begin}${Math.floor((100 * bytes) / total)} % was read${noted}${end}`)
    noted = ''
  }, INTERVAL_MS)
  return {
    read: (more: number) => {
      bytes += more
    },
    note: (text: string) => {
      noted = ` · ${text}`
    },
    end: () => {
      clearInterval(timer)
      if (stderr.isTTY) stderr.write(begin!)
    },
  }
}

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw usageError(`${file} does not exist, or is not a file.`)
  return stats.size
}
