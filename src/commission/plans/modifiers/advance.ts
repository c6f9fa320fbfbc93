import type * as v from 'valibot'
import {
  amountAt,
  type Decimal,
  greatest,
  isSome,
  subtract,
  sum,
  ZERO,
} from '../../../platform/money/decimal.ts'
import { described } from '../../../platform/validation/described.ts'
import { exactOptional, said } from '../../../platform/validation/fields.ts'
import type { Issue } from '../../../platform/validation/issue.ts'
import { name } from '../terms.ts'
import * as m from './modifier.ts'

const members = {
  recoups: exactOptional(
    name,
    said(
      'Hybrid: the id of the CPA rule whose payments are deducted from this share until recovered.',
      'cpa',
    ),
  ),
}

const step = described(() =>
  m.stepOf(
    'advance',
    'What the share recoups: `after` is max(0, `before` − `paid_once` − `deficit_in`).',
    {
      recoups: m.figure('The `once` rule.'),
      before: m.figure('The share.'),
      paid_once: m.figure('What the `once` rule paid in the period.'),
      deficit_in: m.figure('What was left to recoup before.'),
      recouped: m.figure('What the share pays back.'),
      deficit_out: m.figure('What is left to recoup.'),
      after: m.figure('The amount after.'),
    },
  ),
)

type Members = m.MembersOf<typeof members> & { readonly per?: string }

type Step = v.InferOutput<typeof step>

/**
 * Returns what the `once` rule that a share recoups paid: under the same version, or under `current` under any, since a
 * deficit passes on to later versions.
 */
export const recoupedBy = (
  recoups: string | undefined,
  version: m.LineVersion,
  once: m.ModifierInput['once'],
): Decimal =>
  sum(
    once.flatMap((one) =>
      one.rule.id === recoups && (version.terms === 'current' || one.version === version)
        ? [one.amount]
        : [],
    ),
  )

/**
 * Recoups what a `once` rule paid from a share (§12 "Advance"): it pays max(0, s − o − deficit), and the new deficit
 * is max(0, deficit + o − s).
 */
export const advance = {
  name: 'advance' as const,
  members,
  step,
  apply: (
    lines: readonly m.ModifiedLine<Members>[],
    { state, once }: m.ModifierInput,
  ): Partial<m.Figures>[] =>
    lines.map((line) => {
      const { recoups } = line.rule.source
      if (recoups === undefined) return {}
      const key = m.stateKey(line.rule.id, line.version, line.scope)
      const paidOnce = recoupedBy(recoups, line.version, once)
      const share = line.amount
      const deficitIn = amountAt(state.deficits, key)
      const due = subtract(subtract(share, paidOnce), deficitIn)
      const amount = greatest(due, ZERO)
      const deficit = greatest(subtract(ZERO, due), ZERO)
      const recouped = subtract(greatest(share, ZERO), amount)
      line.trace.push(() => ({
        step: 'advance',
        recoups,
        before: m.moneyOf(line, share),
        paid_once: m.moneyOf(line, paidOnce),
        deficit_in: m.moneyOf(line, deficitIn),
        recouped: m.moneyOf(line, recouped),
        deficit_out: m.moneyOf(line, deficit),
        after: m.moneyOf(line, amount),
      }))
      state.deficits.set(key, deficit)
      return { amount, recouped, deficit }
    }),
  check({ per = 'affiliate', recoups }: Members, pointer: string, plan: m.PlanRules): Issue[] {
    if (recoups === undefined) return []
    const at = `${pointer}/recoups`
    return [
      ...(per === 'affiliate' ? [] : [m.notApplicable(at, 'it needs `"per": "affiliate"`')]),
      ...m.checkOnceReference(at, recoups, plan),
    ]
  },
  plan: ({ recoups }: Members, { words }: m.PlanSpeech): string[] =>
    recoups === undefined
      ? []
      : [words.text('recoups', { rule: words.text('quoted', { name: recoups }) })],
  explain: (
    { before, paid_once, deficit_in, deficit_out, after }: Step,
    { words, money }: m.StepSpeech,
  ): string[] => [
    words.text('why.advance', {
      before: money(before),
      paid: money(paid_once),
      deficit: money(deficit_in),
      amount: money(after),
    }),
    ...(isSome(deficit_out) ? [words.text('why.toRecover', { amount: money(deficit_out) })] : []),
  ],
  fields: { recoups: { label: 'Earns back the rule' } },
}
