import { type Period, parsePeriod } from '../../src/commission/engine/calendar.ts'
import { earningsOf } from '../../src/commission/engine/earnings.ts'
import { asOf, factEvaluator } from '../../src/commission/engine/evaluate.ts'
import { explanationText } from '../../src/commission/engine/explain.ts'
import { reportFacts } from '../../src/commission/engine/fact-reports.ts'
import { reportOnce } from '../../src/commission/engine/once-report.ts'
import {
  addToGroups,
  type Groups,
  listGroups,
  unearnedRecord,
} from '../../src/commission/engine/unearned.ts'
import { open } from './engine.ts'
import { explainAll } from './explain-all.ts'
import { periodsOf, randomWorld } from './worlds.ts'

/**
 * Returns what the engine says about a random world, as text: the explanation of every line in sentences
 * and in steps; and in each period the qualifications, the records with their lines and reasons, and the
 * numbers and sums of the records with each reason.
 */
export function describeWorld(seed: number): string {
  const world = randomWorld(seed)
  const opened = open(world)
  return periodsOf(world)
    .map((id) => describePeriod(opened, parsePeriod(id)!))
    .join('\n')
}

function describePeriod({ account, input }: ReturnType<typeof open>, period: Period): string {
  const lines = explainAll(account, input, period).map(
    ({ explanation }) => `${explanationText(explanation)}\n${asLines(explanation.steps)}\n`,
  )
  const evaluator = factEvaluator(input)
  const groups: Groups = new Map()
  const evaluated = account.evaluated(period.last)
  const qualifications = evaluated.flatMap((one) => reportOnce(input, one, period.last))
  const records = evaluated.flatMap((one) =>
    reportFacts(input, evaluator, asOf(one, period.last), period).map((report) => {
      addToGroups(groups, report.state, report.fact)
      return { ...unearnedRecord(report), lines: earningsOf(input, one, report.fact) }
    }),
  )
  const named = records.filter(({ rules, lines }) => rules.length + lines.length > 0)
  return [
    `# ${period.id}\n`,
    ...lines,
    `## Qualifications\n\n${asLines(qualifications)}`,
    `## Records that a rule names\n\n${asLines(named)}`,
    `## Groups\n\n${asLines(listGroups(groups))}`,
  ].join('\n')
}

/** Leaves out members that are null or empty. */
const withoutEmpty = (_: string, value: unknown) =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0)
    ? undefined
    : value

const asLines = (values: readonly unknown[]) =>
  values.map((value) => `${JSON.stringify(value, withoutEmpty)}\n`).join('')
