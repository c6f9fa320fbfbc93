import { type CausesOf, type CorrectedLine, NO_CAUSES } from './cause.ts'
import { type CauseGroup, customerOf, groupKey, groupLines } from './cause-groups.ts'
import { type CauseList, joinCauses } from './cause-list.ts'
import { addRecordCauses } from './cause-records.ts'
import { addSettingCauses } from './cause-settings.ts'
import type { Computation, ComputedPeriod } from './computation.ts'
import { lastSettled } from './settled-since.ts'

/**
 * Finds the causes of all corrections of a computation: what has changed since the last approval of the
 * corrected periods. It reads nothing if there are no corrections.
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
  await Promise.all([addRecordCauses(computation, all), addSettingCauses(computation, all)])
  return (line) => {
    if (line.line !== null) return causesOfLine(groups.get(groupKey(line)), line)
    return joinCauses(
      all
        .filter((group) => isOfPeriod(group, line))
        .flatMap((group) => [...group.byCustomer.values(), group.all, group.settings]),
    )
  }
}

/** Returns the lines that the statements of a computation correct. */
function correctedLines(computed: readonly ComputedPeriod[]): CorrectedLine[] {
  return computed.flatMap(({ results }) =>
    results.flatMap(({ statement }) => {
      const { affiliate_id = '', plan = '', adjustments = [] } = statement ?? {}
      return adjustments.flatMap(({ period, line }) =>
        line === null ? [] : [{ affiliate_id, plan, period, line }],
      )
    }),
  )
}

const isOfPeriod = (
  { affiliate, plan, periodId }: CauseGroup,
  line: Pick<CorrectedLine, 'affiliate_id' | 'plan' | 'period'>,
): boolean => affiliate === line.affiliate_id && plan === line.plan && periodId === line.period

const isFound = ({ total }: CauseList): boolean => total > 0

/**
 * Returns the most specific causes that were found: those of the line's own customer, or else of all
 * customers whose records its rule names, with the settings; or else all that changed.
 */
function causesOfLine(group: CauseGroup | undefined, line: CorrectedLine) {
  if (!group) return NO_CAUSES(line)
  const { all, settings, others, late } = group
  const customer = customerOf(line)
  const own = customer === null ? undefined : group.byCustomer.get(customer)
  const specific = [...(own ? [own] : [all]), settings]
  if (specific.some(isFound)) return joinCauses(specific)
  const wider = [all, ...group.byCustomer.values()]
  const lists = [wider, [others], [late]]
  return joinCauses(lists.find((some) => some.some(isFound)) ?? [])
}
