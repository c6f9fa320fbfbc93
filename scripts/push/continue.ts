import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { ExitError } from '../exit-error.ts'
import type { Issue } from './problem.ts'

/** The streams of a question; it is asked only if both are terminals. */
export interface Terminal {
  input: Readable & { isTTY?: boolean }
  output: Writable & { isTTY?: boolean }
}

/**
 * Asks whether to send the remaining records after every record of a bulk had the same error.
 *
 * @throws ExitError if the answer is no, or if there is no terminal.
 */
export async function confirmContinue(issue: Issue, { input, output }: Terminal) {
  const { code, pointer, message } = issue
  const place = pointer === '' ? '' : ` at ${pointer}`
  const summary = `Every record of a bulk was refused with ${code}${place}: ${message}`
  if (!input.isTTY || !output.isTTY) {
    throw new ExitError(1, `${summary} Stopped. Add --keep-going to send the other records.`)
  }
  const lines = createInterface({ input, output })
  // The end of the input counts as a no: `question` would wait forever.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  const answer = lines.question(`${summary}\nSend the other records? (y/N) `)
  const typed = await Promise.race([answer, ended])
  lines.close()
  if (!/^y(es)?$/i.test(typed.trim())) throw new ExitError(1, `${summary} Stopped.`)
}
