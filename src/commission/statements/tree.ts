import type { AffiliateParents } from '../../ingest/db/histories.ts'
import { buildTree, type Tree } from '../engine/tree.ts'
import { dated } from './source.ts'

/** The tree of an account, and the days on which it changes. */
export interface DatedTree extends Tree {
  /** Returns the latest day, not after `day`, on which a parent changed; -Infinity if there is none. */
  readonly changeBefore: (day: number) => number
}

/** Builds the tree of an account. Days between two changes share one tree. */
export function datedTree(affiliates: readonly AffiliateParents[]): DatedTree {
  const parents = affiliates.map(({ affiliate_id, parents: own }) => ({
    affiliate_id,
    parents: dated(own, ({ parent }) => parent),
  }))
  const tree = buildTree(parents)
  const changes = [
    ...new Set(parents.flatMap((one) => one.parents.flatMap(({ from }) => from ?? []))),
  ].sort((a, b) => a - b)
  const changeBefore = (day: number): number =>
    changes.findLast((change) => change <= day) ?? Number.NEGATIVE_INFINITY
  return {
    isConfigured: tree.isConfigured,
    below: (affiliate, level, day) => tree.below(affiliate, level, changeBefore(day)),
    uplines: (affiliate, day) => tree.uplines(affiliate, changeBefore(day)),
    changeBefore,
  }
}
