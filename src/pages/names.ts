import { listAffiliates } from '../affiliates/operations/affiliates.ts'
import { listPlans } from '../commission/operations/plans.ts'
import type { Api } from './base/api.ts'
import type { Names, PlanNames } from './base/page.ts'

// What people call plans and affiliates. Pages show these names where the API has ids.

/** The most affiliates whose names are read by one request, which is also the size of a page of the list. */
const BATCH = 500

type AffiliateNames = ReadonlyMap<string, string | null>

/** Returns the names of an account, as an API reads them. Those for which a page asks at the same time are read together. */
export function namesOf(api: Pick<Api, 'call'>, account: string): Names {
  let plans: Promise<PlanNames> | undefined
  let batch: { readonly ids: string[]; readonly names: Promise<AffiliateNames> } | null = null
  const affiliates = new Map<string, Promise<AffiliateNames>>()

  const readPlans = async (): Promise<PlanNames> => {
    const { data } = await api.call(listPlans, { account })
    return new Map(data.map(({ plan, name }) => [plan, name]))
  }

  const readAffiliates = async (ids: readonly string[]): Promise<AffiliateNames> => {
    // The page has asked for all of them then.
    await Promise.resolve()
    batch = null
    const input = { account, per_page: BATCH, ids: JSON.stringify(ids) }
    const { data } = await api.call(listAffiliates, input)
    return new Map(data.map(({ affiliate_id, display_name }) => [affiliate_id, display_name]))
  }

  /** Adds an affiliate to those that the next request reads. A page without names is better than none. */
  const readWith = (id: string): Promise<AffiliateNames> => {
    if (!batch || batch.ids.length === BATCH) {
      const ids: string[] = []
      batch = { ids, names: readAffiliates(ids).catch(() => new Map()) }
    }
    batch.ids.push(id)
    return batch.names
  }

  return {
    plans() {
      plans ??= readPlans().catch((): PlanNames => new Map())
      return plans
    },
    async affiliate(id) {
      const names = affiliates.get(id) ?? readWith(id)
      affiliates.set(id, names)
      return (await names).get(id) ?? null
    },
  }
}
