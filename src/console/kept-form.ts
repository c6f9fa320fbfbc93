import type { Context } from 'hono'
import { chunksInTime } from '../auth/client-credentials.ts'
import type { Values } from './page.ts'

// The form of a session that has ended, which is kept until the member has signed in again.

/** The most characters that are kept of a form. */
export const MAX_KEPT = 65_536

/** The most bytes that are read of it: anybody can send it. */
const MAX_READ_BYTES = 1_048_576

/** What a form is kept without: its file, or a text that is too large. */
export type Lack = 'file' | 'text'

/** The name of the field that says what a kept form lacks. */
const LACKS = 'lacks'

type Field = readonly [name: string, value: string]

/** A field as it was sent; the value is null if it is not kept. */
interface SentField {
  readonly name: string
  readonly value: string | null
  readonly isFile: boolean
}

/** Yields the text of a body, of which at most `MAX_READ_BYTES` are read. */
async function* textsOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let size = 0
  for await (const chunk of chunksInTime(body)) {
    size += chunk.byteLength
    yield decoder.decode(chunk, { stream: true })
    if (size > MAX_READ_BYTES) return
  }
}

/**
 * Splits a text that arrives in pieces at a mark. Of a part with more than `MAX_KEPT` characters, it yields one
 * more than these: the memory of a large file is never taken.
 */
async function* splitAt(texts: AsyncIterable<string>, mark: string): AsyncGenerator<string> {
  const cut = (text: string) => text.slice(0, MAX_KEPT + 1)
  let part = ''
  let rest = ''
  for await (const text of texts) {
    rest += text
    for (let at = rest.indexOf(mark); at >= 0; at = rest.indexOf(mark)) {
      yield cut(part + rest.slice(0, at))
      part = ''
      rest = rest.slice(at + mark.length)
    }
    // The mark may go on in the next text.
    const end = Math.max(rest.length - mark.length + 1, 0)
    part = cut(part + rest.slice(0, end))
    rest = rest.slice(end)
  }
  yield cut(part + rest)
}

/** Reads a field of a form without files. */
function readPair(part: string): SentField | null {
  const [[name, value] = ['', '']] = [...new URLSearchParams(part)]
  return name ? { name, value: part.length > MAX_KEPT ? null : value, isFile: false } : null
}

/** Reads a field of a form with files. Of a file, only its name is read. */
function readPart(part: string): SentField | null {
  const [head = '', ...values] = part.split('\r\n\r\n')
  const name = /;\s*name="([^"]*)"/.exec(head)?.[1]
  if (!name) return null
  const isFile = /;\s*filename="[^"]+"/.test(head)
  if (!isFile && /;\s*filename=/.test(head)) return null
  return {
    name: name.replaceAll('%22', '"'),
    value: isFile || part.length > MAX_KEPT ? null : values.join('\r\n\r\n'),
    isFile,
  }
}

/** Yields the fields of a form; nothing if the body is no form. */
async function* fieldsOf(c: Context): AsyncGenerator<SentField> {
  const type = c.req.header('Content-Type') ?? ''
  const [, boundary] = /^multipart\/form-data\b.*;\s*boundary="?([^";]+)/i.exec(type) ?? []
  const isText = /^application\/x-www-form-urlencoded\b/i.test(type)
  if (!boundary && !isText) return
  const parts = splitAt(textsOf(c.req.raw.body), boundary ? `--${boundary}` : '&')
  for await (const part of parts) {
    const field = boundary ? readPart(part.replace(/\r\n$/, '')) : readPair(part)
    if (field) yield field
  }
}

const encode = (fields: readonly Field[]): string =>
  new TextEncoder()
    .encode(String(new URLSearchParams(fields.map(([name, value]) => [name, value]))))
    .toBase64({ alphabet: 'base64url' })

/**
 * Reads a form of a session that has ended, to keep it until the member has signed in again; null if it is no
 * form of a page. It is kept without its token, which the new session replaces, without its file, and without
 * what makes it larger than `MAX_KEPT`.
 */
export async function readKeptForm(c: Context): Promise<string | null> {
  const fields: Field[] = []
  const lacks = new Set<Lack>()
  let size = 0
  try {
    for await (const { name, value, isFile } of fieldsOf(c)) {
      if (name === 'csrf' || name === LACKS) continue
      const length = value === null ? 0 : String(new URLSearchParams([[name, value]])).length
      if (value === null || size + length > MAX_KEPT) lacks.add(isFile ? 'file' : 'text')
      else {
        size += length
        fields.push([name, value])
      }
    }
  } catch {
    return null
  }
  if (!fields.some(([name]) => name === 'change')) return null
  return encode([...fields, ...[...lacks].sort().map((one): Field => [LACKS, one])])
}

/** Returns the fields of a kept form; none if the text is not what `readKeptForm` returns. */
export function keptFields(kept: string): Field[] {
  try {
    const bytes = Uint8Array.fromBase64(kept, { alphabet: 'base64url' })
    return [...new URLSearchParams(new TextDecoder().decode(bytes))]
  } catch {
    return []
  }
}

/** Returns what the fields of a kept form say that it lacks. */
const lacksIn = (fields: readonly Field[]): string[] =>
  fields.flatMap(([name, value]) => (name === LACKS ? [value] : []))

/** Says before the sign-in how a kept form comes back. */
export function keptWords(kept: string): string {
  const lacks = lacksIn(keptFields(kept))
  const [file, text] = [lacks.includes('file'), lacks.includes('text')]
  const without = [
    file && 'the file, which has to be chosen again',
    text && 'the longest text, which is too large to be kept',
  ]
  const lost = without.filter(Boolean).join(', and without ')
  if (!lost) return 'Sign in, and the form comes back as you left it. Nothing was changed.'
  const advice = text ? ' If you need that text, go back and copy it before you sign in.' : ''
  return `Sign in, and the form comes back without ${lost}. Nothing was changed.${advice}`
}

/** Says on the page what a form that came back lacks; empty if it lacks nothing. */
export function lackWords(values: Values): string {
  // The file comes first, and a page has one text that is as large.
  const lack = values(LACKS)
  if (lack === 'file') return ' Choose the file again.'
  return lack === 'text' ? ' The longest text was too large to be kept: write it again.' : ''
}
