import { existsSync, readFileSync } from 'node:fs'

/** A request and its answer, as a test made them: bodies, null where there is none. */
export interface Recorded {
  operation: string
  name: string
  summary: string
  request: unknown
  status: number
  answer: unknown
}

const PATH = 'scripts/docs/examples.json'

const all: readonly Recorded[] = existsSync(PATH) ? JSON.parse(readFileSync(PATH, 'utf8')) : []

/** The examples of an operation; of one status if it is named. */
export const recorded = (operation: string, status?: string): readonly Recorded[] =>
  all.filter(
    (one) => one.operation === operation && (status === undefined || String(one.status) === status),
  )
