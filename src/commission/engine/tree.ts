import { memoize } from '../../platform/memoize.ts'
import { type Dated, valueOn } from './facts.ts'

/** The configured affiliates and their parents by day. */
export interface Tree {
  readonly isConfigured: (affiliate: string) => boolean
  /** Returns the affiliates exactly `level` levels below on a day. */
  readonly below: (affiliate: string, level: number, day: number) => readonly string[]
  /** Returns the affiliate's uplines on a day, its parent first. */
  readonly uplines: (affiliate: string, day: number) => readonly string[]
  /** Returns the latest day, not after `day`, on which a parent changed; -Infinity if there is none. */
  readonly changeBefore: (day: number) => number
}

/** An affiliate with its parents by day. */
export interface AffiliateParents {
  readonly affiliate_id: string
  readonly parents: readonly Dated<string | null>[]
}

/** Builds the tree. Unconfigured parents are ignored. */
export function buildTree(affiliates: readonly AffiliateParents[]): Tree {
  const parents = new Map(
    affiliates.map(({ affiliate_id, parents: dated }) => [affiliate_id, dated]),
  )
  const changes = affiliates.flatMap((one) => one.parents.flatMap(({ from }) => from ?? []))
  const inOrder = [...new Set(changes)].sort((a, b) => a - b)
  const changeBefore = (day: number) =>
    inOrder.findLast((change) => change <= day) ?? Number.NEGATIVE_INFINITY
  // Days between two changes share one tree.
  const byChange = memoize((change: number) => treeOf(parents, change))
  const onDay = (day: number): DayTree => byChange(changeBefore(day))
  return {
    changeBefore,
    isConfigured: (affiliate) => parents.has(affiliate),
    below: (affiliate, level, day) => descend(onDay(day).children, affiliate, level),
    uplines: (affiliate, day) => climb(onDay(day).parent, affiliate),
  }
}

interface DayTree {
  readonly parent: ReadonlyMap<string, string>
  readonly children: ReadonlyMap<string, readonly string[]>
}

function treeOf(
  parents: ReadonlyMap<string, readonly Dated<string | null>[]>,
  day: number,
): DayTree {
  const parent = new Map<string, string>()
  const children = new Map<string, string[]>()
  for (const [affiliate, history] of parents) {
    const above = valueOn(history, day)
    if (above === null || !parents.has(above)) continue
    parent.set(affiliate, above)
    const siblings = children.get(above)
    if (siblings) siblings.push(affiliate)
    else children.set(above, [affiliate])
  }
  return { parent, children }
}

function descend(
  children: DayTree['children'],
  affiliate: string,
  level: number,
): readonly string[] {
  let found: readonly string[] = [affiliate]
  for (let depth = 0; depth < level; depth++) found = found.flatMap((id) => children.get(id) ?? [])
  return found
}

/** Circles are refused when parents are set; the guard ends the walk if there is one all the same. */
function climb(parent: DayTree['parent'], affiliate: string): string[] {
  const uplines = new Set<string>()
  for (let above = parent.get(affiliate); above !== undefined; above = parent.get(above)) {
    if (above === affiliate || uplines.has(above)) break
    uplines.add(above)
  }
  return [...uplines]
}
