import assert from 'node:assert/strict'
import type { Shared } from './frame.ts'

// The cases of the demo account with the year.

const FIRM = 'demo-broker'
/** The affiliate of the demo whose customers deposit the minimum and then do nothing. */
export const PLANTED = 'MIN-1'

interface ListedCase {
  readonly case_id: string
  readonly opened_for: string
}

/** Calls the administration API of the demo account with the year. */
export async function call<T>({ base, key }: Shared, method: string, path: string, body?: unknown) {
  const response = await fetch(`${base}/admin/v1/accounts/${FIRM}/${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  assert.ok(response.ok, `${path}: ${response.status}`)
  return (await response.json()) as T
}

/** Evaluates the rules of the demo account until all days are done. */
async function evaluate(shared: Shared): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = (await call<{ done: boolean }>(shared, 'POST', 'fraud-rules/run')).done
  }
}

/** Evaluates the rules of the demo account, and returns a case of an affiliate and a rule. */
export async function demoCase(
  shared: Shared,
  affiliate_id = PLANTED,
  rule = 'minimum-deposit',
): Promise<ListedCase> {
  await evaluate(shared)
  const query = `cases?affiliate_id=${affiliate_id}&rule=${rule}`
  const { data } = await call<{ data: ListedCase[] }>(shared, 'GET', query)
  assert.ok(data[0])
  return data[0]
}
