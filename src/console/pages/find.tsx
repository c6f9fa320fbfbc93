import { accountPath, apiPath, type Page, type Visit } from '../page.ts'
import { Badge, Data, Day, EmptyState, isolated, type List, Table } from '../parts/data.tsx'
import { deliveriesPath } from '../parts/deliveries.tsx'
import { column } from '../parts/fields.tsx'
import { nounOf } from '../parts/record-fields.tsx'
import { findRecords, recordPath } from '../parts/record-lookup.ts'

/** Something of the account that has an id. */
interface Choice {
  readonly noun: string
  readonly path: string
  readonly day: string | null
  readonly isHeld: boolean
}

/** Returns whether an affiliate with this id is configured, or has statements. */
async function isAffiliate({ api, account }: Visit, affiliate_id: string): Promise<boolean> {
  const own = { affiliate_id, per_page: 1 }
  const lists = await Promise.all([
    api.get<List<object>>(apiPath(account, 'affiliates', 'parents'), { affiliate_id }),
    api.get<List<object>>(apiPath(account, 'statements'), own),
    api.get<List<object>>(apiPath(account, 'links'), own),
  ])
  return lists.some(({ data }) => data.length > 0)
}

/** Finds what has an id: stored records of all resources, and an affiliate. */
async function findChoices(visit: Visit, id: string): Promise<Choice[]> {
  const [records, affiliate] = await Promise.all([findRecords(visit, id), isAffiliate(visit, id)])
  const path = accountPath(visit.account, 'affiliates', id)
  return [
    ...(affiliate ? [{ noun: 'Affiliate', path, day: null, isHeld: false }] : []),
    ...records.map((one) => ({
      noun: nounOf(one.resource, one.record),
      path: recordPath(visit.account, one.resource, one.id),
      day: one.day,
      isHeld: one.outcome === 'held',
    })),
  ]
}

const Choices = ({ id, choices }: { id: string; choices: readonly Choice[] }) => (
  <Table
    caption={`What has the id ${isolated(id)}`}
    rows={choices}
    columns={[
      column('What it is', ({ noun, path, isHeld }: Choice) => (
        <>
          <a href={path}>
            <Data text={noun} />
          </a>{' '}
          {isHeld && <Badge tone="warn">Held</Badge>}
        </>
      )),
      column('Day', ({ day }: Choice) => <Day day={day} />),
    ]}
  />
)

/** The form of the ids of deliveries, which no sender chooses. */
const IS_DELIVERY = /^dlv_[0-9A-Z]{26}$/

/** Leads from an id to the page of what has it. Several such are shown as choices. */
export const findPage: Page = {
  path: '/accounts/:account/find',
  section: 'Customers',
  query: ['record_id'],
  async render(visit) {
    // Spaces around an id were pasted with it.
    const id = visit.query.record_id?.trim()
    if (!id) {
      const body = (
        <EmptyState title="Enter an id above.">
          <p>The id of a transaction, an event, a customer or an affiliate.</p>
        </EmptyState>
      )
      return { title: 'Find a record', body }
    }
    if (IS_DELIVERY.test(id)) {
      return { title: 'Delivery', body: '', next: accountPath(visit.account, 'deliveries', id) }
    }
    const choices = await findChoices(visit, id)
    const [only] = choices
    // What is not stored may have been refused: the log of deliveries knows.
    const next = only ? only.path : deliveriesPath(visit.account, { record_id: id })
    return {
      title: `Id ${isolated(id)}`,
      body: <Choices id={id} choices={choices} />,
      ...(choices.length <= 1 && { next }),
    }
  },
}
