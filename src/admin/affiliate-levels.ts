import { partOn } from '../db/commission/history.ts'
import type { Issue } from '../validation/issue.ts'
import { type AffiliateInput, NEVER, type Tree } from './affiliate-tree.ts'

/** The maximum number of affiliates in a chain of parents. Each level multiplies what a run computes. */
export const MAX_LEVELS = 64

/** The level of an affiliate on days from `first` (inclusive) to `end` (exclusive): 1 without a parent. */
interface Level {
  readonly first: string
  readonly end: string
  readonly level: number
}

/** Returns the levels of an affiliate by day. `known` keeps those of each affiliate. */
function levelsOf(id: string, tree: Tree, known: Map<string, readonly Level[]>): readonly Level[] {
  const found = known.get(id)
  if (found) return found
  // Stops at a cycle: an affiliate above itself has no level.
  known.set(id, [])
  const parents = tree.get(id) ?? []
  const levels = parents.flatMap(({ from, parent }, i): Level[] => {
    const [first, end] = [from ?? '', parents[i + 1]?.from ?? NEVER]
    if (parent === null || !tree.has(parent)) return [{ first, end, level: 1 }]
    return levelsOf(parent, tree, known).flatMap((above): Level[] => {
      const begin = above.first > first ? above.first : first
      const until = above.end < end ? above.end : end
      return begin < until ? [{ first: begin, end: until, level: above.level + 1 }] : []
    })
  })
  known.set(id, levels)
  return levels
}

/** Returns the nearest affiliate, from `id` upwards, whose parent on a day differs between the trees. */
function findChanged(id: string, day: string, before: Tree, after: Tree): string | null {
  const parentIn = (tree: Tree, child: string) => partOn(tree.get(child) ?? [], day)?.parent ?? null
  let at: string | null = id
  while (at !== null && parentIn(before, at) === parentIn(after, at)) at = parentIn(after, at)
  return at
}

/** What a change makes of the levels of a tree. */
export interface TreeLevels {
  /** The highest level on any day. */
  readonly deepest: number
  /** An issue for each parent that is sent and makes a chain of more than 64 affiliates on any day. */
  readonly issues: Issue[]
}

/** Finds the parents that make a tree too deep. What was too deep before the request is not an issue. */
export function findDeepParents(
  sent: readonly AffiliateInput[],
  before: Tree,
  after: Tree,
): TreeLevels {
  const known = new Map<string, readonly Level[]>()
  const levelsFrom = new Map<string, number>()
  let deepest = 1
  for (const id of after.keys()) {
    for (const { first, level } of levelsOf(id, after, known)) {
      deepest = Math.max(deepest, level)
      const cause = level > MAX_LEVELS ? findChanged(id, first, before, after) : null
      if (cause !== null) levelsFrom.set(cause, Math.max(level, levelsFrom.get(cause) ?? 0))
    }
  }
  const issues = sent.flatMap(({ pointer, affiliate_id, parent }): Issue[] => {
    const levels = levelsFrom.get(affiliate_id)
    return parent && levels !== undefined ? [tooDeep(`${pointer}/parent`, levels)] : []
  })
  return { deepest, issues }
}

const tooDeep = (pointer: string, levels: number): Issue => ({
  pointer,
  code: 'length',
  expected: `at most ${MAX_LEVELS} affiliates in a chain of parents`,
  received: String(levels),
  instruction: 'Choose a parent that is nearer to the top of the tree.',
})
