import { stripVTControlCharacters } from 'node:util'
import { escapeText } from '../../src/validation/quote.ts'

// The output of `wrangler dev`, of which `npm run dev` shows one line per request.

/** The line that the Worker logs for a request. */
interface RequestLine {
  method: string
  route: string
  status: number
  ms: number
  account?: string
  outcomes?: Record<string, number>
}

/** Lines of wrangler that repeat what the banner and the request lines show. */
const NOISE =
  /^(?:\[wrangler:info\]|⎔|Using secrets|The file .* changed|Your Worker has access|Binding +Resource|env\.\w+ )/

const BUILD = /^\[custom build\] ?/

/** Returns what the `[build]` command printed in this line, or null for any other line. */
export function buildMessage(line: string): string | null {
  const plain = stripVTControlCharacters(line)
  if (!BUILD.test(plain)) return null
  const message = plain.replace(BUILD, '').trim()
  return message === '' || message.startsWith('Running:') ? null : message
}

/** Returns the line to show for a line of wrangler or of the Worker, or null to show none. */
export function formatLine(line: string): string | null {
  const plain = stripVTControlCharacters(line)
  if (BUILD.test(plain)) return buildMessage(line)
  if (plain.trim() === '' || NOISE.test(plain)) return null
  const request = parseRequestLine(plain)
  return request ? formatRequest(request) : plain
}

function formatRequest({ method, route, status, ms, account, outcomes = {} }: RequestLine) {
  const counts = Object.entries(outcomes)
    .filter(([name, count]) => name !== 'received' && count > 0)
    .map(([name, count]) => `${count} ${name}`)
  // The route of a path that no endpoint has is the path as it was sent.
  return [method, escapeText(route), status, `${ms} ms`, account, counts.join(', ')]
    .filter(Boolean)
    .join('  ')
}

function parseRequestLine(line: string): RequestLine | null {
  if (!line.startsWith('{"request_id"')) return null
  try {
    const parsed = JSON.parse(line)
    return 'method' in parsed ? parsed : null
  } catch {
    return null
  }
}
