import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { beginRun, finishRun, makeStep } from '../../src/commission/run/runs.ts'
import { bookedLines, freshLines } from '../commission/fresh-lines.ts'
import { storeStarted } from '../commission/stored-runs.ts'
import { json } from '../partner.ts'
import { surrounded } from '../sweep/platform.ts'
import { type BookFirm, bookFirm, LAST_MONTH, MONTHS, payment } from './book-firm.ts'
import { checkBooks, frozenOf, readStatements } from './check-books.ts'

const AFFILIATES = ['a-0', 'a-1', 'a-2', 'a-3', 'a-4']

/** Throws in the nth call of a run, before or after its effect, and does something else there. */
function broken(nth: number, after: boolean, meanwhile: () => Promise<unknown>) {
  const seen = { calls: 0 }
  const platform = surrounded(async (_call, act) => {
    const current = seen.calls++
    if (current !== nth) return act()
    if (after) await act()
    await meanwhile()
    throw new Error('killed')
  })
  return { platform, seen }
}

/** Makes the steps of a run as its Workflow does: a step that is killed is made again. */
async function runSteps(account: string, platforms: readonly Env[]) {
  const left = [...platforms]
  const parameters = await storeStarted(account, '2030-12')
  const endure = async <T>(step: (platform: Env) => Promise<T>): Promise<T> => {
    try {
      return await step(left[0]!)
    } catch (error) {
      if (!(error instanceof Error && error.message === 'killed')) throw error
      left.shift()
      return endure(step)
    }
  }
  const steps = await endure((platform) => beginRun(platform, parameters, Date.now()))
  for (let step = 1; step <= steps; step++) {
    await endure((platform) => makeStep(platform, parameters, step, Date.now()))
  }
  await endure((platform) => finishRun(platform, parameters, Date.now()))
  return parameters.run
}

/** Approves the first draft of every affiliate and plan that can be. */
async function approveFirst(firm: BookFirm) {
  const drafts = (await readStatements(firm.account)).filter(
    ({ status, head, period }) => status === 'draft' && head && period <= LAST_MONTH,
  )
  for (const [first] of Map.groupBy(drafts, (one) => `${one.affiliate_id} ${one.plan}`).values()) {
    expect([200, 409]).toContain((await firm.approve(first!)).status)
  }
}

test.each([false, true])(
  'a run that is killed at any call (after its effect: %s) while drafts are approved stores correct statements',
  async (after) => {
    const firm = await bookFirm()
    await firm.post(
      'transactions',
      MONTHS.flatMap((month, i) => [0, 1, 3, 4].map((c) => payment(`${c}-${i}`, c, month, 90 + i))),
    )
    await firm.run(LAST_MONTH)
    let frozen = new Map<string, string>()
    for (let nth = Number(after); ; nth += env.MODEL_RUNS ? 1 : 17) {
      // A late record, the amount of which changes each time.
      const late = [0, 1, 3, 4].map((c) => payment(`late-${c}`, c, MONTHS[nth % 5]!, 50 + nth))
      await firm.post('transactions', late)
      const meanwhile = () => (nth % 2 === 0 ? approveFirst(firm) : Promise.resolve())
      const { platform, seen } = broken(nth, after, meanwhile)
      const run = await runSteps(firm.account, [platform, surrounded((_call, act) => act())])
      const [progress] = await Promise.all([json(firm.getRun(run)), checkBooks(firm.account)])
      expect(progress).toMatchObject({ status: 'done' })
      // What was approved while the run went on may have outdated its drafts.
      await firm.run('2030-12')
      const statements = await checkBooks(firm.account)
      const now = frozenOf(statements)
      for (const [id, text] of frozen) expect(now.get(id)).toBe(text)
      frozen = now
      expect(bookedLines(statements), `call ${nth}`).toEqual(
        await freshLines(firm.account, '2030-12', AFFILIATES),
      )
      if (seen.calls <= nth) break
    }
    expect(frozen.size).toBeGreaterThan(2)
  },
)
