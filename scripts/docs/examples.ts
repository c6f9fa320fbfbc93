import { existsSync, readFileSync } from 'node:fs'
import type { Recorded } from './recorded.ts'

const PATH = 'test/recorded/examples.json'

const all: readonly Recorded[] = existsSync(PATH) ? JSON.parse(readFileSync(PATH, 'utf8')) : []

/** Returns the recorded examples of an operation, optionally of one status. */
export const recorded = (operation: string, status?: string): readonly Recorded[] =>
  all.filter(
    (one) => one.operation === operation && (status === undefined || String(one.status) === status),
  )

/** Returns a recorded response with the error code, or undefined. */
export const recordedWith = (code: string): object | undefined =>
  all
    .map(({ answer }) => answer as { code?: string } | null)
    .find((answer) => answer?.code === code) ?? undefined
