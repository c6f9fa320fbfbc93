import { createInterface } from 'node:readline/promises'
import { Halt, misuse } from '../push/halt.ts'
import { plain } from './plain.ts'

/** Where to ask: both are terminals, or there is nobody. */
interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream & { isTTY?: boolean }
}

/** Has whoever is there type the name of what is lost; without anybody it cannot be done. */
export async function confirm(lost: string, name: string, { input, output }: Terminal) {
  if (!input.isTTY || !output.isTTY) {
    throw misuse(`${lost} Say --yes, since nobody is here to be asked.`)
  }
  const lines = createInterface({ input, output })
  // Without a line there is no answer: the end of the input is a no.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  const answer = lines.question(`${lost}\nType ${plain(name)} to go on: `)
  const typed = await Promise.race([answer, ended])
  lines.close()
  if (typed.trim() !== name) throw new Halt(1, 'Nothing was done.')
}
