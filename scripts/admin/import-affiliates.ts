import { usageError } from '../exit-error.ts'
import { ApiError } from './errors.ts'
import type { Input } from './operation.ts'
import { nameAffiliate, readRows } from './read-rows.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** The largest number of affiliates in one request. */
const MAX_AFFILIATES = 1000

interface Affiliate {
  affiliate_id?: string
  parent?: string
  from?: string
}

/** Sets the affiliates of a file, parents first. Returns the sum of all responses. */
export async function importAffiliates(send: SendRequest, request: AdminRequest, input: Input) {
  const { file = '' } = input.operands
  const rows = await readRows<Affiliate>(file, 'affiliates', ['affiliate_id', 'parent', 'from'])
  const affiliates = parentsFirst(rows, file)
  const total = { received: 0, changed: 0 }
  for (let first = 0; first < affiliates.length; first += MAX_AFFILIATES) {
    const body = affiliates.slice(first, first + MAX_AFFILIATES)
    const { received, changed } = (await send({ ...request, body }).catch((error) => {
      throw withIds(error, body, first)
    })) as typeof total
    total.received += received
    total.changed += changed
  }
  return total
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
      up = up.parent === undefined ? undefined : byId.get(up.parent)
    }
    for (const ancestor of [...chain].reverse()) ordered.add(ancestor)
  }
  return [...ordered]
}

/** Replaces the places of errors in the request by the ids of affiliates. */
function withIds(error: unknown, bulk: readonly Affiliate[], done: number): unknown {
  if (!(error instanceof ApiError)) return error
  const { errors } = error.problem
  const renamed = errors?.map((one) => ({ ...one, pointer: nameAffiliate(one.pointer, bulk) }))
  const response = { ...error.response, body: { ...error.problem, errors: renamed } }
  const notes =
    done > 0 ? [`  ${done} affiliates of the file were set before. Import the file again.`] : []
  return new ApiError(response, notes)
}
