import type { Answer } from '../push/exchange.ts'
import { Halt } from '../push/halt.ts'
import { type SaidError, saidOf } from '../push/refusal.ts'
import { plain } from './plain.ts'

/** The service answered, and not with what was asked for. */
export class Refused extends Halt {
  readonly answer: Answer

  constructor(answer: Answer, more: readonly string[] = []) {
    super(1, [...linesOf(answer), ...more].join('\n'))
    this.answer = answer
  }

  /** What the service says of it. */
  get said() {
    return saidOf(this.answer.body)
  }
}

/** There was no answer that could be read. */
export class Failed extends Halt {
  constructor(error: Error) {
    super(1, `${error.message}.`, error)
  }
}

/** Nothing was sent, for nobody was there to take it. */
const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']

/** Whether a request that failed so may have been obeyed all the same. */
export function isUnsure(error: unknown): boolean {
  if (error instanceof Refused) return error.answer.status >= 500
  if (!(error instanceof Failed)) return false
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (UNSENT.includes((cause as NodeJS.ErrnoException).code ?? '')) return false
  }
  return true
}

/** What the service says is wrong: the problem, each error, and by which id to ask about it. */
function linesOf({ status, headers, body }: Answer): string[] {
  const { title, detail, errors = [], errors_total = errors.length, request_id } = saidOf(body)
  // Where there is nothing to tell, the detail is the title again.
  const known = [title, detail === `${title}.` ? undefined : detail].filter((part) => part)
  const left = errors_total - errors.length
  const id = request_id ?? headers.get('x-request-id')
  const wait = headers.get('Retry-After')
  return [
    `${status} ${known.join(' – ') || 'That is no answer of Tributary.'}`,
    ...errors.map(lineOf),
    ...(left > 0 ? [`  … and ${left} more`] : []),
    ...(wait ? [`  retry after: ${wait}`] : []),
    ...(id ? [`  request id: ${id}`] : []),
  ].map(plain)
}

const lineOf = ({ pointer, message, hint }: SaidError) =>
  `  ${[pointer || '(the whole body)', message, hint].filter((part) => part).join('  ')}`
