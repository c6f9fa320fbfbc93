import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/** One line of the report that a runner writes: the end of one test. */
export interface Ended {
  state: 'passed' | 'failed' | 'skipped'
  test: string
  /** Why the test was skipped, where it says so. */
  reason?: string
}

type Finished = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>

/** Reports the end of each test of `node --test` as a line of JSON. */
export default async function* report(events: AsyncIterable<TestEvent>) {
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const ended = endOf(event)
    if (ended) yield `${JSON.stringify(ended)}\n`
  }
}

/** Returns the end of a test; null for a suite whose tests are reported one by one. */
function endOf({ type, data }: Finished): Ended | null {
  const { name, file = '', skip, todo, details } = data
  const test = `${relative('', file)}: ${name}`
  if (skip !== undefined || todo !== undefined) {
    const reason = [skip, todo].find((why) => typeof why === 'string' && why !== '')
    return { state: 'skipped', test, ...(typeof reason === 'string' && { reason }) }
  }
  const isReported =
    type === 'test:pass' ||
    (details as { error?: { failureType?: string } }).error?.failureType === 'subtestsFailed'
  if (details.type === 'suite' && isReported) return null
  return { state: type === 'test:pass' ? 'passed' : 'failed', test }
}
