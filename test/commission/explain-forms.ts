import { expect } from 'vitest'
import type { Adjustment, StatementLine } from '../../src/commission/run/draft.ts'
import type { AdjustmentExplanation } from '../../src/commission/shapes/explanations.ts'
import type { Explanation, Step } from '../../src/commission/shapes/steps.ts'
import { askWith } from '../affiliates/affiliate-world.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json } from '../partner.ts'
import { signedInFor } from '../portal/join.ts'
import { follow } from './follow.ts'
import { add, compare, parse, plain, subtract, sum, ZERO } from './oracle/rational.ts'

// Explains what statements have as everybody reads it: the firm and the affiliate, in their APIs and on their pages.

type Explained = AdjustmentExplanation | (Explanation & { id: string })

/** A stored statement with all its lines and adjustments. */
export interface WholeStatement {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly dropped: string
  readonly lines: readonly StatementLine[]
  readonly adjustments: readonly Adjustment[]
}

/** Reads all statements of an account. */
export async function allStatements(account: string): Promise<WholeStatement[]> {
  const path = `accounts/${account}/statements`
  const { data } = await json(askAdmin(`${path}?per_page=500`))
  return Promise.all(data.map(({ id }: { id: string }) => json(askAdmin(`${path}/${id}`))))
}

/** The lines of a statement that are explained in every form. */
const LINES = 1

/** Explains the adjustments of an account, and the first lines of each statement, in every form. */
export async function explainAllForms(account: string): Promise<AdjustmentExplanation[]> {
  const statements = await allStatements(account)
  const page = await signedIn()
  const ask = (id: string, accept = 'application/json') =>
    askAdmin(`accounts/${account}/lines/${id}/explain`, 'GET', undefined, { Accept: accept })
  const found: AdjustmentExplanation[] = []
  for (const statement of statements) {
    for (const item of [...statement.lines.slice(0, LINES), ...statement.adjustments]) {
      const label = `${account} ${JSON.stringify([statement.period, item])}`
      const answers = await Promise.all([
        ask(item.id),
        ask(item.id, 'text/plain'),
        page.get(`/console/accounts/${account}/lines/${item.id}`),
      ])
      expect(
        answers.map(({ status }) => status),
        label,
      ).toEqual([200, 200, 200])
      const texts = await Promise.all(answers.slice(1).map((one) => one.text()))
      for (const text of texts) expect(text, label).not.toMatch(/undefined|[{}]|,,/)
      const explained: Explained = await json(answers[0]!)
      replay(explained, item, statement, label)
      if ('of' in explained) found.push(explained)
    }
  }
  for (const [affiliate, own] of Map.groupBy(statements, (one) => one.affiliate_id)) {
    await explainToAffiliate(account, affiliate, own)
  }
  return found
}

/** Explains the same to an affiliate, who knows lines by other ids. */
async function explainToAffiliate(
  account: string,
  affiliate: string,
  statements: readonly WholeStatement[],
) {
  const { affiliate_key: key } = await json(
    askAdmin(`accounts/${account}/affiliates/${affiliate}/keys`, 'POST', { name: 'Tracker' }),
  )
  const portal = await signedInFor(account, affiliate)
  for (const { id } of statements) {
    const shown = await json(askWith(key, `statements/${id}`))
    for (const item of [...shown.lines.slice(0, LINES), ...shown.adjustments]) {
      const answers = await Promise.all([
        askWith(key, `lines/${item.id}/explain`),
        askWith(key, `lines/${item.id}/explain`, 'text/plain'),
        portal.get(`/portal/${account}/statements/${id}?line=${item.id}`),
      ])
      expect(
        answers.map(({ status }) => status),
        JSON.stringify(item),
      ).toEqual([200, 200, 200])
    }
  }
}

/** Expects the steps of a line to name the rates of each day, and who qualified by what. */
function expectDays(steps: readonly Step[], currency: string, label: string): void {
  for (const step of steps) {
    if (step.step !== 'base') continue
    const rated = step.terms
      .flatMap(({ currencies }) => currencies)
      .filter(
        (one) => one.currency !== currency && parse(one.amount).n !== 0n && !one.by_amount_usd,
      )
    for (const one of rated) expect(one.days, label).not.toEqual([])
  }
  const names = steps.map(({ step }) => step)
  if (names.includes('trigger')) expect(names, label).toContain('qualification')
}

/** Follows an explanation to the amount of its line or adjustment. */
function replay(
  explained: Explained,
  { amount }: StatementLine | Adjustment,
  { currency }: WholeStatement,
  label: string,
): void {
  if (!('of' in explained)) {
    expect(explained.line.amount, label).toBe(amount)
    follow(explained)
    return
  }
  const { approved, now, of } = explained
  expect(explained.causes_total, label).toBeGreaterThan(0)
  const before = sum(approved.earlier.map((one) => parse(one.amount)))
  const same = (a: Parameters<typeof plain>[0], b: string) =>
    expect(plain(a), label).toBe(plain(parse(b)))
  if (of.line !== null) {
    same(add(parse(approved.amount ?? '0'), before), approved.total)
    same(subtract(parse(now?.line.amount ?? '0'), parse(approved.total)), amount)
    if (now) {
      follow({ ...explained, ...now, currency, corrections: [] })
      expectDays(now.steps, currency, label)
    }
    return
  }
  same(subtract(parse(approved.amount ?? ''), before), approved.total)
  // What was written off is negative, and so is what covers it: never more than is left, or than was covered.
  const after = subtract(parse(approved.total), parse(amount))
  expect(compare(after, ZERO), label).toBeLessThanOrEqual(0)
  expect(compare(after, parse(approved.amount ?? '')), label).toBeGreaterThanOrEqual(0)
}
