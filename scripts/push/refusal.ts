import type { Answer } from './exchange.ts'
import { Halt } from './halt.ts'
import type { Remark } from './ledger.ts'

/** One error of a refusal. */
export interface SaidError extends Remark {
  /** Which record of the bulk it is about; undefined: the bulk. */
  index?: number
  key?: object
}

/** What a refusal says of itself: problem+json, or an error of RFC 6749. */
interface Said {
  title?: string
  detail?: string
  hint?: string
  errors?: SaidError[]
  errors_total?: number
  request_id?: string
  error?: string
  error_description?: string
}

/** Why the run cannot go on: the service will answer every request like this one. */
export function refusal(what: string, { status, body }: Answer): Halt {
  const { title, detail, hint, errors, error, error_description } = saidOf(body)
  const said = [title ?? error, detail ?? error_description, hint ?? errors?.[0]?.hint]
  const sentence = said.filter((part) => part !== undefined).join(' – ')
  return new Halt(1, `${what}: ${status}${sentence && ` ${sentence}`}`)
}

/** The members of a refusal, whatever answered: a proxy's page has none. */
export const saidOf = (body: unknown): Said =>
  typeof body === 'object' && body !== null ? (body as Said) : {}
