import type { Issue } from '../../validation/issue.ts'
import type { OnceRule, OverrideRule, PlanTerms, Rule, ShareRule } from '../engine/plan.ts'
import { checkCondition } from './check-conditions.ts'
import { checkOnceReference, notApplicable, ratesOf } from './check-parts.ts'
import { checkBase } from './check-terms.ts'
import { checkTiers } from './check-tiers.ts'
import { compareDecimals } from './decimals.ts'

/** Returns the issues of one rule that its shape alone does not show. */
export function checkRule(rule: Rule, pointer: string, plan: PlanTerms): Issue[] {
  const issues = [
    ...checkRate(rule, pointer),
    ...checkCondition(rule.when, `${pointer}/when`),
    ...(rule.tiers ? checkTiers(rule, rule.tiers, pointer, plan) : []),
  ]
  switch (rule.kind) {
    case 'once':
      return [...issues, ...checkOnce(rule, pointer)]
    case 'share':
      return [...issues, ...checkShare(rule, pointer, plan)]
    case 'unit':
      return issues
    case 'override':
      return [...issues, ...checkOverride(rule, pointer)]
  }
}

/** A rule has exactly one of its rate and tiers. */
function checkRate(rule: Rule, pointer: string): Issue[] {
  const rates = ratesOf(rule)
  const names = [...rates, 'tiers']
  const present = names.filter((name) => name in rule)
  const issues: Issue[] = (['amount', 'percent'] as const)
    .filter((name) => name in rule && !rates.includes(name))
    .map((name) =>
      notApplicable(`${pointer}/${name}`, `this rule takes \`${rates[0]}\`, not \`${name}\``),
    )
  if (present.length === 1) return issues
  const received = present.length > 1 && { received: String(present.length) }
  return [...issues, { pointer, code: 'choice', expected: names.join(', '), ...received }]
}

/** Returns an issue if the least is more than the most. */
function checkRange(least: string | undefined, most: string | undefined, pointer: string): Issue[] {
  if (least === undefined || most === undefined || compareDecimals(least, most) <= 0) return []
  return [{ pointer, code: 'maximum', expected: most, value: least }]
}

function checkOnce(rule: OnceRule, pointer: string): Issue[] {
  const { trigger, qualify = [], void_by, min_amount, max_amount, tiers } = rule
  const issues: Issue[] = []
  const paysPercent = rule.percent !== undefined || tiers?.steps.some((step) => 'percent' in step)
  if ('signup' in trigger) {
    const needs = 'a signup has no amount'
    if (paysPercent) {
      issues.push(notApplicable(`${pointer}/${rule.percent ? 'percent' : 'tiers'}`, needs))
    }
    if (void_by) issues.push(notApplicable(`${pointer}/void_by`, needs))
  }
  for (const name of ['min_amount', 'max_amount'] as const) {
    if (rule[name] !== undefined && !paysPercent) {
      issues.push(notApplicable(`${pointer}/${name}`, 'it applies only to a rule with `percent`'))
    }
  }
  issues.push(...checkRange(min_amount, max_amount, `${pointer}/min_amount`))
  if (void_by) issues.push(...checkBase(void_by.terms, `${pointer}/void_by/terms`))
  return [...issues, ...qualify.flatMap((one, i) => checkQualify(one, `${pointer}/qualify/${i}`))]
}

function checkQualify(one: NonNullable<OnceRule['qualify']>[number], pointer: string): Issue[] {
  if ('customer' in one) return checkCondition(one.customer, `${pointer}/customer`, true)
  if ('count' in one) return []
  const isOpen = one.at === 'end' && one.within_days === undefined
  const expected = 'the number of days after which the sum is checked'
  const required: Issue = { pointer: `${pointer}/within_days`, code: 'required', expected }
  return [...(isOpen ? [required] : []), ...checkBase(one.sum, `${pointer}/sum`)]
}

function checkShare(rule: ShareRule, pointer: string, plan: PlanTerms): Issue[] {
  const { per = 'affiliate', negative = 'offset', fence, recoups, max_per_customer } = rule
  const issues = checkBase(rule.base, `${pointer}/base`)
  const isPerAffiliate = per === 'affiliate'
  rule.base.forEach((term, i) => {
    if ('fixed' in term && !isPerAffiliate) {
      issues.push(notApplicable(`${pointer}/base/${i}/fixed`, NEEDS_AFFILIATE))
    }
  })
  if (fence && !isPerAffiliate) issues.push(notApplicable(`${pointer}/fence`, NEEDS_AFFILIATE))
  if (fence && negative === 'offset') {
    issues.push(notApplicable(`${pointer}/fence`, 'it needs `"negative": "zero"` or `"carry"`'))
  }
  if (max_per_customer !== undefined && per !== 'customer') {
    issues.push(notApplicable(`${pointer}/max_per_customer`, 'it needs `"per": "customer"`'))
  }
  if (recoups === undefined) return issues
  if (!isPerAffiliate) issues.push(notApplicable(`${pointer}/recoups`, NEEDS_AFFILIATE))
  return [...issues, ...checkOnceReference(`${pointer}/recoups`, recoups, plan)]
}

const NEEDS_AFFILIATE = 'it needs `"per": "affiliate"`'

function checkOverride(rule: OverrideRule, pointer: string): Issue[] {
  const { of } = rule
  const usesFacts = 'base' in of || 'unit' in of
  const misplaced = [
    ...(usesFacts ? [] : (['when', 'months'] as const)),
    ...('unit' in of ? [] : (['each'] as const)),
  ].filter((name) => rule[name] !== undefined)
  const issues = misplaced.map((name) => notApplicable(`${pointer}/${name}`, NEEDS[name]))
  return 'base' in of ? [...issues, ...checkBase(of.base, `${pointer}/of/base`)] : issues
}

const NEEDS = {
  when: '`of` must be a `base` or a `unit`',
  months: '`of` must be a `base` or a `unit`',
  each: '`of` must be a `unit`',
}
