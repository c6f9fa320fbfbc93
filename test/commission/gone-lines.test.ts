import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/engine/plan.ts'
import { askAdmin, json } from '../partner.ts'
import {
  adjustmentsOf,
  approve,
  customer,
  firm,
  PATH,
  refresh,
  statementOf,
  TENTH,
} from './closed.ts'

const detailOf = async (id: string, query = '') => {
  const answer = await askAdmin(`${PATH}/lines/${id}/explain${query}`)
  expect(answer.status).toBe(404)
  return (await json(answer)).detail
}

/** Computes August with a deposit on which the one line depends. */
async function drafted() {
  const acme = await firm()
  await acme.paid('t-1', '2026-08-10', 100)
  const statement = await statementOf('2026-08')
  return { ...acme, statement, line: statement.lines[0].id }
}

test('a line that is no longer in its draft is explained by the changes since', async () => {
  const { paid, statement, line } = await drafted()
  await paid('t-1', '2026-08-10', 100, { status: 'declined' })
  expect(await detailOf(line)).toBe(
    `Computed now, the statement ${statement.id} of ${statement.computed_at} no longer has this line. Read it again after the next run.`,
  )
  expect((await askAdmin(`${PATH}/lines/${line}/parts`)).status).toBe(404)
  await refresh('2026-08')
  expect(await detailOf(line)).toMatch(
    /^No stored statement has this line\. A later run may have replaced it/,
  )
  expect(await detailOf(line, '?affiliate_id=aff-7&period=2026-08')).toMatch(
    /^Computed now, the statement no longer has this line/,
  )
})

test('a line that another computation removed names the statement that is stored', async () => {
  const { post, paid } = await firm([{ ...TENTH, per: 'customer' } as Rule])
  await post('customers', [customer('c-2')])
  await paid('t-1', '2026-08-10', 100)
  await paid('t-2', '2026-08-10', 100, { customer_id: 'c-2' })
  const { lines } = await statementOf('2026-08')
  await paid('t-2', '2026-08-10', 100, { customer_id: 'c-2', status: 'declined' })
  const { id: statement, computed_at } = await statementOf('2026-08')
  expect(await detailOf(lines[1].id)).toBe(
    `The statement ${statement} was computed again at ${computed_at} and no longer has this line. Read the statement again.`,
  )
})

test('an adjustment that was taken back names the statement that is stored', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  await approve('2026-08')
  await paid('t-9', '2026-09-10', 100)
  await paid('t-1', '2026-08-10', 90)
  const [{ id }] = await adjustmentsOf('2026-09')
  await paid('t-1', '2026-08-10', 100)
  const { id: statement, computed_at } = await statementOf('2026-09')
  expect(await detailOf(id)).toBe(
    `The statement ${statement} was computed again at ${computed_at} and no longer has this adjustment. Read the statement again.`,
  )
})
