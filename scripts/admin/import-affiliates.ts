import * as v from 'valibot'
import { findDeepParents } from '../../src/admin/affiliate-levels.ts'
import {
  type AffiliateInput,
  changeTree,
  findTreeIssues,
  toTree,
} from '../../src/admin/affiliate-tree.ts'
import { affiliate } from '../../src/admin/fields.ts'
import type { AffiliateParents } from '../../src/db/commission/histories.ts'
import type { Issue } from '../../src/validation/issue.ts'
import { validateObject } from '../../src/validation/strict-object.ts'
import { usageError } from '../exit-error.ts'
import { fetchPages } from './client.ts'
import type { Input } from './operation.ts'
import { readRows } from './read-rows.ts'
import type { AdminRequest, SendRequest } from './request.ts'
import { MAX_ROWS, refuse, sendBulks } from './send-bulks.ts'

interface Affiliate {
  affiliate_id?: string
  /** Null: the cell is empty, which removes the parent. */
  parent?: string | null
  from?: string
}

/** The answer to one request. */
interface Answer {
  received: number
  changed: number
  parents_removed?: number
}

/** Sets the affiliates of a file, parents first. Returns the sum of all responses. */
export async function importAffiliates(send: SendRequest, request: AdminRequest, input: Input) {
  const { file = '' } = input.operands
  const rows = await readRows<Affiliate>(
    file,
    'affiliates',
    ['affiliate_id', 'parent', 'from'],
    ['parent'],
  )
  const affiliates = parentsFirst(rows, file)
  // A single request is refused as a whole. Of several, the earlier ones would stay.
  if (affiliates.length > MAX_ROWS) {
    const list = { ...request, method: 'GET', path: `${request.path}/parents` }
    const { data } = await fetchPages(send, list, Number.POSITIVE_INFINITY)
    refuse(file, affiliates, findIssues(affiliates, data as AffiliateParents[]))
  }
  const total: Answer = { received: 0, changed: 0 }
  for (const one of await sendBulks<Answer>(send, request, affiliates, 'affiliates')) {
    total.received += one.received
    total.changed += one.changed
    if (one.parents_removed) {
      total.parents_removed = (total.parents_removed ?? 0) + one.parents_removed
    }
  }
  return total
}

/** Returns what the service would refuse in any of the requests. */
function findIssues(rows: readonly Affiliate[], stored: readonly AffiliateParents[]): Issue[] {
  const issues = rows.flatMap((row, index) => {
    const own = validateObject({ ...row }, v.object(affiliate)).issues
    const lacksParent = row.from !== undefined && row.parent === undefined
    const all = lacksParent ? [...own, { pointer: '/parent', code: 'required' as const }] : own
    return all.map((one) => ({ ...one, pointer: `/${index}${one.pointer}` }))
  })
  if (issues.length > 0) return issues
  const sent = rows.map((row, index) => ({ ...row, pointer: `/${index}` })) as AffiliateInput[]
  const before = toTree(stored)
  // The day of an account differs from this one by a few hours at most.
  const after = changeTree(before, sent, new Date().toISOString().slice(0, 10))
  const unfit = findTreeIssues(sent, after)
  return unfit.length > 0 ? unfit : findDeepParents(sent, before, after).issues
}

/** Sorts affiliates so that parents come first, since a request needs the parents of its own. */
export function parentsFirst(affiliates: readonly Affiliate[], file: string): Affiliate[] {
  const byId = new Map<unknown, Affiliate>()
  for (const one of affiliates) {
    if (byId.has(one.affiliate_id)) {
      throw usageError(`${file}: affiliate \`${one.affiliate_id}\` occurs twice.`)
    }
    byId.set(one.affiliate_id, one)
  }
  const ordered = new Set<Affiliate>()
  for (const one of affiliates) {
    const chain = new Set<Affiliate>()
    let up: Affiliate | undefined = one
    while (up && !ordered.has(up)) {
      if (chain.has(up)) {
        throw usageError(`${file}: affiliate \`${up.affiliate_id}\` is its own ancestor.`)
      }
      chain.add(up)
      up = up.parent ? byId.get(up.parent) : undefined
    }
    for (const ancestor of [...chain].reverse()) ordered.add(ancestor)
  }
  return [...ordered]
}
