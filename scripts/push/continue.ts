import type { Readable, Writable } from 'node:stream'
import { confirm } from '@clack/prompts'
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
  const question = `${summary}\nSend the other records?`
  // The end of the input counts as a no: the prompt would wait forever.
  const ended = new Promise<false>((resolve) => input.once('end', () => resolve(false)))
  const prompt = confirm({ message: question, initialValue: false, input, output })
  const answer = await Promise.race([prompt, ended])
  if (answer !== true) throw new ExitError(1, `${summary} Stopped.`)
}
