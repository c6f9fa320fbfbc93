import { describe, expect, test } from 'vitest'
import { type Case, casesOf, type Decision } from '../../src/fraud/cases.ts'
import type { DayFinding } from '../../src/fraud/findings.ts'
import { randomSource } from '../commission/worlds.ts'
import { times } from './view.ts'

// Which cases exist follows from findings and decisions alone.

const EXPIRE = 90

/** A finding of a day that rests on transactions. */
const finding = (day: number, ...ids: string[]): DayFinding => ({
  day,
  subject: { affiliate_id: 'A' },
  figures: [],
  sentence: '',
  evidence: ids.map((id) => ({
    customer_id: 'C',
    resource: 'transactions',
    id,
    day,
    delivery_id: undefined,
  })),
})

const key = (id: string) => `transactions:${id}`

const decided = (decision: Decision['decision'], ...ids: string[]): Decision => ({
  decision,
  seen: new Set(ids.map(key)),
})

const brief = (cases: readonly Case[]) =>
  cases.map(({ status, openedFor, lastEvidenceDay, evidence }) =>
    [status, openedFor, lastEvidenceDay, evidence.map(({ id }) => id).join('')].join(' '),
  )

const of = (findings: DayFinding[], today: number, ...decisions: Decision[]) =>
  brief(casesOf(findings, new Map(decisions.map((one, i) => [i, one])), today, EXPIRE))

describe('the cases of a rule and subject', () => {
  test('later evidence is added to the open case', () => {
    expect(of([finding(10, 'a'), finding(11, 'a', 'b'), finding(12, 'b')], 12)).toEqual([
      'open 10 11 ab',
    ])
  })

  test('a case without new evidence expires after ninety days', () => {
    const findings = [finding(10, 'a'), finding(60, 'a')]
    expect(of(findings, 100)).toEqual(['open 10 10 a'])
    expect(of(findings, 101)).toEqual(['expired 10 10 a'])
    expect(of([...findings, finding(101, 'b')], 101)).toEqual(['expired 10 10 a', 'open 101 101 b'])
    expect(of([...findings, finding(100, 'b')], 101)).toEqual(['open 10 100 ab'])
  })

  test('a dismissed case opens again only by evidence that was not in it', () => {
    const dismissed = decided('dismissed', 'a', 'b')
    expect(of([finding(10, 'a'), finding(11, 'b'), finding(30, 'a', 'b')], 30, dismissed)).toEqual([
      'dismissed 10 11 ab',
    ])
    expect(of([finding(10, 'a'), finding(11, 'b'), finding(30, 'b', 'c')], 30, dismissed)).toEqual([
      'dismissed 10 11 ab',
      'open 30 30 c',
    ])
  })

  test('a decision covers what the person saw, also if a record of an earlier day comes later', () => {
    expect(of([finding(9, 'z'), finding(10, 'a')], 20, decided('confirmed', 'a'))).toEqual([
      'confirmed 10 10 a',
      'open 9 9 z',
    ])
  })

  test('a decided case whose records are gone is left out, and hides no later one', () => {
    expect(of([], 20, decided('confirmed', 'a'))).toEqual([])
    expect(of([finding(10, 'c')], 20, decided('confirmed', 'a'))).toEqual(['open 10 10 c'])
  })
})

test('each record is in exactly one case, and only the last case is open, whatever is found and decided', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const from = randomSource(seed)
    const ids = [...'abcdefgh']
    const findings = times(8, (i) => finding(i * 20, ...ids.filter(() => from.oneIn(3))))
    const decisions = times(3, () =>
      decided(from.oneIn(2) ? 'confirmed' : 'dismissed', ...ids.filter(() => from.oneIn(2))),
    )
    const cases = casesOf(findings, new Map(decisions.map((one, i) => [i, one])), 300, 30)
    const all = cases.flatMap(({ evidence }) => evidence.map(({ id }) => id))
    const found = new Set(findings.flatMap(({ evidence }) => evidence.map(({ id }) => id)))
    expect(all.sort(), `seed ${seed}`).toEqual([...found].sort())
    const open = cases.filter(({ status }) => status === 'open')
    expect(open.length, `seed ${seed}`).toBeLessThanOrEqual(1)
    if (open.length > 0) expect(cases.at(-1), `seed ${seed}`).toBe(open[0])
  }
})
