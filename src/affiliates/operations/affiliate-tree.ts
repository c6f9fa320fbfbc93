import type * as v from 'valibot'
import type { AffiliateParents, Parent } from '../../platform/directory/affiliates.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import type { affiliate } from './affiliate-fields.ts'

/** An affiliate as sent, with its pointer. Without `parent` it keeps its stored parents. */
export interface AffiliateInput extends v.InferOutput<v.ObjectSchema<typeof affiliate, undefined>> {
  readonly pointer: string
}

/** The parents of an account's affiliates by day, by affiliate id. */
export type Tree = ReadonlyMap<string, readonly Parent[]>

/** Returns the stored tree. */
export const toTree = (stored: readonly AffiliateParents[]): Map<string, readonly Parent[]> =>
  new Map(stored.map(({ affiliate_id, parents }) => [affiliate_id, parents]))

const NONE: readonly Parent[] = [{ from: null, parent: null }]

/** Returns the tree after a request; a parent without `from` counts from `today` on. */
export function changeTree(stored: Tree, sent: readonly AffiliateInput[], today: string): Tree {
  const tree = new Map(stored)
  for (const { affiliate_id, parent, from } of sent) {
    const parents = stored.get(affiliate_id) ?? NONE
    tree.set(affiliate_id, parent === undefined ? parents : setParent(parents, parent, from, today))
  }
  return tree
}

function setParent(
  parents: readonly Parent[],
  parent: string | null,
  from: string | undefined,
  today: string,
): readonly Parent[] {
  if (from === undefined && parents.at(-1)?.parent === parent) return parents
  const day = from ?? today
  const earlier = parents.filter((part) => part.from === null || part.from < day)
  return earlier.at(-1)?.parent === parent ? earlier : [...earlier, { from: day, parent }]
}

/** Returns the affiliates whose parents differ between two trees. */
export const changedParents = (before: Tree, after: Tree): AffiliateParents[] =>
  [...after]
    .filter(([id, parents]) => JSON.stringify(before.get(id) ?? NONE) !== JSON.stringify(parents))
    .map(([affiliate_id, parents]) => ({ affiliate_id, parents: [...parents] }))

/**
 * Returns an issue for each parent that is not configured or that would make an affiliate its own
 * ancestor on any day.
 */
export const findTreeIssues = (sent: readonly AffiliateInput[], tree: Tree): Issue[] =>
  sent.flatMap(({ pointer: own, affiliate_id, parent }): Issue[] => {
    if (!parent) return []
    const pointer = `${own}/parent`
    if (!tree.has(parent)) return [{ pointer, code: 'unknown_affiliate', value: parent }]
    return isOwnAncestor(affiliate_id, tree) ? [{ pointer, code: 'circle', value: parent }] : []
  })

/** Days from `first` (inclusive) to `end` (exclusive); every day is greater than an empty text. */
interface Days {
  id: string
  first: string
  end: string
}

/** A text that is greater than every day. */
const NEVER = '~'

/** Returns whether an affiliate is its own ancestor on any day. */
function isOwnAncestor(start: string, tree: Tree): boolean {
  const visited = new Set<string>()
  const waiting: Days[] = [{ id: start, first: '', end: NEVER }]
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    for (const up of ancestorsOf(at, tree)) {
      if (up.id === start) return true
      const key = JSON.stringify(up)
      if (!visited.has(key)) waiting.push(up)
      visited.add(key)
    }
  }
  return false
}

/** Returns the parents of an affiliate on some days, each with the days among them on which it counts. */
function ancestorsOf({ id, first, end }: Days, tree: Tree): Days[] {
  const parents = tree.get(id) ?? NONE
  return parents.flatMap(({ from, parent }, i): Days[] => {
    const next = parents[i + 1]?.from ?? NEVER
    const overlap = { first: max(first, from ?? ''), end: next < end ? next : end }
    return parent !== null && overlap.first < overlap.end ? [{ id: parent, ...overlap }] : []
  })
}

const max = (a: string, b: string) => (a > b ? a : b)
