import { listAffiliates } from '../affiliates/operations/affiliates.ts'
import { listPlans } from '../commission/operations/plans.ts'
import type { Api } from './base/api.ts'
import type { Names, PlanNames } from './base/page.ts'

// What people call plans and affiliates. Pages show these names where the API has ids.

/** The most affiliates whose names are read by one request, which is also the size of a page of the list. */
const BATCH = 500

type AffiliateNames = ReadonlyMap<string, string | null>

/**
 * Returns the names of an account, as an API reads them. The first 500 affiliates are read without knowing which
 * ones a page shows, at the same time as the page reads its own data: most accounts have no more. Others cost one
 * more round trip.
 */
export function namesOf(api: Pick<Api, 'call'>, account: string): Names {
  let plans: Promise<PlanNames> | undefined
  let first: Promise<{ names: AffiliateNames; isAll: boolean }> | undefined
  let batch: { readonly ids: Set<string>; readonly names: Promise<AffiliateNames> } | null = null
  const others = new Map<string, Promise<AffiliateNames>>()

  const readPlans = async (): Promise<PlanNames> => {
    const { data } = await api.call(listPlans, { account })
    return new Map(data.map(({ plan, name }) => [plan, name]))
  }

  const readAffiliates = async (ids?: readonly string[]) => {
    const { data, meta } = await api.call(listAffiliates, {
      account,
      per_page: BATCH,
      ...(ids && { ids: JSON.stringify(ids) }),
    })
    const names = new Map(
      data.map(({ affiliate_id, display_name }) => [affiliate_id, display_name]),
    )
    return { names, isAll: meta.next_cursor === null }
  }

  // A page without names is better than none.
  const readFirst = () =>
    readAffiliates().catch(() => ({ names: new Map<string, string | null>(), isAll: true }))

  /** Returns the affiliates that the next request reads. It is sent when the page has asked for all of them. */
  const openBatch = () => {
    if (batch && batch.ids.size < BATCH) return batch
    const ids = new Set<string>()
    const names = Promise.resolve().then(async (): Promise<AffiliateNames> => {
      batch = null
      return (await readAffiliates([...ids]).catch(readFirst)).names
    })
    batch = { ids, names }
    return batch
  }

  const names: Names = {
    begin() {
      names.plans()
      first ??= readFirst()
    },
    plans() {
      plans ??= readPlans().catch((): PlanNames => new Map())
      return plans
    },
    async affiliate(id) {
      first ??= readFirst()
      const { names: known, isAll } = await first
      if (isAll || known.has(id)) return known.get(id) ?? null
      let found = others.get(id)
      if (!found) {
        const { ids, names: read } = openBatch()
        ids.add(id)
        found = read
        others.set(id, found)
      }
      return (await found).get(id) ?? null
    },
  }
  return names
}
