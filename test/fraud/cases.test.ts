import { describe, expect, test } from 'vitest'
import { addFindings, type Case, type FoundBy, onDay } from '../../src/fraud/cases.ts'
import type { DayFinding } from '../../src/fraud/findings.ts'
import { randomSource } from '../commission/worlds.ts'
import { times } from './view.ts'

// Findings are only added to cases.

type Terms = FoundBy['terms']

const FLAG: Terms = { kind: 'resets', severity: 'low', action: 'flag' }
const HOLD: Terms = { ...FLAG, action: 'hold' }

/** What a version has found on a day. */
interface Found {
  readonly finding: DayFinding
  readonly terms: Terms
}

/** A finding of a day that rests on transactions. */
const finding = (day: number, ids: string, terms = FLAG): Found => ({
  terms,
  finding: {
    ...{ day, since: day, subject: { affiliate_id: 'A' }, figures: [], sentence: `Of day ${day}.` },
    evidence: [...ids].map((id) => ({
      ...{ customer_id: 'C', resource: 'transactions', id, day, delivery_id: null },
    })),
  },
})

const recordsOf = ({ added }: Case) => added.map(({ id }) => id).join('')

const brief = (cases: readonly Case[]) =>
  cases.map((one) => [one.status, one.opened_for, one.last_day, recordsOf(one)].join(' '))

/** Cases as they are stored: findings are added by several evaluations. */
function stored() {
  const cases: Case[] = []
  const known = new Set<string>()
  return {
    cases,
    find(...found: Found[]) {
      for (const { finding, terms } of found) {
        const by = { version: 1, terms }
        for (const one of addFindings(cases.at(-1) ?? null, known, [finding], by)) {
          cases[one.position] = one
        }
      }
      return brief(cases)
    },
    become(status: Case['status']) {
      const last = cases.pop()!
      cases.push({ ...last, status })
    },
  }
}

describe('the cases of a rule and subject', () => {
  test('later evidence is added to the open case', () => {
    const { find } = stored()
    expect(find(finding(10, 'a'), finding(11, 'ab'), finding(12, 'b'))).toEqual(['open 10 11 ab'])
  })

  test('a flag without new evidence expires after ninety days, a hold does not', () => {
    const of = (today: number, terms: Terms, ...days: [number, string][]) => {
      const { find, cases } = stored()
      find(...days.map(([day, ids]) => finding(day, ids, terms)))
      return brief(cases.map((one) => onDay(one, today)))
    }
    expect(of(100, FLAG, [10, 'a'], [60, 'a'])).toEqual(['open 10 10 a'])
    expect(of(101, FLAG, [10, 'a'], [60, 'a'])).toEqual(['expired 10 10 a'])
    expect(of(101, FLAG, [10, 'a'], [100, 'b'])).toEqual(['open 10 100 ab'])
    expect(of(101, FLAG, [10, 'a'], [101, 'b'])).toEqual(['expired 10 10 a', 'open 101 101 b'])
    expect(of(400, HOLD, [10, 'a'])).toEqual(['open 10 10 a'])
    expect(of(400, HOLD, [10, 'a'], [300, 'b'])).toEqual(['open 10 300 ab'])
  })

  test.each(['dismissed', 'confirmed', 'expired'] as const)(
    'after one that is %s, another opens only by evidence that was in none',
    (status) => {
      const { find, become } = stored()
      find(finding(10, 'a'), finding(11, 'b'))
      become(status)
      expect(find(finding(30, 'ab'))).toEqual([`${status} 10 11 ab`])
      expect(find(finding(31, 'bc'))).toEqual([`${status} 10 11 ab`, 'open 31 31 c'])
    },
  )

  test('late evidence is added, and leaves what the case shows', () => {
    const { find, cases } = stored()
    find(finding(10, 'a'))
    expect(find(finding(9, 'z'))).toEqual(['open 10 10 az'])
    expect(cases[0]?.sentence).toBe('Of day 10.')
  })

  test('another version never makes a case do less', () => {
    const { find, cases } = stored()
    const does = () => {
      const { severity, action } = cases[0]!
      return [severity, action]
    }
    find(finding(1, 'a'))
    find(finding(2, 'b', { ...HOLD, severity: 'medium' }))
    expect(does()).toEqual(['medium', 'hold'])
    find(finding(3, 'c', HOLD))
    find(finding(4, 'd', FLAG))
    expect(does()).toEqual(['medium', 'hold'])
    find(finding(5, 'e', { ...HOLD, severity: 'high' }))
    expect(does()).toEqual(['high', 'hold'])
  })
})

test('each record is in one case for good, and only the last case is open, in whatever order days are judged', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const from = randomSource(seed)
    const ids = [...'abcdefgh']
    const { find, cases, become } = stored()
    const found = new Set<string>()
    let before: string[] = []
    for (let round = 0; round < 5; round++) {
      const findings = times(4, (i) => {
        const own = ids.filter(() => from.oneIn(3)).join('')
        for (const id of own) found.add(id)
        return finding(i * 40 + round * (from.oneIn(2) ? 9 : 100), own, from.oneIn(3) ? HOLD : FLAG)
      }).sort((a, b) => a.finding.day - b.finding.day)
      find(...findings)
      const now = cases.map(recordsOf)
      expect(now.slice(0, before.length).map((one, i) => one.startsWith(before[i]!))).toEqual(
        before.map(() => true),
      )
      before = now
      if (cases.length > 0 && from.oneIn(3)) become('dismissed')
    }
    expect([...before.join('')].sort(), `seed ${seed}`).toEqual([...found].sort())
    const open = cases.filter(({ status }) => status === 'open')
    expect(open.length, `seed ${seed}`).toBeLessThanOrEqual(1)
    if (open.length > 0) expect(cases.at(-1), `seed ${seed}`).toBe(open[0])
  }
})

test('day by day, findings make the same cases as at once', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const from = randomSource(seed)
    const terms = from.oneIn(6) ? HOLD : FLAG
    const found = times(9, (i) =>
      finding(
        i * (from.oneIn(2) ? 30 : 47),
        [...'abcdefgh'].filter(() => from.oneIn(3)).join(''),
        terms,
      ),
    ).sort((a, b) => a.finding.day - b.finding.day)
    const { find } = stored()
    const findings = found.map((one) => one.finding)
    const atOnce = addFindings(null, new Set(), findings, { version: 1, terms })
    expect(find(...found), `seed ${seed}`).toEqual(brief(atOnce))
  }
})
