import { memoize } from '../engine/memoize.ts'
import { type Causes, type CausesOf, type CorrectedLine, NO_CAUSES } from './cause.ts'
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
  return causesFrom(groups)
}

/** Returns a function that returns the causes of a line from those found for the groups, by `groupKey`. */
export function causesFrom(groups: ReadonlyMap<string, CauseGroup>): CausesOf {
  const wideOf = memoize(wideCauses)
  const byPeriod = Map.groupBy(groups.values(), (group) =>
    periodKey(group.affiliate, group.plan, group.periodId),
  )
  return (line) => {
    if (line.line !== null) return causesOfLine(groups.get(groupKey(line)), line, wideOf)
    const ofPeriod = byPeriod.get(periodKey(line.affiliate_id, line.plan, line.period)) ?? []
    return joinCauses(
      ofPeriod.flatMap((group) => [
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

const periodKey = (affiliate: string, plan: string, period: string): string =>
  JSON.stringify([affiliate, plan, period])

const isFound = ({ total }: CauseList): boolean => total > 0

const allFound = ({ byCustomer, rest }: CauseGroup): FoundCauses[] => [...byCustomer.values(), rest]

/** The causes found for all customers of a group, joined once for all of its lines. */
interface WideCauses {
  /** The lists that are not empty. */
  readonly likely: readonly CauseList[]
  readonly others: readonly CauseList[]
  readonly late: readonly CauseList[]
  /** Returns the joined causes of one of these. */
  readonly joined: (lists: readonly CauseList[]) => Causes
}

function wideCauses(group: CauseGroup): WideCauses {
  const found = allFound(group)
  return {
    likely: found.map(({ likely }) => likely).filter(isFound),
    others: [...found.map(({ others }) => others), group.otherSettings].filter(isFound),
    late: found.map(({ late }) => late).filter(isFound),
    joined: memoize(joinCauses),
  }
}

/**
 * Returns the most likely causes of a line, from the first of these lists that has any:
 *
 * 1. likely causes of the line's own customer, and settings; also records that moved to other customers,
 *    if the customer has no likely cause or lost a `once` line;
 * 2. likely causes of all customers, if the rule measures or limits several lines together;
 * 3. other changes;
 * 4. deliveries that were possibly stored late.
 */
function causesOfLine(
  group: CauseGroup | undefined,
  line: CorrectedLine,
  wideOf: (group: CauseGroup) => WideCauses,
): Causes {
  if (!group) return NO_CAUSES(line)
  const { settings, otherSettings, rules, movedAway } = group
  const customer = customerOf(line)
  const found = customer === null ? null : foundOf(group, customer)
  const wide = wideOf(group)
  const likely = found ? [found.likely].filter(isFound) : wide.likely
  const hasMoved = (rules.once && line.isReduction) || likely.length === 0
  const own = [...likely, settings, ...(hasMoved ? [movedAway] : [])]
  if (own.some(isFound)) return joinCauses(own)
  if (found && !rules.shared) {
    const others = [found.others, otherSettings]
    return joinCauses(others.some(isFound) ? others : [found.late])
  }
  const lists = [wide.likely, wide.others, wide.late].find(({ length }) => length > 0)
  return lists ? wide.joined(lists) : NO_CAUSES(line)
}
