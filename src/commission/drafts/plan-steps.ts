import { type CustomersCursor, findCustomersOf } from '../../db/commission/customers-of.ts'
import { affiliatesToSettle } from '../../db/commission/runs.ts'
import { countUnchanged } from '../../db/commission/unchanged-customers.ts'
import { dayText } from '../engine/calendar.ts'
import { compareText } from '../engine/facts.ts'
import type { Computation } from './computation.ts'
import type { Dependencies } from './dependencies.ts'
import { STEP_LIMITS } from './limits.ts'

/**
 * Divides the affiliates of an account into steps, so that those with the same customers share a
 * step.
 */
export async function planSteps(computation: Computation): Promise<string[][]> {
  const { source, range, dependenciesOf } = computation
  const { db, account, inForce, parents } = source
  const configured = new Set(parents.map(({ affiliate_id }) => affiliate_id))
  const assigned = [...configured].filter((one) => inForce.assignmentsOf(one).length > 0)
  const stored = await affiliatesToSettle(db, account.id, range.period.id)
  const affiliates = [...new Set([...assigned, ...stored])]
  if (affiliates.length === 0) return []
  const counts = await countCustomers(computation)
  return divide(orderByTree(computation, affiliates), dependenciesOf, counts)
}

/** Returns the number of customers that each affiliate has or had. */
async function countCustomers({ source, range }: Computation): Promise<Map<string, number>> {
  const counts = await countUnchanged(source, source.account.id)
  const query = {
    account: source.account.id,
    affiliates: null,
    from: '0000-01-01',
    to: dayText(range.lastDay),
  }
  for (let cursor: CustomersCursor = { phase: 'changed', customer_id: '' }; ; ) {
    const { customers, next } = await findCustomersOf(source, query, cursor)
    for (const { affiliations } of customers) {
      for (const affiliate of new Set(affiliations.map(({ affiliate_id }) => affiliate_id))) {
        if (affiliate !== null) counts.set(affiliate, (counts.get(affiliate) ?? 0) + 1)
      }
    }
    if (next === null) return counts
    cursor = next
  }
}

/** Orders affiliates so that those with the same uplines follow each other. */
function orderByTree({ context, range }: Computation, affiliates: readonly string[]): string[] {
  const paths = affiliates.map((affiliate) => {
    const uplines = context.tree.uplines(affiliate, range.period.last)
    return { affiliate, path: [...uplines.toReversed(), affiliate] }
  })
  return paths.sort((a, b) => comparePaths(a.path, b.path)).map(({ affiliate }) => affiliate)
}

function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (const [i, name] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    if (other !== name) return compareText(name, other)
  }
  return a.length - b.length
}

/** Fills one step after the other, each within `STEP_LIMITS`. A customer counts once in a step. */
function divide(
  affiliates: readonly string[],
  dependenciesOf: (affiliate: string) => Dependencies,
  counts: ReadonlyMap<string, number>,
): string[][] {
  const steps: string[][] = []
  let read = new Set<string>()
  let customers = 0
  for (const affiliate of affiliates) {
    const { read: needed } = dependenciesOf(affiliate)
    const added = (to: ReadonlySet<string>) =>
      [...needed].reduce((sum, one) => (to.has(one) ? sum : sum + (counts.get(one) ?? 0)), 0)
    const more = added(read)
    const step = steps.at(-1)
    const fits =
      customers + more <= STEP_LIMITS.customers && (step?.length ?? 0) < STEP_LIMITS.affiliates
    if (step && fits) {
      step.push(affiliate)
      customers += more
    } else {
      steps.push([affiliate])
      read = new Set()
      customers = added(read)
    }
    for (const one of needed) read.add(one)
  }
  return steps
}
