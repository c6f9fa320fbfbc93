import { accountPath, useVisit, type Visit } from '../base/page.ts'
import { Data, isolated } from './data.tsx'

// Links to plans and affiliates by the names that people call them.

/** What a link needs of a visit: the names of its account. */
type Named = Pick<Visit, 'account' | 'names'>

/** Renders the name of a plan. */
export const PlanName = async ({ id }: { id: string }, visit = useVisit()) => (
  <Data text={(await visit.names.plans()).get(id) ?? id} />
)

/** Renders a link to a plan, by its name or by the one that is given: a plan may have had another name. */
export const PlanLink = ({ id, name }: { id: string; name?: string }, visit = useVisit()) => (
  <a href={accountPath(visit.account, 'plans', id)}>
    {name ? <Data text={name} /> : <PlanName id={id} />}
  </a>
)

/** Renders the name of an affiliate and its id; only the id of one without a name. */
export const AffiliateName = async ({ id }: { id: string }, visit = useVisit()) => {
  const name = await visit.names.affiliate(id)
  return <NameAndId name={name} id={id} />
}

/** Returns the name of an affiliate and its id, for a place that takes no elements. */
export async function affiliateText(visit: Named, id: string): Promise<string> {
  const name = await visit.names.affiliate(id)
  return name === null ? isolated(id) : `${isolated(name)} (${isolated(id)})`
}

/** The longest id that stays on one line, on the narrowest phone. */
const SHORT = 16

/** Renders a name that is known, and its id; only the id if there is no name. */
export const NameAndId = ({ name, id }: { name: string | null; id: string }) =>
  name === null ? (
    <Data text={id} />
  ) : (
    <>
      <Data text={name} />{' '}
      <span class={id.length <= SHORT ? 'id' : undefined}>
        (<Data text={id} />)
      </span>
    </>
  )

/** Renders a link to an affiliate, or “none” if it is null. */
export const AffiliateLink = ({ id }: { id: string | null }, visit = useVisit()) =>
  id === null ? (
    <span class="quiet">none</span>
  ) : (
    <a href={accountPath(visit.account, 'affiliates', id)}>
      <AffiliateName id={id} />
    </a>
  )
