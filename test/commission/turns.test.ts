import { afterEach, expect, test, vi } from 'vitest'
import { DEFAULT_VIEW } from '../../src/auth/affiliate-view.ts'
import type { Rule } from '../../src/commission/engine/plan.ts'
import { computeAffiliates } from '../../src/commission/statements/compute.ts'
import { FRESH_LIMITS } from '../../src/commission/statements/limits.ts'
import { withinLimit } from '../../src/commission/statements/on-request.ts'
import { groupUnearned } from '../../src/commission/why/unearned.ts'
import type { TurnCaller } from '../../src/http/turns.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { firm, TENTH } from './closed.ts'
import { computationOf } from './stored.ts'

// What an isolate computes at once: 2 answers of an account, and 8 in all; one of an affiliate, and 4 in all.

afterEach(() => vi.useRealTimers())

const callerOf = (account: string, affiliate?: string): TurnCaller => ({
  account,
  ...(affiliate && { affiliate: { id: affiliate, member: null, key: 'k', view: DEFAULT_VIEW } }),
})

/** Starts computations that last until `end` is called. */
function startComputations(accounts: readonly string[], affiliate?: string) {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const running: string[] = []
  const answers = accounts.map((account) =>
    withinLimit(callerOf(account, affiliate), '', () => {
      running.push(account)
      return promise
    }),
  )
  const finish = async () => {
    end()
    await Promise.all(answers)
  }
  return { running, finish }
}

test('an isolate computes 2 answers of an account at once, and 8 in all', async () => {
  const { running, finish } = startComputations(['a', 'a', 'a', 'b', 'b', 'c', 'd', 'e', 'f', 'g'])
  await scheduler.wait(300)
  expect(running.sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'd', 'e', 'f'])
  await finish()
  expect(running.sort()).toEqual(['a', 'a', 'a', 'b', 'b', 'c', 'd', 'e', 'f', 'g'])
})

test('the firm and the team never wait for an affiliate, and affiliates have one turn each', async () => {
  const { account } = await partner('forex')
  const greedy = startComputations(Array<string>(30).fill(account), 'aff-7')
  const other = startComputations([account, account], 'aff-8')
  const fresh = `statements?affiliate_id=aff-7&period=2026-10&fresh=true`
  const answer = json(askAdmin(`accounts/${account}/${fresh}`))
  expect(await Promise.race([answer, scheduler.wait(3000)])).toMatchObject({ data: [] })
  expect(greedy.running).toHaveLength(1)
  expect(other.running).toHaveLength(1)
  await Promise.all([greedy.finish(), other.finish()])
})

test('a computation that waits for 10 seconds is refused', async () => {
  const { finish } = startComputations(['a', 'a'])
  vi.useFakeTimers({ toFake: ['Date'] })
  const waiting = withinLimit(callerOf('a'), '', async () => {})
  vi.setSystemTime(Date.now() + 10_000)
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  await finish()
})

test('a computation that never ends counts for a minute', async () => {
  const { finish } = startComputations(['a', 'a'])
  await scheduler.wait(0)
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + 60_000)
  await expect(withinLimit(callerOf('a'), '', async () => 'computed')).resolves.toBe('computed')
  await finish()
})

test.each([
  'statements?affiliate_id=aff-7&period=2026-10&fresh=true',
  'unearned?period=2026-10',
  'qualifications?period=2026-10',
])('GET %s waits for its turn', async (path) => {
  const { account } = await partner('forex')
  const { finish } = startComputations([account, account])
  const answer = askAdmin(`accounts/${account}/${path}`)
  await expect(Promise.race([answer, scheduler.wait(300)])).resolves.toBeUndefined()
  await finish()
  expect((await json(answer)).data).toEqual([])
})

test('other requests have a turn after each 2000 records that a computation looks at', async () => {
  const each = { ...TENTH, id: 'each', kind: 'once', trigger: { transactions: ['deposit'] } }
  const { account, post } = await firm([{ ...each, percent: '10' } as Rule])
  const ids = [1, 2, 3, 4, 5].map((i) => `x-${i}`)
  await post(
    'customers',
    ids.map((customer_id) => ({ ...ada, customer_id })),
  )
  for (const customer_id of ids) {
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      ...{ ...deposit, transaction_id: `${customer_id}-${i}`, customer_id },
      transaction_date: '2026-10-10T10:00:00Z',
    }))
    expect((await post('transactions', rows)).status).toBe(200)
  }
  const computation = await computationOf(account, '2026-10')
  const wait = vi.spyOn(scheduler, 'wait')
  const turns = () => wait.mock.calls.splice(0).filter(([ms]) => ms === 0).length
  await computeAffiliates(computation, ['aff-7'], FRESH_LIMITS.facts)
  expect(turns()).toBe(2)
  await groupUnearned(computation, computation.range.period, {})
  expect(turns()).toBe(2)
  wait.mockRestore()
})
