import { existsSync, readFileSync } from 'node:fs'
import type { Recorded } from './recorded.ts'

const PATH = 'scripts/docs/examples.json'

const all: readonly Recorded[] = existsSync(PATH) ? JSON.parse(readFileSync(PATH, 'utf8')) : []

/** The examples of an operation; of one status if it is named. */
export const recorded = (operation: string, status?: string): readonly Recorded[] =>
  all.filter(
    (one) => one.operation === operation && (status === undefined || String(one.status) === status),
  )

/** An answer that failed with the code, where a test made one. */
export const recordedWith = (code: string): object | undefined =>
  all
    .map(({ answer }) => answer as { code?: string } | null)
    .find((answer) => answer?.code === code) ?? undefined
