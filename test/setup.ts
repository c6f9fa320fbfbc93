import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, beforeEach, vi } from 'vitest'
import { loadWords } from '../src/platform/documents/texts.ts'
import { HOUR_MS } from '../src/platform/durations.ts'
import { ARRIVING, WORKING } from '../src/platform/http/memory.ts'
import { compareWholeResults } from './results.ts'
import { collectPrinted, failOnFaults, prepareWorld } from './secrecy.ts'

/** The module loader of Vitest, of which the pool uses this method. */
declare const __vitest_mocker__: {
  moduleRunner: { import: (path: string) => Promise<unknown> }
}

/** What test files share that run in one process. */
const shared = globalThis as {
  isTimingOnce?: boolean
  /** The modules that the test file has imported. Whoever resets the modules empties it. */
  imported?: Map<string, Promise<unknown>>
}

/**
 * Makes the test file import each module once. The pool imports the main module for each request and
 * for each call of an object, and each import asks the process of Vitest twice, which takes longer than
 * the call.
 */
function importOnce() {
  const { moduleRunner } = __vitest_mocker__
  const imported = new Map<string, Promise<unknown>>()
  shared.imported = imported
  const original: typeof moduleRunner.import = Object.getPrototypeOf(moduleRunner).import
  moduleRunner.import = (path) => {
    const known = imported.get(path) ?? original.call(moduleRunner, path)
    imported.set(path, known)
    return known
  }
}

/**
 * Calls the timer of the runtime directly where there is a delay. The pool captures a stack for each
 * timer, to find those of Vitest without a delay: each query of the database sets one.
 */
function timeDirectly() {
  const ofPool = globalThis.setTimeout
  const { setTimeout: ofRuntime } = process.getBuiltinModule('node:timers')
  globalThis.setTimeout = ((...timer: [callback: () => void, delay?: number]) =>
    timer[1] ? ofRuntime(...timer) : ofPool(...timer)) as typeof setTimeout
}

importOnce()
if (!shared.isTimingOnce) timeDirectly()
shared.isTimingOnce = true
collectPrinted()
compareWholeResults()
beforeEach(prepareWorld)
// Tests compare pages with the texts of all languages, and count what a request reads.
beforeAll(() => loadWords(env))
afterEach(failOnFaults)
// Test files share a process: a mock or a clock that one of them sets must not reach the next, nor the memory that
// requests of callers who were cut off have reserved. A gate drops expired reservations when it is asked for room.
afterEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS })
  for (const gate of [ARRIVING, WORKING]) {
    const { release } = await gate.reserve('setup', 0, () => new Error() as never)
    release()
  }
  vi.restoreAllMocks()
  vi.useRealTimers()
})
