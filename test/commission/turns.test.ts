import { afterEach, expect, test, vi } from 'vitest'
import { type TurnCaller, withinLimit } from '../../src/commission/run/on-request.ts'
import { DEFAULT_VIEW } from '../../src/platform/auth/affiliate-view.ts'
import { askAdmin, json, partner } from '../partner.ts'

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

test('the firm and the team never wait for an affiliate, and affiliates have one turn each', async () => {
  const { account } = await partner('forex')
  const greedy = startComputations(Array<string>(30).fill(account), 'aff-7')
  const other = startComputations([account, account], 'aff-8')
  const answer = json(askAdmin(`accounts/${account}/unearned?period=2026-10`))
  expect(await Promise.race([answer, scheduler.wait(3000)])).toMatchObject({ data: [] })
  expect(greedy.running).toHaveLength(1)
  expect(other.running).toHaveLength(1)
  await Promise.all([greedy.finish(), other.finish()])
})
