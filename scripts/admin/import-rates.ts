import { readFileSync, statSync } from 'node:fs'
import { usageError } from '../exit-error.ts'
import { ApiError } from './errors.ts'
import type { Input } from './operation.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** Imports a file of exchange rates in one request, so that all or none of it is stored. */
export async function importRates(send: SendRequest, request: AdminRequest, input: Input) {
  const { file = '' } = input.operands
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw usageError(`${file} does not exist.`)
  }
  const query = { ...(input.options.correct && { correct: 'true' }) }
  return send({ ...request, query, csv: readFileSync(file, 'utf8') }).catch((error) => {
    throw withLines(error)
  })
}

/** `/header/USD`, and `/rows/0/USD` for the second line. */
const POINTER = /^\/(?:header|rows\/(\d+))(?:\/(.*))?$/

/** Replaces the places of errors in the request by the lines of the file. */
export function withLines(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const errors = error.problem.errors?.map(({ pointer, ...rest }) => {
    const [match, index = -1, member = ''] = POINTER.exec(pointer) ?? []
    return { ...rest, pointer: match ? `line ${Number(index) + 2} ${member}`.trim() : pointer }
  })
  return new ApiError({ ...error.response, body: { ...error.problem, errors } })
}
