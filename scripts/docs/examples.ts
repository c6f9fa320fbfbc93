import { existsSync, readFileSync } from 'node:fs'
import type { Recorded } from './recorded.ts'

const PATH = 'scripts/docs/examples.json'

const all: readonly Recorded[] = existsSync(PATH) ? JSON.parse(readFileSync(PATH, 'utf8')) : []

/** The examples of an operation; of one status if it is named. */
export const recorded = (operation: string, status?: string): readonly Recorded[] =>
  all.filter(
    (one) => one.operation === operation && (status === undefined || String(one.status) === status),
  )
