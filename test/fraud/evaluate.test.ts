import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { beginEvaluation } from '../../src/fraud/db/progress.ts'
import { evaluateRules, lastCompleteDay } from '../../src/fraud/evaluate.ts'
import { kindsOf } from '../../src/fraud/kinds.ts'
import { EVALUATION_LIMITS } from '../../src/fraud/limits.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { dayNumber, dayText } from '../../src/platform/money/calendar.ts'
import { randomSource } from '../commission/worlds.ts'
import { restoring } from '../limits.ts'
import { overridingSessions } from '../overriding.ts'
import { surrounded } from '../sweep/platform.ts'
import {
  inOrder,
  morningAfter,
  simulatedCases,
  storedCases,
  storeRules,
} from './evaluated-cases.ts'
import { fraudWorld, randomParameters } from './random-worlds.ts'
import { storeFraudWorld } from './stored-fraud-world.ts'
import { ruleOf } from './world-findings.ts'

// How rules are evaluated in steps, and what an evaluation that is killed leaves behind.

restoring(EVALUATION_LIMITS)

/** A world with several affiliates and cases, as an account with a rule of each kind. */
async function storedWorld(account: string, most = Infinity, seed = 6) {
  const { world, days } = fraudWorld(seed)
  const from = randomSource(seed)
  await storeFraudWorld({ ...world, clicks: {} }, account)
  const rules = kindsOf(world.vertical)
    .slice(-most)
    .map((kind) => ({
      ...{ rule: kind.kind.replaceAll('_', '-'), version: 1, kind: kind.kind },
      ...{ effective_from: days.first },
      parameters: ruleOf(kind, randomParameters(from, kind.kind)).parameters,
    }))
  await storeRules(account, rules)
  const stored = (await findAccount(env.DB, account))!
  const evaluate = (
    platform: Env = env as Env,
    facts = Number.POSITIVE_INFINITY,
    last = days.last,
  ) => {
    const now = morningAfter(last, world.book_zone)
    return evaluateRules(platform, stored, { actor: 'cron', now }, facts)
  }
  const backTests = async () =>
    inOrder((await simulatedCases(account, rules, days)).flatMap(([, cases]) => cases))
  return { evaluate, backTests, days }
}

const wholeTables = async (account: string) => {
  const lists = await env.DB.batch(
    ['evidence', 'cases', 'progress'].map((table) =>
      env.DB.prepare(`select * from fraud_${table} where account = ?`).bind(account),
    ),
  )
  const text = JSON.stringify(lists.map(({ results }) => results))
  return text.replaceAll(/"(opened_at|position)":\d+/g, '"$1":0')
}

const clear = (account: string) =>
  env.DB.batch(
    ['progress', 'evidence', 'cases'].map((table) =>
      env.DB.prepare(`delete from fraud_${table} where account = ?`).bind(account),
    ),
  )

/** Returns the platform of a Worker that is killed at a write, before or after it is committed. */
function killedAt(nth: number, isCommitted: boolean) {
  let writes = 0
  const methods = (real: Pick<D1Database, 'prepare' | 'batch'>) => ({
    prepare: (text: string) => real.prepare(text),
    batch: async (list: D1PreparedStatement[]) => {
      const answers = ++writes === nth && !isCommitted ? null : await real.batch(list)
      if (writes >= nth) throw new Error('killed')
      return answers
    },
  })
  const DB = overridingSessions(env.DB, methods)
  return { platform: { ...env, DB } as Env, calls: () => writes }
}

test.each([
  ['UTC', '2026-10-01T12:00:00Z', '2026-09-30'],
  ['Pacific/Auckland', '2026-10-01T12:00:00Z', '2026-10-01'],
  ['Pacific/Honolulu', '2026-10-01T09:59:59Z', '2026-09-29'],
  ['Pacific/Honolulu', '2026-10-01T10:00:00Z', '2026-09-30'],
])('in %s at %s the last complete day is %s', (book_zone, at, day) => {
  const account = { book_zone } as Parameters<typeof lastCompleteDay>[0]
  expect(dayText(lastCompleteDay(account, Date.parse(at)))).toBe(day)
})

describe('an evaluation in steps', () => {
  test('finds the same with small groups and few days, in many requests and twice at a time as at once', async () => {
    const { evaluate } = await storedWorld('whole')
    await evaluate()
    const expected = await storedCases('whole')
    const whole = await wholeTables('whole')
    expect(expected.length).toBeGreaterThan(3)

    await clear('whole')
    const first = await evaluate(env as Env, 1)
    expect(first).toMatchObject({ isDone: false })
    let opened = first.opened
    for (let done = false; !done; ) {
      const next = await evaluate(env as Env, 1)
      opened += next.opened
      done = next.isDone
    }
    expect(opened).toBe(expected.length)
    expect(await storedCases('whole')).toEqual(expected)

    await clear('whole')
    Object.assign(EVALUATION_LIMITS, { attempts: 50 })
    const both = await Promise.all([evaluate(), evaluate()])
    expect(both.some(({ isDone }) => isDone)).toBe(true)
    await evaluate()
    expect(await wholeTables('whole')).toBe(whole)

    await clear('whole')
    Object.assign(EVALUATION_LIMITS, { customers: 1, affiliates: 1, days: 7 })
    await evaluate()
    expect(await storedCases('whole')).toEqual(expected)
  })

  test('§17 size never evades: with few records at once each affiliate has the cases that it had, or one that says so, whenever it is judged', async () => {
    const account = 'large'
    const { evaluate, backTests, days } = await storedWorld(account, Infinity, 2)
    await evaluate()
    const expected = await storedCases(account)
    await clear(account)
    Object.assign(EVALUATION_LIMITS, { facts: 20 })
    await evaluate()
    const atOnce = await storedCases(account)
    const saidSo = atOnce.filter(({ figures }) => figures[0]!.name === 'records_to_compare')
    expect(saidSo.length).toBeGreaterThan(0)
    const keysOf = (cases: typeof expected) =>
      cases.map(({ affiliate, rule }) => `${affiliate} ${rule}`)
    const isAbout = ({ affiliate, subject }: (typeof expected)[number]) => subject[0] === affiliate
    expect(keysOf(atOnce)).toEqual(expect.arrayContaining(keysOf(expected)))
    for (const one of saidSo) expect(isAbout(one) && one.evidence.length > 0).toBe(true)
    expect(await backTests()).toEqual(atOnce)
    await clear(account)
    for (let day = dayNumber(days.first); day <= dayNumber(days.last); day++) {
      await evaluate(env as Env, Number.POSITIVE_INFINITY, dayText(day))
    }
    expect(await storedCases(account)).toEqual(atOnce)
  })

  test.each([
    ['before it was committed', false],
    ['after it was committed', true],
  ])('killed at any batch %s, it finds everything once', async (_, isCommitted) => {
    const account = `killed-${isCommitted}`
    const { evaluate } = await storedWorld(account, 4)
    Object.assign(EVALUATION_LIMITS, { days: 9 })
    await evaluate()
    const expected = await wholeTables(account)
    let ended = false
    // The day chooses which; `npm run worlds` tries all.
    const step = env.MODEL_RUNS ? 1 : 41
    for (let nth = 1 + (env.DAY % step); !ended; nth += step) {
      await clear(account)
      const { platform } = killedAt(nth, isCommitted)
      ended = await evaluate(platform).then(
        () => true,
        () => false,
      )
      await evaluate()
      expect(await wholeTables(account), `killed at call ${nth}`).toBe(expected)
      expect(nth).toBeLessThan(200)
    }
  })
})

test('an evaluation that has begun does not begin again', async () => {
  const { evaluate } = await storedWorld('begun', 1)
  await evaluate(env as Env, 0)
  const before = await wholeTables('begun')
  const again = { first: 1, last: 2, through: 0, position: 9 }
  await beginEvaluation(env.DB, 'begun', null, again)
  expect(await wholeTables('begun')).toBe(before)
})

test('a case that was decided does not open again by its own records', async () => {
  const { evaluate } = await storedWorld('decided')
  await evaluate()
  await env.DB.batch([
    env.DB.prepare(`update fraud_cases set status = 'dismissed' where account = 'decided'`),
    // Everything is evaluated again.
    env.DB.prepare(
      `insert into changed select account, 'transactions', -719528, position + 1 from fraud_progress`,
    ),
  ])
  const before = await storedCases('decided')
  expect(await evaluate()).toMatchObject({ opened: 0 })
  expect(await storedCases('decided')).toEqual(before)
})

test('a case that is decided while it is evaluated gets nothing more: another one opens', async () => {
  const { evaluate } = await storedWorld('between')
  await evaluate()
  const before = await storedCases('between')
  const { id } = (await env.DB.prepare(
    'select id from fraud_cases where evidence_count > 1 order by evidence_count desc',
  ).first<{ id: string }>())!
  // As if the last record had come late.
  await env.DB.batch([
    env.DB.prepare(
      `delete from fraud_evidence where (case_id, position) = (
         select id, evidence_count - 1 from fraud_cases where id = ?)`,
    ).bind(id),
    env.DB.prepare('update fraud_cases set evidence_count = evidence_count - 1 where id = ?').bind(
      id,
    ),
    env.DB.prepare(
      `insert into changed select account, 'transactions', -719528, position + 1 from fraud_progress`,
    ),
  ])
  const confirm = env.DB.prepare(`update fraud_cases set status = 'confirmed' where id = ?`).bind(
    id,
  )
  const platform = surrounded(async ({ sql }, act) => {
    if (sql.includes('insert into fraud_cases')) await confirm.run()
    return act()
  })
  expect(await evaluate(platform)).toMatchObject({ opened: 1 })
  const after = await storedCases('between')
  expect(after.length).toBe(before.length + 1)
  expect(after.filter(({ status }) => status === 'confirmed')).toHaveLength(1)
  const countOf = (cases: typeof after) =>
    cases.reduce((sum, { evidence }) => sum + evidence.length, 0)
  expect(countOf(after)).toBe(countOf(before))
})
