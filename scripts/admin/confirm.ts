import { createInterface } from 'node:readline/promises'
import { escapeText } from '../../src/platform/validation/quote.ts'
import { ExitError, usageError } from '../exit-error.ts'

/** The streams of a question; it is asked only if both are terminals. */
export interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream & { isTTY?: boolean }
}

/**
 * Asks the user to type a name before an irreversible operation.
 *
 * @throws ExitError if they type something else, or if there is no terminal.
 */
export async function confirm(warning: string, name: string, { input, output }: Terminal) {
  if (!input.isTTY || !output.isTTY) {
    throw usageError(`${warning} Add --yes to confirm: there is no terminal to ask on.`)
  }
  const lines = createInterface({ input, output })
  // The end of the input counts as a no: `question` would wait forever.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  const answer = lines.question(`${warning}\nType ${escapeText(name)} to continue: `)
  const typed = await Promise.race([answer, ended])
  lines.close()
  if (typed.trim() !== name) throw new ExitError(1, 'Cancelled. Nothing was changed.')
}
