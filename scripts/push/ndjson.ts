import { MAX_BODY_BYTES } from '../../src/http/body.ts'
import { misuse } from './halt.ts'
import type { Reader } from './read.ts'

/** Reads one record a line; what is sent is the line itself, once it is known to be JSON. */
export const readNdjson: Reader = async function* readNdjson(texts, { file }, { keyOf }) {
  let number = 0
  for await (const line of lines(texts)) {
    number += 1
    if (line === null) throw misuse(`${file}, line ${number}: this is longer than 8 MiB.`)
    const text = line.trim()
    if (text === '') continue
    yield { text, key: keyOf(parsed(text, `${file}, line ${number}`)) }
  }
}

/** Lines; null where one is so long that no request could have it. */
async function* lines(texts: AsyncIterable<string>): AsyncGenerator<string | null> {
  let rest = ''
  for await (const text of texts) {
    const parts = (rest + text).split('\n')
    rest = parts.pop()!
    yield* parts
    if (rest.length > MAX_BODY_BYTES) yield null
  }
  if (rest !== '') yield rest
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const [, at] = /at position (\d+)/.exec((error as Error).message) ?? []
    throw misuse(`${where}: this is not JSON${at ? ` from character ${Number(at) + 1} on` : ''}.`)
  }
}
