import { type CausesOf, type CorrectedLine, NO_CAUSES } from './cause.ts'
import {
  type CauseGroup,
  customerOf,
  type FoundCauses,
  foundOf,
  groupKey,
  groupLines,
} from './cause-groups.ts'
import { type CauseList, joinCauses } from './cause-list.ts'
import { addRateCauses } from './cause-rates.ts'
import { addRecordCauses } from './cause-records.ts'
import { addSettingCauses } from './cause-settings.ts'
import type { Computation, ComputedPeriod } from './computation.ts'
import { lastSettled } from './settled-since.ts'

/**
 * Finds the causes of all corrections of a computation: what has changed since the last approval of each
 * corrected period. Reads nothing if there are no corrections.
 */
export async function findCauses(
  computation: Computation,
  computed: readonly ComputedPeriod[],
): Promise<CausesOf> {
  const lines = correctedLines(computed)
  if (lines.length === 0) return NO_CAUSES
  const affiliates = [...new Set(lines.map((line) => line.affiliate_id))]
  const settledOf = await lastSettled(computation.source, affiliates)
  const groups = groupLines(computation, lines, settledOf)
  const all = [...groups.values()]
  // Records first: the search for records that moved away depends on which records were found.
  await addRecordCauses(computation, all)
  await addSettingCauses(computation, all)
  await addRateCauses(computation, all)
  return (line) => {
    if (line.line !== null) return causesOfLine(groups.get(groupKey(line)), line)
    return joinCauses(
      all
        .filter((group) => isOfPeriod(group, line))
        .flatMap((group) => [
          ...allFound(group).map(({ likely }) => likely),
          group.movedAway,
          group.settings,
        ]),
    )
  }
}

/** Returns the lines that the statements of a computation correct. */
function correctedLines(computed: readonly ComputedPeriod[]): CorrectedLine[] {
  return computed.flatMap(({ results }) =>
    results.flatMap(({ statement }) => {
      const { affiliate_id = '', plan = '', adjustments = [] } = statement ?? {}
      return adjustments.flatMap(({ period, line, amount }) => {
        const isReduction = amount.startsWith('-')
        return line === null ? [] : [{ affiliate_id, plan, period, line, isReduction }]
      })
    }),
  )
}

const isOfPeriod = (
  { affiliate, plan, periodId }: CauseGroup,
  line: Pick<CorrectedLine, 'affiliate_id' | 'plan' | 'period'>,
): boolean => affiliate === line.affiliate_id && plan === line.plan && periodId === line.period

const isFound = ({ total }: CauseList): boolean => total > 0

const allFound = ({ byCustomer, rest }: CauseGroup): FoundCauses[] => [...byCustomer.values(), rest]

/**
 * Returns the most likely causes of a line, from the first of these lists that has any:
 *
 * 1. likely causes of the line's own customer, and settings; also records that moved to other customers,
 *    if the customer has no likely cause or lost a `once` line;
 * 2. likely causes of all customers, if the rule measures or limits several lines together;
 * 3. other changes;
 * 4. deliveries that were possibly stored late.
 */
function causesOfLine(group: CauseGroup | undefined, line: CorrectedLine) {
  if (!group) return NO_CAUSES(line)
  const { settings, otherSettings, rules, movedAway } = group
  const customer = customerOf(line)
  const own = customer === null ? allFound(group) : [foundOf(group, customer)]
  const wide = rules.shared ? allFound(group) : own
  const likely = own.map((found) => found.likely)
  const hasMoved = (rules.once && line.isReduction) || !likely.some(isFound)
  const lists = [
    [...likely, settings, ...(hasMoved ? [movedAway] : [])],
    wide.map(({ likely }) => likely),
    [...wide.map(({ others }) => others), otherSettings],
    wide.map(({ late }) => late),
  ]
  return joinCauses(lists.find((some) => some.some(isFound)) ?? [])
}
